/* SPDX-License-Identifier: MIT */
/* How many ways are there to put n queens on a board of n times n, so that none attacks another? */
#include <stdio.h>
#include <weft.h>

/* [queens] */
static long queens(weft *w, int n, int row, unsigned down, unsigned left, unsigned right);
WEFT_FORKABLE(long, queens, int n; int row; unsigned down; unsigned left; unsigned right;
              , queens(w, a->n, a->row, a->down, a->left, a->right))

static long queens(weft *w, int n, int row, unsigned down, unsigned left, unsigned right)
{
    if (row == n)
        return 1;
    int children = 0;
    for (int i = 0; i < n; i++) {
        unsigned place = 1u << i;
        if ((down | left | right) & place)
            continue;
        w = WEFT_FORK_IN(w, queens, n, row + 1, down | place, (left | place) << 1,
                         (right | place) >> 1);
        children++;
    }
    long found = 0;
    for (; children > 0; children--) {
        w = weft_outer(w);
        found += WEFT_MERGE_IN(w, queens);
    }
    return found;
}
/* [end] */

static void run(weft *w, void *arg)
{
    long *found = arg;
    *found = queens(w, 9, 0, 0, 0, 0);
}

int main(void)
{
    long found;
    if (weft_run(NULL, run, &found))
        return 1;
    printf("%ld\n", found);
}
