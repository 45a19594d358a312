/* SPDX-License-Identifier: MIT */
#include "actor/merge.h"

#include "actor/age.h"
#include "actor/answer.h"
#include "actor/delegate.h"
#include "actor/drive.h"
#include "actor/fiber.h"
#include "actor/memory.h"
#include "actor/quantum.h"
#include "actor/steal.h"
#include "actor/unwind.h"
#include "os/fatal.h"

static void trace(struct weft__fiber *fiber, enum weft__event_kind kind,
                  struct weft__actor_slot *slot)
{
    weft__trace(fiber->actor->system, (struct weft__event){.kind = kind,
                                                           .executor = weft__executor_of(fiber),
                                                           .fiber = fiber,
                                                           .member = fiber->top,
                                                           .slot = (weft *)slot});
}

/* ---- Waiting ---- */

static void ageing_join(struct weft__fiber *fiber)
{
    struct weft__executor *executor = weft__executor_of(fiber);
    fiber->next_ageing = executor->ageing;
    fiber->ageing_link = &executor->ageing;
    if (executor->ageing)
        executor->ageing->ageing_link = &fiber->next_ageing;
    executor->ageing = fiber;
    atomic_store_relaxed(&executor->is_ageing, true); /* relaxed: the ticker's hint */
}

static void ageing_leave(struct weft__fiber *fiber)
{
    struct weft__executor *executor = weft__executor_of(fiber);
    *fiber->ageing_link = fiber->next_ageing;
    if (fiber->next_ageing)
        fiber->next_ageing->ageing_link = fiber->ageing_link;
    atomic_store_relaxed(&executor->is_ageing, executor->ageing != NULL);
}

/* No slot has to be stamped here. Live: all slots below a stolen one are stolen, too. Strict: the
 * slots were stamped when the quantum ended. */
static void wait_a_moment(struct weft__fiber *fiber, weft *first_free)
{
    bool alone = !weft__steal_is_careful(fiber),
         ages = alone && weft__age_has_more(fiber, first_free);
    weft__executor_of(fiber)->hungry |= alone;
    fiber->waits_at = first_free;
    fiber->depth = weft__fiber_depth(fiber);
    fiber->full = false;
    if (ages)
        ageing_join(fiber);
    trace(fiber, EVENT_WAIT, NULL);
    weft__fiber_waits_for(fiber, "waits for work that it gave to others");
    atomic_store_relaxed(&fiber->merging, alone); /* relaxed: others look at it as a hint */
    weft__fiber_switch_out(fiber, WHY_WAITS);
    fiber->waits_at = NULL;
    if (ages)
        ageing_leave(fiber);
}

void weft__merge_await(struct weft__fiber *fiber, struct weft__actor_slot *awaited,
                       weft *first_free)
{
    struct weft__member *member = fiber->top;
    struct weft__actor_slot *next;
    weft__fiber_expect_here(fiber);
    for (;;) {
        bool over = awaited ? weft__answer_has_come(awaited) : weft__answer_all_have_come(member);
        if (over)
            break;
        if (weft__steal_is_careful(fiber)) {
            weft__arrivals_refuse(fiber);
            wait_a_moment(fiber, first_free);
        } else if ((next = weft__arrivals_pop(fiber)) ||
                   (next = weft__steal_seamlessly(fiber, first_free))) {
            weft__delegate_run(fiber, next, first_free);
        } else {
            wait_a_moment(fiber, first_free);
        }
    }
    trace(fiber, EVENT_RESUME, awaited);
}

/* ---- Merging ---- */

/* Returns why the victim has to end; OUTCOME_RUNS: it goes on. Once the actor has failed, or has
 * given up the fork, a single thread would not have begun the right side: then the right side does
 * not count. */
static enum member_outcome take_over(struct weft__fiber *fiber, struct weft__actor_slot *slot,
                                     enum stolen_state state, bool give_up)
{
    bool counts = !give_up && !weft__quantum_is_cancelled(fiber);
    if (state == STOLEN_DONE && !weft__memory_inherit(fiber->top, slot, counts))
        return OUTCOME_NO_MEMORY;
    if (!counts)
        return OUTCOME_RUNS;
    return state == STOLEN_NO_MEMORY  ? OUTCOME_NO_MEMORY
           : state == STOLEN_OVERFLOW ? OUTCOME_OVERFLOW
                                      : OUTCOME_RUNS;
}

bool weft__actor_merge(weft *w, bool give_up)
{
    struct weft__fiber *fiber = weft__fiber_of(w);
    struct weft__actor_slot *slot = weft__actor_slot_of(w);
    struct weft__member *member = fiber->top;
    if (w >= member->cursor) {
        weft__quantum_uncall(fiber, w);
        return weft__quantum_poll(fiber, w);
    }
    if (!weft__answer_has_come(slot)) {
        if (give_up)
            weft__group_give_up(fiber->context.group, &slot->given_up);
        /* relaxed, both: own. The slot must not look free while delegates run in the slots above.
         */
        atomic_store_relaxed(&slot->fn, weft__stamped);
        weft__merge_await(fiber, slot, w + 1);
        atomic_store_relaxed(&slot->fn, NULL);
        if (give_up)
            weft__group_take_up(fiber->context.group, &slot->given_up);
    }
    enum stolen_state state = weft__answer_is(slot);
    enum member_outcome outcome = take_over(fiber, slot, state, give_up);
    member->cursor = w;
    weft__quantum_uncall(fiber, w);
    trace(fiber, EVENT_MERGE, slot);
    bool cancelled = weft__quantum_poll(fiber, w); /* the slot may be used again from here on */
    if (outcome != OUTCOME_RUNS)
        weft__unwind(w, outcome);
    return cancelled || state != STOLEN_REFUSED; /* false: the caller runs it */
}
