/* SPDX-License-Identifier: MIT */
#include <dispatch/dispatch.h>
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

struct diagonal {
    int number, begin;
};

static void run_block(void *arg, size_t i)
{
    const struct diagonal *d = arg;
    int row = d->begin + (int)i;
    block(row, d->number - row);
}

int main(void)
{
    for (int i = 0; i < L; i++) {
        a[i] = (unsigned char)((unsigned)i * 2654435761u >> 24 & 3);
        b[i] = (unsigned char)((unsigned)i * 2246822519u >> 24 & 3);
    }
    /* One diagonal after the other; groups with dispatch_group_notify() would do without, and be
     * long. */
    for (int d = 0; d < 2 * BLOCKS - 1; d++) {
        int begin = d < BLOCKS ? 0 : d - BLOCKS + 1, end = d < BLOCKS ? d + 1 : BLOCKS;
        struct diagonal diagonal = {d, begin};
        dispatch_apply_f((size_t)(end - begin), dispatch_get_global_queue(0, 0), &diagonal,
                         run_block);
    }
    printf("%d\n", h[L - 1]);
}
