/* SPDX-License-Identifier: MIT */
#include "core/descent.h"

#include "core/pool.h"
#include "core/search.h"
#include "os/clock.h"
#include "os/thread.h"
#include "os/trace.h"

enum {
    STUCK_NS = 10000000, /* how long a pool stands still before its last limited waiter helps */
    LINGER_NS = 100000,  /* how long a thread that lingers stays awake without work */
    LINGER_REASONS = 2,  /* it lingers if so many idle spells in a row were shorter than that */
};

/* Moves the searcher away from the CPU of a thread at work. Otherwise that thread would go on
 * computing there, and the kernel may take milliseconds to notice that another CPU is idle. */
static void keep_clear(struct weft__worker *outermost)
{
    int here = weft__thread_cpu();
    if (outermost->pool->config.pin != WEFT_PIN_ASLEEP || outermost->kind == WORKER_GUEST ||
        outermost->kind == WORKER_CALLER)
        return;
    struct weft__used_cpus used;
    if (!weft__pool_used_cpus(outermost->pool, &used))
        return;
    int other = weft__cpu_other(&used, &outermost->pool->homes, here, CPU_RECENT);
    if (other == here)
        return;
    weft__park_go_to(outermost->own_park, other);
}

static void seek(struct weft__wait *wait, enum worker_seeks seeks)
{
    atomic_store_relaxed(&wait->outermost->seeks, seeks); /* relaxed: the thread has begun nothing,
                                                        or counts as busy already */
}

/* The thread has found nothing so far. A look-out that has taken the place of a searcher keeps
 * SEEKS_TAKES, so that no second look-out takes the same place. */
static void seek_on(struct weft__wait *wait)
{
    enum worker_seeks idle = wait->loop ? SEEKS_FREELY : SEEKS_NOTHING;
    if (wait->counted)
        seek(wait, wait->outermost->overtakes ? SEEKS_TAKES : idle);
}

void weft__descent_begin(struct weft__wait *wait)
{
    weft__pile_publish(wait->me, 0, WEFT__PILE_ALL); /* jobs that it must not run itself */
    weft__state_is(wait->me, WORKER_SEARCHING);
    WEFT__TRACE(SEARCH, 0, 0);
    wait->settled = false;
    wait->since = weft__clock_now();
    weft__state_since(wait->me, wait->since);
    weft__stats_phase(&wait->me->counts->phases, WEFT_STATS_SEARCHES, wait->since);
    /* relaxed: own writes. A worker that has run no job yet does not count as a use of the pool. */
    uint64_t used = atomic_load_relaxed(&wait->outermost->counts->jobs) > 0 ? wait->since : 0;
    if (wait->counted) {
        weft__sleep_start_looking(&wait->outermost->pool->sleep, &wait->idle, used);
        seek_on(wait);
    } else {
        wait->idle = (struct weft__idle){0};
    }
    wait->patient_until = 0;
}

/* Lingering is worth it while idle spells are short. One long spell ends it. So it costs at most
 * LINGER_NS for each spell that follows two short ones. */
static void learn_to_linger(struct weft__wait *wait)
{
    uint64_t now = weft__clock_now();
    bool brief = now - wait->since < LINGER_NS;
    weft__state_since(wait->me, now);
    weft__stats_phase(&wait->me->counts->phases, WEFT_STATS_WORKS, now);
    if (!brief)
        wait->outermost->brief_spells = 0;
    else if (wait->outermost->brief_spells < LINGER_REASONS)
        wait->outermost->brief_spells++;
}

void weft__descent_end(struct weft__wait *wait, bool stole)
{
    atomic_store_relaxed(&wait->me->counts->cpu, weft__thread_cpu()); /* relaxed: a hint */
    weft__state_is(wait->me, WORKER_BUSY);
    WEFT__TRACE(SEARCH_END, 0, 0);
    learn_to_linger(wait);
    if (!wait->counted)
        return;
    struct weft_pool *pool = wait->outermost->pool;
    wait->outermost->overtakes = false;
    bool last = weft__sleep_work_found(&pool->sleep, &wait->idle);
    seek(wait, SEEKS_NOTHING);
    /* relaxed: a hint. A thread that blocked while this one searched has not called another. */
    bool short_handed = atomic_load_relaxed(&pool->sleep.blocked) > 0;
    if (!last && !short_handed)
        return;
    /* Where a job was stolen there may be more; and one worker should look out for the forks of
     * others. For its own forks, a job wakes a worker itself. */
    if (weft__pool_holds_jobs(pool) ||
        (last && (stole || weft__sleep_needs_lookout(&pool->sleep, 1))))
        weft__sleep_more_work(&pool->sleep);
}

/* Waits for right sides that will soon be old enough to be taken, unless their owner merges them
 * first. Not for ever: a program may fork and merge without end, and leave nothing to steal. */
static bool be_patient(struct weft__wait *wait)
{
    enum { QUANTA = 4, LOOKOUTS_QUANTA = 2, MOST_NS = 2000000 };
    if (!wait->me->saw_young && !wait->outermost->saw_young)
        return false;
    uint64_t now = weft__clock_now();
    if (wait->patient_until == 0) {
        unsigned quanta = wait->idle.looks_out ? LOOKOUTS_QUANTA : QUANTA;
        uint64_t patience = quanta * wait->me->context->quantum;
        wait->patient_until = now + (patience < MOST_NS ? patience : MOST_NS);
    }
    if (now >= wait->patient_until)
        return false;
    weft__thread_yield();
    return true;
}

static bool linger(struct weft__wait *wait)
{
    if (wait->outermost->brief_spells < LINGER_REASONS ||
        wait->outermost->pool->sleep.rounds == 0 || weft__clock_now() - wait->since >= LINGER_NS)
        return false;
    weft__thread_yield();
    return true;
}

/* If other threads want this CPU, a round takes as long as their time slices. The worker would be
 * in their way, and would count as awake although it hardly runs. So one round is enough then. */
static void next_round(struct weft__wait *wait)
{
    struct weft__idle *idle = &wait->idle;
    idle->hurries |= !weft__thread_yield();
    idle->round = idle->hurries ? wait->outermost->pool->sleep.rounds : idle->round + 1;
}

/* A thread that sleeps without being counted, as a guest or a limited worker, leaves its place to
 * another worker. */
static void leave_places(struct weft__wait *wait)
{
    for (struct weft__worker *me = wait->me; me; me = me->host) {
        if (me->kind == WORKER_GUEST)
            weft__sleep_guest_gone(&me->pool->sleep);
        else if (!wait->counted)
            weft__sleep_absent(&me->pool->sleep);
        if (me->kind == WORKER_GUEST || !wait->counted)
            weft__pool_has_room(me->pool);
    }
}

static void return_to_places(struct weft__wait *wait)
{
    for (struct weft__worker *me = wait->me; me; me = me->host) {
        if (me->kind == WORKER_GUEST)
            weft__sleep_guest_entered(&me->pool->sleep);
        else if (!wait->counted)
            weft__sleep_present(&me->pool->sleep);
    }
}

static bool mail_waits(void *arg)
{
    struct weft__worker *outermost = arg;
    return weft__queue_length(&outermost->mailbox) > 0;
}

static bool anything_queued(void *arg)
{
    struct weft__worker *outermost = arg;
    return mail_waits(outermost) || weft__queue_length(&outermost->pool->injector) > 0;
}

static struct weft__sleeper sleeper_of(struct weft__wait *wait)
{
    return (struct weft__sleeper){
        .park = wait->outermost->park,
        .latch = wait->latch,
        .last_look = anything_queued,
        .mail = mail_waits,
        .arg = wait->outermost,
    };
}

/* Jobs on the deque of a worker without a job are moved to the injector, for the workers that have
 * a place. */
static bool step_back(struct weft__wait *wait)
{
    struct weft__sleep *sleep = &wait->outermost->pool->sleep;
    struct weft__sleeper sleeper = sleeper_of(wait);
    if (wait->loop)
        weft__worker_spill(wait->me);
    return weft__sleep_step_back(sleep, &wait->idle, &sleeper);
}

/* Has no thread of the pool begun a job since this was asked last? */
static bool stands_still(struct weft__wait *wait)
{
    uint64_t jobs = 0;
    struct weft__walk walk = {.pool = wait->outermost->pool};
    struct weft__worker *worker;
    while ((worker = weft__walk_next(&walk)))
        jobs += atomic_load_relaxed(&worker->counts->jobs); /* relaxed: a hint */
    bool same = jobs == wait->jobs;
    wait->jobs = jobs;
    return same;
}

static bool fall_asleep(struct weft__wait *wait)
{
    struct weft__sleep *sleep = &wait->outermost->pool->sleep;
    struct weft__sleeper sleeper = sleeper_of(wait);
    if (wait->counted)
        return weft__sleep_no_work(sleep, &wait->idle, &sleeper);
    enum park_result result = weft__sleep_uncounted_in(sleep, &sleeper, wait->last ? STUCK_NS : 0);
    wait->despair = result == PARK_TIMED_OUT && stands_still(wait);
    wait->idle.round = 0;
    return result != PARK_WAS_NUDGED;
}

/* In the statistics page: it sleeps, and who has what it waits for. The address of the thief is
 * compared there, not followed. */
static void show_sleep(struct weft__wait *wait)
{
    struct weft__counts *counts = wait->me->counts;
    const struct weft__awaited *awaited = &wait->awaited;
    if (awaited->what)
        weft__stats_words(awaited->what);
    weft__stats_note(&counts->thief, awaited->thief ? (uintptr_t)atomic_load_relaxed(awaited->thief)
                                                    : 0); /* hint */
    weft__stats_phase_now(&counts->phases, WEFT_STATS_SLEEPS);
}

void weft__descent_step(struct weft__wait *wait)
{
    struct weft__worker *outermost = wait->outermost;
    seek_on(wait);
    if (!wait->settled)
        keep_clear(outermost);
    wait->settled = true;
    if (!wait->steps_back) {
        if (be_patient(wait))
            return;
        if (wait->idle.round < outermost->pool->sleep.rounds) {
            next_round(wait);
            return;
        }
        if (linger(wait))
            return;
    }
    leave_places(wait);
    if (wait->holds)
        weft__block_count(outermost->pool);
    outermost->overtakes = wait->idle.overtakes = false;
    seek_on(wait);
    if (wait->counted && outermost->pool->sleep.crowd)
        seek(wait, SEEKS_NOTHING); /* a sleeper has no place; in a crowd, its parking place does not
                                      say that it sleeps */
    WEFT__TRACE(SLEEP, 0, 0);
    show_sleep(wait);
    bool slept = wait->steps_back ? step_back(wait) : fall_asleep(wait);
    weft__stats_phase_now(&wait->me->counts->phases, WEFT_STATS_SEARCHES);
    WEFT__TRACE(SLEEP_END, 0, 0);
    outermost->overtakes = wait->idle.overtakes && weft__may_overtake(outermost);
    seek_on(wait);
    weft__block_let_report(outermost->pool);
    if (wait->holds)
        weft__block_uncount(outermost->pool);
    return_to_places(wait);
    if (slept && (!wait->counted || wait->idle.woken))
        weft__count_up(&wait->me->counts->sleeps);
    if (slept)
        wait->patient_until = 0;
}
