/* SPDX-License-Identifier: MIT */
/* graph: jobs that wait for others, in the shapes that Taskflow's benchmarks have: a chain, a
 * binary tree, a wavefront, and a random graph without cycles. A node does next to nothing, so what
 * is measured is what nodes and edges cost. graph-...: the graph was made before, and runs;
 * flow-...: it is found while it runs, by the addresses that each task reads and writes. */
#ifndef BENCH_GRAPH_H
#define BENCH_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GRAPH_BEFORE_MAX = 4 };

/* Node i comes after the nodes before[k] for k from first[i] to first[i + 1] - 1. Their numbers are
 * smaller than i. */
struct graph {
    size_t n;
    uint32_t *first, *before;
    uint64_t *values;
    void *own; /* what the contender has made of it, or NULL */
    void (*own_drop)(void *own);
};

/* Node i, the same function for all contenders. */
void graph_node(const struct graph *g, size_t i);

#ifdef __cplusplus
}
#endif

#endif
