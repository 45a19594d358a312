/* SPDX-License-Identifier: MIT */
#include "graph.h"

#include "../contest.h"

#include <stdlib.h>
#include <weft/graph.h>

/* ---- Graphs ---- */

struct node {
    const struct graph *all;
    size_t number;
};

struct made {
    weft_graph *graph;
    struct node *nodes;
};

static void run_node(weft *w, void *arg)
{
    const struct node *node = arg;
    (void)w;
    graph_node(node->all, node->number);
}

static void drop(void *own)
{
    struct made *made = own;
    weft_graph_destroy(made->graph);
    free(made->nodes);
    free(made);
}

static void ready(weft_pool *pool, void *data)
{
    struct graph *g = data;
    (void)pool;
    if (g->own)
        return;
    struct made *made = calloc(1, sizeof *made);
    if (!made || weft_graph_create(&made->graph))
        return;
    g->own = made;
    g->own_drop = drop;
    made->nodes = calloc(g->n, sizeof *made->nodes);
    for (size_t i = 0; made->nodes && i < g->n; i++) {
        made->nodes[i] = (struct node){g, i};
        weft_graph_add(made->graph, NULL, run_node, &made->nodes[i]);
        for (uint32_t k = g->first[i]; k < g->first[i + 1]; k++)
            weft_graph_edge(made->graph, (int)g->before[k], (int)i);
    }
    weft_graph_check(made->graph, NULL);
}

static void graph_job(weft *w, void *data)
{
    const struct graph *g = data;
    const struct made *made = g->own;
    weft_graph_run(w, made ? made->graph : NULL);
}

static void run_graph(weft_pool *pool, void *data)
{
    weft_run(pool, graph_job, data);
}

/* ---- Flows ---- */

/* A task's argument is where its value stands: so it needs no memory of its own. */
static const struct graph *all; /* of the flow that runs: contenders take turns */

static void run_task(weft *w, void *value)
{
    (void)w;
    graph_node(all, (size_t)((uint64_t *)value - all->values));
}

static void flow_job(weft *w, void *data)
{
    const struct graph *g = data;
    weft_flow flow;
    all = g;
    weft_flow_open(w, &flow);
    for (size_t i = 0; i < g->n; i++) {
        weft_dep deps[GRAPH_BEFORE_MAX + 1];
        size_t count = 0;
        for (uint32_t k = g->first[i]; k < g->first[i + 1]; k++)
            deps[count++] = (weft_dep){&g->values[g->before[k]], WEFT_IN};
        deps[count++] = (weft_dep){&g->values[i], WEFT_OUT};
        weft_flow_spawn(w, &flow, deps, count, run_task, &g->values[i]);
    }
    weft_flow_close(w, &flow);
}

static void run_flow(weft_pool *pool, void *data)
{
    weft_run(pool, flow_job, data);
}

/* ---- The contests ---- */

#define CONTESTS(shape, text)                           \
    const struct contest graph_##shape##_contest = {    \
        .kernel = &graph_##shape##_kernel,              \
        .ready = ready,                                 \
        .weft = run_graph,                              \
        .what = "weft_graph_run, 2^SIZE nodes, " text,  \
        .operation = "node",                            \
        .size = 16,                                     \
        .quick = 8,                                     \
        .most = 24,                                     \
        .reps = 15,                                     \
        .claims = {.times_faster_than_peers = 1},       \
    };                                                  \
    const struct contest flow_##shape##_contest = {     \
        .kernel = &flow_##shape##_kernel,               \
        .weft = run_flow,                               \
        .what = "weft_flow_spawn, 2^SIZE tasks, " text, \
        .operation = "task",                            \
        .size = 16,                                     \
        .quick = 8,                                     \
        .most = 24,                                     \
        .reps = 15,                                     \
        .claims = {.times_faster_than_peers = 1},       \
    };

CONTESTS(chain, "one after the other")
CONTESTS(tree, "a binary tree")
CONTESTS(wavefront, "a square, from one corner to the other")
CONTESTS(dag, "at random")

int bench_graph(const struct bench_run *run)
{
    static const struct contest *const all_contests[] = {
        &graph_chain_contest, &graph_tree_contest, &graph_wavefront_contest, &graph_dag_contest,
        &flow_chain_contest,  &flow_tree_contest,  &flow_wavefront_contest,  &flow_dag_contest,
    };
    int status = EXIT_SUCCESS;
    for (size_t i = 0; i < sizeof all_contests / sizeof all_contests[0] && !status; i++)
        status = contest_run(all_contests[i], run);
    return status;
}
