/* SPDX-License-Identifier: MIT */
/* actors.h: one actor from its start to its end. */
#ifndef TEST_ACTORS_H
#define TEST_ACTORS_H

#include "check.h"
#include "weft/actor.h"

static inline weft_actor *start(weft_pool *pool, weft_actor_fn *fn, void *arg,
                                const weft_actor_config *config)
{
    weft_actor *actor;
    CHECK(weft_actor_create(&actor, pool, fn, arg, config) == 0);
    CHECK(weft_actor_run(actor) == 0);
    return actor;
}

static inline int end(weft_actor *actor)
{
    int reason = weft_actor_wait(NULL, actor);
    CHECK(weft_actor_done(actor));
    weft_actor_release(actor);
    return reason;
}

static inline int run_one(weft_pool *pool, weft_actor_fn *fn, void *arg)
{
    return end(start(pool, fn, arg, NULL));
}

#endif
