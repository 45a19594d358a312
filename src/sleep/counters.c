/* SPDX-License-Identifier: MIT */
/* The `counters` protocol and its variants: idle and sleeping workers are counted, and new
 * work wakes a sleeper if too few are idle. Workers don't get sleepy first. */
#include "os/thread.h"
#include "sleep/common.h"

enum counters_kind {
    ONE,    /* each post wakes at most one */
    LOCAL,  /* for forks: an empty deque means that enough workers are idle */
    BLOCKS, /* until the number of workers awake is a power of two */
    ALL,    /* as many as there are new jobs */
    TWO,    /* as many as it takes for two to be idle */
};

static enum counters_kind kind_of(const struct weft__sleep *sleep)
{
    return (enum counters_kind)sleep->protocol->kind;
}

/* How many idle workers are enough for these new jobs. */
static unsigned enough_for(const struct weft__sleep *sleep, unsigned jobs)
{
    return kind_of(sleep) == TWO && jobs < 2 ? 2 : jobs;
}

static unsigned up_to_a_power_of_two(const struct weft__sleep *sleep, uint64_t counters)
{
    unsigned sleeping = sleeping_in(counters), power = 1;
    unsigned awake = sleeping < sleep->workers ? sleep->workers - sleeping : 0;
    while (power <= awake)
        power *= 2;
    return power - awake;
}

/* How many sleepers to wake if so many idle workers are missing. */
static unsigned how_many(const struct weft__sleep *sleep, uint64_t counters, unsigned missing)
{
    switch (kind_of(sleep)) {
    case BLOCKS:
        return up_to_a_power_of_two(sleep, counters);
    case ALL:
        return missing;
    case TWO:
        return idle_in(counters) < 2 ? 2 - idle_in(counters) : 1;
    default:
        return 1;
    }
}

/* The local rule is wrong if a fork is still on the deque because no worker searches. So it is used
 * only while there is a look-out, which finds that fork. */
static bool idle_ones_are_enough(struct weft__sleep *sleep, uint64_t counters, bool was_empty)
{
    if (kind_of(sleep) == LOCAL)
        return was_empty && lookout_in(counters);
    return idle_in(counters) >= enough_for(sleep, 1);
}

static bool new_fork(struct weft__sleep *sleep, bool was_empty)
{
    uint64_t counters = atomic_load_acquire(&sleep->counters); /* acquire E1 */
    if (idle_ones_are_enough(sleep, counters, was_empty))
        return true;
    unsigned most = room(sleep, counters);
    if (most > 0)
        weft__wake_any(sleep, at_most(how_many(sleep, counters, 1), most), FOR_FORKS, false);
    else
        call_spare_if_all_work(sleep, counters);
    return most > 0 || idle_in(counters) > 0;
}

static void new_jobs(struct weft__sleep *sleep, unsigned jobs, bool waits)
{
    /* fence F1 (PushFence): as in `events`. */
    atomic_fence_seq_cst();
    uint64_t counters = atomic_load_acquire(&sleep->counters); /* acquire E1 */
    unsigned idle = idle_in(counters), most = room(sleep, counters);
    unsigned enough = enough_for(sleep, jobs);
    if (most > 0 && idle < enough)
        weft__wake_any(sleep, at_most(how_many(sleep, counters, enough - idle), most), FOR_JOBS,
                       waits);
    else if (most == 0 && lacks_lookout(sleep, counters))
        weft__wake_any(sleep, 1, FOR_JOBS, waits);
    else
        call_spare_if_all_work(sleep, counters);
}

static bool no_work(struct weft__sleep *sleep, struct weft__idle *idle,
                    const struct weft__sleeper *sleeper)
{
    if (idle->round < sleep->rounds) {
        idle->round++;
        weft__thread_yield();
        return false;
    }
    if (!weft__doze_off(sleeper, true, false))
        return false;
    /* IncSleepers. acq_rel E1: release: a waker that counts this worker sees its parking place
     * DROWSY. */
    atomic_fetch_add_acq_rel(&sleep->counters, one_sleeping);
    enum sleep_outcome outcome = weft__sleep_counted(sleep, idle, sleeper);
    idle->round = outcome == LOOKED_OUT ? sleep->rounds : 0;
    return outcome == LOOKED_OUT || outcome == SLEPT;
}

#define COUNTERS(name_, kind_)                                                                    \
    {                                                                                             \
        .name = name_, .kind = kind_, .no_work = no_work, .work_found = weft__work_found_counted, \
        .more_work = weft__more_work_counted, .new_fork = new_fork, .new_jobs = new_jobs,         \
    }

const struct weft__protocol weft__counters = COUNTERS("counters", ONE);
const struct weft__protocol weft__counters_local = COUNTERS("counters-local", LOCAL);
const struct weft__protocol weft__counters_blocks = COUNTERS("counters-blocks", BLOCKS);
const struct weft__protocol weft__counters_all = COUNTERS("counters-all", ALL);
const struct weft__protocol weft__counters_two = COUNTERS("counters-two", TWO);
