/* SPDX-License-Identifier: MIT */
#include <cilk/cilk.h>
#include <stdio.h>

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

int main(void)
{
    for (int i = 0; i < L; i++) {
        a[i] = (unsigned char)((unsigned)i * 2654435761u >> 24 & 3);
        b[i] = (unsigned char)((unsigned)i * 2246822519u >> 24 & 3);
    }
    /* Cilk has no graphs: one diagonal after the other. */
    for (int d = 0; d < 2 * BLOCKS - 1; d++) {
        int begin = d < BLOCKS ? 0 : d - BLOCKS + 1, end = d < BLOCKS ? d + 1 : BLOCKS;
        cilk_for (int row = begin; row < end; row++)
            block(row, d - row);
    }
    printf("%d\n", h[L - 1]);
}
