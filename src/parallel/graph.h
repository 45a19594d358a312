/* SPDX-License-Identifier: MIT */
/* graph.h: what a graph consists of. graph.c makes and runs it, graph_check.c prepares the first
 * run after a change, graph_dump.c draws it. */
#ifndef WEFT_PARALLEL_GRAPH_H
#define WEFT_PARALLEL_GRAPH_H

#include "os/atomic.h"
#include "parallel/ready.h"
#include "weft/graph.h"

enum node_kind { NODE_FN, NODE_CONDITION, NODE_GRAPH };

/* As large as a cache line. Constant while the graph runs, but for `ready` and `waits`. */
struct weft__graph_node {
    struct weft__ready ready; /* first: the item is the node */
    union {
        weft_fn *fn;
        weft_condition_fn *condition;
        weft_graph *inner;
    } what;
    void *arg;
    const uint32_t *to; /* to which nodes its edges lead, in the order in which they were added */
    uint32_t to_count;
    uint32_t joins : 30; /* how many edges lead here that are not weak */
    uint32_t kind : 2;
    struct atomic_u32 waits; /* how many of these it still waits for. Written by the threads that
                                run the nodes before it; the last one sets it back to `joins` */
};

struct weft__graph_edge {
    uint32_t from, to;
};

struct weft_graph {
    struct weft__crew crew; /* first: the crew is the graph */
    struct weft__graph_node *nodes;
    char **names; /* of the nodes; or NULL */
    struct weft__graph_edge *edges;
    size_t nodes_n, nodes_room, edges_n, edges_room;
    int error;    /* the first one since it was created, or 0 */
    bool changed; /* since weft__graph_prepare() */
    bool unclean; /* nodes may wait for less than all before them */
    bool has_conditions;
    struct atomic_bool running; /* written by the thread that begins a run, and at its end */

    /* Made by weft__graph_prepare(). */
    uint32_t *to;      /* of all nodes, one after the other */
    uint32_t *sources; /* the nodes to begin with; in the same block of memory */
    size_t sources_n;
};

/* Is the edge weak? */
static inline bool weft__edge_is_weak(const weft_graph *graph, const struct weft__graph_edge *edge)
{
    return graph->nodes[edge->from].kind == NODE_CONDITION;
}

/* For a thread that runs the graph, or prepares it. False: another one does. */
static inline bool weft__graph_begin(weft_graph *graph)
{
    bool running = false;
    return atomic_cas_acquire(&graph->running, &running, true); /* acquire GR2: after the last */
}

static inline void weft__graph_end(weft_graph *graph)
{
    atomic_store_release(&graph->running, false); /* release GR2 */
}

/* Between begin and end: nodes wait for all before them. */
void weft__graph_set_back(weft_graph *graph);

#endif
