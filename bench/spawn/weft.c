/* SPDX-License-Identifier: MIT */
#include "spawn.h"

#include "../contest.h"

#include <stdlib.h>

static void child(weft *w, void *sum)
{
    (void)w;
    spawn_work(sum);
}

static void scopes(weft *w, void *data)
{
    struct spawns *s = data;
    for (unsigned i = 0; i < s->scopes; i++) {
        weft_scope scope;
        weft_scope_open(w, &scope);
        for (int j = 0; j < SPAWN_CHILDREN; j++)
            if (weft_spawn(w, &scope, child, s->sums[j]))
                abort();
        weft_scope_close(w, &scope);
    }
}

static void run(weft_pool *pool, void *data)
{
    weft_run(pool, scopes, data);
}

const struct contest spawn_contest = {
    .kernel = &spawn_kernel,
    .weft = run,
    .what = "SIZE scopes of 16 children that do nothing",
    .operation = "child",
    .size = 100000,
    .quick = 1000,
    .most = 100000000,
    .reps = 21,
    .claims = {.ns_above_twin = 18}, /* 15 more than a fork */
};
