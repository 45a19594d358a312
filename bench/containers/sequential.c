/* SPDX-License-Identifier: MIT */
/* The twins: a table with open addressing, as large as twice what is in it, and an array that
 * doubles. */
#include "containers.h"

#include <stdlib.h>

struct entry {
    uint64_t key, value; /* no key is 0 */
};

struct table {
    struct entry *entries;
    size_t room, used; /* room is a power of two */
};

static void *need(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static struct entry *find(const struct table *table, uint64_t key)
{
    size_t i = (key * 0x9e3779b97f4a7c15u >> 20) & (table->room - 1);
    while (table->entries[i].key && table->entries[i].key != key)
        i = (i + 1) & (table->room - 1);
    return &table->entries[i];
}

static void grow(struct table *table)
{
    struct table larger = {.room = table->room ? 2 * table->room : 1024, .used = table->used};
    larger.entries = need(calloc(larger.room, sizeof *larger.entries));
    for (size_t i = 0; i < table->room; i++)
        if (table->entries[i].key)
            *find(&larger, table->entries[i].key) = table->entries[i];
    free(table->entries);
    *table = larger;
}

/* The value, 0 if the key is new. */
static uint64_t *put(struct table *table, uint64_t key)
{
    if (2 * table->used >= table->room)
        grow(table);
    struct entry *entry = find(table, key);
    table->used += !entry->key;
    entry->key = key;
    return &entry->value;
}

static void table_drop(void *own)
{
    struct table *table = own;
    free(table->entries);
    free(table);
}

static struct table *table_new(struct containers *c)
{
    c->own_drop = table_drop;
    c->own = need(calloc(1, sizeof(struct table)));
    return c->own;
}

static void fill(struct table *table, const struct containers *c, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        *put(table, c->keys[i]) = c->values[i];
}

static void check(struct containers *c, const struct table *table, const uint64_t *keys)
{
    c->result = table->used;
    for (size_t i = 0; i < MAPS_PROBES && i < c->n; i++)
        c->result += find(table, keys[i])->value;
}

static void build(void *data)
{
    struct containers *c = data;
    struct table *table = table_new(c);
    fill(table, c, 0, c->n);
    check(c, table, c->keys);
}

static void group(void *data)
{
    struct containers *c = data;
    struct table *table = table_new(c);
    for (size_t i = 0; i < c->n; i++)
        *put(table, c->groups[i]) += c->values[i];
    check(c, table, c->groups);
}

static void merge(void *data)
{
    struct containers *c = data;
    struct table *into = table_new(c), from = {0};
    fill(into, c, 0, c->n / 2);
    fill(&from, c, c->n / 2, c->n);
    for (size_t i = 0; i < from.room; i++)
        if (from.entries[i].key)
            *put(into, from.entries[i].key) = from.entries[i].value;
    free(from.entries);
    check(c, into, c->keys);
}

static void look_up(void *data)
{
    struct containers *c = data;
    for (size_t i = 0; i < c->n; i++)
        c->result += find(c->twin, containers_key(c, i))->value;
}

static void append(void *data)
{
    struct containers *c = data;
    uint64_t *numbers = NULL;
    size_t room = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (i == room) {
            room = room ? 2 * room : 1024;
            numbers = need(realloc(numbers, room * sizeof *numbers));
        }
        numbers[i] = c->keys[i];
        c->result += numbers[i];
    }
    c->own = numbers;
    c->own_drop = free;
}

/* ---- The data ---- */

static void drop(struct containers *c)
{
    if (c->own)
        c->own_drop(c->own);
    c->own = NULL;
}

static void release(void *data)
{
    struct containers *c = data;
    drop(c);
    if (c->twin)
        table_drop(c->twin);
    free(c->keys);
    free(c->groups);
    free(c->values);
    free(c);
}

static void *prepare(unsigned size)
{
    struct containers *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->n = (size_t)1 << size;
    c->keys = calloc(c->n, sizeof *c->keys);
    c->groups = calloc(c->n, sizeof *c->groups);
    c->values = calloc(c->n, sizeof *c->values);
    if (!c->keys || !c->groups || !c->values) {
        release(c);
        return NULL;
    }
    uint64_t state = 1, random = 2;
    for (size_t i = 0; i < c->n; i++) {
        do /* splitmix64 gives every number once */
            c->keys[i] = kernel_random(&state);
        while (c->keys[i] == 0);
        uint64_t kind = kernel_random(&random) % MAPS_GROUPS;
        c->groups[i] = kernel_random(&kind) | 1;
        c->values[i] = i;
    }
    return c;
}

static void *prepare_lookups(unsigned size)
{
    struct containers *c = prepare(size);
    if (c) {
        c->twin = need(calloc(1, sizeof(struct table)));
        fill(c->twin, c, 0, c->n);
    }
    return c;
}

static void reset(void *data)
{
    struct containers *c = data;
    c->result = 0;
    if (!c->twin)
        drop(c);
}

static uint64_t checksum(const void *data)
{
    const struct containers *c = data;
    return c->result;
}

static double operations(const void *data)
{
    const struct containers *c = data;
    return (double)c->n;
}

#define KERNEL(id, title, twin, make)   \
    const struct kernel id##_kernel = { \
        .name = (title),                \
        .prepare = (make),              \
        .reset = reset,                 \
        .sequential = (twin),           \
        .checksum = checksum,           \
        .operations = operations,       \
        .release = release,             \
    }

KERNEL(hashmap_build, "hashmap-build", build, prepare);
KERNEL(hashmap_put, "hashmap-put", build, prepare);
KERNEL(hashmap_group, "hashmap-group", group, prepare);
KERNEL(hashmap_merge, "hashmap-merge", merge, prepare);
KERNEL(hashmap_get, "hashmap-get", look_up, prepare_lookups);
KERNEL(hashmap_find, "hashmap-find", look_up, prepare_lookups);
KERNEL(vector_append, "vector-append", append, prepare);
