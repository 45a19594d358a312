/* SPDX-License-Identifier: MIT */
#include "nqueens.h"

#include "../kernel.h"

#include <stdlib.h>

static long solutions(unsigned all, unsigned columns, unsigned left, unsigned right)
{
    if (columns == all)
        return 1;
    long count = 0;
    for (unsigned rest = all & ~(columns | left | right); rest; rest &= rest - 1) {
        unsigned queen = lowest_bit(rest);
        count += solutions(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return count;
}

static void sequential(void *data)
{
    struct nqueens *q = data;
    q->result = solutions(nqueens_all(q->n), 0, 0, 0);
}

static double candidates(unsigned all, unsigned columns, unsigned left, unsigned right)
{
    double count = 0;
    for (unsigned rest = all & ~(columns | left | right); rest; rest &= rest - 1) {
        unsigned queen = lowest_bit(rest);
        count += 1 + candidates(all, columns | queen, (left | queen) << 1, (right | queen) >> 1);
    }
    return count;
}

static void *prepare(unsigned size)
{
    struct nqueens *q = malloc(sizeof *q);
    if (q)
        *q = (struct nqueens){.n = size, .candidates = candidates(nqueens_all(size), 0, 0, 0)};
    return q;
}

static void reset(void *data)
{
    struct nqueens *q = data;
    q->result = 0;
}

static uint64_t checksum(const void *data)
{
    const struct nqueens *q = data;
    return (uint64_t)q->result;
}

static double operations(const void *data)
{
    const struct nqueens *q = data;
    return q->candidates;
}

const struct kernel nqueens_kernel = {
    .name = "nqueens",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .checksum = checksum,
    .operations = operations,
    .release = free,
};
