/* SPDX-License-Identifier: MIT */
#include "sleep/sleep.h"

#include "os/memory.h"
#include "os/thread.h"
#include "sleep/common.h"
#include "sleep/crowd.h"

#include <errno.h>
#include <string.h>

static const struct weft__protocol *const protocols[] = {
    [WEFT_SLEEP_DEFAULT] = &weft__events,
    [WEFT_SLEEP_TICKLE] = &weft__tickle,
    [WEFT_SLEEP_TICKLE_SEQCST] = &weft__tickle_seqcst,
    [WEFT_SLEEP_COUNTERS] = &weft__counters,
    [WEFT_SLEEP_EVENTS] = &weft__events,
    [WEFT_SLEEP_TICKLE_FLAG] = &weft__tickle_flag,
    [WEFT_SLEEP_TICKLE_SWAP] = &weft__tickle_swap,
    [WEFT_SLEEP_COUNTERS_LOCAL] = &weft__counters_local,
    [WEFT_SLEEP_COUNTERS_BLOCKS] = &weft__counters_blocks,
    [WEFT_SLEEP_COUNTERS_ALL] = &weft__counters_all,
    [WEFT_SLEEP_EVENTS_PLAIN] = &weft__events_plain,
    [WEFT_SLEEP_EVENTS_LATCH] = &weft__events_latch,
    [WEFT_SLEEP_COUNTERS_TWO] = &weft__counters_two,
};

enum { PROTOCOLS = sizeof protocols / sizeof protocols[0] };

const char *weft__sleep_name(enum weft_sleep protocol)
{
    return protocols[protocol]->name;
}

enum weft_sleep weft__sleep_named(const char *name)
{
    unsigned i = WEFT_SLEEP_DEFAULT + 1;
    while (i < PROTOCOLS && strcmp(name, protocols[i]->name) != 0)
        i++;
    return i < PROTOCOLS ? (enum weft_sleep)i : WEFT_SLEEP_DEFAULT;
}

int weft__sleep_init(struct weft__sleep *sleep, enum weft_sleep protocol, unsigned workers,
                     unsigned places, unsigned rounds, unsigned jec_bits)
{
    sleep->protocol = protocols[protocol];
    sleep->jec_one = (uint64_t)1 << (64 - jec_bits);
    sleep->rounds = rounds;
    sleep->workers = workers;
    sleep->places = places;
    sleep->look_ns = WEFT__LOOK_NS;
    atomic_store_relaxed(&sleep->lookout_cpu, -1); /* relaxed, both: no other thread is here */
    atomic_store_relaxed(&sleep->guest_cpu, -1);
    if (sleep->protocol->crowded) {
        sleep->crowd = weft__crowd_get((enum crowd_kind)sleep->protocol->kind);
        if (!sleep->crowd)
            return -ENOMEM;
    }
    sleep->parks = weft__alloc(places * sizeof sleep->parks[0]);
    return sleep->parks ? 0 : -ENOMEM;
}

void weft__sleep_destroy(struct weft__sleep *sleep)
{
    if (sleep->crowd)
        weft__crowd_put(sleep->crowd);
    weft__free(sleep->parks);
}

void weft__sleep_place(struct weft__sleep *sleep, unsigned place, struct weft__park *park)
{
    park->crowd = sleep->crowd;
    park->place = place;
    /* release E3: a waker that looks for sleepers sees a complete parking place. */
    atomic_store_release(&sleep->parks[place], park);
}

void weft__sleep_start_looking(struct weft__sleep *sleep, struct weft__idle *idle, uint64_t used)
{
    *idle = (struct weft__idle){.used = used, .entries = entries_of(sleep)};
    /* relaxed: a hint to threads that post work. */
    atomic_fetch_add_relaxed(&sleep->counters, one_inactive);
}

/* relaxed, all of these: guesses. */

bool weft__sleep_has_room(struct weft__sleep *sleep)
{
    return room(sleep, atomic_load_relaxed(&sleep->counters)) > 0;
}

bool weft__sleep_would_wake(struct weft__sleep *sleep)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters);
    return idle_in(counters) == 0 && room(sleep, counters) > 0;
}

/* A look-out that sleeps on the caller's CPU may not get it back for some milliseconds: kernels
 * move it late, above all kernels of virtual machines. */
bool weft__sleep_has_lookout_apart(struct weft__sleep *sleep)
{
    return lookout_in(atomic_load_relaxed(&sleep->counters)) &&
           atomic_load_relaxed(&sleep->lookout_cpu) != weft__thread_cpu();
}

unsigned weft__sleep_searchers(struct weft__sleep *sleep)
{
    return idle_in(atomic_load_relaxed(&sleep->counters));
}

/* ---- Threads at work ---- */

void weft__sleep_guest_entered(struct weft__sleep *sleep)
{
    atomic_store_relaxed(&sleep->guest_cpu, weft__thread_cpu()); /* relaxed: a hint */
    atomic_fetch_add_relaxed(&sleep->guests, one_guest_came);    /* relaxed: the fence orders it */
    /* fence F1 (EnterFence): the guest is counted as at work before it looks for sleepers and for a
     * look-out. Partners: SleepFence, after which a sleeper looks whether a thread is at work, and
     * the fence after which a look-out that goes off duty looks once more. */
    atomic_fence_seq_cst();
}

void weft__sleep_guest_gone(struct weft__sleep *sleep)
{
    atomic_fetch_sub_relaxed(&sleep->guests, 1); /* relaxed: room_made() orders it */
}

unsigned weft__sleep_guests(struct weft__sleep *sleep)
{
    return (unsigned)guests_at_work(sleep);
}

void weft__sleep_absent(struct weft__sleep *sleep)
{
    atomic_fetch_add_relaxed(&sleep->absent, 1); /* relaxed: as guest_gone() */
}

void weft__sleep_present(struct weft__sleep *sleep)
{
    atomic_fetch_sub_relaxed(&sleep->absent, 1); /* relaxed: the fence orders it */
    atomic_fence_seq_cst();                      /* fence F1 (EnterFence) */
}

bool weft__sleep_room_made(struct weft__sleep *sleep)
{
    /* fence F1 (LeaveFence): the room is free before the caller looks at the counters, and then at
     * the queues. Partners: SleepFence, after which a worker that steps back looks for room; and
     * PushFence: a thread that posts a job sees the room, or the caller sees the job. */
    atomic_fence_seq_cst();
    uint64_t counters = atomic_load_relaxed(&sleep->counters); /* relaxed: after the fence */
    return idle_in(counters) == 0 && room(sleep, counters) > 0;
}

bool weft__sleep_over_full(struct weft__sleep *sleep)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters); /* relaxed: looked at again */
    return guests_at_work(sleep) > 0 && free_room(sleep, counters) < 0;
}

bool weft__sleep_is_one_too_many(struct weft__sleep *sleep)
{
    return free_room(sleep, atomic_load_acquire(&sleep->counters)) == -1; /* acquire E1 */
}

bool weft__sleep_has_lookout(struct weft__sleep *sleep)
{
    return lookout_in(atomic_load_relaxed(&sleep->counters)); /* relaxed: a guess */
}

bool weft__sleep_counts_seconds(struct weft__sleep *sleep)
{
    return weft__sleep_has_lookout(sleep) || atomic_load_relaxed(&sleep->rester); /* relaxed: too */
}

bool weft__sleep_needs_lookout(struct weft__sleep *sleep, unsigned self)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters); /* relaxed: after a fence */
    return sleep->look_ns && !lookout_in(counters) && idle_in(counters) == 0 &&
           (workers_at_work(sleep, counters) > (int)self || guests_at_work(sleep) > 0);
}

/* ---- Stepping back ---- */

/* The caller is counted as a sleeper: is there room for it? Or mail, which is for it alone. */
static bool finds_room(const struct weft__sleeper *sleeper, struct weft__sleep *sleep)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters); /* relaxed: after the fence */
    return WEFT__RECHECK(free_room(sleep, counters) > 0) || sleeper->mail(sleeper->arg);
}

/* Counts the caller as sleeping, if too many threads are still up. So of several workers, only as
 * many step back as are too many. */
static bool give_up_room(struct weft__sleep *sleep)
{
    uint64_t old = atomic_load_relaxed(&sleep->counters);
    do {
        if (free_room(sleep, old) >= 0)
            return false;
        /* acq_rel E1: release: a waker that counts this worker sees its parking place DROWSY. */
    } while (!atomic_cas_acq_rel(&sleep->counters, &old, old + one_sleeping));
    return true;
}

bool weft__sleep_step_back(struct weft__sleep *sleep, struct weft__idle *idle,
                           const struct weft__sleeper *sleeper)
{
    if (idle->sleepy) { /* in a crowd; but it sleeps in its own parking place here */
        weft__crowd_be_awake(sleep->crowd, idle->sleepy);
        idle->sleepy = 0;
    }
    idle->round = 0;
    if (!weft__doze_off(sleeper, true, sleep->protocol->at_once))
        return false;
    if (!give_up_room(sleep)) {
        weft__stay_awake(sleeper);
        return false;
    }
    atomic_fetch_add_relaxed(&sleep->aside, 1); /* relaxed: SleepFence orders it */
    enum sleep_outcome outcome = weft__sleep_unless(finds_room, sleep, idle, sleeper);
    atomic_fetch_sub_relaxed(&sleep->aside, 1); /* relaxed: a look too many costs nothing */
    return outcome != WORK_WAS_POSTED;
}

static enum park_result sleep_uncounted(const struct weft__sleeper *sleeper, uint64_t ns,
                                        bool at_once)
{
    if (!weft__doze_off(sleeper, false, at_once))
        return PARK_WAS_NUDGED;
    /* fence F1: DROWSY before the look at the mailbox; partner: the fence between a
     * broadcast's push and its wake. */
    atomic_fence_seq_cst();
    if (sleeper->mail && WEFT__RECHECK(sleeper->mail(sleeper->arg))) {
        weft__stay_awake(sleeper);
        return PARK_WAS_NUDGED;
    }
    enum park_result result = weft__park_sleep(sleeper->park, NULL, weft__one_nap(ns));
    weft__latch_get_up(sleeper->latch);
    return result;
}

enum park_result weft__sleep_uncounted(const struct weft__sleeper *sleeper, uint64_t ns)
{
    return sleep_uncounted(sleeper, ns, false);
}

enum park_result weft__sleep_uncounted_in(const struct weft__sleep *sleep,
                                          const struct weft__sleeper *sleeper, uint64_t ns)
{
    return sleep_uncounted(sleeper, ns, sleep->protocol->at_once);
}

struct weft__resting weft__sleep_resting(struct weft__sleep *sleep)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters); /* relaxed: a hint */
    return (struct weft__resting){idle_in(counters), sleeping_in(counters)};
}
