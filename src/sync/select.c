/* SPDX-License-Identifier: MIT */
/* The first of several channels on which something can be done.
 *
 * All channels are locked, in the order of their addresses. If a case can be done at once, it is.
 * If none can, a waiter for each case is put in line before the locks are dropped: so nothing is
 * missed. The first waker that claims one of them serves it, and all others pass over the others;
 * the thread that waited takes those out of their lines. If the thread gives up first, it claims
 * for itself. */
#include "core/fiber.h"
#include "core/misuse.h"
#include "core/standing.h"
#include "sync/channel.h"

#include <errno.h>

_Static_assert(sizeof(struct weft__waiter) <= sizeof(((weft_case *)NULL)->opaque),
               "weft_case is too small");

static struct weft__channel *channel_of(const weft_case *of)
{
    return (struct weft__channel *)(void *)of->channel;
}

static struct weft__waiter *waiter_of(weft_case *of)
{
    return (struct weft__waiter *)(void *)of->opaque;
}

static weft_case *case_of(struct weft__waiter *waiter)
{
    return (weft_case *)(void *)((char *)waiter - offsetof(weft_case, opaque));
}

static struct weft__line *line_of(const weft_case *of)
{
    struct weft__channel *channel = channel_of(of);
    return of->send ? &channel->senders : &channel->receivers;
}

/* ---- All locks ---- */

/* In a list of the cases that have a channel, by `next` of their waiters; sorted by the addresses
 * of the channels. NULL: no case has one. */
static struct weft__waiter *sort(weft_case *cases, size_t n)
{
    struct weft__waiter *first = NULL;
    for (size_t i = 0; i < n; i++) {
        struct weft__waiter **link = &first;
        if (!cases[i].channel)
            continue;
        while (*link && case_of(*link)->channel < cases[i].channel)
            link = &(*link)->next;
        *waiter_of(&cases[i]) = (struct weft__waiter){.next = *link};
        *link = waiter_of(&cases[i]);
    }
    return first;
}

static bool is_first_of_channel(struct weft__waiter *waiter)
{
    return !waiter->next || case_of(waiter->next)->channel != case_of(waiter)->channel;
}

static void lock_all(struct weft__waiter *sorted, const struct weft__worker *me)
{
    for (; sorted; sorted = sorted->next)
        if (is_first_of_channel(sorted)) {
            struct weft__sync *sync = &channel_of(case_of(sorted))->sync;
            weft__lock_take(&sync->lock);
            weft__sync_used_by(sync, me);
        }
}

static void unlock(weft_case *cases, size_t n, size_t i)
{
    for (size_t j = i + 1; j < n; j++)
        if (cases[j].channel == cases[i].channel)
            return; /* it is dropped there */
    weft__lock_drop(&channel_of(&cases[i])->sync.lock);
}

static void unlock_all(weft_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cases[i].channel)
            unlock(cases, n, i);
}

/* ---- Trying ---- */

static int try(weft_case *of, struct weft__waiter **served)
{
    struct weft__channel *channel = channel_of(of);
    return of->send ? weft__channel_send_now(channel, of->item, served)
                    : weft__channel_receive_now(channel, of->item, served);
}

/* Some case, so that none comes first always. */
static size_t any_of(size_t n)
{
    static struct atomic_u32 calls;
    uint64_t call = atomic_fetch_add_relaxed(&calls, 1); /* relaxed: a number */
    return (size_t)((call * UINT64_C(0x9e3779b97f4a7c15)) >> 32) % n;
}

/* The number of the case that was done, or -EAGAIN. */
static int try_all(weft_case *cases, size_t n, struct weft__waiter **served)
{
    size_t begin = any_of(n);
    for (size_t i = 0; i < n; i++) {
        size_t at = begin + i < n ? begin + i : begin + i - n;
        if (!cases[at].channel)
            continue;
        cases[at].result = try(&cases[at], served);
        if (cases[at].result != -EAGAIN)
            return (int)at;
    }
    return -EAGAIN;
}

/* ---- Waiting ---- */

/* Under all locks. */
static void stand_in_lines(weft_case *cases, size_t n, struct weft__choice *choice)
{
    struct weft__waiter *me = choice->waiter;
    const struct weft__blocked **more = &me->blocked.more;
    for (size_t i = 0; i < n; i++) {
        if (!cases[i].channel)
            continue;
        struct weft__waiter *waiter = waiter_of(&cases[i]);
        *waiter = (struct weft__waiter){
            .blocked = {.kind = BLOCKED_SELECT, .object = &channel_of(&cases[i])->sync},
            .item = cases[i].item,
            .choice = choice,
        };
        weft__line_push(line_of(&cases[i]), waiter);
        if (!me->blocked.object) {
            me->blocked.object = waiter->blocked.object;
            continue;
        }
        *more = &waiter->blocked;
        more = &waiter->blocked.more;
    }
}

static void leave_lines(weft_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct weft__waiter *waiter = waiter_of(&cases[i]);
        if (!cases[i].channel)
            continue;
        weft__lock_take(&channel_of(&cases[i])->sync.lock);
        if (waiter->in_line)
            weft__line_remove(line_of(&cases[i]), waiter);
        weft__lock_drop(&channel_of(&cases[i])->sync.lock);
    }
}

/* Under all locks, which it drops. */
static int wait(weft_case *cases, size_t n, struct weft__waiter *me)
{
    struct weft__choice choice = {.waiter = me};
    me->choice = &choice;
    stand_in_lines(cases, n, &choice);
    if ((me->fiber = weft__fiber_here()))
        weft__hook_waits_for(me->fiber, weft__blocked_words(BLOCKED_SELECT), &me->blocked);
    unlock_all(cases, n);
    int reason = weft__sync_sleep(NULL, NULL, me);
    leave_lines(cases, n);
    if (reason) {
        if (me->fiber)
            weft__hook_end(me->fiber, false);
        return reason;
    }
    struct weft__waiter *chosen = atomic_load_relaxed(&choice.chosen); /* relaxed: W1 */
    case_of(chosen)->result = chosen->result;
    return (int)(case_of(chosen) - cases);
}

static bool are_valid(const weft_case *cases, size_t n)
{
    bool any = false;
    for (size_t i = 0; cases && i < n; i++) {
        if (cases[i].channel && (!cases[i].item || channel_of(&cases[i])->item_size == 0))
            return false;
        any |= cases[i].channel != NULL;
    }
    return any;
}

int weft_select(weft *w, weft_case *cases, size_t n, uint64_t when)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    if (!are_valid(cases, n))
        return -EINVAL;
    struct weft__waiter me = {.worker = weft__sync_caller(w), .blocked.kind = BLOCKED_SELECT};
    struct weft__waiter *served = NULL;
    lock_all(sort(cases, n), me.worker);
    int chosen = try_all(cases, n, &served);
    if (chosen == -EAGAIN) {
        weft__waiter_limit(&me, when);
        return wait(cases, n, &me);
    }
    weft__sync_rouse(served, 0);
    unlock_all(cases, n);
    weft__sync_let_go(served);
    return chosen;
}
