/* SPDX-License-Identifier: MIT */
/* Containers that many threads fill: hash maps of numbers to numbers, and a vector. hashmap-build:
 * from an array of keys. hashmap-put: one by one. hashmap-group: the values of equal keys are
 * added. hashmap-merge: two maps are built, and one is moved into the other. hashmap-get,
 * hashmap-find: every key is looked up, beside other threads that may put keys, and without.
 * vector-append: one number after the other, by all threads. */
#ifndef BENCH_CONTAINERS_H
#define BENCH_CONTAINERS_H

#include "../kernel.h"

enum {
    MAPS_GROUPS = 1 << 16, /* different keys in hashmap-group */
    MAPS_PROBES = 1024,    /* keys that are looked up to check a map */
};

struct containers {
    size_t n;
    uint64_t *keys;   /* all different, none is 0 */
    uint64_t *groups; /* of few different ones */
    uint64_t *values; /* of key number i: i */
    uint64_t result;
    void *own; /* the runtime's map or vector, until the next run */
    void (*own_drop)(void *own);
    void *twin; /* the twin's map for lookups. It and `own` are made once then */
};

/* The key that is looked up as number i: they are far from each other. */
static inline uint64_t containers_key(const struct containers *c, size_t i)
{
    return c->keys[i * 0x9e3779b1u & (c->n - 1)];
}

#endif
