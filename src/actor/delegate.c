/* SPDX-License-Identifier: MIT */
#include "actor/delegate.h"

#include "actor/answer.h"
#include "actor/balance.h"
#include "actor/executor.h"
#include "actor/fiber.h"
#include "actor/life.h"
#include "actor/memory.h"
#include "actor/merge.h"
#include "actor/places.h"
#include "actor/post.h"
#include "actor/quantum.h"
#include "actor/steal.h"
#include "actor/unwind.h"
#include "core/misuse.h"
#include "os/fatal.h"
#include "os/trace.h"

#include <errno.h>

static void trace(struct weft__executor *executor, struct weft__fiber *fiber,
                  enum weft__event_kind kind, struct weft__member *member,
                  struct weft__actor_slot *slot)
{
    weft__trace(executor->system, (struct weft__event){.kind = kind,
                                                       .executor = executor,
                                                       .fiber = fiber,
                                                       .member = member,
                                                       .slot = (weft *)slot});
}

/* The last touch of the slot and of its victim; the memory of the victim's fiber stays. */
static void answer(struct weft__actor_slot *slot, enum stolen_state state, struct weft__fiber *here)
{
    struct weft__actors *system = slot->victim->fiber->actor->system;
    struct weft__member *victim = weft__answer_give(slot, state);
    weft__trace(system, (struct weft__event){.kind = EVENT_COUNT, .member = victim});
    struct weft__fiber *fiber = weft__answer_count(victim);
    if (fiber != here)
        weft__fiber_wake(fiber);
}

/* ---- Arrivals ---- */

static void refuse(struct weft__actor_slot *slot, struct weft__executor *executor,
                   struct weft__fiber *here)
{
    struct weft_actor *actor = slot->victim->fiber->actor;
    atomic_fetch_add_relaxed(&actor->counts->given_back, 1); /* relaxed: statistics */
    trace(executor, NULL, EVENT_REFUSE, slot->victim, slot);
    WEFT__TRACE(GIVE_BACK, (uintptr_t)actor, executor->index);
    if (slot->victim->fiber != here)
        weft__posse_leave(actor, executor);
    answer(slot, STOLEN_REFUSED, here);
}

static void arrivals_push(struct weft__fiber *fiber, struct weft__actor_slot *slot)
{
    slot->letter.next = NULL;
    if (!fiber->arrivals)
        fiber->arrivals_end = &fiber->arrivals;
    *fiber->arrivals_end = &slot->letter;
    fiber->arrivals_end = &slot->letter.next;
}

struct weft__actor_slot *weft__arrivals_pop(struct weft__fiber *fiber)
{
    struct weft__letter *letter = fiber->arrivals;
    if (!letter)
        return NULL;
    fiber->arrivals = letter->next;
    return (struct weft__actor_slot *)((char *)letter - offsetof(struct weft__actor_slot, letter));
}

void weft__arrivals_refuse_all(struct weft__fiber *fiber)
{
    struct weft__actor_slot *slot;
    while ((slot = weft__arrivals_pop(fiber)))
        refuse(slot, weft__executor_of(fiber), NULL);
}

void weft__delegation_arrives(struct weft__executor *executor, struct weft__actor_slot *slot)
{
    struct weft_actor *actor = slot->victim->fiber->actor;
    struct weft__place *place = &actor->places[executor->index];
    struct weft__fiber *fiber = atomic_load_relaxed(&place->fiber); /* relaxed: its own */
    weft__balance_unreserve(executor, actor);
    if (!fiber) {
        fiber = weft__fiber_get(executor, actor, false);
        if (!fiber) {
            refuse(slot, executor, NULL);
            return;
        }
        weft__lock_take(&actor->posse_lock); /* a kill sees the fiber, or the fiber sees the kill */
        atomic_store_release(&place->fiber, fiber); /* release A8 */
        weft__lock_drop(&actor->posse_lock);
        arrivals_push(fiber, slot);
        weft__executor_ready(executor, fiber, READY_LAST);
        return;
    }
    arrivals_push(fiber, slot);
    if (fiber->state != FIBER_WAITING && fiber->state != FIBER_AWAY)
        return; /* it looks at its arrivals when it waits, and at the end of its quantum */
    if (atomic_load_relaxed(&fiber->merging)) /* relaxed: its own; false while it is away */
        weft__executor_ready(executor, fiber, READY_LAST);
    else
        weft__arrivals_refuse(fiber); /* what it waits for may depend on this right side */
}

/* ---- Delegates ---- */

static struct weft__group *group_of(struct weft__actor_slot *slot)
{
    while (!slot->group)
        slot--;
    return slot->group;
}

/* The member was unwound: what it had forked is not merged. */
static void forget_forks(const struct weft__member *member, weft *base)
{
    struct weft__context *context = weft__context_of(base);
    context->in_place = member->in_place;
    weft__slot_of(context->end)->group = NULL;
    for (weft *w = base; w < context->end; w++) {
        struct weft__actor_slot *slot = weft__actor_slot_of(w);
        weft_fn *fn = atomic_load_relaxed(&slot->fn); /* relaxed, all: own */
        if (!fn && !slot->group && w > base && !atomic_load_relaxed(&slot->wanted))
            break;
        atomic_store_relaxed(&slot->fn, NULL);
        weft__quantum_uncall(member->fiber, w);
        slot->group = NULL;
        if (atomic_load_relaxed(&slot->given_up))
            weft__group_take_up(member->group, &slot->given_up);
    }
}

static void check_returned(weft *w, const struct weft__member *member)
{
    weft__expect_merged(w, member->in_place, "an actor");
    if (weft__context_of(w)->group != member->group)
        weft__fatal("an actor returned without closing a scope that it opened");
    if (weft__fiber_of(w)->blocks > 0)
        weft__fatal("an actor returned between weft_block_begin and weft_block_end");
    if (weft__context_of(w)->mutexes != member->mutexes)
        weft__fatal("an actor returned that holds a %s",
                    weft__context_of(w)->held_mutexes ? "mutex" : "read-write lock");
}

/* Before a member ends. It may have merged a right side whose delegate has still to count the
 * answer. */
static void await_last_answer(struct weft__fiber *fiber, weft *w)
{
    if (!weft__answer_all_have_come(fiber->top))
        weft__merge_await(fiber, NULL, w);
}

static void call_right(weft *w, struct weft__actor_slot *slot)
{
    void *arg = atomic_load_relaxed(&slot->arg); /* relaxed: came with the letter */
    WEFT__MUST_RETURN(weft__actor_threw, slot->right(w, arg));
}

static enum member_outcome outcome_of(const struct weft__member *member)
{
    return (enum member_outcome)atomic_load_relaxed(&member->outcome); /* relaxed: own */
}

/* Runs the right side of the topmost member. After that all its forks are merged, or forgotten. */
static void run_member(struct weft__member *member, struct weft__actor_slot *slot, weft *w)
{
    struct weft__fiber *fiber = member->fiber;
    if (_setjmp(member->entry) == 0) {
        if (!weft__quantum_is_cancelled(fiber))
            call_right(w, slot);
        atomic_store_relaxed(&member->outcome, OUTCOME_RETURNED); /* relaxed: own */
        check_returned(w, member);
    } else {
        forget_forks(member, w);
    }
    await_last_answer(fiber, w);
}

/* Returns the answer for the victim, and puts what it inherits into the slot. */
static enum stolen_state hand_over_result(struct weft__member *member,
                                          struct weft__actor_slot *slot)
{
    enum member_outcome outcome = outcome_of(member);
    if (outcome == OUTCOME_RETURNED) {
        weft__memory_hand_over(member, slot);
        return STOLEN_DONE;
    }
    weft__memory_drop(member);
    return outcome == OUTCOME_NO_MEMORY  ? STOLEN_NO_MEMORY
           : outcome == OUTCOME_OVERFLOW ? STOLEN_OVERFLOW
                                         : STOLEN_KILLED;
}

/* The last touch of the actor, too, if this was the last delegate on the fiber: then the posse has
 * no fiber here any more. */
static void end_delegate(struct weft__fiber *fiber, struct weft__actor_slot *slot,
                         enum stolen_state state)
{
    struct weft_actor *actor = fiber->actor;
    struct weft__executor *executor = weft__executor_of(fiber);
    if (slot->victim->fiber != fiber) {
        if (!fiber->top && !fiber->arrivals) /* relaxed: its own */
            atomic_store_relaxed(&actor->places[executor->index].fiber, NULL);
        executor->hungry = true;
    }
    if (state == STOLEN_REFUSED) {
        refuse(slot, executor, fiber);
        return;
    }
    trace(executor, fiber, EVENT_ANSWER, slot->victim, slot);
    if (slot->victim->fiber != fiber)
        weft__posse_leave(actor, executor);
    answer(slot, state, fiber);
}

/* Is there room for it, and is its result still needed? */
static bool may_start(struct weft__fiber *fiber, size_t lineage)
{
    fiber->depth = weft__fiber_depth(fiber);
    return !weft__fiber_is_wanted_no_more(fiber) && weft__steal_fits(fiber, lineage);
}

void weft__delegate_run(struct weft__fiber *fiber, struct weft__actor_slot *slot, weft *w)
{
    struct weft__group part;
    const struct weft__around around = {.group = group_of(slot)};
    weft__part_of(&part, &around, &slot->given_up);
    struct weft__member member = {
        .victim = slot->victim,
        .below = fiber->top,
        .fiber = fiber,
        .base = w,
        .cursor = w,
        .lineage = (size_t)slot->lineage * ARENA_ALIGNMENT,
        .group = &part,
        .cleanups = fiber->context.cleanups,
        .stack = __builtin_frame_address(0),
        .mutexes = fiber->context.mutexes,
        .in_place = fiber->context.in_place,
        .exceptions = weft__exceptions_get(),
        .careful = atomic_load_relaxed(&slot->state) == STOLEN_CAREFUL, /* relaxed: as `arg` */
    };
    struct weft__group *outer = fiber->context.group, *outer_here = weft__slot_of(w)->group;
    fiber->top = &member;
    if (!may_start(fiber, member.lineage)) {
        fiber->top = member.below;
        end_delegate(fiber, slot, STOLEN_REFUSED);
        return;
    }
    fiber->context.group = weft__slot_of(w)->group = member.group;
    trace(weft__executor_of(fiber), fiber, EVENT_START, &member, slot);
    run_member(&member, slot, w);
    fiber->top = member.below;
    fiber->context.group = outer;
    weft__slot_of(w)->group = outer_here;
    fiber->may_steal = true;
    trace(weft__executor_of(fiber), fiber, EVENT_END, &member, slot);
    end_delegate(fiber, slot, hand_over_result(&member, slot));
}

/* ---- The bottom of a fiber ---- */

static void call_actor(weft *w, struct weft_actor *actor)
{
    WEFT__MUST_RETURN(weft__actor_threw, actor->reason = actor->fn(w, actor->arg));
}

static void run_root(struct weft__fiber *fiber, struct weft__member *root, weft *w)
{
    if (_setjmp(root->entry) == 0) {
        call_actor(w, fiber->actor);
        atomic_store_relaxed(&root->outcome, OUTCOME_RETURNED); /* relaxed: own */
        if (fiber->context.cleanups) {
            weft__expect_merged(w, 0, "an actor");
            weft__cleanups_run(root, w);
        }
        check_returned(w, root);
    } else {
        forget_forks(root, w);
    }
    await_last_answer(fiber, w);
}

static void run_actor(struct weft__fiber *fiber)
{
    struct weft_actor *actor = fiber->actor;
    struct weft__member *root = &actor->root;
    weft *w = fiber->context.first;
    root->base = root->cursor = w;
    root->group = &actor->group;
    root->stack = __builtin_frame_address(0);
    fiber->context.group = weft__slot_of(w)->group = &actor->group;
    fiber->top = root;
    run_root(fiber, root, w);
    weft__slot_of(w)->group = NULL;
    fiber->context.group = NULL;
    fiber->top = NULL;
    weft__arrivals_refuse(fiber);
    weft__actor_close(actor);
    int failure = weft__group_end(&actor->group);
    int cut_short = weft__outcome_reason(outcome_of(root));
    actor->reason = cut_short ? cut_short : actor->reason ? actor->reason : failure;
    if (outcome_of(root) == OUTCOME_NO_MEMORY) /* relaxed: statistics */
        atomic_store_relaxed(&actor->counts->memory_peak, actor->limit);
    weft__memory_drop(root);
}

static void run_arrivals(struct weft__fiber *fiber)
{
    struct weft__actor_slot *slot;
    while ((slot = weft__arrivals_pop(fiber)))
        weft__delegate_run(fiber, slot, fiber->context.first);
}

void weft__fiber_main(void *arg)
{
    struct weft__fiber *fiber = arg;
    if (fiber->is_root)
        run_actor(fiber);
    else
        run_arrivals(fiber);
    fiber->why = WHY_OVER;
    weft__strand_leave(&fiber->strand, fiber->home);
}
