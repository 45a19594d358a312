/* SPDX-License-Identifier: MIT */
#include "actor/steal.h"

#include "actor/age.h"
#include "actor/answer.h"
#include "actor/balance.h"
#include "actor/fiber.h"
#include "actor/places.h"
#include "actor/post.h"
#include "actor/ticker.h"
#include "os/trace.h"

/* How many short quanta a fiber may ask for before it has given a right side away. */
enum { YOUNG_QUANTA = 4 };

static void trace_attempt(struct weft__fiber *fiber, struct weft__member *victim, bool seamless)
{
    weft__trace(fiber->actor->system, (struct weft__event){.kind = EVENT_ATTEMPT,
                                                           .executor = weft__executor_of(fiber),
                                                           .fiber = fiber,
                                                           .member = victim,
                                                           .seamless = seamless});
}

bool weft__steal_is_careful(const struct weft__fiber *fiber)
{
    return fiber->context.mutexes > 0 || fiber->top->careful;
}

bool weft__steal_fits(const struct weft__fiber *fiber, size_t lineage)
{
    const struct weft_actor *actor = fiber->actor;
    return fiber->used <= lineage && fiber->depth <= FIBER_SPARE &&
           atomic_load_relaxed(&actor->unmerged) <= /* relaxed: a count */
               (actor->cabal_max - 1) * actor->limit;
}

/* The lineage of a delegate for the victim's next right side. */
static size_t next_lineage(const struct weft__member *victim)
{
    return victim->lineage + weft__actor_slot_of(victim->cursor)->use;
}

/* Takes the victim's next slot. */
static struct weft__actor_slot *take(struct weft__fiber *fiber, struct weft__member *victim,
                                     struct weft__event event)
{
    struct weft__actor_slot *slot = weft__actor_slot_of(victim->cursor);
    event.kind = EVENT_STEAL;
    event.executor = weft__executor_of(fiber);
    event.fiber = fiber;
    event.member = victim;
    event.slot = victim->cursor;
    event.age = event.executor->quanta - slot->quantum;
    slot->lineage = (uint32_t)(next_lineage(victim) / ARENA_ALIGNMENT);
    victim->cursor++;
    bool careful = victim->careful || (victim == fiber->top && fiber->context.mutexes > 0);
    weft__answer_expect(slot, victim, careful ? STOLEN_CAREFUL : STOLEN_PENDING);
    atomic_store_relaxed(&slot->wanted, SLOT_WANTED);           /* relaxed: own */
    atomic_fetch_add_relaxed(&fiber->actor->counts->steals, 1); /* relaxed: statistics */
    weft__trace(fiber->actor->system, event);
    WEFT__TRACE(DELEGATE, (uintptr_t)fiber->actor, (event.to ? event.to : event.executor)->index);
    return slot;
}

/* The executor that gets the right side; NULL: none. It is reserved, and counts as one that serves
 * the actor. */
static struct weft__executor *find_destination(struct weft__fiber *fiber)
{
    struct weft_actor *actor = fiber->actor;
    struct weft__executor *to =
        weft__balance_find_underused(weft__executor_of(fiber), actor, weft__posse_may_join);
    if (!to || weft__posse_join(actor, to))
        return to;
    weft__balance_unreserve(to, actor);
    return NULL;
}

void weft__steal_later(struct weft__fiber *fiber, weft *first_free)
{
    if (fiber->young_quanta < YOUNG_QUANTA && weft__age_has_more(fiber, first_free) &&
        weft__ticker_hurry(fiber->actor->system, true))
        fiber->young_quanta++;
}

struct weft__actor_slot *weft__steal_at_quantum(struct weft__fiber *fiber, weft *first_free)
{
    struct weft_actor *actor = fiber->actor;
    weft *end = NULL;
    struct weft__member *victim = weft__age_victim(fiber, first_free, &end);
    trace_attempt(fiber, victim, false);
    if (!victim) {
        weft__steal_later(fiber, first_free);
        return NULL;
    }
    bool runnable = victim == fiber->top, two = actor->strict && runnable;
    fiber->depth = weft__fiber_depth(fiber);
    /* Strict: the victim waits for what is given away, so giving one away is no gain; the fiber
     * runs the second one itself meanwhile. */
    if (two && (!weft__age_is_enough(fiber, victim->cursor + 1, end) ||
                weft__steal_is_careful(fiber) || !weft__steal_fits(fiber, next_lineage(victim))))
        return NULL;
    struct weft__executor *to = find_destination(fiber);
    if (!to)
        return NULL;
    fiber->young_quanta = 0;
    atomic_fetch_add_relaxed(&actor->counts->delegates, 1); /* relaxed: statistics */
    struct weft__actor_slot *away =
        take(fiber, victim, (struct weft__event){.to = to, .runnable = runnable});
    struct weft__actor_slot *own =
        two ? take(fiber, victim, (struct weft__event){.runnable = true, .self = true}) : NULL;
    weft__send(to, &away->letter, LETTER_DELEGATION);
    weft__ticker_hurry(actor->system, true); /* for the next right side, if it has one */
    return own;
}

struct weft__actor_slot *weft__steal_seamlessly(struct weft__fiber *fiber, weft *first_free)
{
    if (!fiber->may_steal)
        return NULL;
    fiber->may_steal = false;
    weft *end = NULL;
    struct weft__member *victim = weft__age_victim(fiber, first_free, &end);
    trace_attempt(fiber, victim, true);
    fiber->depth = weft__fiber_depth(fiber);
    if (!victim || !weft__steal_fits(fiber, next_lineage(victim)))
        return NULL;
    return take(fiber, victim, (struct weft__event){.self = true, .seamless = true});
}

bool weft__steal_is_possible(struct weft__fiber *fiber)
{
    weft *end;
    struct weft__member *victim = weft__age_victim(fiber, fiber->waits_at, &end);
    return victim && weft__steal_fits(fiber, next_lineage(victim));
}
