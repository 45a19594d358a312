/* SPDX-License-Identifier: MIT */
#include "health.h"

#include "../contest.h"

#include <stdlib.h>

static void simulate(weft *w, void *arg)
{
    struct village *village = arg;
    if (!village->children) {
        health_step(village);
        return;
    }
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < HEALTH_BRANCHES; i++)
        if (weft_spawn(w, &scope, simulate, &village->children[i]))
            abort();
    health_step(village);
    weft_scope_close(w, &scope);
    health_collect(village);
}

static void steps(weft *w, void *data)
{
    struct health *health = data;
    for (unsigned i = 0; i < health->steps; i++)
        simulate(w, &health->villages[0]);
}

static void run(weft_pool *pool, void *data)
{
    weft_run(pool, steps, data);
}

const struct contest health_contest = {
    .kernel = &health_kernel,
    .weft = run,
    .what = "SIZE steps of 341 villages, a child for each",
    .operation = "village",
    .size = 500,
    .quick = 20,
    .most = 1000000,
    .reps = 21,
    .claims = {.times_twin = 1.3, .times_faster_than_peers = 1},
};
