/* SPDX-License-Identifier: MIT */
#include "spawn.h"

#include "../kernel.h"

#include <stdlib.h>
#include <string.h>

/* Through a pointer, as a runtime calls it. */
static void (*volatile work)(uint64_t *sum) = spawn_work;

static void sequential(void *data)
{
    struct spawns *s = data;
    for (unsigned i = 0; i < s->scopes; i++)
        for (int j = 0; j < SPAWN_CHILDREN; j++)
            work(s->sums[j]);
}

static void *prepare(unsigned size)
{
    struct spawns *s = calloc(1, sizeof *s);
    if (s)
        s->scopes = size;
    return s;
}

static void reset(void *data)
{
    struct spawns *s = data;
    memset(s->sums, 0, sizeof s->sums);
}

static uint64_t checksum(const void *data)
{
    const struct spawns *s = data;
    uint64_t sum = 0;
    for (int j = 0; j < SPAWN_CHILDREN; j++)
        sum += s->sums[j][0];
    return sum;
}

static double operations(const void *data)
{
    const struct spawns *s = data;
    return (double)s->scopes * (double)SPAWN_CHILDREN;
}

const struct kernel spawn_kernel = {
    .name = "spawn",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .checksum = checksum,
    .operations = operations,
    .release = free,
};
