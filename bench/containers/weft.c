/* SPDX-License-Identifier: MIT */
#include "containers.h"

#include "../contest.h"

#include <stdlib.h>
#include <weft/hashmap.h>
#include <weft/parallel.h>
#include <weft/vector.h>

static void must(int error)
{
    if (error)
        abort();
}

static void add(weft *w, void *left, const void *right, void *arg)
{
    (void)w;
    (void)arg;
    *(uint64_t *)left += *(const uint64_t *)right;
}

static const weft_hashmap_kind plain = {.key_size = sizeof(uint64_t),
                                        .value_size = sizeof(uint64_t)};
static const weft_hashmap_kind sums = {
    .key_size = sizeof(uint64_t), .value_size = sizeof(uint64_t), .combine = add};

static void map_drop(void *own)
{
    weft_hashmap_destroy(own);
}

static weft_hashmap *map_new(struct containers *c, const weft_hashmap_kind *kind)
{
    weft_hashmap *map;
    must(weft_hashmap_create(&map, kind, 0));
    c->own = map;
    c->own_drop = map_drop;
    return map;
}

static void check(struct containers *c, weft_hashmap *map, const uint64_t *keys)
{
    c->result = weft_hashmap_size(map);
    for (size_t i = 0; i < MAPS_PROBES && i < c->n; i++)
        c->result += *(uint64_t *)weft_hashmap_find(map, &keys[i]);
}

static void build(weft *w, void *data)
{
    struct containers *c = data;
    weft_hashmap *map = map_new(c, &plain);
    must(weft_hashmap_put_all(w, map, c->keys, c->values, c->n));
    check(c, map, c->keys);
}

static void put_range(weft *w, size_t begin, size_t end, void *data)
{
    const struct containers *c = data;
    for (size_t i = begin; i < end; i++)
        must(weft_hashmap_put(w, c->own, &c->keys[i], &c->values[i]));
}

static void put(weft *w, void *data)
{
    struct containers *c = data;
    weft_hashmap *map = map_new(c, &plain);
    weft_for(w, 0, c->n, put_range, c);
    check(c, map, c->keys);
}

static void group(weft *w, void *data)
{
    struct containers *c = data;
    weft_hashmap *map = map_new(c, &sums);
    must(weft_hashmap_put_all(w, map, c->groups, c->values, c->n));
    check(c, map, c->groups);
}

static void merge(weft *w, void *data)
{
    struct containers *c = data;
    size_t half = c->n / 2;
    weft_hashmap *into = map_new(c, &plain), *from;
    must(weft_hashmap_create(&from, &plain, 0));
    must(weft_hashmap_put_all(w, into, c->keys, c->values, half));
    must(weft_hashmap_put_all(w, from, c->keys + half, c->values + half, c->n - half));
    must(weft_hashmap_merge(w, into, from));
    weft_hashmap_destroy(from);
    check(c, into, c->keys);
}

static void look_up_ready(weft_pool *pool, void *data)
{
    struct containers *c = data;
    if (!c->own)
        must(weft_run(pool, build, c));
    c->result = 0;
}

static void get_range(weft *w, size_t begin, size_t end, void *data)
{
    struct containers *c = data;
    uint64_t sum = 0, value = 0;
    (void)w;
    for (size_t i = begin; i < end; i++) {
        uint64_t key = containers_key(c, i);
        if (weft_hashmap_get(c->own, &key, &value))
            sum += value;
    }
    __atomic_fetch_add(&c->result, sum, __ATOMIC_RELAXED);
}

static void get(weft *w, void *data)
{
    struct containers *c = data;
    weft_for(w, 0, c->n, get_range, c);
}

static void find_range(weft *w, size_t begin, size_t end, void *data)
{
    struct containers *c = data;
    uint64_t sum = 0;
    (void)w;
    for (size_t i = begin; i < end; i++) {
        uint64_t key = containers_key(c, i);
        sum += *(const uint64_t *)weft_hashmap_find(c->own, &key);
    }
    __atomic_fetch_add(&c->result, sum, __ATOMIC_RELAXED);
}

static void find(weft *w, void *data)
{
    struct containers *c = data;
    weft_for(w, 0, c->n, find_range, c);
}

static void vector_drop(void *own)
{
    weft_vector_destroy(own);
}

static void append_range(weft *w, size_t begin, size_t end, void *data)
{
    struct containers *c = data;
    uint64_t sum = 0;
    (void)w;
    for (size_t i = begin; i < end; i++) {
        size_t place;
        must(weft_vector_append(c->own, &c->keys[i], 1, &place));
        sum += *(const uint64_t *)weft_vector_at(c->own, place);
    }
    __atomic_fetch_add(&c->result, sum, __ATOMIC_RELAXED);
}

static void append(weft *w, void *data)
{
    struct containers *c = data;
    weft_vector *vector;
    must(weft_vector_create(&vector, sizeof(uint64_t)));
    c->own = vector;
    c->own_drop = vector_drop;
    weft_for(w, 0, c->n, append_range, c);
}

#define CONTEST(id, job, before, words)                                       \
    static void id##_run(weft_pool *pool, void *data)                         \
    {                                                                         \
        weft_run(pool, job, data);                                            \
    }                                                                         \
    const struct contest id##_contest = {                                     \
        .kernel = &id##_kernel,                                               \
        .ready = (before),                                                    \
        .weft = id##_run,                                                     \
        .what = (words),                                                      \
        .operation = "key",                                                   \
        .size = 20,                                                           \
        .quick = 10,                                                          \
        .most = 30,                                                           \
        .reps = 11,                                                           \
        .claims = {.times_faster_than_peers = 1, .times_faster_together = 1}, \
    }

CONTEST(hashmap_build, build, NULL, "weft_hashmap_put_all of 2^SIZE keys");
CONTEST(hashmap_put, put, NULL, "weft_hashmap_put, 2^SIZE times");
CONTEST(hashmap_group, group, NULL, "weft_hashmap_put_all, 2^SIZE values added up in 2^16 groups");
CONTEST(hashmap_merge, merge, NULL,
        "weft_hashmap_merge of two maps, 2^SIZE keys together, after put_all");
CONTEST(hashmap_get, get, look_up_ready, "weft_hashmap_get of each of 2^SIZE keys");
CONTEST(hashmap_find, find, look_up_ready, "weft_hashmap_find of each of 2^SIZE keys");
CONTEST(vector_append, append, NULL, "weft_vector_append of 2^SIZE numbers, one at a time");
