/* SPDX-License-Identifier: MIT */
/* The `events` protocol and its variants: a counter of job events in the word that counts workers
 * tells a sleepy worker whether anything was posted since. */
#include "os/thread.h"
#include "sleep/common.h"

enum events_kind {
    TOGGLED, /* new work makes an even counter odd, a sleepy worker an odd one even */
    PLAIN,   /* new work counts one more; a sleepy worker only reads */
};

/* The event counter stands in the top bits, so that it wraps without a carry. */
static uint64_t jec_in(const struct weft__sleep *sleep, uint64_t counters)
{
    return counters & ~(sleep->jec_one - 1);
}

/* Even: a worker got sleepy since the last new work. */
static bool jec_is_sleepy(const struct weft__sleep *sleep, uint64_t counters)
{
    return (counters & sleep->jec_one) == 0;
}

/* The event counter moved on. */
static uint64_t jec_next(const struct weft__sleep *sleep, uint64_t counters)
{
    return counters + sleep->jec_one;
}

/* Moves the event counter on, if it has the given parity. Returns the counters after that. */
static uint64_t jec_step_if(struct weft__sleep *sleep, bool sleepy)
{
    /* acquire E1: the parking places of all workers that are counted as sleeping. */
    uint64_t old = atomic_load_acquire(&sleep->counters);
    while (jec_is_sleepy(sleep, old) == sleepy) {
        /* acq_rel E1: acquire as above; release E2: a worker that finds the counter moved
         * searches again, and must see what was posted. */
        if (atomic_cas_acq_rel(&sleep->counters, &old, jec_next(sleep, old)))
            return jec_next(sleep, old);
    }
    return old;
}

/* One more event, whatever the parity. Returns the counters after that. */
static uint64_t jec_count(struct weft__sleep *sleep)
{
    /* acq_rel E1: acquire: the parking places of all workers that are counted as sleeping; release
     * E2: as above. */
    return atomic_fetch_add_acq_rel(&sleep->counters, sleep->jec_one) + sleep->jec_one;
}

/* If a worker is idle, it finds the fork, and wakes the next worker if there is more. Waking
 * another one here because older forks are still pending has woken all of 32 workers for a burst of
 * 50 us. */
static inline bool fork_posted(struct weft__sleep *sleep, uint64_t counters)
{
    if (idle_in(counters) > 0)
        return true;
    if (room(sleep, counters) == 0) {
        call_spare_if_all_work(sleep, counters);
        return false;
    }
    weft__wake_any(sleep, 1, FOR_FORKS, false);
    return true;
}

static bool new_fork(struct weft__sleep *sleep, bool was_empty)
{
    (void)was_empty;
    return fork_posted(sleep, jec_step_if(sleep, true));
}

static bool new_fork_plain(struct weft__sleep *sleep, bool was_empty)
{
    (void)was_empty;
    return fork_posted(sleep, jec_count(sleep));
}

static void new_jobs(struct weft__sleep *sleep, unsigned jobs, bool waits)
{
    /* fence F1 (PushFence): the job is in its queue before the counters are read. Partner:
     * SleepFence in weft__sleep_counted(), and the fence of a thief's look at a deque (D4). */
    atomic_fence_seq_cst();
    bool plain = sleep->protocol->kind == PLAIN;
    uint64_t counters = plain ? jec_count(sleep) : jec_step_if(sleep, true);
    unsigned idle = idle_in(counters), most = room(sleep, counters);
    if (most > 0 && idle < jobs)
        weft__wake_any(sleep, at_most(jobs - idle, most), FOR_JOBS, waits);
    else if (most == 0 && lacks_lookout(sleep, counters))
        weft__wake_any(sleep, 1, FOR_JOBS, waits);
    else
        call_spare_if_all_work(sleep, counters);
}

/* Returns what the event counter is from now on, unless new work comes. */
static uint64_t get_sleepy(struct weft__sleep *sleep)
{
    if (sleep->protocol->kind == PLAIN)
        /* acquire E2: what was counted so far is seen by the search that follows. */
        return jec_in(sleep, atomic_load_acquire(&sleep->counters));
    return jec_in(sleep, jec_step_if(sleep, false));
}

/* IncSleepers: counts the caller as sleeping, unless new work was posted since it got sleepy. */
static bool inc_sleepers(struct weft__sleep *sleep, const struct weft__idle *idle)
{
    uint64_t old = atomic_load_relaxed(&sleep->counters);
    do {
        if (jec_in(sleep, old) != idle->jec) {
            /* acquire E2: what was posted is seen by the search that follows. */
            (void)atomic_load_acquire(&sleep->counters);
            return false;
        }
        /* acq_rel E1: release: a waker that counts this worker sees its parking place DROWSY. */
    } while (!atomic_cas_acq_rel(&sleep->counters, &old, old + one_sleeping));
    return true;
}

static enum sleep_outcome fall_asleep(struct weft__sleep *sleep, struct weft__idle *idle,
                                      const struct weft__sleeper *sleeper)
{
    if (!weft__doze_off(sleeper, true, sleep->protocol->at_once))
        return LATCH_WAS_SET;
    if (!inc_sleepers(sleep, idle)) {
        weft__stay_awake(sleeper);
        return WORK_WAS_POSTED;
    }
    return weft__sleep_counted(sleep, idle, sleeper);
}

static bool no_work(struct weft__sleep *sleep, struct weft__idle *idle,
                    const struct weft__sleeper *sleeper)
{
    if (idle->round < sleep->rounds) {
        idle->round++;
        weft__thread_yield();
        return false;
    }
    if (idle->round == sleep->rounds) { /* sleepy: one more search */
        idle->jec = get_sleepy(sleep);
        idle->round++;
        return false;
    }
    switch (fall_asleep(sleep, idle, sleeper)) {
    case LATCH_WAS_SET:
        return false;
    case WORK_WAS_POSTED: /* back to just before sleepy: search, then try again */
        idle->round = sleep->rounds;
        return false;
    case LOOKED_OUT:
        idle->round = sleep->rounds;
        return true;
    case SLEPT:
        idle->round = 0;
        return true;
    }
    return false;
}

#define EVENTS(name_, kind_, fork_, at_once_)                                         \
    {                                                                                 \
        .name = name_, .kind = kind_, .at_once = at_once_, .no_work = no_work,        \
        .work_found = weft__work_found_counted, .more_work = weft__more_work_counted, \
        .new_fork = fork_, .new_jobs = new_jobs,                                      \
    }

const struct weft__protocol weft__events = EVENTS("events", TOGGLED, new_fork, false);
const struct weft__protocol weft__events_plain =
    EVENTS("events-plain", PLAIN, new_fork_plain, false);
const struct weft__protocol weft__events_latch = EVENTS("events-latch", TOGGLED, new_fork, true);
