/* SPDX-License-Identifier: MIT */
/* weft/graph.h: jobs that wait for other jobs.
 *
 * A graph is made once and run as often as wanted. A flow is for tasks that are found one after the
 * other, and says which of them have to wait by the addresses that they read and write. */
#ifndef WEFT_GRAPH_H
#define WEFT_GRAPH_H

#include "../weft.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Graphs ------------------------------------------------------------------ */

/* Nodes and edges. A node is a job: it may fork, loop, block and fail.
 *
 *     weft_graph *graph;
 *     int error = weft_graph_create(&graph);
 *     ...
 *     int parse = weft_graph_add(graph, "parse", parse_fn, &unit);
 *     int build = weft_graph_add(graph, "build", build_fn, &unit);
 *     weft_graph_edge(graph, parse, build);
 *     error = weft_graph_run(w, graph);
 *     weft_graph_destroy(graph);
 *
 * One thread at a time makes or changes a graph, while it does not run. A graph remembers the first
 * error of its making: weft_graph_check() and weft_graph_run() return it. So the calls in between
 * need no tests of their own. */
typedef struct weft_graph weft_graph;

WEFT_API WEFT_MUST_USE int weft_graph_create(weft_graph **graph);
WEFT_API void weft_graph_destroy(weft_graph *graph); /* NULL: nothing to do */

/* Adds a node that runs fn(w, arg), and returns its number, from 0 on. The name is copied; NULL:
 * none. -EINVAL: no graph or function; -EBUSY: the graph runs; -ENOMEM. */
WEFT_API int weft_graph_add(weft_graph *graph, const char *name, weft_fn *fn, void *arg);

/* `to` begins after `from` is over, and sees what that wrote. -EINVAL: no such node; the others as
 * above. */
WEFT_API int weft_graph_edge(weft_graph *graph, int from, int to);

/* A condition: a node that says which node is next. It returns k, and the node at its edge number k
 * begins, counted from 0 in the order in which its edges were added; for any other value, none
 * does. Such edges are weak: the node begins at once, whatever other edges lead to it, and is not
 * waited for. So they make branches, and loops:
 *
 *     step -> done?    done? -0-> step    done? -1-> report
 *
 * Nodes without any edge that leads to them begin when the graph is run. A node that a weak edge
 * alone leads to begins when it is chosen. Each time a node begins, it waits for all its other
 * edges anew. So if a node runs again, what it is joined with has to run again, too; and a node
 * must not be chosen while it is running. */
typedef int weft_condition_fn(weft *w, void *arg);
WEFT_API int weft_graph_add_condition(weft_graph *graph, const char *name, weft_condition_fn *fn,
                                      void *arg);

/* A node that runs another graph, which has to exist as long as this one. If that fails, so does
 * the node. -EINVAL: `inner` is missing, or is the graph itself. */
WEFT_API int weft_graph_add_graph(weft_graph *graph, const char *name, weft_graph *inner);

/* Runs the graph, and returns when all is over. A run is a scope: it returns what was given to the
 * first weft_fail(), or -ECANCELED if a computation around it has failed or passed its deadline, or
 * 0. Nodes that have not begun by then never do. The graph can be run again after that. Only the
 * first run after a change needs memory.
 * -ELOOP: a cycle without a condition, or there is no node to begin with; -EBUSY: it is running
 * already; -EINVAL: no graph; -ENOMEM. */
WEFT_API WEFT_MUST_USE int weft_graph_run(weft *w, weft_graph *graph);

/* Would it run? Otherwise the error; and if `why` is not NULL, one line about it is written there,
 * with the names of the nodes of a cycle: "a cycle without a condition: a -> b -> a". */
WEFT_API int weft_graph_check(weft_graph *graph, FILE *why);

/* Writes the graph, and graphs inside it, in the language of Graphviz: for dot(1). */
WEFT_API void weft_graph_dump(const weft_graph *graph, FILE *out);

/* ---- Flows ------------------------------------------------------------------- */

/* A scope whose children wait for each other, as `omp task depend` does. It lives in the frame of
 * the job that opens it, and that job alone spawns into it. Of tasks that name the same address,
 * those that write wait for all that were spawned before, and those that read wait for the last
 * one that writes. Addresses are only compared.
 *
 *     weft_flow_open(w, &flow);
 *     for (...)
 *         error = weft_flow_spawn(w, &flow,
 *                                 (weft_dep[]){{&a[i], WEFT_IN}, {&sum, WEFT_INOUT}}, 2,
 *                                 add, &parts[i]);
 *     error = weft_flow_close(w, &flow);
 */
typedef struct weft_flow {
    WEFT_ALIGNAS(8) unsigned char opaque[sizeof(weft_scope) + 160];
} weft_flow;

enum weft_access {
    WEFT_IN,    /* reads */
    WEFT_OUT,   /* writes */
    WEFT_INOUT, /* both; the same as WEFT_OUT, and clearer to the reader */
};

typedef struct weft_dep {
    const void *address;
    enum weft_access access;
} weft_dep;

WEFT_API void weft_flow_open(weft *w, weft_flow *flow);

/* Runs fn(w, arg) sometime before the flow is closed, when the tasks that it waits for are over.
 * `deps` has n elements, and is copied. When thousands of tasks are waiting, the caller first runs
 * some of them. Spawning by any job but the one that opened the flow is a broken rule. -EINVAL,
 * -ENOMEM: not spawned. */
WEFT_API WEFT_MUST_USE int weft_flow_spawn(weft *w, weft_flow *flow, const weft_dep *deps, size_t n,
                                           weft_fn *fn, void *arg);

/* Waits for all tasks; returns the first failure, -ECANCELED or 0, as weft_scope_close(). After a
 * failure, tasks that have not begun never do. */
WEFT_API WEFT_MUST_USE int weft_flow_close(weft *w, weft_flow *flow);

#ifdef __cplusplus
}
#endif

#endif
