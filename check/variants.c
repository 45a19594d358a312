/* SPDX-License-Identifier: MIT */
/* Each step is one that all see at once: a lock, or a read-modify-write, which reads the newest
 * value whatever its order. So what is lost here is lost by the protocol, and not by a memory
 * order that the document did not name: it is found with `--stale 0`, too. */
#include "variants.h"

#include "os/lock.h"
#include "sleep/common.h"

enum { WORKERS_MAX = 4 };

/* A condition variable that belongs to a lock. */
struct bell {
    struct weft__lock lock;
    struct atomic_u32 rings; /* written under the lock; who waits sleeps on it */
};

/* With the lock, which it drops meanwhile. Condition variables may return for no reason; this one
 * does not, so that nothing is lost by that. */
static void bell_wait(struct bell *bell)
{
    uint32_t rings = atomic_load_relaxed(&bell->rings); /* relaxed, all: under the lock */
    do {
        weft__lock_drop(&bell->lock);
        weft__futex_wait(&bell->rings, rings);
        weft__lock_take(&bell->lock);
    } while (atomic_load_relaxed(&bell->rings) == rings);
}

/* With the lock. */
static void bell_ring(struct bell *bell)
{
    atomic_store_relaxed(&bell->rings, atomic_load_relaxed(&bell->rings) + 1);
    weft__futex_wake(&bell->rings, WEFT__WAKE_ALL);
}

static unsigned wakes; /* by one poster at a time */

unsigned variant_wakes(void)
{
    return wakes;
}

/* The newest value; the order does not matter for that. */
static uint64_t read_counters(struct weft__sleep *sleep)
{
    return atomic_fetch_add_relaxed(&sleep->counters, 0);
}

/* Both: a worker exits the stealing loop, and nobody is told. */
static bool work_found(struct weft__sleep *sleep, struct weft__idle *idle)
{
    (void)idle;
    atomic_fetch_sub_relaxed(&sleep->counters, one_inactive);
    return false;
}

static void more_work(struct weft__sleep *sleep)
{
    (void)sleep; /* work_found() never asks for it */
}

/* ---- The RFC's counters ---- */

static struct rfc_worker {
    struct bell bell;
    bool is_sleeping; /* under the lock; written by the worker alone */
} rfc_workers[WORKERS_MAX];

/* Appendix A, "Implementing the sleep operation". */
static bool rfc_no_work(struct weft__sleep *sleep, struct weft__idle *idle,
                        const struct weft__sleeper *sleeper)
{
    struct rfc_worker *me = &rfc_workers[sleeper->park->place];
    if (idle->round < sleep->rounds) {
        idle->round++;
        return false;
    }
    if (!weft__latch_doze(sleeper->latch))
        return false;
    weft__lock_take(&me->bell.lock);
    bool sleeps = weft__latch_sleep(sleeper->latch);
    if (sleeps) {
        me->is_sleeping = true;
        atomic_fetch_add_relaxed(&sleep->counters, one_sleeping);
        bell_wait(&me->bell);
        atomic_fetch_sub_relaxed(&sleep->counters, one_sleeping);
        me->is_sleeping = false;
        weft__latch_get_up(sleeper->latch);
    }
    weft__lock_drop(&me->bell.lock);
    idle->round = 0;
    return sleeps;
}

/* "Pick one sleeping thread and wake it." */
static void rfc_wake_one(struct weft__sleep *sleep)
{
    for (unsigned i = 0; i < sleep->places; i++) {
        struct rfc_worker *worker = &rfc_workers[i];
        weft__lock_take(&worker->bell.lock);
        bool sleeps = worker->is_sleeping;
        if (sleeps)
            bell_ring(&worker->bell);
        weft__lock_drop(&worker->bell.lock);
        wakes += sleeps;
        if (sleeps)
            return;
    }
}

static void rfc_new_jobs(struct weft__sleep *sleep, unsigned jobs, bool waits)
{
    (void)waits;
    uint64_t counters = read_counters(sleep);
    if (idle_in(counters) < jobs && sleeping_in(counters) > 0)
        rfc_wake_one(sleep);
}

static bool rfc_new_fork(struct weft__sleep *sleep, bool was_empty)
{
    (void)was_empty;
    rfc_new_jobs(sleep, 1, false);
    return true;
}

/* "Implementing the set operation": the lock, so that the owner has gone to sleep. */
void variant_rfc_set(struct weft__latch *latch, const struct weft__park *owner)
{
    struct bell *bell = &rfc_workers[owner->place].bell;
    if (!weft__latch_set(latch))
        return;
    weft__lock_take(&bell->lock);
    bell_ring(bell);
    weft__lock_drop(&bell->lock);
}

const struct weft__protocol variant_rfc = {
    .name = "rfc",
    .no_work = rfc_no_work,
    .work_found = work_found,
    .more_work = more_work,
    .new_fork = rfc_new_fork,
    .new_jobs = rfc_new_jobs,
};

/* ---- A flag: does anybody sleep? ---- */

static struct bell all;
static struct atomic_u32 anybody_sleeps;

static bool flag_no_work(struct weft__sleep *sleep, struct weft__idle *idle,
                         const struct weft__sleeper *sleeper)
{
    (void)sleep;
    (void)idle;
    (void)sleeper;
    weft__lock_take(&all.lock);
    atomic_exchange_seq_cst(&anybody_sleeps, 1);
    bell_wait(&all);
    weft__lock_drop(&all.lock);
    return true;
}

static void flag_tell(void)
{
    if (atomic_exchange_seq_cst(&anybody_sleeps, 0) == 0)
        return;
    weft__lock_take(&all.lock);
    bell_ring(&all);
    weft__lock_drop(&all.lock);
    wakes++;
}

static void flag_new_jobs(struct weft__sleep *sleep, unsigned jobs, bool waits)
{
    (void)sleep;
    (void)jobs;
    (void)waits;
    flag_tell();
}

static bool flag_new_fork(struct weft__sleep *sleep, bool was_empty)
{
    (void)sleep;
    (void)was_empty;
    flag_tell();
    return true;
}

void variant_flag_set(struct weft__latch *latch, const struct weft__park *owner)
{
    (void)owner;
    (void)weft__latch_set(latch);
    flag_tell();
}

const struct weft__protocol variant_flag = {
    .name = "flag",
    .no_work = flag_no_work,
    .work_found = work_found,
    .more_work = more_work,
    .new_fork = flag_new_fork,
    .new_jobs = flag_new_jobs,
};
