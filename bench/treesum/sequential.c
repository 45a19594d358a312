/* SPDX-License-Identifier: MIT */
#include "treesum.h"

#include "../kernel.h"

#include <stdlib.h>

static long sum(const struct node *node)
{
    if (!node->left)
        return node->value;
    return node->value + sum(node->left) + sum(node->right);
}

static void sequential(void *data)
{
    struct treesum *t = data;
    t->result = sum(t->nodes);
}

/* Nodes follow each other in memory as they are made, from left to right, parents first. */
static struct node *grow(struct node **next, unsigned levels, uint64_t *random)
{
    struct node *node = (*next)++;
    node->value = (long)(kernel_random(random) % 1000);
    node->left = levels > 1 ? grow(next, levels - 1, random) : NULL;
    node->right = levels > 1 ? grow(next, levels - 1, random) : NULL;
    return node;
}

static void *prepare(unsigned size)
{
    struct treesum *t = malloc(sizeof *t);
    struct node *nodes = malloc((((size_t)1 << size) - 1) * sizeof *nodes);
    if (!t || !nodes) {
        free(t);
        free(nodes);
        return NULL;
    }
    *t = (struct treesum){.levels = size, .nodes = nodes};
    uint64_t random = 1;
    grow(&nodes, size, &random);
    return t;
}

static void reset(void *data)
{
    struct treesum *t = data;
    t->result = 0;
}

static uint64_t checksum(const void *data)
{
    const struct treesum *t = data;
    return (uint64_t)t->result;
}

static double operations(const void *data)
{
    const struct treesum *t = data;
    return (double)(((size_t)1 << t->levels) - 1);
}

static void release(void *data)
{
    struct treesum *t = data;
    free(t->nodes);
    free(t);
}

const struct kernel treesum_kernel = {
    .name = "treesum",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .checksum = checksum,
    .operations = operations,
    .release = release,
};
