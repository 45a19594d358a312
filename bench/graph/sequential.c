/* SPDX-License-Identifier: MIT */
#include "graph.h"

#include "../kernel.h"

#include <stdlib.h>
#include <string.h>

void graph_node(const struct graph *g, size_t i)
{
    uint64_t value = i;
    for (uint32_t k = g->first[i]; k < g->first[i + 1]; k++)
        value = value * 31 + g->values[g->before[k]];
    g->values[i] = value;
}

/* The order of the numbers is an order in which nodes may run. */
static void plain(void *data)
{
    const struct graph *g = data;
    for (size_t i = 0; i < g->n; i++)
        graph_node(g, i);
}

/* ---- The data ---- */

static void release(void *data)
{
    struct graph *g = data;
    if (g->own)
        g->own_drop(g->own);
    free(g->first);
    free(g->before);
    free(g->values);
    free(g);
}

/* Writes the nodes before node i, at most GRAPH_BEFORE_MAX, and returns how many. */
typedef unsigned shape_fn(size_t i, size_t n, uint32_t *before, uint64_t *random);

static void *prepare(unsigned size, shape_fn *shape)
{
    struct graph *g = calloc(1, sizeof *g);
    uint64_t random = 1;
    if (!g)
        return NULL;
    g->n = (size_t)1 << size;
    g->first = malloc((g->n + 1) * sizeof *g->first);
    g->before = malloc(g->n * GRAPH_BEFORE_MAX * sizeof *g->before);
    g->values = malloc(g->n * sizeof *g->values);
    if (!g->first || !g->before || !g->values) {
        release(g);
        return NULL;
    }
    g->first[0] = 0;
    for (size_t i = 0; i < g->n; i++)
        g->first[i + 1] = g->first[i] + shape(i, g->n, g->before + g->first[i], &random);
    return g;
}

static unsigned chain(size_t i, size_t n, uint32_t *before, uint64_t *random)
{
    (void)n;
    (void)random;
    before[0] = (uint32_t)i - 1;
    return i > 0;
}

static unsigned tree(size_t i, size_t n, uint32_t *before, uint64_t *random)
{
    (void)n;
    (void)random;
    before[0] = (uint32_t)(i - 1) / 2;
    return i > 0;
}

/* Node (y, x) of a square comes after (y - 1, x) and (y, x - 1). */
static unsigned wavefront(size_t i, size_t n, uint32_t *before, uint64_t *random)
{
    size_t side = 1;
    unsigned count = 0;
    (void)random;
    while (side * side < n)
        side *= 2;
    if (i >= side)
        before[count++] = (uint32_t)(i - side);
    if (i % side > 0)
        before[count++] = (uint32_t)i - 1;
    return count;
}

/* Up to four nodes of the thousand before it. */
static unsigned dag(size_t i, size_t n, uint32_t *before, uint64_t *random)
{
    unsigned count = i ? (unsigned)(kernel_random(random) % (GRAPH_BEFORE_MAX + 1)) : 0;
    (void)n;
    for (unsigned k = 0; k < count; k++)
        before[k] = (uint32_t)(i - 1 - kernel_random(random) % (i < 1000 ? i : 1000));
    return count;
}

static void reset(void *data)
{
    struct graph *g = data;
    memset(g->values, 0, g->n * sizeof *g->values);
}

static uint64_t checksum(const void *data)
{
    const struct graph *g = data;
    uint64_t sum = 0;
    for (size_t i = 0; i < g->n; i++)
        sum = sum * 31 + g->values[i];
    return sum;
}

static double nodes(const void *data)
{
    const struct graph *g = data;
    return (double)g->n;
}

#define KERNEL(way, shape)                              \
    static void *prepare_##way##_##shape(unsigned size) \
    {                                                   \
        return prepare(size, shape);                    \
    }                                                   \
    const struct kernel way##_##shape##_kernel = {      \
        .name = #way "-" #shape,                        \
        .prepare = prepare_##way##_##shape,             \
        .reset = reset,                                 \
        .sequential = plain,                            \
        .checksum = checksum,                           \
        .operations = nodes,                            \
        .release = release,                             \
    };

KERNEL(graph, chain)
KERNEL(graph, tree)
KERNEL(graph, wavefront)
KERNEL(graph, dag)
KERNEL(flow, chain)
KERNEL(flow, tree)
KERNEL(flow, wavefront)
KERNEL(flow, dag)
