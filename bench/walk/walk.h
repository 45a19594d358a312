/* SPDX-License-Identifier: MIT */
/* walk: a tree of folders on a file server. Each takes a millisecond until it is read, in which the
 * thread that asked for it sleeps; then its names are added up. So many reads have to be under way
 * at a time. examples/walk.c does the same with real ones. */
#ifndef BENCH_WALK_H
#define BENCH_WALK_H

#include "../clock.h"

#include <stddef.h>
#include <stdint.h>

enum {
    WALK_CHILDREN = 4,
    WALK_NAMES = 50,  /* in a folder */
    WALK_SPARES = 16, /* threads beyond the workers: weft's default, and as many for its peers */
};

struct walk {
    size_t folders; /* number i has children from 4 i + 1 to 4 i + 4, if there are so many */
    uint64_t names; /* atomic */
};

static inline size_t walk_child(const struct walk *walk, size_t folder, size_t child)
{
    size_t number = folder * WALK_CHILDREN + 1 + child;
    return number < walk->folders ? number : 0;
}

static inline void walk_wait(void)
{
    clock_rest(1e-3);
}

static inline void walk_read(struct walk *walk, size_t folder)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < WALK_NAMES; i++)
        sum += (folder * WALK_NAMES + i) * 0x9e3779b97f4a7c15u;
    /* Relaxed: read when all threads are done. */
    __atomic_fetch_add(&walk->names, sum, __ATOMIC_RELAXED);
}

#endif
