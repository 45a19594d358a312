/* SPDX-License-Identifier: MIT */
#include "sleep/crowd.h"

#include "os/futex.h"
#include "os/memory.h"
#include "os/thread.h"
#include "os/trace.h"

static struct {
    struct weft__lock lock;
    struct weft__crowd *first;
} unused;

static struct weft__crowd *take_unused(enum crowd_kind kind)
{
    weft__lock_take(&unused.lock);
    struct weft__crowd **at = &unused.first;
    while (*at && (*at)->kind != kind)
        at = &(*at)->next;
    struct weft__crowd *crowd = *at;
    if (crowd)
        *at = crowd->next;
    weft__lock_drop(&unused.lock);
    return crowd;
}

struct weft__crowd *weft__crowd_get(enum crowd_kind kind)
{
    struct weft__crowd *crowd = take_unused(kind);
    if (crowd) {
        atomic_store_relaxed(&crowd->state, 0); /* relaxed: its workers are not there yet */
        return crowd;
    }
    crowd = weft__alloc(sizeof *crowd);
    if (crowd)
        crowd->kind = kind;
    return crowd;
}

void weft__crowd_put(struct weft__crowd *crowd)
{
    weft__lock_take(&unused.lock);
    crowd->next = unused.first;
    unused.first = crowd;
    weft__lock_drop(&unused.lock);
}

void weft__crowd_forked(void)
{
    unused.lock = (struct weft__lock){0};
}

static bool state_cas(struct weft__crowd *crowd, uint32_t *old, uint32_t state)
{
    if (crowd->kind == CROWD_SEQ_CST)
        return atomic_cas_seq_cst(&crowd->state, old, state); /* seq_cst V2 */
    /* acq_rel V1: acquire: the news of the threads that tickled before. */
    return atomic_cas_acq_rel(&crowd->state, old, state);
}

bool weft__crowd_get_sleepy(struct weft__crowd *crowd, unsigned number)
{
    uint32_t state = weft__crowd_state(crowd);
    do {
        if (state & ~(uint32_t)CROWD_ASLEEP)
            return false;
    } while (!state_cas(crowd, &state, state | number << 1));
    if (crowd->kind == CROWD_SEQ_CST)
        atomic_fence_seq_cst(); /* fence F1, fence V2: sleepy before the next search and probe */
    return true;
}

bool weft__crowd_is_sleepy(struct weft__crowd *crowd, unsigned number)
{
    return weft__crowd_state(crowd) >> 1 == number;
}

void weft__crowd_be_awake(struct weft__crowd *crowd, unsigned number)
{
    uint32_t state = weft__crowd_state(crowd);
    if (state >> 1 == number) /* if this fails, it was tickled, and is awake */
        state_cas(crowd, &state, state & CROWD_ASLEEP);
}

/* Under the lock: the caller is asleep, unless it was tickled. The lock makes this one step with
 * the wait: a thread that tickles takes the lock before it wakes the sleepers, and finds them all
 * counted as resting. */
static bool go_to_sleep(struct weft__crowd *crowd, const struct weft__park *park,
                        struct atomic_u64 *counted, bool *rests_last)
{
    uint32_t state = weft__crowd_state(crowd);
    if (state >> 1 != park->place + 1 || !state_cas(crowd, &state, CROWD_ASLEEP))
        return false;
    crowd->asleep++;
    crowd->counted = counted;
    crowd->census = park->census;
    *rests_last = park->census && weft__census_rests_last(park->census);
    return true;
}

/* relaxed, the notices: the lock, which is taken afterwards, orders them. They are 32 bits wide: a
 * sleeper that does not get here before 2^32 sleeps and wakes of others have passed sleeps on. */
static void wait_for_notice(struct weft__crowd *crowd, uint32_t notice, struct weft__naps *naps)
{
    while (atomic_load_relaxed(&crowd->notices) == notice &&
           weft__nap_wait(naps, &crowd->notices, notice))
        ;
}

/* The sleeper's time is up. False: a waker has woken it meanwhile. */
static bool get_up(struct weft__crowd *crowd, uint32_t notice)
{
    weft__lock_take(&crowd->lock);
    bool by_itself = atomic_load_relaxed(&crowd->notices) == notice; /* relaxed: under the lock */
    if (by_itself) {
        crowd->asleep--; /* bit 0 may stay: it costs the next tickle one look */
        if (crowd->census)
            weft__census_rouse(crowd->census, 1);
    }
    weft__lock_drop(&crowd->lock);
    return by_itself;
}

enum park_result weft__crowd_sleep(struct weft__crowd *crowd, struct weft__park *park,
                                   struct atomic_u64 *counted, struct weft__naps naps)
{
    bool rests_last = false;
    weft__lock_take(&crowd->lock);
    uint32_t notice = atomic_load_relaxed(&crowd->notices); /* relaxed: under the lock */
    bool asleep = go_to_sleep(crowd, park, counted, &rests_last);
    weft__lock_drop(&crowd->lock);
    if (!asleep)
        return PARK_WAS_NUDGED;
    if (rests_last)
        park->census->all_rest(park->census); /* which may wake any thread, the caller too */
    weft__naps_begin(&naps, park);
    atomic_store_relaxed(&park->in_crowd, true); /* relaxed, both: for reports */
    wait_for_notice(crowd, notice, &naps);
    atomic_store_relaxed(&park->in_crowd, false);
    bool by_itself = get_up(crowd, notice);
    weft__naps_end(&naps);
    return by_itself ? PARK_TIMED_OUT : PARK_WAS_WOKEN;
}

void weft__crowd_wake_all(struct weft__crowd *crowd)
{
    weft__lock_take(&crowd->lock);
    unsigned n = crowd->asleep;
    if (n > 0) {
        /* All sleepers are taken off the count before any wakes (bug 28). They can't leave without
         * the lock, so their pool, where they are counted, lives. relaxed: a hint to others. */
        atomic_fetch_sub_relaxed(crowd->counted, n);
        if (crowd->census)
            weft__census_rouse(crowd->census, n);
        crowd->asleep = 0;
        /* relaxed: under the lock. */
        atomic_store_relaxed(&crowd->notices, atomic_load_relaxed(&crowd->notices) + 1);
    }
    weft__lock_drop(&crowd->lock);
    if (n == 0)
        return;
    WEFT__TRACE(WAKE, 0, n);
    weft__futex_wake(&crowd->notices, WEFT__WAKE_ALL);
}
