/* SPDX-License-Identifier: MIT */
#include "sleep/common.h"

#include "os/thread.h"
#include "sleep/lookout.h"

/* ---- Waking ---- */

/* On a CPU where another thread is at work, a sleeper may not run for milliseconds after it was
 * woken. So the waker wakes it on another CPU, if one is free. */
struct waking {
    struct weft__used_cpus used;
    bool known;    /* `used` is filled */
    bool may_move; /* sleepers may be moved */
    bool apart;    /* not to the look-out's CPU */
};

static bool knows_cpus(struct weft__sleep *sleep, struct waking *waking, int own)
{
    if (!waking->known) {
        waking->may_move = sleep->used_cpus && sleep->used_cpus(sleep, &waking->used);
        weft__cpu_take(&waking->used, own);
        /* A sleeper that gets no CPU there would not be noticed. relaxed: a hint. */
        if (waking->apart && weft__sleep_has_lookout(sleep))
            weft__cpu_take(&waking->used, atomic_load_relaxed(&sleep->lookout_cpu));
    }
    waking->known = true;
    return waking->may_move;
}

/* The CPU on which the sleeper wakes up. -1: the kernel chooses, because all CPUs are taken. `own`:
 * the CPU on which the waker goes on working, or -1. */
static int where_to_wake(struct weft__sleep *sleep, struct waking *waking, struct weft__park *park,
                         int own)
{
    int cpu = atomic_load_relaxed(&park->cpu); /* relaxed, both: hints */
    if (cpu < 0 || atomic_load_relaxed(&park->state) != PARK_ASLEEP ||
        !knows_cpus(sleep, waking, own))
        return cpu;
    int other = weft__cpu_other(&waking->used, sleep->cpus, cpu, CPU_RECENT);
    bool taken = weft__cpu_use_of(&waking->used, other) == CPU_TAKEN;
    weft__cpu_take(&waking->used, other);
    return taken ? -1 : other;
}

/* True: all workers sleep, there is no look-out, and there is room for one more worker than these
 * n. relaxed: a guess. */
static bool wants_lookout(struct weft__sleep *sleep, unsigned n)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters);
    return sleep->look_ns && sleeping_in(counters) == sleep->workers && !lookout_in(counters) &&
           room(sleep, counters) > n;
}

/* A worker that was woken while there was no look-out may not get its CPU soon, and no other worker
 * would notice. So one more sleeper is woken, on a CPU that the kernel chooses: it becomes the
 * look-out, or takes the work. */
static void wake_lookout(struct weft__sleep *sleep)
{
    for (unsigned i = 0; i < sleep->places; i++) {
        struct weft__park *park = atomic_load_acquire(&sleep->parks[i]); /* acquire E3 */
        if (park && weft__park_wake_counted(park, -1))
            return;
    }
}

unsigned weft__wake_any(struct weft__sleep *sleep, unsigned n, enum weft__for what, bool waits)
{
    int cpu = weft__thread_cpu();
    bool lookout = wants_lookout(sleep, n);
    struct waking waking = {.apart = what == FOR_JOBS};
    unsigned woken = 0;
    for (int pass = 0; pass < 3; pass++) {
        for (unsigned i = 0; i < sleep->places && woken < n; i++) {
            struct weft__park *park = atomic_load_acquire(&sleep->parks[i]); /* acquire E3 */
            bool near = park && atomic_load_relaxed(&park->cpu) == cpu;      /* relaxed: hints */
            bool on_duty = park && atomic_load_relaxed(&sleep->lookout) == park;
            /* The second pass takes sleepers on any CPU, the third pass the look-out, too. */
            if (!park || (near != waits && pass == 0) || (on_duty && pass < 2))
                continue;
            if (on_duty) /* it may not run for a while, and must not count as the look-out */
                weft__lookout_relieve(sleep, park);
            int where = where_to_wake(sleep, &waking, park, waits ? -1 : cpu);
            woken += weft__park_wake_counted(park, where);
        }
    }
    if (lookout)
        wake_lookout(sleep);
    return woken;
}

uint64_t weft__stop_looking(struct weft__sleep *sleep)
{
    return atomic_fetch_sub_relaxed(&sleep->counters, one_inactive); /* relaxed: a fence follows */
}

bool weft__work_found_counted(struct weft__sleep *sleep, struct weft__idle *idle)
{
    (void)idle;
    uint64_t old = weft__stop_looking(sleep);
    if (sleeping_in(old) == 0 || idle_in(old) != 1)
        return false;
    /* fence F1 (FoundFence): the caller is no longer counted as idle (nor, since it woke up, as the
     * look-out) before it looks at the queues, and at which threads are at work. Partner:
     * PushFence. A thread that injects a job sees that no worker is idle and wakes a sleeper, or
     * the caller sees the job. Partner: EnterFence. A guest that relies on the look-out is seen by
     * it. */
    atomic_fence_seq_cst();
    return true;
}

void weft__more_work_counted(struct weft__sleep *sleep)
{
    /* acquire E1 */
    uint64_t counters = atomic_load_acquire(&sleep->counters);
    if (room(sleep, counters) > 0)
        weft__wake_any(sleep, 1, FOR_FORKS, false);
    else
        call_spare_if_all_work(sleep, counters);
}

/* ---- Falling asleep ---- */

bool weft__doze_off(const struct weft__sleeper *sleeper, bool counted, bool at_once)
{
    if (!at_once && !weft__latch_doze(sleeper->latch))
        return false;
    weft__park_drowse(sleeper->park, counted);
    if (at_once ? weft__latch_sleep_at_once(sleeper->latch) : weft__latch_sleep(sleeper->latch))
        return true;
    weft__park_get_up(sleeper->park);
    return false;
}

void weft__stay_awake(const struct weft__sleeper *sleeper)
{
    weft__park_get_up(sleeper->park);
    weft__latch_get_up(sleeper->latch);
}

/* fence F1 (SleepFence): the caller is counted as a sleeper before it looks at the queues, or for
 * room. Partners: PushFence, where jobs are posted, and LeaveFence, where a guest leaves. */
enum sleep_outcome weft__sleep_unless(weft__last_look *last_look, struct weft__sleep *sleep,
                                      struct weft__idle *idle, const struct weft__sleeper *sleeper)
{
    struct weft__lookout lookout = {sleep, idle, sleeper->park};
    atomic_fence_seq_cst();
    enum park_result result = PARK_WAS_NUDGED;
    if (!last_look(sleeper, sleep))
        result = weft__park_sleep(sleeper->park, &sleep->counters, weft__lookout_naps(&lookout));
    weft__lookout_got_up(sleep, sleeper->park);
    idle->woken = result == PARK_WAS_WOKEN;
    if (!idle->woken) {
        /* No waker has uncounted the sleeper, so it does that itself. relaxed: a hint to others. */
        atomic_fetch_sub_relaxed(&sleep->counters, one_sleeping);
        weft__stay_awake(sleeper);
        return result == PARK_TIMED_OUT ? LOOKED_OUT : WORK_WAS_POSTED;
    }
    weft__latch_get_up(sleeper->latch);
    return SLEPT;
}

static bool finds_jobs(const struct weft__sleeper *sleeper, struct weft__sleep *sleep)
{
    (void)sleep;
    return WEFT__RECHECK(sleeper->last_look(sleeper->arg));
}

enum sleep_outcome weft__sleep_counted(struct weft__sleep *sleep, struct weft__idle *idle,
                                       const struct weft__sleeper *sleeper)
{
    return weft__sleep_unless(finds_jobs, sleep, idle, sleeper);
}
