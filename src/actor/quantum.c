/* SPDX-License-Identifier: MIT */
#include "actor/quantum.h"

#include "actor/age.h"
#include "actor/balance.h"
#include "actor/delegate.h"
#include "actor/drive.h"
#include "actor/executor.h"
#include "actor/fiber.h"
#include "actor/merge.h"
#include "actor/steal.h"
#include "actor/unwind.h"
#include "core/misuse.h"
#include "os/clock.h"

/* ---- Cancellation ---- */

bool weft__quantum_is_cancelled(struct weft__fiber *fiber)
{
    bool noticed;
    return weft__group_look(fiber->context.group, &noticed) == GROUP_CANCELLED;
}

/* Makes every merge of a pending slot take the slow road, where it sees the cancellation. A slot is
 * called once: `called` moves up here, and down where a merge takes the call back. */
static void call_merges(struct weft__fiber *fiber, weft *first_free)
{
    for (; fiber->called < first_free; fiber->called++)
        atomic_store_relaxed(&weft__slot_of(fiber->called)->wanted, SLOT_WANTED); /* relaxed: own */
}

void weft__quantum_uncall(struct weft__fiber *fiber, weft *w)
{
    atomic_store_relaxed(&weft__slot_of(w)->wanted, 0); /* relaxed: own */
    if (fiber->called > w)
        fiber->called = w;
}

/* ---- The end of a quantum ---- */

static bool quantum_is_over(struct weft__executor *executor)
{
    if (executor->system->counted)
        return --executor->polls == 0;
    if (!atomic_load_relaxed(&executor->tick)) /* relaxed: the ticker's request */
        return false;
    atomic_store_relaxed(&executor->tick, false);
    return true;
}

/* Was the actor pinned to another executor meanwhile? */
static bool is_wanted_elsewhere(struct weft__fiber *fiber)
{
    int pin = atomic_load_relaxed(&fiber->actor->pin); /* relaxed: a request */
    return fiber->is_root && pin >= 0 && (unsigned)pin != weft__executor_of(fiber)->index;
}

static void end_quantum(struct weft__fiber *fiber, weft *first_free)
{
    struct weft__executor *executor = weft__executor_of(fiber);
    struct weft_actor *actor = fiber->actor;
    bool full = fiber->full;
    fiber->full = true;
    weft__trace(actor->system, (struct weft__event){.kind = EVENT_QUANTUM,
                                                    .executor = executor,
                                                    .fiber = fiber,
                                                    .member = fiber->top,
                                                    .full = full});
    weft__arrivals_refuse(fiber);
    weft__executor_quantum(executor);
    if (!actor->system->counted && actor->system->executor_count > 1) /* else no tick hurries */
        atomic_store_relaxed(&executor->seen, weft__clock_now());     /* relaxed: a time */
    /* relaxed, both: statistics. */
    atomic_fetch_add_relaxed(&actor->counts->quanta, 1);
    atomic_fetch_add_relaxed(&actor->counts->run_ns, executor->lasted);
    weft__age_stamp(fiber, first_free, executor->quanta);
    struct weft__actor_slot *own = NULL;
    if (!full) /* its slots are stamped now, and will be old enough when the next quantum ends */
        weft__steal_later(fiber, first_free);
    else if (!weft__balance_move_one(executor))
        own = weft__steal_at_quantum(fiber, first_free);
    bool leaves = is_wanted_elsewhere(fiber);
    if (--fiber->quanta_due == 0 || leaves) {
        fiber->quanta_due = actor->share;
        /* A newcomer ran when it gave way: the next choice is the queue. */
        executor->fresh_came_first |= fiber->gave_way;
        fiber->is_new = fiber->gave_way = false;
        if (leaves || weft__executor_should_switch(executor)) {
            executor->begun = false;
            weft__fiber_switch_out(fiber, WHY_QUANTUM);
        }
    }
    if (own) {
        weft__delegate_run(fiber, own, first_free);
        weft__merge_await(fiber, NULL, first_free);
    }
}

/* ---- Polling ---- */

bool weft__quantum_poll(struct weft__fiber *fiber, weft *first_free)
{
    if (fiber->blocks > 0) /* it is away: another thread drives the executor */
        return weft__quantum_is_cancelled(fiber);
    if (!weft__executor_of(fiber)->system->counted)
        weft__fiber_guard(fiber, false);
    if (quantum_is_over(weft__executor_of(fiber)))
        end_quantum(fiber, first_free);
    if (atomic_load_relaxed(&weft__executor_of(fiber)->newcomer)) /* relaxed: a request */
        weft__fiber_give_way(fiber);
    weft__check_ending(fiber, false);
    bool cancelled = weft__quantum_is_cancelled(fiber);
    if (cancelled) {
        weft__fiber_guard(fiber, true);
        call_merges(fiber, first_free);
    }
    return cancelled;
}

void weft__actor_fork(weft *w)
{
    struct weft__fiber *fiber = weft__fiber_of(w);
    if (weft__executor_of(fiber)->system->counted)                    /* merges count, too */
        atomic_store_relaxed(&weft__slot_of(w)->wanted, SLOT_WANTED); /* relaxed: own */
    weft__quantum_poll(fiber, w + 1);
}

void weft__actor_poll(weft *w)
{
    weft__quantum_poll(weft__fiber_of(w), w);
}

/* The library's own copy of what weft/actor.h puts in place. */
extern void weft_poll(weft *w);

void weft_poll_slow_(weft *w)
{
    weft__expect_own(w, "weft_poll");
    if (weft__is_fiber(w))
        weft__hook_poll(w);
}
