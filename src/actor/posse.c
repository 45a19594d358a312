/* SPDX-License-Identifier: MIT */
/* Victims and delegates: what happens at the end of a quantum, and where stolen work is merged.
 *
 * All of it is done by the thread that drives the fiber, on the fiber's own stack: a fork, a merge
 * or a poll finds the guard raised and comes here. So nothing is ever stolen from code that runs,
 * and slots need no lock. What crosses threads is a delegation (a letter in the stolen slot) and
 * its answer (answer.h). */
#include "actor/answer.h"
#include "core/fatal.h"
#include "core/misuse.h"
#include "os/memory.h"

#include <errno.h>

enum { YOUNG_QUANTA = 4 }; /* so many are short in the hope that what is young will be old */

/* Never called: its address in a slot says that the slot was pending at the end of a quantum. A
 * fork overwrites it, and so does a merge. */
static void marked(weft *w, void *arg)
{
    (void)arg;
    weft__fatal("a mark was called in %p", (void *)w);
}

static size_t used_by(const struct weft__member *member)
{
    return member->scratch.used + member->results.used;
}

static size_t held_by(const struct weft__member *member)
{
    return member->scratch.held + member->results.held;
}

static void trace_slot(struct weft__fiber *fiber, enum weft__event_kind kind,
                       struct weft__member *member, struct weft__actor_slot *slot)
{
    weft__trace(fiber->actor->system, (struct weft__event){.kind = kind,
                                                           .executor = weft__executor_of(fiber),
                                                           .fiber = fiber,
                                                           .member = member,
                                                           .slot = (weft *)slot});
}

static void trace_attempt(struct weft__fiber *fiber, struct weft__member *victim, bool seamless)
{
    weft__trace(fiber->actor->system, (struct weft__event){.kind = EVENT_ATTEMPT,
                                                           .executor = weft__executor_of(fiber),
                                                           .fiber = fiber,
                                                           .member = victim,
                                                           .seamless = seamless});
}

/* ---- The guard ---- */

static bool is_cancelled(struct weft__fiber *fiber)
{
    bool noticed;
    return weft__group_look(fiber->context.group, &noticed) == GROUP_CANCELLED;
}

/* Every merge of what is pending has to know that it need not be done. */
static void call_merges(struct weft__fiber *fiber, weft *top)
{
    for (weft *w = top; w-- > fiber->context.first;)
        atomic_store_relaxed(&weft__slot_of(w)->wanted, SLOT_WANTED); /* relaxed: own */
}

/* ---- Age ---- */

/* All that is pending is so at the beginning of this quantum. What is marked lies below what is
 * not. */
static void mark_all(struct weft__fiber *fiber, weft *top, uint32_t quantum)
{
    for (weft *w = top; w-- > fiber->context.first;) {
        struct weft__actor_slot *slot = weft__actor_slot_of(w);
        weft_fn *fn = atomic_load_relaxed(&slot->fn); /* relaxed, all: its own thread's */
        if (fn == marked)
            break;
        slot->right = fn;
        slot->since = quantum;
        atomic_store_relaxed(&slot->fn, marked);
    }
}

void weft__fiber_rejuvenate(struct weft__fiber *fiber, uint32_t quantum)
{
    for (weft *w = fiber->context.first; w <= fiber->context.last; w++) {
        if (atomic_load_relaxed(&weft__slot_of(w)->fn) != marked) /* relaxed: own */
            break;
        weft__actor_slot_of(w)->since = quantum;
    }
}

/* Is the first slot that is left of the member old enough? `end`: where its slots end. */
static bool is_eligible(struct weft__fiber *fiber, weft *w, weft *end)
{
    return w < end && atomic_load_relaxed(&weft__slot_of(w)->fn) == marked && /* relaxed: own */
           (int32_t)(weft__executor_of(fiber)->quanta - weft__actor_slot_of(w)->since) > 0;
}

static bool may_lose(const struct weft__member *member)
{
    return member->outcome == OUTCOME_RUNS && member->keeps == 0;
}

/* The most basal one on the fiber that has something to steal; NULL: none. */
static struct weft__member *find_victim(struct weft__fiber *fiber, weft *top, weft **its_end)
{
    struct weft__member *found = NULL;
    weft *end = top;
    for (struct weft__member *member = fiber->top; member; member = member->below) {
        if (may_lose(member) && is_eligible(fiber, member->cursor, end)) {
            found = member;
            *its_end = end;
        }
        end = member->base;
    }
    return found;
}

/* Is anything left on the fiber that could be stolen once it is older? */
static bool has_more(struct weft__fiber *fiber, weft *top)
{
    weft *end = top;
    for (struct weft__member *member = fiber->top; member; member = member->below) {
        if (may_lose(member) && member->cursor < end &&
            atomic_load_relaxed(&weft__slot_of(member->cursor)->fn))
            return true;
        end = member->base;
    }
    return false;
}

/* ---- Stealing ---- */

/* What would run on top of it may want a mutex that it holds, or that it helps the holder of. */
static bool is_careful(const struct weft__fiber *fiber)
{
    return fiber->context.mutexes > 0 || fiber->top->careful;
}

/* The member's next slot is not its own any more. */
static struct weft__actor_slot *take(struct weft__fiber *fiber, struct weft__member *victim,
                                     struct weft__event event)
{
    struct weft__actor_slot *slot = weft__actor_slot_of(victim->cursor);
    event.kind = EVENT_STEAL;
    event.executor = weft__executor_of(fiber);
    event.fiber = fiber;
    event.member = victim;
    event.slot = victim->cursor;
    event.age = event.executor->quanta - slot->since;
    victim->cursor++;
    size_t lineage = victim->lineage + used_by(victim);
    slot->since = (uint32_t)((lineage + ARENA_UNIT - 1) / ARENA_UNIT);
    bool careful = victim->careful || (victim == fiber->top && fiber->context.mutexes > 0);
    weft__answer_expect(slot, victim,
                        (fiber->context.library ? STOLEN_LIBRARY : STOLEN_PENDING) |
                            (careful ? STOLEN_CAREFUL : STOLEN_PENDING));
    atomic_store_relaxed(&slot->wanted, SLOT_WANTED);          /* relaxed: own */
    atomic_fetch_add_relaxed(&fiber->actor->counts.steals, 1); /* relaxed: statistics */
    weft__trace(fiber->actor->system, event);
    return slot;
}

/* Would a delegate of the member fit on top of what is on the fiber already? Then what the fiber
 * uses never passes the limit: see README.md. */
static bool fits(const struct weft__fiber *fiber, const struct weft__member *victim)
{
    return fiber->used <= victim->lineage + used_by(victim);
}

/* At the end of a full quantum. Returns what its own fiber has to run, or NULL. */
static struct weft__actor_slot *steal_at_quantum(struct weft__fiber *fiber, weft *top)
{
    struct weft_actor *actor = fiber->actor;
    struct weft__executor *executor = weft__executor_of(fiber);
    weft *end = NULL;
    struct weft__member *victim = find_victim(fiber, top, &end);
    trace_attempt(fiber, victim, false);
    if (!victim) {
        if (has_more(fiber, top) && fiber->young_quanta++ < YOUNG_QUANTA)
            weft__ticker_hurry(actor->system);
        return NULL;
    }
    bool runnable = victim == fiber->top, two = actor->strict && runnable;
    if (two && (!is_eligible(fiber, victim->cursor + 1, end) || !fits(fiber, victim)))
        return NULL; /* the others would wait for one, which is no gain */
    if (two && is_careful(fiber))
        return NULL;
    struct weft__executor *to = weft__executor_underused(executor, actor, weft__posse_may_join);
    if (!to)
        return NULL;
    if (!weft__posse_join(actor, to)) {
        weft__executor_unreserve(to, actor);
        return NULL;
    }
    fiber->young_quanta = 0;
    atomic_fetch_add_relaxed(&actor->counts.delegates, 1); /* relaxed: statistics */
    struct weft__actor_slot *away =
        take(fiber, victim, (struct weft__event){.to = to, .runnable = runnable});
    struct weft__actor_slot *own =
        two ? take(fiber, victim, (struct weft__event){.runnable = true, .self = true}) : NULL;
    weft__send(to, &away->letter, LETTER_DELEGATION);
    weft__ticker_hurry(actor->system); /* there may be more to give, and others who want it */
    return own;
}

/* When a delegate has ended, or a quantum, and what is below it waits. */
static struct weft__actor_slot *steal_seamlessly(struct weft__fiber *fiber, weft *top)
{
    if (!fiber->may_steal)
        return NULL;
    fiber->may_steal = false;
    weft *end = NULL;
    struct weft__member *victim = find_victim(fiber, top, &end);
    trace_attempt(fiber, victim, true);
    if (!victim || !fits(fiber, victim))
        return NULL;
    return take(fiber, victim, (struct weft__event){.self = true, .seamless = true});
}

bool weft__fiber_can_steal(struct weft__fiber *fiber)
{
    weft *end, *top = fiber->waits_at;
    struct weft__member *victim = find_victim(fiber, top, &end);
    return victim && fits(fiber, victim);
}

/* ---- Answers ---- */

/* The last touch of the slot and of its victim; the memory of the victim's fiber stays. */
static void answer(struct weft__actor_slot *slot, enum stolen_state state, struct weft__fiber *here)
{
    struct weft__fiber *fiber = weft__answer_give(slot, state);
    if (fiber != here)
        weft__fiber_wake(fiber);
}

static void give_back(struct weft__actor_slot *slot, struct weft__executor *executor)
{
    struct weft_actor *actor = slot->victim->fiber->actor;
    atomic_fetch_add_relaxed(&actor->counts.given_back, 1); /* relaxed: statistics */
    weft__trace(actor->system, (struct weft__event){.kind = EVENT_GIVE_BACK,
                                                    .executor = executor,
                                                    .member = slot->victim,
                                                    .slot = (weft *)slot});
    weft__posse_leave(actor, executor);
    answer(slot, STOLEN_GIVEN_BACK, NULL);
}

/* ---- Arrivals ---- */

static void arrivals_push(struct weft__fiber *fiber, struct weft__actor_slot *slot)
{
    slot->letter.next = NULL;
    if (!fiber->arrivals)
        fiber->arrivals_end = &fiber->arrivals;
    *fiber->arrivals_end = &slot->letter;
    fiber->arrivals_end = &slot->letter.next;
}

static struct weft__actor_slot *arrivals_pop(struct weft__fiber *fiber)
{
    struct weft__letter *letter = fiber->arrivals;
    if (!letter)
        return NULL;
    fiber->arrivals = letter->next;
    return (struct weft__actor_slot *)((char *)letter - offsetof(struct weft__actor_slot, letter));
}

void weft__give_back_arrivals(struct weft__fiber *fiber)
{
    struct weft__actor_slot *slot;
    while ((slot = arrivals_pop(fiber)))
        give_back(slot, weft__executor_of(fiber));
}

void weft__delegation_arrives(struct weft__executor *executor, struct weft__actor_slot *slot)
{
    struct weft_actor *actor = slot->victim->fiber->actor;
    struct weft__place *place = &actor->places[executor->index];
    struct weft__fiber *fiber = atomic_load_relaxed(&place->fiber); /* relaxed: its own */
    weft__executor_unreserve(executor, actor);
    if (!fiber) {
        fiber = weft__fiber_get(executor, actor, false);
        if (!fiber) {
            give_back(slot, executor);
            return;
        }
        weft__lock_take(&actor->posse_lock);        /* a kill sees it, or it sees the kill */
        atomic_store_release(&place->fiber, fiber); /* release A8 */
        weft__lock_drop(&actor->posse_lock);
        arrivals_push(fiber, slot);
        weft__executor_ready(executor, fiber);
        return;
    }
    arrivals_push(fiber, slot);
    if (fiber->state != FIBER_WAITING && fiber->state != FIBER_AWAY)
        return; /* it looks at its arrivals when it waits, and at the end of its quantum */
    if (atomic_load_relaxed(&fiber->merging)) /* relaxed: its own; never while it is away */
        weft__executor_ready(executor, fiber);
    else
        weft__give_back_arrivals(fiber); /* it may wait for what depends on this */
}

/* ---- Delegates ---- */

static struct weft__group *group_of(struct weft__actor_slot *slot)
{
    while (!slot->group)
        slot--;
    return slot->group;
}

/* What delegates have left becomes the member's. */
static void collect(struct weft__fiber *fiber, struct weft__member *member)
{
    weft__lock_take(&member->adopt_lock);
    fiber->used += member->adopted.used;
    if (fiber->held)
        weft__actor_not_elsewhere(fiber->actor, member->adopted.held);
    weft__arena_adopt(&member->results, &member->adopted);
    weft__lock_drop(&member->adopt_lock);
}

static bool is_past_limit(struct weft__fiber *fiber, struct weft__member *member)
{
    return member->lineage + used_by(member) > fiber->actor->limit;
}

/* One that is unwound between weft_block_begin() and end goes back to its executor first. */
static void come_back(weft *w)
{
    struct weft__fiber *fiber = weft__fiber_of(w);
    if (fiber->blocks == 0)
        return;
    fiber->blocks = 1;
    weft_block_end(w);
}

/* It was left by a jump: what it had forked is nobody's. */
static void forget_forks(weft *base)
{
    struct weft__context *context = weft__context_of(base);
    come_back(base);
    for (weft *w = base; w < context->last; w++) {
        struct weft__slot *slot = weft__slot_of(w);
        weft_fn *fn = atomic_load_relaxed(&slot->fn); /* relaxed, all: own */
        if (!fn && !slot->group && w > base && !atomic_load_relaxed(&slot->wanted))
            break;
        atomic_store_relaxed(&slot->fn, NULL);
        atomic_store_relaxed(&slot->wanted, 0);
        slot->group = NULL;
    }
}

static void check_returned(weft *w, struct weft__group *group, unsigned mutexes)
{
    weft__expect_merged(w, "an actor");
    if (weft__context_of(w)->group != group)
        weft__fatal("an actor returned without closing a scope that it opened");
    if (weft__fiber_of(w)->blocks > 0)
        weft__fatal("an actor returned between weft_block_begin and weft_block_end");
    if (weft__context_of(w)->mutexes != mutexes)
        weft__fatal("an actor returned that holds a mutex");
}

/* The last touch of the actor, too, if this was the last delegate on the fiber: the posse has no
 * context here any more. */
static void end_stolen(struct weft__fiber *fiber, struct weft__actor_slot *slot, bool done)
{
    struct weft_actor *actor = fiber->actor;
    struct weft__executor *executor = weft__executor_of(fiber);
    if (slot->victim->fiber != fiber) {
        if (!fiber->top && !fiber->arrivals) /* relaxed: its own */
            atomic_store_relaxed(&actor->places[executor->index].fiber, NULL);
        weft__posse_leave(actor, executor);
        executor->hungry = true;
    }
    if (!done)
        atomic_fetch_add_relaxed(&actor->counts.given_back, 1); /* relaxed: statistics */
    trace_slot(fiber, done ? EVENT_DONE : EVENT_GIVE_BACK, slot->victim, slot);
    answer(slot, done ? STOLEN_DONE : STOLEN_GIVEN_BACK, fiber);
}

/* Its results become its victim's. False: there is no room for them; then they go with it. */
static bool bequeath(struct weft__fiber *fiber, struct weft__member *member)
{
    struct weft__member *victim = member->victim;
    if (victim->fiber == fiber) {
        weft__arena_adopt(&victim->results, &member->results);
        return true;
    }
    if (fiber->held && !weft__actor_elsewhere(fiber->actor, member->results.held))
        return false;
    fiber->used -= member->results.used;
    weft__lock_take(&victim->adopt_lock);
    weft__arena_adopt(&victim->adopted, &member->results);
    weft__lock_drop(&victim->adopt_lock);
    return true;
}

static void wait_for(struct weft__fiber *fiber, struct weft__actor_slot *awaited, weft *top);

/* Before a member is gone. Who merged a right side has seen that it is done, but its delegate may
 * have yet to count it. */
static void await_last_answer(struct weft__fiber *fiber, weft *w)
{
    if (!weft__answer_all_have_come(fiber->top))
        wait_for(fiber, NULL, w);
}

static void call_right(weft *w, struct weft__actor_slot *slot)
{
    void *arg = atomic_load_relaxed(&slot->arg); /* relaxed: came with the letter */
    WEFT__MUST_RETURN(weft__actor_threw, slot->right(w, arg));
}

static void run_stolen(struct weft__fiber *fiber, struct weft__actor_slot *slot, weft *w)
{
    struct weft__member *victim = slot->victim;
    struct weft_actor *actor = fiber->actor;
    size_t lineage = (size_t)slot->since * ARENA_UNIT;
    if (lineage > actor->limit)
        lineage = actor->limit; /* by rounding: a victim past it gives nothing away */
    unsigned how = atomic_load_relaxed(&slot->state); /* relaxed: came with the letter */
    if (weft__fiber_is_killed(fiber) || fiber->used > lineage) {
        end_stolen(fiber, slot, false);
        return;
    }
    struct weft__group *outer = fiber->context.group, *outer_here = weft__slot_of(w)->group;
    struct weft__member member = {
        .victim = victim,
        .below = fiber->top,
        .fiber = fiber,
        .base = w,
        .cursor = w,
        .lineage = lineage,
        .group = group_of(slot),
        .library = fiber->context.library,
        .mutexes = fiber->context.mutexes,
        .careful = how & STOLEN_CAREFUL,
    };
    fiber->context.group = weft__slot_of(w)->group = member.group;
    fiber->top = &member;
    if (how & STOLEN_LIBRARY)
        fiber->context.library++;
    trace_slot(fiber, EVENT_START, &member, slot);
    if (_setjmp(member.entry) == 0) {
        if (!is_cancelled(fiber))
            call_right(w, slot);
        member.outcome = OUTCOME_RETURNED;
        check_returned(w, member.group, member.mutexes);
    } else {
        forget_forks(w);
        fiber->context.mutexes = member.mutexes;
    }
    await_last_answer(fiber, w);
    collect(fiber, &member);
    if (is_past_limit(fiber, &member))
        member.outcome = OUTCOME_NO_MEMORY;
    fiber->top = member.below;
    fiber->context.library = member.library;
    fiber->context.group = outer;
    weft__slot_of(w)->group = outer_here;
    fiber->may_steal = true;
    trace_slot(fiber, EVENT_END, &member, slot);
    if (member.outcome == OUTCOME_RETURNED && !bequeath(fiber, &member))
        member.outcome = OUTCOME_NO_MEMORY;
    fiber->used -= used_by(&member);
    weft__actor_memory(actor, 0, held_by(&member));
    if (!fiber->held)
        weft__actor_not_elsewhere(actor, held_by(&member));
    weft__arena_drop(&member.scratch);
    weft__arena_drop(&member.results);
    end_stolen(fiber, slot, member.outcome == OUTCOME_RETURNED);
}

/* ---- Waiting for delegates ---- */

/* Before it touches what is its executor's. */
static void expect_here(const struct weft__fiber *fiber)
{
    if (fiber->blocks > 0)
        weft__fatal("an actor waits between weft_block_begin and weft_block_end");
}

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

/* Nothing is to be marked: live, all that is below a stolen slot is stolen, too; strict, they were
 * marked when the quantum ended. */
static void wait_a_moment(struct weft__fiber *fiber, weft *top)
{
    bool alone = !is_careful(fiber), ages = alone && has_more(fiber, top);
    weft__executor_of(fiber)->hungry |= alone;
    fiber->waits_at = top;
    fiber->full = false;
    if (ages)
        ageing_join(fiber);
    trace_slot(fiber, EVENT_WAIT, fiber->top, NULL);
    weft__fiber_waits_for(fiber, "waits for work that it gave to others");
    atomic_store_relaxed(&fiber->merging, alone); /* relaxed: others look at it as a hint */
    weft__fiber_switch_out(fiber, WHY_WAITS);
    fiber->waits_at = NULL;
    if (ages)
        ageing_leave(fiber);
}

/* Until this slot is answered; NULL: until all are. Whatever can run on top does so meanwhile. */
static void wait_for(struct weft__fiber *fiber, struct weft__actor_slot *awaited, weft *top)
{
    struct weft__member *member = fiber->top;
    struct weft__actor_slot *next;
    expect_here(fiber);
    for (;;) {
        bool over = awaited ? weft__answer_has_come(awaited) : weft__answer_all_have_come(member);
        if (over)
            break;
        if (is_careful(fiber)) {
            weft__give_back_arrivals(fiber);
            wait_a_moment(fiber, top);
        } else if ((next = arrivals_pop(fiber)) || (next = steal_seamlessly(fiber, top))) {
            run_stolen(fiber, next, top);
        } else {
            wait_a_moment(fiber, top);
        }
    }
    collect(fiber, member);
    trace_slot(fiber, EVENT_RESUME, member, awaited);
}

weft *weft__first_free(weft *w)
{
    while (atomic_load_relaxed(&weft__slot_of(w)->fn)) /* relaxed: own */
        w++;
    return w;
}

_Noreturn void weft__unwind_now(struct weft__member *member, enum outcome outcome)
{
    struct weft__group *group = member->fiber->context.group;
    while (group != member->group) { /* scopes that it has not closed */
        struct weft__group *parent = group->parent;
        if (group->left)
            group->left(group);
        weft__group_end(group);
        group = parent;
    }
    member->outcome = outcome;
    _longjmp(member->entry, 1);
}

_Noreturn void weft__unwind(weft *top, enum outcome outcome)
{
    struct weft__fiber *fiber = weft__fiber_of(top);
    struct weft__member *member = fiber->top;
    come_back(top);
    member->outcome = outcome;  /* nothing more is stolen from it */
    wait_for(fiber, NULL, top); /* its delegates use its frames */
    weft__unwind_now(member, outcome);
}

void weft__check_killed(weft *top)
{
    struct weft__fiber *fiber = weft__fiber_of(top);
    if (weft__fiber_is_killed(fiber) && fiber->context.library == 0 && fiber->context.mutexes == 0)
        weft__unwind(top, OUTCOME_KILLED);
}

/* ---- Looking up ---- */

static bool quantum_is_over(struct weft__executor *executor)
{
    if (executor->system->counted)
        return --executor->polls == 0;
    if (!atomic_load_relaxed(&executor->tick)) /* relaxed: the ticker's request */
        return false;
    atomic_store_relaxed(&executor->tick, false);
    return true;
}

/* Pinned to another executor meanwhile? */
static bool is_wanted_elsewhere(struct weft__fiber *fiber)
{
    int pin = atomic_load_relaxed(&fiber->actor->pin); /* relaxed: a request */
    return fiber->held && pin >= 0 && (unsigned)pin != weft__executor_of(fiber)->index;
}

static void end_quantum(struct weft__fiber *fiber, weft *top)
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
    weft__give_back_arrivals(fiber);
    weft__executor_quantum(executor);
    /* relaxed, both: statistics. */
    atomic_fetch_add_relaxed(&actor->counts.quanta, 1);
    atomic_fetch_add_relaxed(&actor->counts.run_ns, executor->lasted);
    mark_all(fiber, top, executor->quanta);
    struct weft__actor_slot *own = NULL;
    if (full && !weft__executor_move_one(executor))
        own = steal_at_quantum(fiber, top);
    bool leaves = is_wanted_elsewhere(fiber);
    if (--fiber->left == 0 || leaves) {
        fiber->left = actor->share;
        if (leaves || weft__executor_should_turn(executor))
            weft__fiber_switch_out(fiber, WHY_QUANTUM);
    }
    if (own) {
        run_stolen(fiber, own, top);
        wait_for(fiber, NULL, top);
    }
}

static void check_limit(struct weft__fiber *fiber, weft *top)
{
    if (is_past_limit(fiber, fiber->top))
        weft__unwind(top, OUTCOME_NO_MEMORY);
}

/* True: what is pending need not be done. `top`: the first free slot. */
static bool look_up(struct weft__fiber *fiber, weft *top)
{
    if (fiber->blocks > 0)
        return is_cancelled(fiber); /* the executor is somebody else's meanwhile */
    if (!weft__executor_of(fiber)->system->counted)
        weft__fiber_guard(fiber, false);
    check_limit(fiber, top); /* a lineage past it would be no limit to delegates */
    if (quantum_is_over(weft__executor_of(fiber)))
        end_quantum(fiber, top);
    weft__check_killed(top);
    check_limit(fiber, top);
    bool cancelled = is_cancelled(fiber);
    if (cancelled) {
        weft__fiber_guard(fiber, true);
        call_merges(fiber, top);
    }
    return cancelled;
}

void weft__actor_fork(weft *w)
{
    struct weft__fiber *fiber = weft__fiber_of(w);
    if (weft__executor_of(fiber)->system->counted)                    /* merges count, too */
        atomic_store_relaxed(&weft__slot_of(w)->wanted, SLOT_WANTED); /* relaxed: own */
    look_up(fiber, w + 1);
}

/* What was given back is run by the member itself, all of it: if parts of it were stolen again, and
 * given back again, the work would double with each level. All that the member has left to steal
 * is part of it: what is below was stolen before. */
static void run_here(weft *w, weft_fn *right, void *arg)
{
    struct weft__member *member = weft__fiber_of(w)->top;
    member->keeps++;
    right(w, arg);
    member->keeps--; /* unless it was unwound, with the member */
}

bool weft__actor_merge(weft *w)
{
    struct weft__fiber *fiber = weft__fiber_of(w);
    struct weft__actor_slot *slot = weft__actor_slot_of(w);
    struct weft__member *member = fiber->top;
    if (w >= member->cursor) {
        atomic_store_relaxed(&slot->wanted, 0); /* relaxed: own */
        return look_up(fiber, w);
    }
    if (!weft__answer_has_come(slot)) {
        /* relaxed, both: own. Not free while others run in the slots above. */
        atomic_store_relaxed(&slot->fn, marked);
        wait_for(fiber, slot, w + 1);
        atomic_store_relaxed(&slot->fn, NULL);
    } else {
        collect(fiber, member);
    }
    bool done = weft__answer_is_done(slot);
    weft_fn *right = slot->right;
    void *arg = atomic_load_relaxed(&slot->arg); /* relaxed: own */
    member->cursor = w;
    atomic_store_relaxed(&slot->wanted, 0);
    trace_slot(fiber, EVENT_MERGE, member, slot);
    if (!look_up(fiber, w) && !done) /* the slot may have been used since */
        run_here(w, right, arg);
    return true;
}

void weft__actor_poll(weft *w)
{
    look_up(weft__fiber_of(w), w);
}

/* For anything but delegates. */
void weft__fiber_suspend(struct weft__fiber *fiber)
{
    expect_here(fiber);
    weft__give_back_arrivals(fiber);
    fiber->full = false;
    weft__fiber_switch_out(fiber, WHY_WAITS);
}

/* ---- The bottom of a fiber ---- */

static int reason_of(struct weft_actor *actor, int code)
{
    switch (actor->root.outcome) {
    case OUTCOME_KILLED:
        return -ECANCELED;
    case OUTCOME_NO_MEMORY:
        return -ENOMEM;
    case OUTCOME_OVERFLOW:
        return -EOVERFLOW;
    default:
        return code;
    }
}

static void call_actor(weft *w, struct weft_actor *actor)
{
    WEFT__MUST_RETURN(weft__actor_threw, actor->reason = actor->fn(w, actor->arg));
}

static void run_actor(struct weft__fiber *fiber)
{
    struct weft_actor *actor = fiber->actor;
    struct weft__member *root = &actor->root;
    weft *w = fiber->context.first;
    root->base = root->cursor = w;
    root->group = &actor->group;
    fiber->context.group = weft__slot_of(w)->group = &actor->group;
    fiber->top = root;
    if (_setjmp(root->entry) == 0) {
        call_actor(w, actor);
        root->outcome = OUTCOME_RETURNED;
        check_returned(w, &actor->group, 0);
    } else {
        forget_forks(w);
    }
    await_last_answer(fiber, w);
    weft__slot_of(w)->group = NULL;
    fiber->context.group = NULL;
    fiber->top = NULL;
    weft__give_back_arrivals(fiber);
    weft__actor_close(actor);
    int failure = weft__group_end(&actor->group);
    actor->reason = reason_of(actor, actor->reason ? actor->reason : failure);
    collect(fiber, root);
    weft__actor_memory(actor, 0, held_by(root));
    fiber->used = 0;
    weft__arena_drop(&root->scratch);
    weft__arena_drop(&root->results);
}

static void run_arrivals(struct weft__fiber *fiber)
{
    struct weft__actor_slot *slot;
    while ((slot = arrivals_pop(fiber)))
        run_stolen(fiber, slot, fiber->context.first);
}

void weft__fiber_main(void *arg)
{
    struct weft__fiber *fiber = arg;
    if (fiber->held)
        run_actor(fiber);
    else
        run_arrivals(fiber);
    fiber->why = WHY_OVER;
    weft__strand_leave(&fiber->strand, fiber->home);
}
