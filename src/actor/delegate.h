/* SPDX-License-Identifier: MIT */
/* delegate.h: stolen right sides that arrive at an executor, how they run, and the first function
 * of each fiber. */
#ifndef WEFT_ACTOR_DELEGATE_H
#define WEFT_ACTOR_DELEGATE_H

#include "actor/actor.h"

/* By the driver of the executor that got the letter. */
void weft__delegation_arrives(struct weft__executor *executor, struct weft__actor_slot *slot);

/* Arrivals are delegations that the fiber has not started. Pop returns the oldest, or NULL; refuse
 * gives all of them back to their victims. */
struct weft__actor_slot *weft__arrivals_pop(struct weft__fiber *fiber);
void weft__arrivals_refuse_all(struct weft__fiber *fiber);
static inline void weft__arrivals_refuse(struct weft__fiber *fiber)
{
    if (fiber->arrivals)
        weft__arrivals_refuse_all(fiber);
}

/* Runs a stolen right side on the fiber, in w, and answers; or refuses it. */
void weft__delegate_run(struct weft__fiber *fiber, struct weft__actor_slot *slot, weft *w);

void weft__fiber_main(void *fiber);

#endif
