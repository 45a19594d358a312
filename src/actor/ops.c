/* SPDX-License-Identifier: MIT */
#include "actor/ops.h"

#include "actor/away.h"
#include "actor/deadlock.h"
#include "actor/drive.h"
#include "actor/fiber.h"
#include "actor/memory.h"
#include "actor/merge.h"
#include "actor/post.h"
#include "actor/quantum.h"
#include "actor/rescue.h"
#include "actor/ticker.h"
#include "actor/unwind.h"
#include "core/standing.h"
#include "sync/sync.h"

#include <stdio.h>

static void fork_slow(weft *w)
{
    weft__fiber_need_room(weft__fiber_of(w));
    weft__actor_fork(w);
}

static bool merge_slow(weft *w, bool give_up)
{
    weft__fiber_need_room(weft__fiber_of(w));
    return weft__actor_merge(w, give_up);
}

static void poll_slow(weft *w)
{
    weft__fiber_need_room(weft__fiber_of(w));
    weft__actor_poll(w);
}

static void suspend(struct weft__context *context)
{
    weft__fiber_suspend((struct weft__fiber *)context);
}

static void suspend_until(struct weft__context *context, uint64_t when)
{
    weft__ticker_suspend((struct weft__fiber *)context, when);
}

static __attribute__((noinline)) void note_name(struct weft__actor_counts *counts, const char *name)
{
    uint64_t words[sizeof counts->waits_name / sizeof(uint64_t)] = {0};
    snprintf((char *)words, sizeof words, "%s", name);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        atomic_store_relaxed(&counts->waits_name[i], words[i]); /* relaxed: for infos */
}

static void waits_for(struct weft__context *context, const char *what,
                      const struct weft__blocked *by)
{
    struct weft__fiber *fiber = (struct weft__fiber *)context;
    weft__fiber_waits_for(fiber, what);
    if (!by)
        return;
    weft__deadlock_blocked(fiber, by);
    if (fiber->is_root)
        weft__stats_note(&fiber->actor->counts->waits_object, weft__blocked_shown(by));
    if (by->object->name && fiber->is_root)
        note_name(fiber->actor->counts, by->object->name);
}

static void waits_no_more(struct weft__context *context, const struct weft__blocked *by)
{
    weft__deadlock_roused((struct weft__fiber *)context, by);
}

static void wake(struct weft__context *context)
{
    weft__fiber_wake((struct weft__fiber *)context);
}

static bool ends(struct weft__context *context)
{
    return weft__is_ending((struct weft__fiber *)context);
}

static void end(struct weft__context *context, bool at_once)
{
    weft__check_ending((struct weft__fiber *)context, at_once);
}

static void uses(struct weft__context *context, size_t bytes)
{
    weft__memory_use((struct weft__fiber *)context, bytes);
}

static void uses_no_more(struct weft__context *context, size_t bytes)
{
    weft__memory_use_no_more((struct weft__fiber *)context, bytes);
}

static void no_memory(struct weft__context *context)
{
    const struct weft__fiber *fiber = (const struct weft__fiber *)context;
    if (!weft__is_unwinding(fiber->top))
        weft__unwind(weft__first_free(fiber->top->base), OUTCOME_NO_MEMORY);
}

static void room(struct weft__context *context)
{
    weft__fiber_need_room((struct weft__fiber *)context);
}

static struct weft__park *park(struct weft__context *context)
{
    return &((struct weft__fiber *)context)->park;
}

static unsigned index_of(weft *w)
{
    return weft__executor_of(weft__fiber_of(w))->index;
}

const struct weft__fiber_ops weft__actor_ops = {
    .fork = fork_slow,
    .merge = merge_slow,
    .poll = poll_slow,
    .yield = weft__fiber_yield,
    .suspend = suspend,
    .suspend_until = suspend_until,
    .waits_for = waits_for,
    .waits_no_more = waits_no_more,
    .wake = wake,
    .park = park,
    .ends = ends,
    .end = end,
    .uses = uses,
    .uses_no_more = uses_no_more,
    .no_memory = no_memory,
    .room = room,
    .block_begin = weft__away_begin,
    .block_end = weft__away_end,
    .index = index_of,
};
