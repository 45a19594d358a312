/* SPDX-License-Identifier: MIT */
/* create.h: actors that have not started: their configuration, and the system's list of all that
 * are not over. */
#ifndef WEFT_ACTOR_CREATE_H
#define WEFT_ACTOR_CREATE_H

#include "actor/actor.h"

/* Create in a given system: pools' actors, and those of tests. */
int weft__actor_make(struct weft_actor **actor, struct weft__actors *system, weft_actor_fn *fn,
                     void *arg, const weft_actor_config *config);

void weft__actor_delist(struct weft_actor *actor); /* it is over */

#endif
