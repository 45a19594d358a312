/* SPDX-License-Identifier: MIT */
/* deadlock.h: actors that wait for each other, or for an event or a channel that no thread can
 * serve any more.
 *
 * Before an actor waits, it notes what it waits for: the end of another actor, room in another
 * actor's mailbox, a mutex, an event, a channel. The note is taken back by the actor itself or, if
 * it stands in line for an object, by the thread that takes it out of the line. When a pool is
 * destroyed, it looks for actors whose waits can't end, reports them, and kills them.
 *
 * Only the actor itself is noted. If one of its right sides waits elsewhere, its other parts may go
 * on. An actor that has given work away counts as one that can go on: its delegates may end the
 * wait. */
#ifndef WEFT_ACTOR_DEADLOCK_H
#define WEFT_ACTOR_DEADLOCK_H

#include "actor/actor.h"

static inline bool weft__deadlock_concerns(const struct weft__fiber *fiber)
{
    return fiber && fiber->top == &fiber->actor->root;
}

/* relaxed: the report reads it twice, and believes what is the same. One thread writes at a time.
 */
static inline void weft__deadlock_changes(struct weft__awaits *awaits)
{
    atomic_store_relaxed(&awaits->changes, atomic_load_relaxed(&awaits->changes) + 1);
}

/* By the fiber: it waits for `whom`, in static words; `whom` NULL: it does not wait any more. A
 * thread outside actors passes a NULL fiber, and nothing is noted. */
static inline void weft__deadlock_waits(struct weft__fiber *fiber, struct weft_actor *whom,
                                        const char *words)
{
    if (!weft__deadlock_concerns(fiber))
        return;
    weft__deadlock_changes(&fiber->actor->awaits);
    weft__stats_note(&fiber->actor->counts->waits_actor, (uintptr_t)whom);
    if (whom)
        weft__stats_words(words);
    /* relaxed, both: as above. */
    atomic_store_relaxed(&fiber->actor->counts->waits_for, (void *)(uintptr_t)words);
    atomic_store_relaxed(&fiber->actor->awaits.actor, whom);
}

/* By the fiber, under the object's lock: it stands in line. By the thread that takes it out of the
 * line, under the same lock: it does not any more. So a report that finds `by` in the actor, and
 * holds the actor's lock, may use the object: no object is freed while a fiber stands in line. */
void weft__deadlock_blocked(struct weft__fiber *fiber, const struct weft__blocked *by);
void weft__deadlock_roused(struct weft__fiber *fiber, const struct weft__blocked *by);

/* Passes the report to the pool's deadlock handler, or writes it; nothing if there is no deadlock.
 */
void weft__deadlock_report(struct weft__actors *system);

#endif
