/* SPDX-License-Identifier: MIT */
/* treesum: the sum over a binary tree on the heap, a fork at each inner node. */
#ifndef BENCH_TREESUM_H
#define BENCH_TREESUM_H

struct node {
    struct node *left, *right; /* both or neither */
    long value;
};

struct treesum {
    unsigned levels;
    struct node *nodes; /* 2^levels - 1; the first is the root */
    long result;
};

#endif
