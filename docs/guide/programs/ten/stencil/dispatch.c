/* SPDX-License-Identifier: MIT */
#include <dispatch/dispatch.h>
#include <stdio.h>

enum { N = 1024, STEPS = 200 };
static float grids[2][N][N];

struct step {
    float (*from)[N], (*to)[N];
};

static void relax_row(void *arg, size_t row)
{
    const struct step *s = arg;
    size_t y = row + 1;
    for (size_t x = 1; x < N - 1; x++)
        s->to[y][x] =
            (s->from[y - 1][x] + s->from[y + 1][x] + s->from[y][x - 1] + s->from[y][x + 1]) / 4;
}

int main(void)
{
    for (int x = 0; x < N; x++)
        grids[0][0][x] = grids[1][0][x] = 1;
    for (int i = 0; i < STEPS; i++) {
        struct step step = {grids[i % 2], grids[1 - i % 2]};
        dispatch_apply_f(N - 2, dispatch_get_global_queue(0, 0), &step, relax_row);
    }
    printf("%.6f\n", (double)grids[0][5][N / 2]);
}
