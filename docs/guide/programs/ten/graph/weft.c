/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft/graph.h>

enum { L = 16384, B = 256, BLOCKS = L / B };
static unsigned char a[L], b[L];
static int h[L], v[L], corner[BLOCKS + 1][BLOCKS + 1]; /* the edges between blocks */

/* The longest common subsequence: a block needs the block above and the block on its left. */
static void block(int row, int column)
{
    int corner_of_row = corner[row][column];
    for (int y = row * B; y < (row + 1) * B; y++) {
        int diagonal = corner_of_row, left = corner_of_row = v[y];
        for (int x = column * B; x < (column + 1) * B; x++) {
            int up = h[x], longer = up > left ? up : left;
            left = h[x] = a[y] == b[x] ? diagonal + 1 : longer;
            diagonal = up;
        }
        v[y] = left;
    }
    corner[row + 1][column + 1] = v[(row + 1) * B - 1];
}

static void run_block(weft *w, void *arg)
{
    int number = (int)((int *)arg - &corner[0][0]);
    (void)w;
    block(number / (BLOCKS + 1), number % (BLOCKS + 1));
}

static void run(weft *w, void *arg)
{
    weft_flow flow;
    int error = 0;
    (void)arg;
    weft_flow_open(w, &flow);
    for (int row = 0; row < BLOCKS; row++)
        for (int column = 0; column < BLOCKS && !error; column++) {
            weft_dep deps[] = {{&h[column * B], WEFT_INOUT}, {&v[row * B], WEFT_INOUT}};
            error = weft_flow_spawn(w, &flow, deps, 2, run_block, &corner[row][column]);
        }
    int failure = weft_flow_close(w, &flow);
    if (error || failure)
        weft_fail(w, error ? error : failure);
}

int main(void)
{
    for (int i = 0; i < L; i++) {
        a[i] = (unsigned char)((unsigned)i * 2654435761u >> 24 & 3);
        b[i] = (unsigned char)((unsigned)i * 2246822519u >> 24 & 3);
    }
    int error = weft_run(NULL, run, NULL);
    printf("%d\n", h[L - 1]);
    return error != 0;
}
