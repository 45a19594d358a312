/* SPDX-License-Identifier: MIT */
/* deadlock.h: actors that wait for each other: for their ends, or for room in their mailboxes.
 *
 * Each actor says whom it waits for, before it waits, and that it does not any more. That nobody
 * but they can end this is found out where it matters: when their pool is destroyed. It says who
 * they are then, as of threads that wait for each other, and ends them. */
#ifndef WEFT_ACTOR_DEADLOCK_H
#define WEFT_ACTOR_DEADLOCK_H

#include "actor/actor.h"

/* By the fiber, or NULL for anybody else, which is not noted: it waits for `whom`; NULL: for nobody
 * any more. Only the actor itself: if a right side waits elsewhere, others of its parts may go on.
 */
static inline void weft__deadlock_waits(struct weft__fiber *fiber, struct weft_actor *whom)
{
    if (!fiber || fiber->top != &fiber->actor->root)
        return;
    struct weft__actor_counts *counts = &fiber->actor->counts;
    /* relaxed, all: who looks does so twice, and believes what is the same. */
    atomic_store_relaxed(&counts->waits, atomic_load_relaxed(&counts->waits) + 1);
    atomic_store_relaxed(&counts->awaits, whom);
}

/* Tells the pool's deadlock handler, or writes, who waits for each other in a circle. */
void weft__deadlock_report(struct weft__actors *system);

#endif
