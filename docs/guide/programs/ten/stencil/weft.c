/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft/parallel.h>

enum { N = 1024, STEPS = 200 };
static float grids[2][N][N];

struct step {
    float (*from)[N], (*to)[N];
};

static void relax(weft *w, const weft_box *box, void *arg)
{
    const struct step *s = arg;
    (void)w;
    for (size_t y = box->begin[0]; y < box->end[0]; y++)
        for (size_t x = box->begin[1]; x < box->end[1]; x++)
            s->to[y][x] =
                (s->from[y - 1][x] + s->from[y + 1][x] + s->from[y][x - 1] + s->from[y][x + 1]) / 4;
}

static void run(weft *w, void *arg)
{
    (void)arg;
    for (int i = 0; i < STEPS; i++) {
        struct step step = {grids[i % 2], grids[1 - i % 2]};
        weft_for_2d(w, &(weft_box){{1, 1}, {N - 1, N - 1}}, relax, &step);
    }
}

int main(void)
{
    for (int x = 0; x < N; x++)
        grids[0][0][x] = grids[1][0][x] = 1;
    int error = weft_run(NULL, run, NULL);
    printf("%.6f\n", (double)grids[0][5][N / 2]);
    return error != 0;
}
