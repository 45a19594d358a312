/* SPDX-License-Identifier: MIT */
#include "ordmap.h"

#include "../kernel.h"

#include <err.h>
#include <stdlib.h>

struct node {
    struct node *left, *right;
    uint64_t key, value;
};

/* ---- The twins ---- */

static struct node *build(const uint64_t *keys, const uint64_t *values, size_t n)
{
    if (n == 0)
        return NULL;
    struct node *node = malloc(sizeof *node);
    if (!node)
        err(EXIT_FAILURE, "ordmap");
    size_t middle = n / 2;
    node->left = build(keys, values, middle);
    node->key = keys[middle];
    node->value = values[middle];
    node->right = build(keys + middle + 1, values + middle + 1, n - middle - 1);
    return node;
}

/* The entries of a tree, or of two. */
struct list {
    uint64_t *keys, *values;
    size_t n;
};

static struct list list_make(size_t most)
{
    struct list list = {malloc(most * sizeof(uint64_t)), malloc(most * sizeof(uint64_t)), 0};
    if (!list.keys || !list.values)
        err(EXIT_FAILURE, "ordmap");
    return list;
}

static void list_drop(struct list *list)
{
    free(list->keys);
    free(list->values);
}

static void list_add(struct list *list, uint64_t key, uint64_t value)
{
    list->keys[list->n] = key;
    list->values[list->n++] = value;
}

static void list_tree(struct list *list, const struct node *node)
{
    for (; node; node = node->right) {
        list_tree(list, node->left);
        list_add(list, node->key, node->value);
    }
}

static void list_merge(struct list *to, const struct list *a, const struct list *b)
{
    size_t i = 0, j = 0;
    while (i < a->n || j < b->n) {
        if (j == b->n || (i < a->n && a->keys[i] < b->keys[j])) {
            list_add(to, a->keys[i], a->values[i]);
            i++;
        } else if (i == a->n || b->keys[j] < a->keys[i]) {
            list_add(to, b->keys[j], b->values[j]);
            j++;
        } else {
            list_add(to, a->keys[i], a->values[i] + b->values[j]);
            i++;
            j++;
        }
    }
}

static struct node *unite(const struct node *a, const struct node *b, size_t n)
{
    struct list of_a = list_make(n), of_b = list_make(n), all = list_make(2 * n);
    list_tree(&of_a, a);
    list_tree(&of_b, b);
    list_merge(&all, &of_a, &of_b);
    struct node *result = build(all.keys, all.values, all.n);
    list_drop(&of_a);
    list_drop(&of_b);
    list_drop(&all);
    return result;
}

static uint64_t add_up(const struct node *node)
{
    uint64_t sum = 0;
    for (; node; node = node->right)
        sum += add_up(node->left) + node->value;
    return sum;
}

/* ---- Not timed ---- */

static uint64_t checksum_on(uint64_t sum, const struct node *node)
{
    for (; node; node = node->right)
        sum = ordmap_checksum(checksum_on(sum, node->left), node->key, node->value);
    return sum;
}

static uint64_t checksum_plain(const void *map)
{
    return checksum_on(0, map);
}

static void drop_plain(void *map)
{
    for (struct node *node = map, *right; node; node = right) {
        drop_plain(node->left);
        right = node->right;
        free(node);
    }
}

static const struct ordmap_ways plain = {checksum_plain, drop_plain};

static void plain_build(void *data)
{
    struct ordmap *all = data;
    all->made = (struct ordmap_made){build(all->keys[0], all->values, all->count), &plain};
}

static void plain_union(void *data)
{
    struct ordmap *all = data;
    all->made =
        (struct ordmap_made){unite(all->plain[0].map, all->plain[1].map, all->count), &plain};
}

static void plain_reduce(void *data)
{
    struct ordmap *all = data;
    for (int i = 0; i < ORDMAP_SUMS; i++)
        all->sum += add_up(all->plain[0].map);
}

/* ---- The data ---- */

static void drop(struct ordmap_made *made)
{
    if (made->map)
        made->ways->drop(made->map);
    *made = (struct ordmap_made){NULL, NULL};
}

/* glibc's malloc() merges the small blocks that were freed when it is asked for a large one, or has
 * no other. It is asked here, so that no contender pays for what the one before it has freed. The
 * large block is kept: its end would give the merged ones back to the system. */
static void reset(void *data)
{
    struct ordmap *all = data;
    free(all->large);
    drop(&all->made);
    all->large = malloc(32768);
    all->sum = 0;
}

static void release(void *data)
{
    struct ordmap *all = data;
    reset(all);
    for (int i = 0; i < 2; i++) {
        drop(&all->plain[i]);
        drop(&all->other[i]);
        free(all->keys[i]);
    }
    free(all->values);
    free(all->large);
    free(all);
}

/* Even numbers, and those divisible by three: a third of the even ones are in both. */
static void *prepare(unsigned size)
{
    struct ordmap *all = calloc(1, sizeof *all);
    if (!all)
        return NULL;
    all->count = (size_t)1 << size;
    all->keys[0] = malloc(all->count * sizeof(uint64_t));
    all->keys[1] = malloc(all->count * sizeof(uint64_t));
    all->values = malloc(all->count * sizeof(uint64_t));
    if (!all->keys[0] || !all->keys[1] || !all->values) {
        release(all);
        return NULL;
    }
    for (size_t i = 0; i < all->count; i++) {
        all->keys[0][i] = 2 * i;
        all->keys[1][i] = 3 * i;
        all->values[i] = i;
    }
    for (int i = 0; i < 2; i++)
        all->plain[i] = (struct ordmap_made){build(all->keys[i], all->values, all->count), &plain};
    return all;
}

static uint64_t checksum(const void *data)
{
    const struct ordmap *all = data;
    return all->made.map ? all->made.ways->checksum(all->made.map) : all->sum;
}

static double keys(const void *data)
{
    const struct ordmap *all = data;
    return (double)all->count;
}

static double keys_added_up(const void *data)
{
    return keys(data) * (double)ORDMAP_SUMS;
}

#define KERNEL(variable, title, twin, counted) \
    const struct kernel variable = {           \
        .name = title,                         \
        .prepare = prepare,                    \
        .reset = reset,                        \
        .sequential = twin,                    \
        .checksum = checksum,                  \
        .operations = counted,                 \
        .release = release,                    \
    }

KERNEL(ordmap_build_kernel, "ordmap-build", plain_build, keys);
KERNEL(ordmap_union_kernel, "ordmap-union", plain_union, keys);
KERNEL(ordmap_reduce_kernel, "ordmap-reduce", plain_reduce, keys_added_up);
