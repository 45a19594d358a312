/* SPDX-License-Identifier: MIT */
/* The `tickle` protocols: one worker at a time gets sleepy, then sleeps in the crowd, and
 * whatever happens wakes them all. Their word is sleep/crowd.h's. */
#include "os/thread.h"
#include "sleep/common.h"
#include "sleep/crowd.h"
#include "sleep/lookout.h"

/* Workers that have stepped back sleep in their own parking places, and a tickle does not wake
 * them. Returns how many it woke. */
static unsigned wake_aside(struct weft__sleep *sleep, unsigned n, bool waits)
{
    if (atomic_load_relaxed(&sleep->aside) == 0) /* relaxed: after PushFence or LeaveFence */
        return 0;
    uint64_t counters = atomic_load_acquire(&sleep->counters); /* acquire E1: their places */
    return weft__wake_any(sleep, at_most(n, room(sleep, counters)), FOR_JOBS, waits);
}

static bool new_fork(struct weft__sleep *sleep, bool was_empty)
{
    (void)was_empty;
    uint64_t counters = atomic_load_relaxed(&sleep->counters); /* relaxed: a hint */
    weft__crowd_tickle(sleep->crowd);
    if (idle_in(counters) == 0)
        wake_aside(sleep, 1, false);
    call_spare_if_all_work(sleep, counters);
    return idle_in(counters) + sleeping_in(counters) > 0;
}

static void new_jobs(struct weft__sleep *sleep, unsigned jobs, bool waits)
{
    bool seq_cst = sleep->crowd->kind == CROWD_SEQ_CST;
    /* relaxed: a worker that has stepped back did so for a guest that came before. */
    bool had_guests = atomic_load_relaxed(&sleep->guests) > 0;
    if (seq_cst)
        atomic_fence_seq_cst(); /* fence F1 (PushFence); partner: after getting sleepy */
    weft__crowd_tickle(sleep->crowd);
    if (had_guests && !seq_cst)
        atomic_fence_seq_cst(); /* fence F1 (PushFence); partner: SleepFence of a worker that steps
                                   back */
    if (had_guests)
        wake_aside(sleep, jobs, waits);
    call_spare_if_all_work(sleep, atomic_load_relaxed(&sleep->counters)); /* relaxed: a hint */
}

static void more_work(struct weft__sleep *sleep)
{
    uint64_t counters = atomic_load_acquire(&sleep->counters); /* acquire E1 */
    if (guests_at_work(sleep) > 0 && free_room(sleep, counters) <= 0)
        call_spare_if_all_work(sleep, counters);
    else if (wake_aside(sleep, 1, false) == 0)
        new_jobs(sleep, 1, false);
}

static bool work_found(struct weft__sleep *sleep, struct weft__idle *idle)
{
    if (idle->sleepy)
        weft__crowd_be_awake(sleep->crowd, idle->sleepy);
    uint64_t old = weft__stop_looking(sleep);
    /* New work wakes all sleepers anyway; but there should be another look-out. */
    if (!sleep->look_ns || sleeping_in(old) == 0 || idle_in(old) != 1)
        return false;
    atomic_fence_seq_cst(); /* fence F1 (FoundFence): as in weft__work_found_counted() */
    return true;
}

static bool fall_asleep(struct weft__sleep *sleep, struct weft__idle *idle, struct weft__park *park)
{
    atomic_fetch_add_relaxed(&sleep->counters, one_sleeping); /* relaxed: a hint, or the fence */
    if (sleep->look_ns)
        atomic_fence_seq_cst(); /* fence F1 (SleepFence); partner: EnterFence */
    struct weft__lookout lookout = {sleep, idle, park};
    enum park_result result =
        weft__crowd_sleep(sleep->crowd, park, &sleep->counters, weft__lookout_naps(&lookout));
    weft__lookout_got_up(sleep, park);
    idle->woken = result == PARK_WAS_WOKEN;
    if (!idle->woken)
        atomic_fetch_sub_relaxed(&sleep->counters, one_sleeping); /* relaxed: a hint */
    idle->round = result == PARK_TIMED_OUT ? sleep->rounds : 0;
    idle->sleepy = 0;
    return result != PARK_WAS_NUDGED;
}

/* Rounds until sleepy: `rounds`. Until asleep: as many again and one, so that there is a
 * search after getting sleepy even without spinning. */
static bool no_work(struct weft__sleep *sleep, struct weft__idle *idle,
                    const struct weft__sleeper *sleeper)
{
    struct weft__crowd *crowd = sleep->crowd;
    if (idle->sleepy && !weft__crowd_is_sleepy(crowd, idle->sleepy)) { /* tickled */
        idle->round = 0;
        idle->sleepy = 0;
        return false;
    }
    if (idle->round == 2 * sleep->rounds + 1)
        return fall_asleep(sleep, idle, sleeper->park);
    if (idle->round != sleep->rounds) {
        idle->round = idle->sleepy && idle->hurries ? 2 * sleep->rounds + 1 : idle->round + 1;
    } else if (weft__crowd_get_sleepy(crowd, sleeper->park->place + 1)) {
        idle->sleepy = sleeper->park->place + 1;
        idle->round++;
    } /* else another worker is sleepy, and this worker tries again */
    weft__thread_yield();
    return false;
}

#define TICKLE(name_, kind_)                                                    \
    {                                                                           \
        .name = name_, .kind = kind_, .crowded = true, .no_work = no_work,      \
        .work_found = work_found, .more_work = more_work, .new_fork = new_fork, \
        .new_jobs = new_jobs,                                                   \
    }

const struct weft__protocol weft__tickle = TICKLE("tickle", CROWD_ACQ_REL);
const struct weft__protocol weft__tickle_seqcst = TICKLE("tickle-seqcst", CROWD_SEQ_CST);
const struct weft__protocol weft__tickle_flag = TICKLE("tickle-flag", CROWD_SEQ_CST);
const struct weft__protocol weft__tickle_swap = TICKLE("tickle-swap", CROWD_SWAPS);
