/* SPDX-License-Identifier: MIT */
/* life.h: an actor's life, as seen from outside: made, started, killed, over, freed. */
#ifndef WEFT_ACTOR_LIFE_H
#define WEFT_ACTOR_LIFE_H

#include "actor/actor.h"

/* Create in a given system: pools' actors, and those of tests. */
int weft__actor_make(struct weft_actor **actor, struct weft__actors *system, weft_actor_fn *fn,
                     void *arg, const weft_actor_config *config);

bool weft__actor_is_running(struct weft_actor *actor); /* under its lock; a hint */
struct weft_actor *weft__actor_here(void);        /* whose fiber this thread runs; NULL: none */
void weft__actor_start(struct weft_actor *actor); /* if it has not yet */
void weft__actor_close(struct weft_actor *actor); /* no messages, no kill from now on */
void weft__actor_over(struct weft_actor *actor, int reason);
void weft__actor_over_unrun(struct weft_actor *actor, int reason); /* it never had a fiber */
void weft__actor_unref(struct weft_actor *actor);

#endif
