/* SPDX-License-Identifier: MIT */
#include "sleep/lookout.h"

#include "os/clock.h"

/* Relaxed, all accesses here: the fences order those that matter. Nothing else depends on which
 * sleeper is the look-out. */

static bool take_duty(struct weft__sleep *sleep, struct weft__park *park)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters);
    do {
        if (lookout_in(counters))
            return false;
    } while (!atomic_cas_relaxed(&sleep->counters, &counters, counters + one_lookout));
    atomic_store_relaxed(&sleep->lookout, park);
    return true;
}

bool weft__lookout_relieve(struct weft__sleep *sleep, struct weft__park *park)
{
    void *known = park;
    if (!atomic_cas_relaxed(&sleep->lookout, &known, NULL))
        return false;
    atomic_fetch_sub_relaxed(&sleep->counters, one_lookout);
    return true;
}

static void stop_resting(struct weft__sleep *sleep, struct weft__park *park)
{
    void *known = park;
    if (atomic_load_relaxed(&sleep->rester) == park)
        atomic_cas_relaxed(&sleep->rester, &known, NULL);
}

void weft__lookout_got_up(struct weft__sleep *sleep, struct weft__park *park)
{
    weft__lookout_relieve(sleep, park);
    stop_resting(sleep, park);
}

/* Is the pool in use, or was it since the last look? */
static bool is_used(struct weft__sleep *sleep, struct weft__idle *idle)
{
    uint32_t entries = entries_of(sleep);
    bool came = entries != idle->entries;
    idle->entries = entries;
    return came || at_work(sleep, atomic_load_relaxed(&sleep->counters));
}

/* Jobs are in the injector, but because of guests there is no room for a worker. After a while the
 * look-out takes one of them: what the guests do may depend on it. */
static bool is_starved(struct weft__sleep *sleep, struct weft__idle *idle, uint64_t now)
{
    if (!sleep->holds_injected || !sleep->holds_injected(sleep)) {
        idle->starved = 0;
        return false;
    }
    if (idle->starved == 0)
        idle->starved = now;
    return now - idle->starved >= WEFT__STARVED_NS;
}

/* There is no more room, but a searcher, which should have taken the work by now. If it has not, it
 * has no CPU. True: that was so at two looks in a row. Then the look-out takes the searcher's
 * place, and the searcher steps back when it runs again. */
static bool is_overlooked(struct weft__sleep *sleep, struct weft__idle *idle, uint64_t counters)
{
    bool before = idle->overlooked;
    bool now = free_room(sleep, counters) == 0 && idle_in(counters) > 0 && sleep->holds_work &&
               sleep->holds_work(sleep);
    idle->overlooked = now && !before;
    return now && before;
}

/* A worker was woken and does not run, perhaps because a thread of higher priority has the CPU to
 * which it is pinned. */
static void unpin_all(struct weft__sleep *sleep)
{
    for (unsigned i = 0; i < sleep->places; i++) {
        struct weft__park *park = atomic_load_acquire(&sleep->parks[i]); /* acquire E3 */
        if (park && atomic_load_relaxed(&park->state) == PARK_AWAKE)
            weft__park_unpin(park);
    }
}

/* Is there something for the look-out to take? */
static bool has_reason(struct weft__sleep *sleep, struct weft__idle *idle, uint64_t now)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters);
    if (free_room(sleep, counters) > 0)
        return !sleep->holds_work || sleep->holds_work(sleep);
    idle->overtakes = is_overlooked(sleep, idle, counters);
    if (idle->overtakes)
        unpin_all(sleep);
    idle->let_in = is_starved(sleep, idle, now);
    return idle->overtakes || idle->let_in;
}

bool weft__lookout_leaves(struct weft__lookout *lookout)
{
    struct weft__sleep *sleep = lookout->sleep;
    if (!weft__lookout_relieve(sleep, lookout->park))
        return true; /* its waker has done that */
    /* fence F1: off duty before it looks whether a thread is at work. Partner: EnterFence, or a
     * worker's own step to work, which is on the same word. A thread that starts to work sees that
     * there is no look-out, and wakes a sleeper when it forks; or it is seen here. */
    atomic_fence_seq_cst();
    return !is_used(sleep, lookout->idle) || !take_duty(sleep, lookout->park);
}

/* The CPU for the look-out to sleep on: where no other thread of the pool is at work. */
static int choose_cpu(struct weft__lookout *lookout)
{
    struct weft__sleep *sleep = lookout->sleep;
    int cpu = atomic_load_relaxed(&lookout->park->cpu);
    struct weft__used_cpus used;
    if (cpu >= 0 && sleep->used_cpus && sleep->used_cpus(sleep, &used))
        cpu = weft__cpu_other(&used, sleep->cpus, cpu, CPU_FREE);
    atomic_store_relaxed(&lookout->park->cpu, cpu);
    atomic_store_relaxed(&sleep->lookout_cpu, cpu);
    return cpu;
}

/* ---- Naps: each function returns how long the next nap is ---- */

static void count_second(struct weft__sleep *sleep, uint64_t now)
{
    uint64_t last = atomic_load_relaxed(&sleep->second);
    if (sleep->every_second && now - last >= WEFT__SILENCE_NS &&
        atomic_cas_relaxed(&sleep->second, &last, now))
        sleep->every_second(sleep);
}

/* The look-out has gone off duty. It rests for a second, for every_second(). */
static uint64_t rest(struct weft__lookout *lookout)
{
    lookout->idle->looks_out = false;
    if (!lookout->sleep->every_second)
        return WEFT__SLEEP_ON;
    lookout->idle->rests = true;
    atomic_store_relaxed(&lookout->sleep->rester, lookout->park);
    return WEFT__SILENCE_NS;
}

/* At the end of that second. If another sleeper has become the look-out since, the seconds are that
 * sleeper's business. If guests came that needed no worker, the next second begins. */
static uint64_t end_rest(struct weft__lookout *lookout)
{
    struct weft__sleep *sleep = lookout->sleep;
    if (!weft__sleep_has_lookout(sleep) && atomic_load_relaxed(&sleep->rester) == lookout->park) {
        if (is_used(sleep, lookout->idle)) {
            count_second(sleep, weft__clock_now());
            return WEFT__SILENCE_NS;
        }
        sleep->every_second(sleep);
        sleep->every_second(sleep); /* none has used the pool since the first call */
    }
    stop_resting(sleep, lookout->park);
    return WEFT__SLEEP_ON;
}

/* At the end of a nap on duty. */
static uint64_t look_around(struct weft__lookout *lookout)
{
    struct weft__sleep *sleep = lookout->sleep;
    struct weft__idle *idle = lookout->idle;
    uint64_t now = weft__clock_now();
    if (is_used(sleep, idle)) {
        idle->used = now;
        if (has_reason(sleep, idle, now))
            return WEFT__GET_UP;
        if (idle->overlooked)
            return WEFT__LOOK_AGAIN_NS;
    }
    count_second(sleep, now);
    if (now - idle->used < WEFT__WATCH_NS)
        return sleep->look_ns;
    if (weft__lookout_leaves(lookout))
        return rest(lookout);
    idle->used = now;
    return sleep->look_ns;
}

static uint64_t look_out(struct weft__naps *naps)
{
    struct weft__lookout *lookout = naps->arg;
    if (lookout->idle->rests)
        return end_rest(lookout);
    naps->cpu = choose_cpu(lookout);
    return look_around(lookout);
}

struct weft__naps weft__lookout_naps(struct weft__lookout *lookout)
{
    struct weft__sleep *sleep = lookout->sleep;
    struct weft__idle *idle = lookout->idle;
    struct weft__naps never = weft__one_nap(0);
    idle->looks_out = idle->rests = false;
    if (!sleep->look_ns)
        return never;
    uint64_t now = weft__clock_now();
    bool came = entries_of(sleep) != idle->entries || guests_at_work(sleep) > 0;
    bool used = is_used(sleep, idle);
    if (!used && (idle->used == 0 || now - idle->used >= WEFT__SILENCE_NS))
        return never;
    if (!take_duty(sleep, lookout->park))
        return never;
    idle->looks_out = true;
    uint64_t none = 0;
    atomic_cas_relaxed(&sleep->second, &none, now);
    if (came) /* else the threads at work may be new workers: its first look tells */
        idle->used = now;
    choose_cpu(lookout);
    return (struct weft__naps){.ns = sleep->look_ns, .look = look_out, .arg = lookout};
}
