/* SPDX-License-Identifier: MIT */
/* places.h: where a posse has fibers, and which executors serve it. An actor has no places until
 * work of it is offered to another executor. */
#ifndef WEFT_ACTOR_PLACES_H
#define WEFT_ACTOR_PLACES_H

#include "actor/actor.h"

/* Could a delegation go there? A hint, asked before the executor is reserved. */
bool weft__posse_may_join(struct weft_actor *actor, struct weft__executor *executor);

/* Counts delegations that are sent to an executor or run there. False: cabal_max executors serve
 * the posse already. */
bool weft__posse_join(struct weft_actor *actor, struct weft__executor *executor);
void weft__posse_leave(struct weft_actor *actor, struct weft__executor *executor);

/* Is all of the actor on this fiber? Then it can be moved. */
bool weft__actor_is_whole(struct weft__fiber *fiber);
void weft__posse_moves(struct weft_actor *actor, struct weft__executor *from,
                       struct weft__executor *to, struct weft__fiber *fiber);

void weft__posse_wake(struct weft_actor *actor); /* wakes all its fibers */

#endif
