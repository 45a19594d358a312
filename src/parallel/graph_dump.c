/* SPDX-License-Identifier: MIT */
/* Graphs in the language of Graphviz. */
#include "parallel/graph_check.h"

/* Where a graph stands in the drawing: a chain of the nodes around it. */
struct place {
    const struct place *outer; /* NULL: the whole drawing */
    const weft_graph *graph;
    size_t node; /* of the outer graph: the node that runs this one */
};

static void print_text(const char *text, FILE *out)
{
    putc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', out);
        if (*text == '\n')
            fputs("\\n", out);
        else
            putc(*text, out);
    }
    putc('"', out);
}

/* Node 3 of the graph that node 1 of the whole graph runs: n1_3. */
static void print_number(const struct place *place, size_t node, FILE *out)
{
    if (place->outer) {
        print_number(place->outer, place->node, out);
        fprintf(out, "_%zu", node);
    } else {
        fprintf(out, "n%zu", node);
    }
}

/* A graph that is around itself is a mistake, and drawn once. */
static bool is_around(const struct place *place, const weft_graph *graph)
{
    for (; place; place = place->outer)
        if (place->graph == graph)
            return true;
    return false;
}

static void print_graph(const struct place *place, FILE *out);

static void print_inner(const struct place *place, size_t node, FILE *out)
{
    const weft_graph *inner = place->graph->nodes[node].what.inner;
    if (is_around(place, inner))
        return;
    fputs("  subgraph cluster_", out);
    print_number(place, node, out);
    fputs(" {\n  ", out);
    print_number(place, node, out);
    fputs(";\n", out);
    print_graph(&(struct place){place, inner, node}, out);
    fputs("  }\n", out);
}

static void print_node(const struct place *place, size_t node, FILE *out)
{
    static const char *const shapes[] = {"", ", shape=diamond", ", shape=box, peripheries=2"};
    char text[WEFT__NODE_NAME_SIZE];
    const weft_graph *graph = place->graph;
    fputs("  ", out);
    print_number(place, node, out);
    fputs(" [label=", out);
    print_text(weft__graph_name(graph, node, text), out);
    fprintf(out, "%s];\n", shapes[graph->nodes[node].kind]);
    if (graph->nodes[node].kind == NODE_GRAPH)
        print_inner(place, node, out);
}

/* The edges of a condition have numbers. They are counted here: the graph need not be prepared. */
static void print_edge(const struct place *place, size_t at, FILE *out)
{
    const weft_graph *graph = place->graph;
    const struct weft__graph_edge *edge = &graph->edges[at];
    fputs("  ", out);
    print_number(place, edge->from, out);
    fputs(" -> ", out);
    print_number(place, edge->to, out);
    if (weft__edge_is_weak(graph, edge)) {
        unsigned number = 0;
        for (size_t i = 0; i < at; i++)
            number += graph->edges[i].from == edge->from;
        fprintf(out, " [style=dashed, label=\"%u\"]", number);
    }
    fputs(";\n", out);
}

static void print_graph(const struct place *place, FILE *out)
{
    for (size_t i = 0; i < place->graph->nodes_n; i++)
        print_node(place, i, out);
    for (size_t i = 0; i < place->graph->edges_n; i++)
        print_edge(place, i, out);
}

void weft_graph_dump(const weft_graph *graph, FILE *out)
{
    if (!graph || !out)
        return;
    fputs("digraph weft {\n", out);
    print_graph(&(struct place){.graph = graph}, out);
    fputs("}\n", out);
}
