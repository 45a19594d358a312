/* SPDX-License-Identifier: MIT */
/* life.h: an actor's life, as seen from outside: made, started, killed, over, freed. */
#ifndef WEFT_ACTOR_LIFE_H
#define WEFT_ACTOR_LIFE_H

#include "actor/actor.h"

void weft__actor_start(struct weft_actor *actor); /* if it has not yet */
void weft__actor_close(struct weft_actor *actor); /* no messages, no kill from now on */
void weft__actor_over(struct weft_actor *actor, int reason);
void weft__actor_over_unrun(struct weft_actor *actor, int reason); /* it never had a fiber */

/* The caller knows that the actor is not freed: it holds a reference, or the actor is not over and
 * can't be meanwhile. */
static inline void weft__actor_ref(struct weft_actor *actor)
{
    atomic_fetch_add_relaxed(&actor->refs, 1); /* relaxed: there is a reference already */
}

void weft__actor_free(struct weft_actor *actor);
static inline void weft__actor_unref(struct weft_actor *actor)
{
    /* acq_rel A10 with itself: release A10 by each thread, acquire A10 by the last. */
    if (atomic_fetch_sub_acq_rel(&actor->refs, 1) == 1)
        weft__actor_free(actor);
}

/* Ends the process if the actor was freed, as far as that can be seen. A released actor may be used
 * by other threads than the owner until it is over. */
_Noreturn void weft__actor_is_gone(const char *function);
static inline void weft__actor_expect(const struct weft_actor *actor, const char *function)
{
    uint32_t handle = atomic_load_relaxed(&actor->handle); /* relaxed: a mistake or none */
    if (handle != HANDLE_KEPT && handle != HANDLE_RELEASED)
        weft__actor_is_gone(function);
}

static inline bool weft__actor_is_over(const struct weft_actor *actor)
{
    return atomic_load_acquire(&actor->state) == ACTOR_OVER; /* acquire A11 */
}

#endif
