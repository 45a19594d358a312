/* SPDX-License-Identifier: MIT */
/* What all protocols share: the counts, guests, dozing, and sleep in one's own place. */
#include "sleep/common.h"

#include "core/crowd.h"
#include "os/memory.h"
#include "os/thread.h"

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
    sleep->doze = sleep->protocol->looks_out ? WEFT__DOZE_NS : 0;
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
    /* release E3: who looks for somebody to wake sees a parking place that is made. */
    atomic_store_release(&sleep->parks[place], park);
}

void weft__sleep_start_looking(struct weft__sleep *sleep, struct weft__idle *idle)
{
    *idle = (struct weft__idle){0};
    /* relaxed: a hint to those who post work. */
    atomic_fetch_add_relaxed(&sleep->counters, one_inactive);
}

void weft__wake_any(struct weft__sleep *sleep, unsigned n, bool waits)
{
    int cpu = weft__thread_cpu();
    for (int pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < sleep->places && n > 0; i++) {
            struct weft__park *park = atomic_load_acquire(&sleep->parks[i]); /* acquire E3 */
            bool near = park && park->cpu == cpu;
            if (park && near == (waits != (pass == 1)) && weft__park_wake_counted(park))
                n--;
        }
    }
}

/* relaxed, all of the look-out's: who it is decides nothing but who looks how often. */
void weft__stop_looking_out(struct weft__sleep *sleep, struct weft__idle *idle)
{
    if (idle->doze)
        atomic_store_relaxed(&sleep->lookout, false);
    idle->doze = 0;
}

bool weft__work_found_counted(struct weft__sleep *sleep, struct weft__idle *idle)
{
    weft__stop_looking_out(sleep, idle);
    /* relaxed: the fence below orders it. */
    uint64_t old = atomic_fetch_sub_relaxed(&sleep->counters, one_inactive);
    if (sleeping_in(old) == 0 || idle_in(old) != 1)
        return false;
    /* fence F1 (FoundFence): no longer counted as idle before the queues are looked at.
     * Partner: PushFence. Who injects a job either sees that nobody is idle and wakes
     * somebody, or the caller sees the job. */
    atomic_fence_seq_cst();
    return true;
}

void weft__more_work_counted(struct weft__sleep *sleep, bool forks_only)
{
    /* acquire E1 */
    uint64_t counters = atomic_load_acquire(&sleep->counters);
    if (forks_only ? room(sleep, counters) > 0 : sleeping_in(counters) > 0)
        weft__wake_any(sleep, 1, false);
    else
        call_spare_if_none_is_left(sleep, counters);
}

bool weft__sleep_has_room(struct weft__sleep *sleep)
{
    return room(sleep, atomic_load_relaxed(&sleep->counters)) > 0; /* relaxed: a guess */
}

bool weft__sleep_would_wake(struct weft__sleep *sleep)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters); /* relaxed: a guess */
    return idle_in(counters) == 0 && room(sleep, counters) > 0;
}

/* ---- Who is at work ---- */

static bool at_work(struct weft__sleep *sleep, uint64_t counters)
{
    int inactive = (int)(counters >> THREAD_BITS & thread_mask);
    /* relaxed, both: the caller has a fence before, or wants a hint. */
    return inactive + atomic_load_relaxed(&sleep->absent) < (int)sleep->workers ||
           atomic_load_relaxed(&sleep->guests) > 0;
}

void weft__sleep_guest_entered(struct weft__sleep *sleep)
{
    atomic_fetch_add_relaxed(&sleep->guests, 1); /* relaxed: the fence orders it */
    /* fence F1 (EnterFence): counted as at work before it looks whether anybody sleeps;
     * partner: SleepFence, after which a sleeper looks whether anybody is at work. */
    atomic_fence_seq_cst();
}

bool weft__sleep_guest_left(struct weft__sleep *sleep)
{
    /* relaxed: a heuristic. */
    atomic_fetch_sub_relaxed(&sleep->guests, 1);
    uint64_t counters = atomic_load_relaxed(&sleep->counters);
    return idle_in(counters) == 0 && room(sleep, counters) > 0 && at_work(sleep, counters);
}

void weft__sleep_absent(struct weft__sleep *sleep)
{
    /* relaxed: a sleeper that misses it dozes once. */
    atomic_fetch_add_relaxed(&sleep->absent, 1);
}

void weft__sleep_present(struct weft__sleep *sleep)
{
    atomic_fetch_sub_relaxed(&sleep->absent, 1); /* relaxed: the fence orders it */
    atomic_fence_seq_cst();                      /* fence F1 (EnterFence) */
}

/* ---- Falling asleep ---- */

bool weft__doze_off(const struct weft__sleeper *sleeper, bool counted)
{
    if (!weft__latch_doze(sleeper->latch))
        return false;
    weft__park_drowse(sleeper->park, counted);
    if (weft__latch_sleep(sleeper->latch))
        return true;
    weft__park_rouse(sleeper->park);
    return false;
}

void weft__stay_awake(const struct weft__sleeper *sleeper)
{
    weft__park_rouse(sleeper->park);
    weft__latch_rouse(sleeper->latch);
}

/* Where nobody says that there is work, and while anybody is at work, one sleeper, the
 * look-out, looks now and then. When the last one stops work, it sleeps for good, and whoever
 * starts next knows that it does (SleepFence, EnterFence). */
uint64_t weft__doze_time(struct weft__sleep *sleep, struct weft__idle *idle)
{
    enum { DOUBLINGS = 3 };
    uint64_t counters = atomic_load_relaxed(&sleep->counters); /* relaxed: after the fence */
    if (!sleep->doze || !at_work(sleep, counters)) {
        weft__stop_looking_out(sleep, idle);
        return 0;
    }
    bool taken = false;
    if (idle->doze == 0 && !atomic_cas_relaxed(&sleep->lookout, &taken, true))
        return 0;
    if (idle->doze == 0)
        idle->doze = sleep->doze;
    else if (idle->doze < sleep->doze << DOUBLINGS)
        idle->doze *= 2;
    return idle->doze;
}

enum outcome weft__sleep_counted(struct weft__sleep *sleep, struct weft__idle *idle,
                                 const struct weft__sleeper *sleeper)
{
    /* fence F1 (SleepFence): counted as a sleeper before the queues are looked at. Partner:
     * PushFence, where jobs are posted. */
    atomic_fence_seq_cst();
    enum park_result result = PARK_WAS_NUDGED;
    if (!WEFT__RECHECK(sleeper->last_look(sleeper->arg)))
        result = weft__park_sleep(sleeper->park, &sleep->counters, weft__doze_time(sleep, idle));
    if (result != PARK_WAS_WOKEN) {
        /* Nobody woke it from sleep, so it uncounts itself. relaxed: a hint to others. */
        atomic_fetch_sub_relaxed(&sleep->counters, one_sleeping);
        weft__stay_awake(sleeper);
        return result == PARK_TIMED_OUT ? DOZED : WORK_WAS_POSTED;
    }
    if (WEFT__FAULT(11))
        atomic_fetch_sub_relaxed(&sleep->counters, one_sleeping);
    if (WEFT__FAULT(13))
        atomic_store_relaxed(&sleeper->latch->state, LATCH_UNSET);
    else
        weft__latch_rouse(sleeper->latch);
    return SLEPT;
}

enum park_result weft__sleep_uncounted(const struct weft__sleeper *sleeper, uint64_t ns)
{
    if (!weft__doze_off(sleeper, false))
        return PARK_WAS_NUDGED;
    /* fence F1: DROWSY before the look at the mailbox; partner: the fence between a
     * broadcast's push and its wake. */
    atomic_fence_seq_cst();
    if (sleeper->last_look && WEFT__RECHECK(sleeper->last_look(sleeper->arg))) {
        weft__stay_awake(sleeper);
        return PARK_WAS_NUDGED;
    }
    enum park_result result = weft__park_sleep(sleeper->park, NULL, ns);
    weft__latch_rouse(sleeper->latch);
    return result;
}

struct weft__resting weft__sleep_resting(struct weft__sleep *sleep)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters); /* relaxed: a hint */
    return (struct weft__resting){idle_in(counters), sleeping_in(counters)};
}
