/* SPDX-License-Identifier: MIT */
#include "health.h"

#include <stdlib.h>

static void simulate(struct village *village)
{
    if (!village->children) {
        health_step(village);
        return;
    }
    for (int i = 0; i < HEALTH_BRANCHES; i++)
        simulate(&village->children[i]);
    health_step(village);
    health_collect(village);
}

static void sequential(void *data)
{
    struct health *health = data;
    for (unsigned i = 0; i < health->steps; i++)
        simulate(&health->villages[0]);
}

/* As it was before the first step. */
static void reset(void *data)
{
    struct health *health = data;
    for (size_t i = 0; i < health->villages_n; i++) {
        size_t child = i * HEALTH_BRANCHES + 1;
        health->villages[i] = (struct village){
            .parent = i > 0 ? &health->villages[(i - 1) / HEALTH_BRANCHES] : NULL,
            .children = child < health->villages_n ? &health->villages[child] : NULL,
            .staff = HEALTH_STAFF,
            .random = i,
        };
        for (size_t j = 0; j < HEALTH_PEOPLE; j++)
            patient_put(&health->villages[i].healthy, &health->patients[i * HEALTH_PEOPLE + j], 1);
    }
}

static void release(void *data)
{
    struct health *health = data;
    free(health->villages);
    free(health->patients);
    free(health);
}

static void *prepare(unsigned size)
{
    struct health *health = calloc(1, sizeof *health);
    if (!health)
        return NULL;
    health->steps = size;
    for (size_t level = 0, n = 1; level < HEALTH_LEVELS; level++, n *= HEALTH_BRANCHES)
        health->villages_n += n;
    health->villages = calloc(health->villages_n, sizeof health->villages[0]);
    health->patients = calloc(health->villages_n * HEALTH_PEOPLE, sizeof health->patients[0]);
    if (health->villages && health->patients)
        return health;
    release(health);
    return NULL;
}

static uint64_t checksum(const void *data)
{
    const struct health *health = data;
    uint64_t sum = 0;
    for (size_t i = 0; i < health->villages_n; i++)
        sum = sum * 31 + health->villages[i].treated + health->villages[i].random;
    return sum;
}

static double operations(const void *data)
{
    const struct health *health = data;
    return (double)health->villages_n * health->steps;
}

const struct kernel health_kernel = {
    .name = "health",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .checksum = checksum,
    .operations = operations,
    .release = release,
};
