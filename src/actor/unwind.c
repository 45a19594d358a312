/* SPDX-License-Identifier: MIT */
#include "actor/unwind.h"

#include "actor/answer.h"
#include "actor/away.h"
#include "actor/fiber.h"
#include "actor/memory.h"
#include "actor/merge.h"
#include "actor/places.h"
#include "core/misuse.h"
#include "os/memory.h"
#include "os/trace.h"
#include "sync/mutex.h"

#include <errno.h>

weft *weft__first_free(weft *w)
{
    const weft *end = weft__context_of(w)->end;
    while (w < end && atomic_load_relaxed(&weft__slot_of(w)->fn)) /* relaxed: own */
        w++;
    return w;
}

/* ---- Cleanups ---- */

void weft__cleanups_run(struct weft__member *member, weft *w)
{
    struct weft__context *context = &member->fiber->context;
    while (context->cleanups != member->cleanups) {
        struct weft__cleanup *cleanup = context->cleanups;
        context->cleanups = cleanup->below;
        cleanup->run(cleanup, w);
    }
}

static struct weft__cleanup **find_below(struct weft__cleanup **link,
                                         const struct weft__cleanup *below)
{
    while (*link != below)
        link = &(*link)->below;
    return link;
}

struct weft__cleanup *weft__cleanups_hand_over(struct weft__member *member)
{
    struct weft__context *context = &member->fiber->context;
    struct weft__cleanup *all = context->cleanups;
    *find_below(&all, member->cleanups) = NULL;
    context->cleanups = member->cleanups;
    return all;
}

void weft__cleanups_adopt(struct weft__fiber *fiber, struct weft__cleanup *cleanups)
{
    struct weft__context *context = &fiber->context;
    *find_below(&cleanups, NULL) = context->cleanups;
    context->cleanups = cleanups;
}

/* ---- What programs defer ---- */

struct deferred {
    struct weft__cleanup cleanup;
    weft_fn *fn;
    void *arg;
};

static void run_deferred(struct weft__cleanup *cleanup, weft *w)
{
    struct deferred deferred = *(struct deferred *)cleanup;
    weft__free(cleanup);
    WEFT__MUST_RETURN(weft__actor_threw, deferred.fn(w, deferred.arg));
}

static bool is_deferred(const struct weft__cleanup *cleanup, weft_fn *fn, const void *arg)
{
    const struct deferred *deferred = (const struct deferred *)cleanup;
    return cleanup->run == run_deferred && deferred->fn == fn && deferred->arg == arg;
}

int weft_defer(weft *w, weft_fn *fn, void *arg)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    if (!fn)
        return -EINVAL;
    if (!w || !weft__is_fiber(w))
        return -EPERM;
    struct deferred *deferred = weft__small(sizeof *deferred);
    if (!deferred)
        return -ENOMEM;
    deferred->fn = fn;
    deferred->arg = arg;
    weft__cleanup_push(w, &deferred->cleanup, run_deferred);
    return 0;
}

int weft_undefer(weft *w, weft_fn *fn, void *arg)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    if (!w || !weft__is_fiber(w))
        return -EPERM;
    struct weft__cleanup *end = weft__fiber_of(w)->top->cleanups;
    struct weft__cleanup **link = &weft__context_of(w)->cleanups;
    while (*link != end && !is_deferred(*link, fn, arg))
        link = &(*link)->below;
    struct weft__cleanup *found = *link;
    if (found == end)
        return -ENOENT;
    *link = found->below;
    weft__free(found);
    return 0;
}

/* ---- Ending ---- */

bool weft__is_ending(const struct weft__fiber *fiber)
{
    return !weft__is_unwinding(fiber->top) && weft__fiber_is_wanted_no_more(fiber);
}

void weft__check_ending(struct weft__fiber *fiber, bool at_once)
{
    if ((at_once || fiber->context.mutexes == 0) && weft__is_ending(fiber))
        weft__unwind(weft__first_free(fiber->top->base), OUTCOME_KILLED);
}

/* The memory of its delegates is freed with the member's own, and what they have deferred runs
 * before what it has deferred itself. */
static void inherit_all(struct weft__member *member)
{
    for (weft *w = member->base; w < member->cursor; w++)
        if (weft__answer_is(weft__actor_slot_of(w)) == STOLEN_DONE)
            weft__memory_inherit(member, weft__actor_slot_of(w), false);
    member->cursor = member->base;
}

/* Scopes that it has not closed. Where it runs children of the actor's scope, its group is that
 * scope, and not the part: both are not its own. */
static void end_scopes(struct weft__member *member)
{
    struct weft__group *group = member->fiber->context.group;
    const struct weft__group *whole = weft__group_whole(member->group);
    while (group != member->group && group != whole) {
        struct weft__group *parent = group->parent;
        if (group->abandon)
            group->abandon(group);
        weft__group_end(group);
        group = parent;
    }
}

_Noreturn void weft__unwind(weft *first_free, enum member_outcome outcome)
{
    struct weft__fiber *fiber = weft__fiber_of(first_free);
    struct weft__member *member = fiber->top;
    weft__away_come_back(first_free);
    WEFT__TRACE(LIMIT, (uintptr_t)fiber->actor, weft__outcome_reason(outcome));
    /* relaxed: own. Nothing more is stolen from the member. Its delegates read it when they poll;
     * those that wait are woken. */
    atomic_store_relaxed(&member->outcome, outcome);
    if (!weft__answer_all_have_come(member)) {
        weft__posse_wake(fiber->actor);
        weft__merge_await(fiber, NULL, first_free);
    }
    inherit_all(member);
    weft__cleanups_run(member, first_free);
    weft__mutex_unlock_all(&fiber->context, member->mutexes);
    end_scopes(member);
    weft__exceptions_leave(member->exceptions);
    _longjmp(member->entry, 1);
}
