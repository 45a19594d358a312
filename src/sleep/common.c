/* SPDX-License-Identifier: MIT */
#include "sleep/common.h"

#include "os/thread.h"
#include "sleep/lookout.h"

/* ---- Waking ---- */

/* On a CPU where somebody is at work, a sleeper may not run for milliseconds after it was woken. So
 * it wakes up on another one, if one is free. */
struct waking {
    struct weft__used_cpus used;
    bool known, may_move; /* `used` is filled, and worth something */
    bool apart;           /* not on the look-out's CPU */
};

static bool knows_cpus(struct weft__sleep *sleep, struct waking *waking, int own)
{
    if (!waking->known) {
        waking->may_move = sleep->used_cpus && sleep->used_cpus(sleep, &waking->used);
        weft__cpu_take(&waking->used, own);
        /* Who gets no CPU there would not be seen. relaxed: a hint. */
        if (waking->apart && weft__sleep_has_lookout(sleep))
            weft__cpu_take(&waking->used, atomic_load_relaxed(&sleep->lookout_cpu));
    }
    waking->known = true;
    return waking->may_move;
}

/* -1: wherever the kernel likes, because all CPUs are taken. `own`: where the waker goes on
 * working, or -1. */
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

/* All have slept for so long that nobody looks out, and there is a place for one more than these n:
 * else it would take theirs. relaxed: a guess. */
static bool wants_lookout(struct weft__sleep *sleep, unsigned n)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters);
    return sleep->look_ns && sleeping_in(counters) == sleep->workers && !lookout_in(counters) &&
           room(sleep, counters) > n;
}

/* Who was woken from a deep sleep need not get its CPU soon, and nobody would see that. So one more
 * is woken, wherever the kernel likes: it looks out, or takes what there is. */
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
            /* The second time on any CPU, the third time the look-out, too. */
            if (!park || (near != waits && pass == 0) || (on_duty && pass < 2))
                continue;
            if (on_duty) /* it may not run for a while, and must not count as one who looks */
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
    /* fence F1 (FoundFence): no longer counted as idle (nor, since it woke up, as the look-out)
     * before the queues are looked at, and who is at work. Partner: PushFence. Who injects a job
     * either sees that nobody is idle and wakes somebody, or the caller sees the job. And
     * EnterFence: a guest that relies on the look-out is seen by it. */
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
    weft__park_rouse(sleeper->park);
    return false;
}

void weft__stay_awake(const struct weft__sleeper *sleeper)
{
    weft__park_rouse(sleeper->park);
    weft__latch_rouse(sleeper->latch);
}

/* fence F1 (SleepFence): counted as a sleeper before the queues are looked at, or whether there is
 * room. Partners: PushFence, where jobs are posted, and LeaveFence, where a guest leaves. */
enum sleep_outcome weft__sleep_unless(weft__last_look *last_look, struct weft__sleep *sleep,
                                      struct weft__idle *idle, const struct weft__sleeper *sleeper)
{
    struct weft__lookout lookout = {sleep, idle, sleeper->park};
    atomic_fence_seq_cst();
    enum park_result result = PARK_WAS_NUDGED;
    if (!last_look(sleeper, sleep))
        result = weft__park_sleep(sleeper->park, &sleep->counters, weft__lookout_naps(&lookout));
    weft__lookout_relieve(sleep, sleeper->park);
    idle->woken = result == PARK_WAS_WOKEN;
    if (!idle->woken) {
        /* Nobody woke it from sleep, so it uncounts itself. relaxed: a hint to others. */
        atomic_fetch_sub_relaxed(&sleep->counters, one_sleeping);
        weft__stay_awake(sleeper);
        return result == PARK_TIMED_OUT ? LOOKED_OUT : WORK_WAS_POSTED;
    }
    weft__latch_rouse(sleeper->latch);
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
