/* SPDX-License-Identifier: MIT */
/* create.h: how an actor is made and configured, and the system's list of all actors that are not
 * over. */
#ifndef WEFT_ACTOR_CREATE_H
#define WEFT_ACTOR_CREATE_H

#include "actor/actor.h"

/* weft_actor_create() in a given system: a pool's, or a test's. */
int weft__actor_make(struct weft_actor **actor, struct weft__actors *system, weft_actor_fn *fn,
                     void *arg, const weft_actor_config *config);

void weft__actor_delist(struct weft_actor *actor); /* it is over */

#endif
