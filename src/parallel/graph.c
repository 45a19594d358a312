/* SPDX-License-Identifier: MIT */
/* Making and running graphs. */
#include "parallel/graph.h"

#include "core/fiber.h"
#include "core/misuse.h"
#include "os/fatal.h"
#include "os/memory.h"
#include "parallel/graph_check.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* ---- Making ---- */

static struct weft__ready *run_node(weft *w, struct weft__ready *item);

int weft_graph_create(weft_graph **graph)
{
    if (!graph)
        return -EINVAL;
    *graph = weft__alloc(sizeof **graph);
    if (!*graph)
        return -ENOMEM;
    (*graph)->crew.run = run_node;
    return 0;
}

void weft_graph_destroy(weft_graph *graph)
{
    if (!graph)
        return;
    if (atomic_load_relaxed(&graph->running)) /* relaxed: only finds a mistake */
        weft__fatal("weft_graph_destroy: the graph is running");
    for (size_t i = 0; i < graph->nodes_n; i++)
        weft__free(graph->names[i]);
    weft__free(graph->names);
    weft__free(graph->nodes);
    weft__free(graph->edges);
    weft__free(graph->to);
    weft__free(graph);
}

/* Remembers the first error. To find the graph running is none of the graph's. */
static int failed(weft_graph *graph, int error)
{
    if (graph && !graph->error)
        graph->error = error;
    return error;
}

/* Room for one element more, in an array of elements of `size` bytes. */
static bool grow(void *array, size_t n, size_t *room, size_t size)
{
    if (n < *room)
        return true;
    size_t more = n ? 2 * n : 16;
    void *old = *(void **)array, *new = weft__alloc(more * size);
    if (!new)
        return false;
    if (n)
        memcpy(new, old, n * size);
    weft__free(old);
    *(void **)array = new;
    *room = more;
    return true;
}

static bool grow_nodes(weft_graph *graph)
{
    size_t room = graph->nodes_room;
    return grow(&graph->names, graph->nodes_n, &room, sizeof graph->names[0]) &&
           grow(&graph->nodes, graph->nodes_n, &graph->nodes_room, sizeof graph->nodes[0]);
}

/* NULL: no memory. */
static char *copy_of(const char *name)
{
    size_t size = strlen(name) + 1;
    char *copy = weft__small(size);
    return copy ? memcpy(copy, name, size) : NULL;
}

static int add(weft_graph *graph, const char *name, const struct weft__graph_node *node)
{
    if (graph && atomic_load_relaxed(&graph->running)) /* relaxed: only finds a mistake */
        return -EBUSY;
    if (!graph || !node->what.fn)
        return failed(graph, -EINVAL);
    if (graph->nodes_n == INT_MAX || !grow_nodes(graph))
        return failed(graph, -ENOMEM);
    char *copy = name ? copy_of(name) : NULL;
    if (name && !copy)
        return failed(graph, -ENOMEM);
    graph->names[graph->nodes_n] = copy;
    graph->nodes[graph->nodes_n] = *node;
    graph->changed = true;
    return (int)graph->nodes_n++;
}

int weft_graph_add(weft_graph *graph, const char *name, weft_fn *fn, void *arg)
{
    return add(graph, name, &(struct weft__graph_node){.what.fn = fn, .arg = arg, .kind = NODE_FN});
}

int weft_graph_add_condition(weft_graph *graph, const char *name, weft_condition_fn *fn, void *arg)
{
    return add(
        graph, name,
        &(struct weft__graph_node){.what.condition = fn, .arg = arg, .kind = NODE_CONDITION});
}

int weft_graph_add_graph(weft_graph *graph, const char *name, weft_graph *inner)
{
    weft_graph *other = inner == graph ? NULL : inner;
    return add(graph, name, &(struct weft__graph_node){.what.inner = other, .kind = NODE_GRAPH});
}

int weft_graph_edge(weft_graph *graph, int from, int to)
{
    if (graph && atomic_load_relaxed(&graph->running)) /* relaxed: as above */
        return -EBUSY;
    if (!graph || from < 0 || to < 0 || (size_t)from >= graph->nodes_n ||
        (size_t)to >= graph->nodes_n)
        return failed(graph, -EINVAL);
    if (graph->edges_n == WEFT__GRAPH_EDGES_MAX ||
        !grow(&graph->edges, graph->edges_n, &graph->edges_room, sizeof graph->edges[0]))
        return failed(graph, -ENOMEM);
    graph->edges[graph->edges_n++] = (struct weft__graph_edge){(uint32_t)from, (uint32_t)to};
    graph->changed = true;
    return 0;
}

/* ---- Running ---- */

void weft__graph_set_back(weft_graph *graph)
{
    for (size_t i = 0; i < graph->nodes_n; i++)
        weft__graph_wait_anew(&graph->nodes[i]);
    graph->unclean = false;
}

static struct weft__ready *choose(weft *w, struct weft__graph_node *node)
{
    const weft_graph *graph = (const weft_graph *)node->ready.crew;
    int chosen = node->what.condition(w, node->arg);
    if (chosen < 0 || (uint32_t)chosen >= node->to_count)
        return NULL;
    struct weft__graph_node *to = &graph->nodes[node->to[chosen]];
    weft__graph_wait_anew(to);
    to->ready.child = NULL;
    return &to->ready;
}

static struct weft__ready *run_node(weft *w, struct weft__ready *item)
{
    struct weft__graph_node *node = (struct weft__graph_node *)item;
    struct weft__graph_node *nodes = ((const weft_graph *)item->crew)->nodes;
    if (node->kind == NODE_CONDITION)
        return choose(w, node);
    if (node->kind == NODE_FN) {
        node->what.fn(w, node->arg);
    } else {
        int error = weft_graph_run(w, node->what.inner);
        if (error)
            weft_fail(w, error);
    }
    struct weft__forest forest = {0};
    for (uint32_t i = node->to_count; i-- > 0;) { /* so the first one runs first */
        struct weft__graph_node *to = &nodes[node->to[i]];
        if (weft__graph_arrive(to))
            weft__forest_add(&forest, &to->ready);
    }
    return weft__forest_tree(&forest);
}

static struct weft__ready *sources_of(weft_graph *graph)
{
    struct weft__forest forest = {0};
    for (size_t i = graph->sources_n; i-- > 0;)
        weft__forest_add(&forest, &graph->nodes[graph->sources[i]].ready);
    return weft__forest_tree(&forest);
}

struct run {
    struct weft__cleanup cleanup;
    weft_graph *graph;
};

/* An actor ends in the middle of its run. */
static void unwind(struct weft__cleanup *of, weft *w)
{
    weft_graph *graph = ((struct run *)of)->graph;
    (void)w;
    graph->unclean = true;
    weft__graph_end(graph);
}

static int run_prepared(weft *w, weft_graph *graph)
{
    struct run run = {.graph = graph};
    weft_scope scope;
    graph->crew.scope = &scope;
    if (graph->unclean)
        weft__graph_set_back(graph);
    weft__cleanup_push(w, &run.cleanup, unwind);
    weft_scope_open(w, &scope);
    weft__ready_run(w, sources_of(graph));
    int error = weft_scope_close(w, &scope);
    weft__cleanup_pop(w, &run.cleanup);
    return error;
}

int weft_graph_run(weft *w, weft_graph *graph)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!graph)
        return -EINVAL;
    if (!weft__graph_begin(graph))
        return -EBUSY;
    int error = weft__graph_prepare(graph, NULL);
    if (!error) {
        error = run_prepared(w, graph);
        graph->unclean = error || graph->has_conditions;
    }
    weft__graph_end(graph);
    return error;
}
