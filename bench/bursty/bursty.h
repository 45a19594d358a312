/* SPDX-License-Identifier: MIT */
/* bursty: short bursts of work with pauses between, as in a program that draws, plays or
 * answers. What it costs to have workers that are not worth waking. */
#ifndef BENCH_BURSTY_H
#define BENCH_BURSTY_H

#include <stddef.h>
#include <stdint.h>

#define BURSTY_PAUSE 1e-3 /* seconds */

enum {
    BURSTY_LEAVES = 512, /* of a burst; about 50 microseconds together */
    BURSTY_ROUNDS = 64,  /* of a leaf */
};

struct bursty {
    unsigned bursts;
    uint64_t result;
};

static inline uint64_t bursty_leaf(uint64_t x)
{
    for (int i = 0; i < BURSTY_ROUNDS; i++)
        x = (x ^ x >> 29) * 0x9e3779b97f4a7c15u;
    return x;
}

#endif
