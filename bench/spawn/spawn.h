/* SPDX-License-Identifier: MIT */
/* spawn: scopes of 16 children that do next to nothing, so that the time is what a child costs. */
#ifndef BENCH_SPAWN_H
#define BENCH_SPAWN_H

#include <stdint.h>

enum { SPAWN_CHILDREN = 16 };

struct spawns {
    unsigned scopes;
    uint64_t sums[SPAWN_CHILDREN][8]; /* each in a cache line of its own */
};

static inline void spawn_work(uint64_t *sum)
{
    *sum = *sum * 0x9e3779b97f4a7c15u + 1;
}

#endif
