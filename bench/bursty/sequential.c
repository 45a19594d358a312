/* SPDX-License-Identifier: MIT */
#include "bursty.h"

#include "../clock.h"
#include "../kernel.h"

#include <stdlib.h>

static uint64_t burst(uint64_t lo, uint64_t hi)
{
    uint64_t sum = 0;
    for (uint64_t i = lo; i < hi; i++)
        sum += bursty_leaf(i);
    return sum;
}

static void sequential(void *data)
{
    struct bursty *b = data;
    for (unsigned i = 0; i < b->bursts; i++) {
        uint64_t lo = (uint64_t)i * BURSTY_LEAVES;
        b->result += burst(lo, lo + BURSTY_LEAVES);
        clock_rest(BURSTY_PAUSE);
    }
}

static void *prepare(unsigned size)
{
    struct bursty *b = malloc(sizeof *b);
    if (b)
        b->bursts = size;
    return b;
}

static void reset(void *data)
{
    struct bursty *b = data;
    b->result = 0;
}

static uint64_t checksum(const void *data)
{
    const struct bursty *b = data;
    return b->result;
}

static double operations(const void *data)
{
    const struct bursty *b = data;
    return b->bursts;
}

const struct kernel bursty_kernel = {
    .name = "bursty",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .checksum = checksum,
    .operations = operations,
    .release = free,
};
