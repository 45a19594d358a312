/* SPDX-License-Identifier: MIT */
#include <stdio.h>

enum { N = 1024, STEPS = 200 };
static float grids[2][N][N];

int main(void)
{
    for (int x = 0; x < N; x++)
        grids[0][0][x] = grids[1][0][x] = 1;
    for (int i = 0; i < STEPS; i++) {
        float(*from)[N] = grids[i % 2], (*to)[N] = grids[1 - i % 2];
#pragma omp parallel for
        for (int y = 1; y < N - 1; y++)
            for (int x = 1; x < N - 1; x++)
                to[y][x] = (from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]) / 4;
    }
    printf("%.6f\n", (double)grids[0][5][N / 2]);
}
