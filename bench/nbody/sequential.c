/* SPDX-License-Identifier: MIT */
#include "nbody.h"

#include "../kernel.h"

#include <stdlib.h>
#include <string.h>

static void sequential(void *data)
{
    struct nbody *n = data;
    for (int tick = 0; tick < NBODY_TICKS; tick++) {
        for (size_t i = 0; i < n->count; i++) {
            struct vector pull = nbody_pull(n->now, 0, n->count, n->now[i].position);
            n->next[i] = nbody_move(n->now[i], pull);
        }
        nbody_swap(n);
    }
}

static double coordinate(uint64_t *random)
{
    return (double)(kernel_random(random) >> 11) * 0x1p-52 - 1;
}

static void scatter(struct nbody *n)
{
    uint64_t random = 1;
    for (size_t i = 0; i < n->count; i++) {
        struct body *body = &n->first[i];
        *body = (struct body){.mass = 1 / (double)n->count};
        body->position.x = coordinate(&random);
        body->position.y = coordinate(&random);
        body->position.z = coordinate(&random);
    }
}

static void *prepare(unsigned size)
{
    struct nbody *n = malloc(sizeof *n);
    struct body *bodies = calloc(3 * (size_t)size, sizeof *bodies);
    if (!n || !bodies) {
        free(n);
        free(bodies);
        return NULL;
    }
    *n = (struct nbody){size, bodies + size, bodies + 2 * (size_t)size, bodies};
    scatter(n);
    return n;
}

static void reset(void *data)
{
    struct nbody *n = data;
    memcpy(n->now, n->first, n->count * sizeof *n->now);
}

/* Sums differ in their last digits with the order of their parts, so this one has nine. */
static uint64_t checksum(const void *data)
{
    const struct nbody *n = data;
    double sum = 0;
    for (size_t i = 0; i < n->count; i++) {
        struct vector p = n->now[i].position;
        sum += (double)(i % 7 + 1) * fabs(p.x + 2 * p.y + 3 * p.z) / (double)n->count;
    }
    return (uint64_t)(sum * 1e8 + 0.5);
}

static double operations(const void *data)
{
    const struct nbody *n = data;
    return (double)n->count * (double)n->count * (double)NBODY_TICKS;
}

static void release(void *data)
{
    struct nbody *n = data;
    free(n->first);
    free(n);
}

const struct kernel nbody_kernel = {
    .name = "nbody-parreduce",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .checksum = checksum,
    .operations = operations,
    .release = release,
};
