/* SPDX-License-Identifier: MIT */
#include "sleep/sleep.h"

#include "os/memory.h"
#include "os/thread.h"

#include <errno.h>

enum { THREAD_BITS = 16 };
static const uint64_t one_sleeping = 1; /* weft__park_wake() takes this off */
static const uint64_t one_inactive = (uint64_t)1 << THREAD_BITS;
static const uint64_t thread_mask = ((uint64_t)1 << THREAD_BITS) - 1;

static unsigned sleeping_in(uint64_t counters)
{
    return (unsigned)(counters & thread_mask);
}

static unsigned idle_in(uint64_t counters)
{
    return (unsigned)(counters >> THREAD_BITS & thread_mask) - sleeping_in(counters);
}

/* The event counter stands in the top bits, so that it wraps without a carry. */
static uint64_t jec_in(const struct weft__sleep *sleep, uint64_t counters)
{
    return counters & ~(sleep->jec_one - 1);
}

/* Even: somebody got sleepy since the last new work. */
static bool jec_is_sleepy(const struct weft__sleep *sleep, uint64_t counters)
{
    return (counters & sleep->jec_one) == 0;
}

int weft__sleep_init(struct weft__sleep *sleep, unsigned workers, unsigned rounds,
                     unsigned jec_bits)
{
    sleep->jec_one = (uint64_t)1 << (64 - jec_bits);
    sleep->rounds = rounds;
    sleep->workers = workers;
    sleep->parks = weft__alloc(workers * sizeof sleep->parks[0]);
    return sleep->parks ? 0 : -ENOMEM;
}

void weft__sleep_destroy(struct weft__sleep *sleep)
{
    weft__free(sleep->parks);
}

/* Moves the event counter on if its parity is the one given; the counters after that. */
static uint64_t jec_step_if(struct weft__sleep *sleep, bool sleepy)
{
    /* acquire E1: the parking places of all who are counted as sleeping. */
    uint64_t old = atomic_load_acquire(&sleep->counters);
    while (jec_is_sleepy(sleep, old) == sleepy) {
        /* acq_rel E1: acquire as above; release E2: a worker that finds the counter moved
         * searches again, and must see what was posted. */
        if (atomic_cas_acq_rel(&sleep->counters, &old, old + sleep->jec_one))
            return old + sleep->jec_one;
    }
    return old;
}

void weft__sleep_start_looking(struct weft__sleep *sleep, struct weft__idle *idle)
{
    idle->round = 0;
    idle->doze = 0;
    /* relaxed: a hint to those who post work. */
    atomic_fetch_add_relaxed(&sleep->counters, one_inactive);
}

/* Wakes up to n sleepers, those on another CPU than the caller's first, because the
 * caller goes on working on its own; if it is about to sleep, the other way round. */
static void wake_any(struct weft__sleep *sleep, unsigned n, bool waits)
{
    int cpu = weft__thread_cpu();
    for (int pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < sleep->workers && n > 0; i++) {
            bool near = sleep->parks[i]->cpu == cpu;
            if (near == (waits != (pass == 1)) && weft__park_wake_counted(sleep->parks[i]))
                n--;
        }
    }
}

static unsigned at_most(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* relaxed, all of the look-out's: who it is decides nothing but who looks how often. */
static void stop_looking_out(struct weft__sleep *sleep, struct weft__idle *idle)
{
    if (idle->doze)
        atomic_store_relaxed(&sleep->lookout, false);
    idle->doze = 0;
}

bool weft__sleep_work_found(struct weft__sleep *sleep, struct weft__idle *idle)
{
    stop_looking_out(sleep, idle);
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

/* How many more workers forks may wake: a guest at work stands in for one. */
static unsigned room(struct weft__sleep *sleep, uint64_t counters)
{
    unsigned sleeping = sleeping_in(counters);
    /* relaxed: a heuristic. */
    unsigned guests = atomic_load_relaxed(&sleep->guests);
    return guests < sleeping ? sleeping - guests : 0;
}

void weft__sleep_more_work(struct weft__sleep *sleep, bool forks_only)
{
    /* acquire E1 */
    uint64_t counters = atomic_load_acquire(&sleep->counters);
    if (forks_only ? room(sleep, counters) > 0 : sleeping_in(counters) > 0)
        wake_any(sleep, 1, false);
}

bool weft__sleep_new_fork(struct weft__sleep *sleep, bool was_empty)
{
    uint64_t counters = jec_step_if(sleep, true);
    /* Older jobs still lie there: those who are idle are not enough. */
    if (was_empty && idle_in(counters) > 0)
        return true;
    if (room(sleep, counters) == 0)
        return false;
    wake_any(sleep, 1, false);
    return true;
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

void weft__sleep_new_jobs(struct weft__sleep *sleep, unsigned jobs, bool waits)
{
    /* fence F1 (PushFence): the job is in its queue before the counters are read. Partner:
     * SleepFence in fall_asleep(), and the fence of a thief's look at a deque (D4). */
    atomic_fence_seq_cst();
    uint64_t counters = jec_step_if(sleep, true);
    unsigned idle = idle_in(counters);
    if (sleeping_in(counters) > 0 && idle < jobs)
        wake_any(sleep, at_most(jobs - idle, sleeping_in(counters)), waits);
}

static bool at_work(struct weft__sleep *sleep, uint64_t counters)
{
    unsigned inactive = (unsigned)(counters >> THREAD_BITS & thread_mask);
    /* relaxed, both: the caller has a fence before, or wants a hint. */
    return inactive + atomic_load_relaxed(&sleep->absent) < sleep->workers ||
           atomic_load_relaxed(&sleep->guests) > 0;
}

void weft__sleep_guest_entered(struct weft__sleep *sleep)
{
    atomic_fetch_add_relaxed(&sleep->guests, 1); /* relaxed: the fence orders it */
    /* fence F1 (EnterFence): counted as at work before it looks whether anybody sleeps;
     * partner: SleepFence, after which a sleeper looks whether anybody is at work. */
    atomic_fence_seq_cst();
}

void weft__sleep_caller_entered(struct weft__sleep *sleep)
{
    atomic_store_relaxed(&sleep->absent, 0); /* relaxed: the fence orders it */
    atomic_fence_seq_cst();                  /* fence F1 (EnterFence) */
}

void weft__sleep_caller_left(struct weft__sleep *sleep)
{
    atomic_store_relaxed(&sleep->absent, 1); /* relaxed: a sleeper that misses it dozes once */
}

bool weft__sleep_guest_left(struct weft__sleep *sleep)
{
    /* relaxed: a heuristic. */
    atomic_fetch_sub_relaxed(&sleep->guests, 1);
    uint64_t counters = atomic_load_relaxed(&sleep->counters);
    return idle_in(counters) == 0 && room(sleep, counters) > 0 && at_work(sleep, counters);
}

/* Doze: false if the latch is set. */
static bool doze_off(const struct weft__sleeper *sleeper, bool counted)
{
    if (!weft__latch_doze(sleeper->latch))
        return false;
    weft__park_drowse(sleeper->park, counted);
    if (weft__latch_sleep(sleeper->latch))
        return true;
    weft__park_rouse(sleeper->park);
    return false;
}

/* Takes back what the sleeper announced. */
static void stay_awake(const struct weft__sleeper *sleeper)
{
    weft__park_rouse(sleeper->park);
    weft__latch_rouse(sleeper->latch);
}

/* IncSleepers: counts the caller as sleeping, unless new work was announced since it got
 * sleepy. */
static bool inc_sleepers(struct weft__sleep *sleep, const struct weft__idle *idle)
{
    uint64_t old = atomic_load_relaxed(&sleep->counters);
    do {
        if (jec_in(sleep, old) != idle->jec) {
            /* acquire E2: what was posted is seen by the search that follows. */
            (void)atomic_load_acquire(&sleep->counters);
            return false;
        }
        /* acq_rel E1: release: whoever counts this one sees its parking place DROWSY. */
    } while (!atomic_cas_acq_rel(&sleep->counters, &old, old + one_sleeping));
    return true;
}

/* How long to sleep. On the lazy road nobody says that there is work; so while anybody is
 * at work, one sleeper, the look-out, looks now and then. When the last one stops work, it
 * sleeps for good, and whoever starts next knows that it does (SleepFence, EnterFence). */
static uint64_t doze_time(struct weft__sleep *sleep, struct weft__idle *idle)
{
    enum { DOUBLINGS = 3 };
    uint64_t counters = atomic_load_relaxed(&sleep->counters); /* relaxed: after the fence */
    if (!sleep->doze || !at_work(sleep, counters)) {
        stop_looking_out(sleep, idle);
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

enum outcome { LATCH_WAS_SET, WORK_WAS_POSTED, DOZED, SLEPT };

static enum outcome fall_asleep(struct weft__sleep *sleep, struct weft__idle *idle,
                                const struct weft__sleeper *sleeper)
{
    if (!doze_off(sleeper, true))
        return LATCH_WAS_SET;
    if (!inc_sleepers(sleep, idle)) {
        stay_awake(sleeper);
        return WORK_WAS_POSTED;
    }
    /* fence F1 (SleepFence): counted as a sleeper before the queues are looked at. Partner:
     * PushFence in weft__sleep_new_jobs(). */
    atomic_fence_seq_cst();
    enum park_result result = PARK_WAS_NUDGED;
    if (!sleeper->last_look(sleeper->arg))
        result = weft__park_sleep(sleeper->park, &sleep->counters, doze_time(sleep, idle));
    if (result != PARK_WAS_WOKEN) {
        /* Nobody woke it from sleep, so it uncounts itself. relaxed: a hint to others. */
        atomic_fetch_sub_relaxed(&sleep->counters, one_sleeping);
        stay_awake(sleeper);
        return result == PARK_TIMED_OUT ? DOZED : WORK_WAS_POSTED;
    }
    weft__latch_rouse(sleeper->latch);
    return SLEPT;
}

bool weft__sleep_no_work(struct weft__sleep *sleep, struct weft__idle *idle,
                         const struct weft__sleeper *sleeper)
{
    if (idle->round < sleep->rounds) {
        idle->round++;
        weft__thread_yield();
        return false;
    }
    if (idle->round == sleep->rounds) { /* sleepy: one more search */
        idle->jec = jec_in(sleep, jec_step_if(sleep, false));
        idle->round++;
        return false;
    }
    switch (fall_asleep(sleep, idle, sleeper)) {
    case LATCH_WAS_SET:
        return false;
    case WORK_WAS_POSTED: /* back to just before sleepy: search, then try again */
        idle->round = sleep->rounds;
        return false;
    case DOZED:
        idle->round = sleep->rounds;
        return true;
    case SLEPT:
        idle->round = 0;
        return true;
    }
    return false;
}

enum park_result weft__sleep_uncounted(const struct weft__sleeper *sleeper, uint64_t ns)
{
    if (!doze_off(sleeper, false))
        return PARK_WAS_NUDGED;
    /* fence F1: DROWSY before the look at the mailbox; partner: the fence between a
     * broadcast's push and its wake. */
    atomic_fence_seq_cst();
    if (sleeper->last_look && sleeper->last_look(sleeper->arg)) {
        stay_awake(sleeper);
        return PARK_WAS_NUDGED;
    }
    enum park_result result = weft__park_sleep(sleeper->park, NULL, ns);
    weft__latch_rouse(sleeper->latch);
    return result;
}

/* relaxed, both: hints for people who look at the pool. */

unsigned weft__sleep_idle(struct weft__sleep *sleep)
{
    return idle_in(atomic_load_relaxed(&sleep->counters));
}

unsigned weft__sleep_sleeping(struct weft__sleep *sleep)
{
    return sleeping_in(atomic_load_relaxed(&sleep->counters));
}
