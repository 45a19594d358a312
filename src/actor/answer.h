/* SPDX-License-Identifier: MIT */
/* answer.h: how a delegate tells its victim that a stolen right side is over, or was refused.
 *
 *   victim    takes a slot: sets its state, counts up `pending`, and sends the slot away
 *   delegate  runs it, hands its memory over in the slot, and answers: state, count, bell
 *   victim    waits for one state, or for the count of all, and looks again at every ring
 *
 * In between the slot belongs to the delegate, but for `fn` and `wanted`. The store of its state is
 * the delegate's last touch of the slot: the victim may use it again at once. The count-down is the
 * delegate's last touch of the victim and of its frames. So no member ends before its count is
 * zero, even if it has merged everything. The bell is in the block of the victim's fiber, which
 * stays. */
#ifndef WEFT_ACTOR_ANSWER_H
#define WEFT_ACTOR_ANSWER_H

#include "actor/actor.h"

/* By the victim's fiber, before it sends the slot. */
static inline void weft__answer_expect(struct weft__actor_slot *slot, struct weft__member *victim,
                                       enum stolen_state state)
{
    slot->victim = victim;
    /* relaxed, both: the letter publishes them; otherwise only this thread reads them. */
    atomic_store_relaxed(&slot->state, state);
    atomic_fetch_add_relaxed(&victim->pending, 1);
}

/* By the delegate, or the executor that refuses the slot. Returns the victim, whose count it has to
 * count down next. */
static inline struct weft__member *weft__answer_give(struct weft__actor_slot *slot,
                                                     enum stolen_state state)
{
    struct weft__member *victim = slot->victim;
    atomic_store_release(&slot->state, state); /* release A4: the result, for a merge */
    return victim;
}

/* By the same thread. Returns the victim's fiber: the caller wakes it, unless it is its own. */
static inline struct weft__fiber *weft__answer_count(struct weft__member *victim)
{
    struct weft__fiber *fiber = victim->fiber;
    /* acq_rel A4: as above, for a victim that waits for all. */
    atomic_fetch_sub_acq_rel(&victim->pending, 1);
    return fiber;
}

/* By the victim's fiber, as the functions below. True: what the delegate did is visible; but the
 * delegate may still have to count the answer. */
static inline bool weft__answer_has_come(const struct weft__actor_slot *slot)
{
    return atomic_load_acquire(&slot->state) >= STOLEN_DONE; /* acquire A4 */
}

/* After weft__answer_has_come() was true. */
static inline enum stolen_state weft__answer_is(const struct weft__actor_slot *slot)
{
    return (enum stolen_state)atomic_load_relaxed(&slot->state); /* relaxed: acquired before */
}

/* True: no delegate touches the member any more. */
static inline bool weft__answer_all_have_come(const struct weft__member *member)
{
    return atomic_load_acquire(&member->pending) == 0; /* acquire A4 */
}

#endif
