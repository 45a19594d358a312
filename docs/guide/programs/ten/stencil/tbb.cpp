/* SPDX-License-Identifier: MIT */
#include <cstdio>
#include <tbb/blocked_range2d.h>
#include <tbb/parallel_for.h>

enum { N = 1024, STEPS = 200 };
static float grids[2][N][N];

int main()
{
    for (int x = 0; x < N; x++)
        grids[0][0][x] = grids[1][0][x] = 1;
    for (int i = 0; i < STEPS; i++) {
        float(*from)[N] = grids[i % 2], (*to)[N] = grids[1 - i % 2];
        tbb::parallel_for(
            tbb::blocked_range2d<int>(1, N - 1, 1, N - 1),
            [=](const tbb::blocked_range2d<int> &box) {
                for (int y = box.rows().begin(); y != box.rows().end(); y++)
                    for (int x = box.cols().begin(); x != box.cols().end(); x++)
                        to[y][x] =
                            (from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]) / 4;
            });
    }
    std::printf("%.6f\n", (double)grids[0][5][N / 2]);
}
