/* SPDX-License-Identifier: MIT */
/* A graph before its first run, or the first after a change: which edges each node has, which nodes
 * can begin, and whether all of them can end. */
#include "parallel/graph_check.h"

#include "os/memory.h"

#include <errno.h>

const char *weft__graph_name(const weft_graph *graph, size_t node, char text[WEFT__NODE_NAME_SIZE])
{
    if (graph->names[node])
        return graph->names[node];
    snprintf(text, WEFT__NODE_NAME_SIZE, "node %zu", node);
    return text;
}

/* ---- The edges of each node ---- */

/* relaxed, all accesses to `waits` in this file: one thread prepares a graph, and none runs it. */

static void count_edges(weft_graph *graph)
{
    graph->has_conditions = false;
    for (size_t i = 0; i < graph->nodes_n; i++) {
        struct weft__graph_node *node = &graph->nodes[i];
        node->ready.crew = &graph->crew;
        node->to_count = node->joins = 0;
        graph->has_conditions |= node->kind == NODE_CONDITION;
        atomic_store_relaxed(&node->waits, 0);
    }
    for (size_t i = 0; i < graph->edges_n; i++) {
        const struct weft__graph_edge *edge = &graph->edges[i];
        struct weft__graph_node *to = &graph->nodes[edge->to];
        graph->nodes[edge->from].to_count++;
        if (!weft__edge_is_weak(graph, edge))
            to->joins++;
        atomic_store_relaxed(&to->waits, 1); /* it can't begin by itself */
    }
}

/* After count_edges(). Nodes are in order, and so are the edges of each. */
static void place_edges(weft_graph *graph)
{
    uint32_t *place = graph->to;
    graph->sources_n = 0;
    for (size_t i = 0; i < graph->nodes_n; i++) {
        struct weft__graph_node *node = &graph->nodes[i];
        node->to = place;
        place += node->to_count;
        node->to_count = 0;
        if (atomic_load_relaxed(&node->waits) == 0)
            graph->sources[graph->sources_n++] = (uint32_t)i;
    }
    for (size_t i = 0; i < graph->edges_n; i++) {
        struct weft__graph_node *from = &graph->nodes[graph->edges[i].from];
        graph->to[(size_t)(from->to - graph->to) + from->to_count++] = graph->edges[i].to;
    }
}

static bool make_room(weft_graph *graph)
{
    weft__free(graph->to);
    graph->to = weft__scratch((graph->edges_n + graph->nodes_n + 1) * sizeof graph->to[0]);
    graph->sources = graph->to + graph->edges_n;
    return graph->to != NULL;
}

/* ---- Cycles ---- */

/* Takes away nodes that wait for none, and then those that waited for these alone, and so on. True:
 * all nodes are gone. Afterwards those with `waits` above 0 are left. */
static bool is_free_of_cycles(weft_graph *graph)
{
    struct weft__ready *list = NULL;
    size_t gone = 0;
    weft__graph_set_back(graph);
    for (size_t i = 0; i < graph->nodes_n; i++)
        if (graph->nodes[i].joins == 0) {
            graph->nodes[i].ready.sibling = list;
            list = &graph->nodes[i].ready;
        }
    for (; list; gone++) {
        const struct weft__graph_node *node = (struct weft__graph_node *)list;
        list = list->sibling;
        for (uint32_t i = 0; node->kind != NODE_CONDITION && i < node->to_count; i++) {
            struct weft__graph_node *to = &graph->nodes[node->to[i]];
            if (atomic_fetch_sub_relaxed(&to->waits, 1) != 1)
                continue;
            to->ready.sibling = list;
            list = &to->ready;
        }
    }
    return gone == graph->nodes_n;
}

/* A node of a cycle: each node of it has the next one as `sibling`. Every node that is left has an
 * edge from another one that is left. So going back from any of them ends in a cycle. */
static struct weft__ready *find_cycle(weft_graph *graph)
{
    struct weft__ready *any = NULL;
    for (size_t i = 0; i < graph->edges_n; i++) {
        const struct weft__graph_edge *edge = &graph->edges[i];
        struct weft__graph_node *from = &graph->nodes[edge->from], *to = &graph->nodes[edge->to];
        if (atomic_load_relaxed(&from->waits) == 0 || atomic_load_relaxed(&to->waits) == 0 ||
            weft__edge_is_weak(graph, edge))
            continue;
        to->ready.child = &from->ready; /* the one before */
        any = &to->ready;
    }
    for (size_t i = 0; i < graph->nodes_n; i++)
        any = any->child;
    struct weft__ready *at = any;
    do {
        at->child->sibling = at;
        at = at->child;
    } while (at != any);
    return any;
}

static void print_cycle(weft_graph *graph, FILE *why)
{
    char text[WEFT__NODE_NAME_SIZE];
    const struct weft__ready *first = find_cycle(graph), *at = first;
    fputs("a cycle without a condition: ", why);
    do {
        size_t i = (size_t)((const struct weft__graph_node *)at - graph->nodes);
        fprintf(why, "%s -> ", weft__graph_name(graph, i, text));
        at = at->sibling;
    } while (at != first);
    size_t i = (size_t)((const struct weft__graph_node *)first - graph->nodes);
    fprintf(why, "%s\n", weft__graph_name(graph, i, text));
}

/* ---- All of it ---- */

static int loops(weft_graph *graph, FILE *why)
{
    if (!is_free_of_cycles(graph)) {
        if (why)
            print_cycle(graph, why);
        return -ELOOP;
    }
    if (graph->nodes_n > 0 && graph->sources_n == 0) {
        if (why)
            fputs("no node can begin: an edge leads to each of them\n", why);
        return -ELOOP;
    }
    return 0;
}

int weft__graph_prepare(weft_graph *graph, FILE *why)
{
    int error = graph->error;
    if (error && why)
        fprintf(why, "an error when the graph was made: %s\n", weft_strerror(error));
    if (error || !graph->changed)
        return error;
    if (!make_room(graph)) {
        if (why)
            fprintf(why, "%s\n", weft_strerror(-ENOMEM));
        return -ENOMEM;
    }
    count_edges(graph);
    place_edges(graph);
    error = loops(graph, why);
    if (error)
        return error;
    weft__graph_set_back(graph);
    graph->changed = false;
    return 0;
}

int weft_graph_check(weft_graph *graph, FILE *why)
{
    int error = !graph ? -EINVAL : !weft__graph_begin(graph) ? -EBUSY : 0;
    if (error) {
        if (why)
            fprintf(why, "%s\n", weft_strerror(error));
        return error;
    }
    error = weft__graph_prepare(graph, why);
    weft__graph_end(graph);
    return error;
}
