/* SPDX-License-Identifier: MIT */
/* graph_check.h: what a graph needs before it can run. */
#ifndef WEFT_PARALLEL_GRAPH_CHECK_H
#define WEFT_PARALLEL_GRAPH_CHECK_H

#include "parallel/graph.h"

#define WEFT__GRAPH_EDGES_MAX (((size_t)1 << 30) - 1) /* so `joins` can count them */

/* By the thread that has set `running`. If the graph was changed, gives each node its edges, and
 * finds the nodes to begin with. 0, or why the graph can't run, with a line in `why` if that is not
 * NULL. */
int weft__graph_prepare(weft_graph *graph, FILE *why);

/* The name of a node, as text; "node 7" if it has none. */
#define WEFT__NODE_NAME_SIZE 32
const char *weft__graph_name(const weft_graph *graph, size_t node, char text[WEFT__NODE_NAME_SIZE]);

#endif
