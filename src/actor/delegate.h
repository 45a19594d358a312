/* SPDX-License-Identifier: MIT */
/* delegate.h: what arrives at an executor that was stolen elsewhere, where it runs, and the bottom
 * of each fiber. */
#ifndef WEFT_ACTOR_DELEGATE_H
#define WEFT_ACTOR_DELEGATE_H

#include "actor/actor.h"

/* By the executor that reads the letter. */
void weft__delegation_arrives(struct weft__executor *executor, struct weft__actor_slot *slot);

/* Those that the fiber has not started: the next one, or NULL; and all go back to their victims. */
struct weft__actor_slot *weft__arrivals_pop(struct weft__fiber *fiber);
void weft__arrivals_refuse_all(struct weft__fiber *fiber);
static inline void weft__arrivals_refuse(struct weft__fiber *fiber)
{
    if (fiber->arrivals)
        weft__arrivals_refuse_all(fiber);
}

/* A stolen right side is run on the fiber, in w; or it is refused. */
void weft__delegate_run(struct weft__fiber *fiber, struct weft__actor_slot *slot, weft *w);

void weft__fiber_main(void *fiber);

#endif
