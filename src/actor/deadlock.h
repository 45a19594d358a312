/* SPDX-License-Identifier: MIT */
/* deadlock.h: actors that wait for each other, or for what nobody is left to do.
 *
 * Each actor says what it waits for, before it waits: the end of another one, room in another one's
 * mailbox, a mutex, an event, a channel. It is said that it does not any more: by itself, or, of
 * something that it stands in line for, by who takes it out of the line. That nobody but they can
 * end this is found out where it matters: when their pool is destroyed. It says who they are then,
 * as of threads that wait for each other, and ends them.
 *
 * Only the actor itself counts. If a right side waits elsewhere, others of its parts may go on; and
 * of one that has given work away, nobody knows what that will do. */
#ifndef WEFT_ACTOR_DEADLOCK_H
#define WEFT_ACTOR_DEADLOCK_H

#include "actor/actor.h"

static inline bool weft__deadlock_concerns(const struct weft__fiber *fiber)
{
    return fiber && fiber->top == &fiber->actor->root;
}

/* relaxed: who looks does so twice, and believes what is the same. Only one writes at a time. */
static inline void weft__deadlock_changes(struct weft__awaits *awaits)
{
    atomic_store_relaxed(&awaits->changes, atomic_load_relaxed(&awaits->changes) + 1);
}

/* By the fiber, or NULL for anybody else, which is not noted: it waits for `whom`, in static words;
 * NULL: for nobody any more. */
static inline void weft__deadlock_waits(struct weft__fiber *fiber, struct weft_actor *whom,
                                        const char *words)
{
    if (!weft__deadlock_concerns(fiber))
        return;
    weft__deadlock_changes(&fiber->actor->awaits);
    /* relaxed, both: as above. */
    atomic_store_relaxed(&fiber->actor->counts.waits_for, (void *)(uintptr_t)words);
    atomic_store_relaxed(&fiber->actor->awaits.actor, whom);
}

/* By the fiber, under the object's lock: it stands in line. And by anybody, under the same lock: it
 * does not any more. So whoever finds `by` in the actor, and has the actor's lock, has the object
 * as well: nobody frees what somebody stands in line for. */
void weft__deadlock_blocked(struct weft__fiber *fiber, const struct weft__blocked *by);
void weft__deadlock_roused(struct weft__fiber *fiber, const struct weft__blocked *by);

/* Tells the pool's deadlock handler, or writes, who waits for each other. */
void weft__deadlock_report(struct weft__actors *system);

#endif
