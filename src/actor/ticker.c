/* SPDX-License-Identifier: MIT */
/* The ticker's thread sleeps without a time limit while no executor is at work and no fiber waits
 * for a time.
 *
 * Quanta are short on request: while an executor has nothing to do, and another could give work
 * away. Then a CPU is idle, and has time for a clock that ticks more often. */
#include "actor/ticker.h"

#include "actor/drive.h"
#include "actor/executor.h"
#include "actor/post.h"
#include "core/wait.h"
#include "os/clock.h"
#include "os/thread.h"

#include <errno.h>

enum { SHORT_NS = 30000 }; /* the default quantum of a pool: WEFT_QUANTUM */

static void look_again(struct weft__ticker *ticker)
{
    atomic_fetch_add_acq_rel(&ticker->word, 1); /* release A12: the reason to look */
    weft__futex_wake(&ticker->word, 1);
}

/* ---- Its thread ---- */

static uint64_t short_quantum(const struct weft__actors *system)
{
    return system->quantum < SHORT_NS ? system->quantum : SHORT_NS;
}

static void take_out(struct weft__ticker *ticker, struct weft__fiber *fiber)
{
    weft__heap_take(&ticker->times, &fiber->time);
    fiber->is_timed = false;
}

/* Wakes fibers whose time has come. Returns the time until the next is due; 0: there is none. */
static uint64_t ring(struct weft__ticker *ticker, uint64_t now)
{
    weft__lock_take(&ticker->lock);
    struct weft__moment *first;
    while ((first = ticker->times.first) && first->when <= now) {
        struct weft__fiber *fiber =
            (struct weft__fiber *)((char *)first - offsetof(struct weft__fiber, time));
        take_out(ticker, fiber);
        weft__fiber_wake(fiber);
    }
    uint64_t wait = first ? first->when - now : 0;
    weft__lock_drop(&ticker->lock);
    return wait;
}

enum {
    TICK_BUSY = 1,  /* an executor is driven, is posted, or has ageing fibers */
    TICK_YOUNG = 2, /* a quantum goes on, because it had just begun */
};

/* By the ticker's thread, or by a thread that hurries. A tick in a hurry ends no quantum before it
 * is as old as a short one: or right sides would be stolen that have not waited so long. */
static unsigned tick(struct weft__actors *system, uint64_t now, bool hurry)
{
    unsigned found = 0;
    bool undriven = false;
    /* relaxed, all but one: requests; one that is missed is seen at the next tick. */
    weft__actors_set_clock(system, now);
    for (unsigned i = 0; i < system->executor_count; i++) {
        struct weft__executor *executor = &system->executors[i];
        bool ageing = atomic_load_relaxed(&executor->is_ageing);
        if (!ageing && !atomic_load_relaxed(&executor->inbox.posted))
            continue;
        found |= TICK_BUSY;
        if (hurry && now < atomic_load_relaxed(&executor->seen) + short_quantum(system)) {
            found |= TICK_YOUNG;
            continue;
        }
        bool missed = atomic_load_relaxed(&executor->tick); /* no driver has seen the last tick */
        atomic_store_relaxed(&executor->tick, true);
        struct weft__fiber *fiber = atomic_load_acquire(&executor->current); /* acquire A13 */
        if (fiber) {
            atomic_store_relaxed(&fiber->context.guard, UINTPTR_MAX);
            continue;
        }
        if (ageing)
            weft__executor_post(executor);
        undriven |= missed;
    }
    if (undriven) /* perhaps all workers are busy */
        weft__wake_helpers(system->pool);
    return found;
}

static uint64_t length(const struct weft__actors *system, bool hurry)
{
    return hurry ? short_quantum(system) : system->quantum;
}

/* When the next tick is due: a short quantum, or a whole one, after the last. */
static uint64_t due(struct weft__actors *system, bool hurry)
{
    uint64_t last = atomic_load_relaxed(&system->ticker.last); /* relaxed: a time */
    return last + length(system, hurry);
}

/* Of several threads that find it due, one ticks: two ticks in a row would end a quantum that has
 * just begun, and what is stolen then would be too young. */
static bool tick_is_mine(struct weft__actors *system, uint64_t now, bool hurry)
{
    uint64_t next = due(system, hurry), last = next - length(system, hurry);
    return now >= next && atomic_cas_relaxed(&system->ticker.last, &last, now); /* as above */
}

static bool anybody_busy(struct weft__actors *system)
{
    if (atomic_load_seq_cst(&system->busy) > 0) /* seq_cst A5 */
        return true;
    for (unsigned i = 0; i < system->executor_count; i++)
        if (atomic_load_relaxed(&system->executors[i].is_ageing)) /* relaxed: with `busy` */
            return true;
    return false;
}

/* The thread stays awake for one more quantum after the last work, so that it need not be woken
 * after a short pause. */
static void *run(void *arg)
{
    struct weft__actors *system = arg;
    struct weft__ticker *ticker = &system->ticker;
    pthread_setname_np(pthread_self(), "weft-ticker");
    weft__thread_be_punctual();     /* or a short quantum would be a long one */
    bool busy = true, hurry = true; /* the first quantum is short */
    atomic_store_relaxed(&ticker->last, weft__clock_now()); /* relaxed: a time */
    for (;;) {
        /* acquire A12: before the look at `stop`. If `stop` is missed, the word changes after this
         * load, and the futex wait below returns at once. */
        uint32_t word = atomic_load_acquire(&ticker->word);
        if (atomic_load_relaxed(&ticker->stop)) /* relaxed: the word publishes it */
            break;
        uint64_t now = weft__clock_now();
        if (atomic_load_relaxed(&ticker->hurry)) { /* relaxed: as `stop` */
            atomic_store_relaxed(&ticker->hurry, false);
            hurry = true;
        }
        if (tick_is_mine(system, now, hurry)) {
            unsigned found = tick(system, now, hurry);
            busy = found & TICK_BUSY;
            hurry = found & TICK_YOUNG; /* that one has its end in a moment */
        }
        uint64_t next = due(system, hurry), rest = next > now ? next - now : 1;
        uint64_t wait = ring(ticker, now);
        if (!busy) {
            atomic_store_seq_cst(&ticker->dozes, true); /* seq_cst A5: before the last look */
            busy = anybody_busy(system);
        }
        if (busy && (wait == 0 || wait > rest))
            wait = rest;
        if (wait > 0)
            weft__futex_wait_for(&ticker->word, word, wait);
        else
            weft__futex_wait(&ticker->word, word);
        atomic_store_relaxed(&ticker->dozes, false); /* relaxed: an old true: one wake-up more */
        if (!busy) {
            now = weft__clock_now();
            atomic_store_relaxed(&ticker->last, now); /* relaxed: a time */
            weft__actors_set_clock(system, now);
            hurry = true;
        }
        busy = true;
    }
    return NULL;
}

/* ---- By other threads ---- */

int weft__ticker_start(struct weft__actors *system)
{
    struct weft__ticker *ticker = &system->ticker;
    int error = 0;
    weft__lock_take(&ticker->lock);
    if (!ticker->started)
        error =
            weft__thread_start(&ticker->thread, system->pool->config.stack_size, -1, run, system);
    ticker->started |= !error;
    weft__lock_drop(&ticker->lock);
    return error;
}

void weft__ticker_busy(struct weft__actors *system)
{
    atomic_fetch_add_seq_cst(&system->busy, 1);            /* seq_cst A5: the ticker sees it, */
    if (atomic_load_seq_cst(&system->ticker.dozes)) {      /* seq_cst A5: or this sees `dozes` */
        weft__actors_set_clock(system, weft__clock_now()); /* it stood still */
        look_again(&system->ticker);
    }
}

static bool somebody_wants_work(const struct weft__actors *system)
{
    for (unsigned i = 0; i < system->executor_count; i++)
        if (weft__executor_is_idle(&system->executors[i]) &&
            !atomic_load_relaxed(&system->executors[i].reserved)) /* relaxed: a hint */
            return true;
    return false;
}

bool weft__ticker_hurry(struct weft__actors *system, bool has_begun)
{
    struct weft__ticker *ticker = &system->ticker;
    /* relaxed, all: hints; the word publishes the last one. */
    if (system->counted || system->simulated || atomic_load_relaxed(&system->busy) == 0 ||
        !somebody_wants_work(system))
        return false;
    uint64_t now = weft__clock_now();
    if (has_begun) /* perhaps long after the tick */
        atomic_store_relaxed(&ticker->last, now);
    if (tick_is_mine(system, now, true) && /* at once: to wake the ticker's thread takes longer */
        !(tick(system, now, true) & TICK_YOUNG))
        return true;
    if (!atomic_load_relaxed(&ticker->hurry)) {
        atomic_store_relaxed(&ticker->hurry, true);
        look_again(ticker);
    }
    return true;
}

/* A fiber has one time at most. */
static void wake_at(struct weft__ticker *ticker, uint64_t when, struct weft__fiber *fiber)
{
    weft__lock_take(&ticker->lock);
    fiber->time.when = when;
    fiber->is_timed = true;
    weft__heap_put(&ticker->times, &fiber->time);
    bool first = ticker->times.first == &fiber->time;
    weft__lock_drop(&ticker->lock);
    if (first)
        look_again(ticker);
}

static void forget(struct weft__ticker *ticker, struct weft__fiber *fiber)
{
    weft__lock_take(&ticker->lock);
    if (fiber->is_timed)
        take_out(ticker, fiber);
    weft__lock_drop(&ticker->lock);
}

void weft__ticker_suspend(struct weft__fiber *fiber, uint64_t when)
{
    struct weft__ticker *ticker = &fiber->actor->system->ticker;
    wake_at(ticker, when, fiber);
    weft__fiber_suspend(fiber);
    forget(ticker, fiber);
}

void weft__ticker_stop(struct weft__actors *system)
{
    struct weft__ticker *ticker = &system->ticker;
    if (ticker->started) {
        atomic_store_relaxed(&ticker->stop, true); /* relaxed: the word publishes it */
        look_again(ticker);
        pthread_join(ticker->thread, NULL);
    }
}
