/* SPDX-License-Identifier: MIT */
#include "core/block.h"

#include "core/fiber.h"
#include "core/help.h"
#include "core/misuse.h"
#include "core/object.h"
#include "core/pool.h"
#include "core/report.h"
#include "core/search.h"
#include "core/spare.h"
#include "core/standing.h"
#include "core/timer.h"
#include "os/clock.h"
#include "os/fatal.h"
#include "os/trace.h"

#include <stdio.h>

/* Calls a thread to work in the place of a blocked one: a sleeping worker, or else a spare. Not if
 * a worker searches already: it finds by itself what there is. */
static void call_another(struct weft_pool *pool)
{
    /* fence F1 (LeaveFence): the blocked thread's place is free before the counters are read.
     * Partner: SleepFence, after which a worker that steps back looks for room. */
    atomic_fence_seq_cst();
    struct weft__resting resting = weft__sleep_resting(&pool->sleep);
    if (resting.idle > 0)
        return;
    if (resting.sleeping > 0)
        weft__sleep_more_work(&pool->sleep);
    else
        weft__spare_call(pool);
}

void weft__block_count(struct weft_pool *pool)
{
    struct weft__blocking *blocking = &pool->blocking;
    /* relaxed, all: a thread that finds all at rest sees them through the census (Z1). */
    atomic_fetch_add_relaxed(&blocking->marks, 1);
    atomic_fetch_add_relaxed(&blocking->count, 1);
    atomic_fetch_add_relaxed(&pool->sleep.blocked, 1);
    call_another(pool);
}

void weft__block_uncount(struct weft_pool *pool)
{
    atomic_fetch_sub_relaxed(&pool->blocking.count, 1); /* relaxed: as above */
    atomic_fetch_sub_relaxed(&pool->sleep.blocked, 1);
    weft__spare_dismiss(pool);
}

/* In the statistics page. */
static void show(struct weft__worker *worker, const struct weft__blocked *what, uint64_t now)
{
    const struct weft__sync *object = what->object;
    struct weft__counts *counts = worker->counts;
    weft__stats_waits(&counts->waits, weft__blocked_words(what->kind), weft__blocked_shown(what),
                      object ? object->name : NULL);
    weft__stats_phase(&counts->phases, WEFT_STATS_IS_BLOCKED, now);
}

static void mark(struct weft__worker *worker, const struct weft__blocked *what, uint64_t now)
{
    struct weft_pool *pool = worker->pool;
    weft__pile_publish(worker, 0, WEFT__PILE_ALL); /* others run what it has spawned */
    worker->blocked = what;
    /* release B3: the slots, as they are now. A thief that does not see it waits for a quantum. */
    atomic_store_release(&worker->context->away, true);
    if (worker->kind == WORKER_GUEST)
        weft__sleep_guest_gone(&pool->sleep);
    else
        weft__sleep_absent(&pool->sleep);
    weft__state_is(worker, WORKER_BLOCKED);
    weft__state_since(worker, now);
    show(worker, what, now);
    weft__block_count(pool);
}

static void unmark(struct weft__worker *worker)
{
    struct weft_pool *pool = worker->pool;
    worker->blocked = NULL;
    atomic_store_relaxed(&worker->context->away, false); /* relaxed: the fence orders it */
    /* fence B3, in both: `away` is false before the owner merges anything. A thief that saw it true
     * had set `wanted` before. */
    if (worker->kind == WORKER_GUEST)
        weft__sleep_guest_entered(&pool->sleep);
    else
        weft__sleep_present(&pool->sleep);
    weft__state_is(worker, WORKER_BUSY);
    weft__state_since_unknown(worker);
    weft__stats_phase_now(&worker->counts->phases, WEFT_STATS_WORKS);
    weft__block_uncount(pool);
    weft__expect_help_again(worker);
}

/* The caller of WEFT_USE_CALLER is in no census while it runs no job. */
static struct weft__worker *inside(struct weft__worker *worker)
{
    return worker && worker->kind == WORKER_CALLER && !worker->frame ? NULL : worker;
}

/* A thread that stands in several pools is blocked in all of them. It is marked in all of them
 * before it rests in any: so a thread that finds one of these pools at rest, and looks at the
 * others, sees the marks. */

static void trace(const struct weft__blocked *what)
{
    char text[WEFT_TRACE_TEXT_MOST + 1];
    const char *name = what->object ? what->object->name : NULL;
    snprintf(text, sizeof text, name ? "%s '%s'" : "%s", weft__blocked_words(what->kind), name);
    WEFT__TRACE_TEXT(BLOCK, (uintptr_t)what->object, text);
}

void weft__block_mark(struct weft__worker *me, const struct weft__blocked *what)
{
    if (weft__pool_is_forked(me->pool))
        weft__fatal("a job in a forked child waits for something that only threads of the parent "
                    "process do");
    uint64_t now = weft__clock_now();
    if (weft__traces())
        trace(what);
    for (; (me = inside(me)); me = me->host)
        mark(me, what, now);
}

void weft__block_rest(struct weft__worker *me)
{
    for (; (me = inside(me)); me = me->host) {
        atomic_fetch_add_acq_rel(&me->rests, 1); /* release Z5: by what it is blocked */
        weft__census_rest(&me->pool->census);
    }
}

void weft__block_rouse(struct weft__worker *worker)
{
    for (; (worker = inside(worker)); worker = worker->host) {
        struct weft_pool *pool = worker->pool;
        weft__lock_take(&pool->blocking.lock);
        atomic_fetch_sub_relaxed(&worker->rests, 1); /* relaxed: the lock */
        weft__census_rouse(&pool->census, 1);
        weft__lock_drop(&pool->blocking.lock);
    }
}

void weft__block_unmark(struct weft__worker *me)
{
    for (; (me = inside(me)); me = me->host)
        unmark(me);
    WEFT__TRACE(BLOCK_END, 0, 0);
}

/* ---- Blocking in the program's own code ---- */

static const struct weft__blocked in_own_code = {.kind = BLOCKED_OUTSIDE};

void weft__block_outside(struct weft__worker *me)
{
    if (me->block_depth++ > 0 || weft__pool_is_forked(me->pool))
        return;
    weft__block_mark(me, &in_own_code);
    weft__block_rest(me);
}

void weft__block_outside_ends(struct weft__worker *me)
{
    if (me->block_depth == 0)
        weft__fatal("weft_block_end without weft_block_begin");
    if (--me->block_depth > 0 || weft__pool_is_forked(me->pool))
        return;
    weft__block_rouse(me);
    weft__block_unmark(me);
}

/* For a caller that passed NULL: the context that it runs in, or NULL for a thread outside. */
static weft *context_or_none(weft *w)
{
    return w ? w : weft_here();
}

void weft_block_begin(weft *w)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    if (!(w = context_or_none(w)))
        return;
    if (weft__is_fiber(w))
        weft__hook_block_begin(w);
    else
        weft__block_outside(weft__worker_of(w));
}

/* The thread that ends the wait may call this, so w need not belong to the calling thread. */
void weft_block_end(weft *w)
{
    if (!(w = context_or_none(w)))
        return;
    if (weft__is_fiber(w))
        weft__hook_block_end(w);
    else
        weft__block_outside_ends(weft__worker_of(w));
}

/* ---- All threads rest ---- */

/* A blocked worker does not run what it has forked or spawned, and the sleeping workers may have
 * looked for work just before it blocked. So before a deadlock is reported, one of them, or a
 * spare, is woken to look once more. False: there is no work, or no thread to wake. */
static bool wake_for_remaining_work(struct weft_pool *pool)
{
    if (!weft__pool_holds_work(pool))
        return false;
    if (weft__sleep_resting(&pool->sleep).sleeping > 0)
        weft__sleep_more_work(&pool->sleep);
    else
        weft__spare_call(pool);
    return !weft__census_full(atomic_load_relaxed(&pool->census.word)); /* relaxed: own writes */
}

#define LAST_POOL ((const struct weft_pool *)UINTPTR_MAX) /* no address is above it */

/* Under the lock, while all rest in this pool. A thread that is blocked here may be a guest, on top
 * of a worker of another pool. That outermost pool decides whether the thread is stuck, but counts
 * it as alive until this pool has come to rest. So a thread that finds this pool at rest looks for
 * a deadlock there, too. Returns the first such pool, by address, above `last`, entered; or
 * NULL. */
static struct weft_pool *host_behind(struct weft_pool *pool, const struct weft_pool *last)
{
    struct weft_pool *next = NULL;
    struct weft__worker *worker = NULL;
    weft__lock_take(&pool->guests.lock); /* threads outside may be about to come in */
    while ((worker = weft__next_worker(pool, worker))) {
        if (!worker->blocked || !worker->host)
            continue;
        struct weft_pool *host = weft__outermost(worker)->pool;
        if ((uintptr_t)host > (uintptr_t)last && (!next || (uintptr_t)host < (uintptr_t)next))
            next = host;
    }
    weft__lock_drop(&pool->guests.lock);
    return next && weft__pool_enter(&next) == 0 ? next : NULL;
}

/* Looks for a deadlock. Returns the pool to look at next, after `last`; see above. */
static struct weft_pool *look(struct weft_pool *pool, const struct weft_pool *last)
{
    struct weft__blocking *blocking = &pool->blocking;
    struct weft_pool *next = NULL;
    weft__lock_take(&blocking->lock);
    atomic_store_relaxed(&blocking->reporting, true); /* relaxed: the fence orders it */
    /* fence Z2: a sleeper that is woken from here on waits for the report to end; or this thread
     * sees that the waker has taken it off the census, and reports nothing. Partner:
     * weft__block_let_report(). Likewise, this thread sees a thread that comes to wait outside, or
     * rests in another pool; or that thread sees that all rest here. */
    atomic_fence_seq_cst();
    uint32_t marks = atomic_load_relaxed(&blocking->marks);
    /* Before the census: a timer that is not set any more has put its job in the injector. */
    blocking->timers = weft__timers_are_set(pool);
    bool full = weft__census_full(atomic_load_acquire(&pool->census.word)); /* acquire Z1 */
    if (full && blocking->looked != marks && wake_for_remaining_work(pool)) {
        blocking->looked = marks;
    } else if (full) {
        atomic_store_release(&blocking->settled, marks); /* release Z4 */
        if (blocking->reported != marks && weft__report_deadlock(pool, marks))
            blocking->reported = marks;
        next = host_behind(pool, last);
    }
    atomic_store_release(&blocking->reporting, false); /* release Z3: all was read before this */
    weft__lock_drop(&blocking->lock);
    return next;
}

void weft__block_all_rest(struct weft__census *census)
{
    struct weft_pool *pool =
        (struct weft_pool *)((char *)census - offsetof(struct weft_pool, census));
    if (atomic_load_relaxed(&pool->blocking.count) == 0) /* relaxed: after the census (Z1) */
        return;                                          /* an idle pool */
    const struct weft_pool *last = NULL;
    struct weft_pool *host;
    while ((host = look(pool, last))) {
        (void)look(host, LAST_POOL); /* the host's own last thread to rest looks in its hosts */
        weft__pool_leave(host);
        last = host; /* only as an address: the pool may be gone */
    }
}

void weft__block_look(struct weft_pool *pool)
{
    /* fence Z2: the last thread to rest sees that the caller waits; or all rest already, and the
     * caller sees that. */
    atomic_fence_seq_cst();
    if (weft__census_full(atomic_load_acquire(&pool->census.word))) /* acquire Z1 */
        weft__block_all_rest(&pool->census);
}

void weft__block_let_report(struct weft_pool *pool)
{
    struct weft__blocking *blocking = &pool->blocking;
    atomic_fence_seq_cst();                         /* fence Z2 */
    if (!atomic_load_acquire(&blocking->reporting)) /* acquire Z3 */
        return;
    weft__lock_take(&blocking->lock);
    weft__lock_drop(&blocking->lock);
}
