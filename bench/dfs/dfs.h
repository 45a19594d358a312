/* SPDX-License-Identifier: MIT */
/* dfs: every node of a tree forks all its children in a loop, then merges them in reverse. There is
 * nothing else to do. */
#ifndef BENCH_DFS_H
#define BENCH_DFS_H

struct dfs {
    long width, depth;
    long result; /* leaves */
};

#endif
