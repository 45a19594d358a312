/* SPDX-License-Identifier: MIT */
#include "core/wait.h"

#include "core/fatal.h"
#include "core/fiber.h"
#include "core/fork.h"
#include "core/pool.h"
#include "core/search.h"
#include "os/clock.h"
#include "os/thread.h"

enum {
    STUCK_NS = 10000000
}; /* how long a pool stands still before its last limited waiter helps */

/* A wait. The thread is `me`, and whatever hosts it; it sleeps as `root`. */
struct wait {
    weft *w;
    struct weft__worker *me;
    struct weft__worker *root; /* the outermost one */
    struct weft__latch *latch;
    struct weft__awaited awaited;
    bool limited;  /* takes no other people's jobs, */
    bool last;     /* unless it is the last one left */
    bool despair;  /* and nothing has happened for a while: */
    uint64_t jobs; /* so many were run in its pool when it looked last */
    bool holds;    /* a mutex, or is part of what a holder does: it takes no jobs of others */
    bool counted;  /* idle and asleep as a worker of root's pool */
    struct weft__idle idle;
    uint64_t patient_until; /* how long to stay awake for right sides that are too young */
};

static bool mail_waits(void *arg)
{
    struct weft__worker *root = arg;
    return weft__queue_length(&root->mailbox) > 0;
}

static bool anything_queued(void *arg)
{
    struct weft__worker *root = arg;
    return (!WEFT__FAULT(4) && mail_waits(root)) || weft__queue_length(&root->pool->injector) > 0;
}

static void start_looking(struct wait *wait)
{
    weft__state_is(wait->me, WORKER_SEARCHING);
    if (wait->counted)
        weft__sleep_start_looking(&wait->root->pool->sleep, &wait->idle);
    else
        wait->idle.round = 0;
    wait->patient_until = 0;
}

static void stop_looking(struct wait *wait)
{
    weft__state_is(wait->me, WORKER_BUSY);
    if (!wait->counted)
        return;
    struct weft_pool *pool = wait->root->pool;
    bool last = weft__sleep_work_found(&pool->sleep, &wait->idle);
    /* relaxed: a hint. Who blocked while this one searched has called nobody else. */
    bool short_handed = atomic_load_relaxed(&pool->sleep.blocked) > 0;
    if (!last && !short_handed)
        return;
    /* Somebody should look out for forks, even if there are none now. */
    bool jobs = weft__pool_holds_jobs(pool);
    if (jobs || (last && pool->config.fork == WEFT_FORK_LAZY))
        weft__sleep_more_work(&pool->sleep, !jobs);
}

/* The next one on its own deque. A limited waiter runs only children of the scope that it
 * waits for; whatever else lies on top of those goes where others find it. */
static struct weft__job *pop_own(struct wait *wait)
{
    struct weft__worker *me = wait->me;
    if (!wait->limited)
        return weft__deque_pop(&me->deque);
    while (wait->awaited.scope && weft__deque_bottom(&me->deque) > wait->awaited.base) {
        struct weft__job *job = weft__deque_pop(&me->deque);
        if (!job || job->group == wait->awaited.scope)
            return job;
        weft__queue_push(&me->pool->injector, weft__spawn_node(job));
        weft__sleep_new_jobs(&me->pool->sleep, 1, false);
    }
    return NULL;
}

/* A job for any of the workers this thread is, and where to run it. */
static struct weft__job *look_everywhere(struct wait *wait, weft **where)
{
    *where = wait->w;
    wait->me->saw_young = wait->root->saw_young = false;
    struct weft__job *job = pop_own(wait);
    bool others = !wait->limited || wait->despair;
    wait->despair = false;
    if (!job)
        job = weft__find(wait->me, wait->awaited.thief, others);
    /* Before it sleeps: a fork of its own that is older than what it waits for, since those
     * who could take it may be blocked. */
    if (!job && others && wait->idle.round >= wait->root->pool->sleep.rounds)
        job = weft__take_own(wait->me);
    for (struct weft__worker *host = wait->me->host; !job && host; host = host->host) {
        if (others)
            job = weft__deque_pop(&host->deque);
        if (!job)
            job = weft__find(host, NULL, others);
        if (job)
            *where = weft__context_top(host->context);
    }
    return job;
}

/* There is work that will be old enough to be taken soon, unless its owner gets to it
 * first: not for ever, since a program may fork and merge without end and leave nothing. */
static bool be_patient(struct wait *wait)
{
    enum { QUANTA = 4, MOST_NS = 2000000 };
    if (!wait->me->saw_young && !wait->root->saw_young)
        return false;
    uint64_t now = weft__clock_now();
    if (wait->patient_until == 0) {
        uint64_t patience = QUANTA * wait->me->pool->config.quantum;
        wait->patient_until = now + (patience < MOST_NS ? patience : MOST_NS);
    }
    if (now >= wait->patient_until)
        return false;
    weft__thread_yield();
    return true;
}

/* A guest that sleeps leaves its place to a worker. */
static void guests_rest(struct wait *wait)
{
    for (struct weft__worker *me = wait->me; me; me = me->host) {
        struct weft_pool *pool = me->pool;
        if (me->kind == WORKER_GUEST && weft__sleep_guest_left(&pool->sleep))
            weft__sleep_more_work(&pool->sleep, true);
    }
}

static void guests_return(struct wait *wait)
{
    for (struct weft__worker *me = wait->me; me; me = me->host)
        if (me->kind == WORKER_GUEST)
            weft__sleep_guest_entered(&me->pool->sleep);
}

/* Has nobody in the pool run anything since this was asked last? */
static bool stands_still(struct wait *wait)
{
    uint64_t jobs = 0;
    struct weft__worker *worker = NULL;
    while ((worker = weft__next_worker(wait->root->pool, worker)))
        jobs += atomic_load_relaxed(&worker->counts.jobs); /* relaxed: a hint */
    bool same = jobs == wait->jobs;
    wait->jobs = jobs;
    return same;
}

static void found_nothing(struct wait *wait)
{
    struct weft__worker *root = wait->root;
    struct weft__sleep *sleep = &root->pool->sleep;
    if (be_patient(wait))
        return;
    struct weft__sleeper sleeper = {
        .park = root->park,
        .latch = wait->latch,
        .last_look = wait->counted ? anything_queued : mail_waits,
        .arg = root,
    };
    bool slept = false;
    if (wait->idle.round < sleep->rounds) {
        wait->idle.round++;
        weft__thread_yield();
        return;
    }
    guests_rest(wait);
    if (wait->holds)
        weft__block_count(root->pool);
    if (wait->counted) {
        slept = weft__sleep_no_work(sleep, &wait->idle, &sleeper);
    } else {
        enum park_result result = weft__sleep_uncounted(&sleeper, wait->last ? STUCK_NS : 0);
        slept = result != PARK_WAS_NUDGED;
        wait->despair = result == PARK_TIMED_OUT && stands_still(wait);
        wait->idle.round = 0;
    }
    weft__block_let_report(root->pool);
    if (wait->holds)
        weft__block_uncount(root->pool);
    guests_return(wait);
    if (slept) {
        weft__count_up(&wait->me->counts.sleeps);
        wait->patient_until = 0;
    }
}

/* A limited waiter. True: it is the last one left of the pool's threads, and has to take
 * what the others wait for if nobody else does. A thread counts once, however many limited
 * waits are on its stack. */
static bool limit(struct weft__worker *root)
{
    struct weft_pool *pool = root->pool;
    unsigned threads = pool->config.workers - (pool->config.flags & WEFT_USE_CALLER ? 1 : 0);
    if (root->kind != WORKER_THREAD)
        return root->kind == WORKER_CALLER && threads == 0;
    /* relaxed: a number; its modification order says who is the last. */
    if (root->limited_waits++ == 0)
        root->last_left = atomic_fetch_add_relaxed(&pool->limited, 1) + 1 == threads;
    return root->last_left;
}

static void unlimit(struct weft__worker *root)
{
    if (root->kind == WORKER_THREAD && --root->limited_waits == 0)
        atomic_fetch_sub_relaxed(&root->pool->limited, 1); /* relaxed: as above */
}

static void wait_on(struct wait *wait)
{
    struct weft__latch *latch = wait->latch;
    while (!weft__latch_probe(latch)) {
        if (weft__pool_is_forked(wait->me->pool))
            weft__fatal("a job waits in a forked child for what only its parent's workers do");
        /* Its own jobs first, without telling anybody that it is idle. */
        struct weft__job *job = pop_own(wait);
        weft *where = wait->w;
        if (!job) {
            start_looking(wait);
            while (!weft__latch_probe(latch) && !(job = look_everywhere(wait, &where)))
                found_nothing(wait);
            stop_looking(wait);
        }
        if (job)
            weft__execute(where, job);
    }
}

/* An actor waits: somebody else has the thread meanwhile. */
static void suspend_until(struct weft__context *fiber, struct weft__latch *latch)
{
    while (!weft__latch_probe(latch)) {
        if (weft__latch_doze(latch) && weft__latch_sleep(latch))
            fiber->ops->suspend(fiber);
        weft__latch_rouse(latch);
    }
}

void weft__wait(weft *w, struct weft__latch *latch, struct weft__awaited awaited)
{
    if (weft__context_of(w)->ops) {
        suspend_until(weft__context_of(w), latch);
        return;
    }
    struct weft__worker *me = weft__worker_of(w);
    struct wait wait = {
        .w = w, .me = me, .root = weft__root_of(me), .latch = latch, .awaited = awaited};
    if (weft__latch_probe(latch))
        return;
    weft__worker_check_left(__builtin_frame_address(0));
    wait.holds = weft__is_careful(me);
    wait.limited = wait.holds || !weft__may_help(me);
    bool limits = wait.limited && !wait.holds;
    wait.last = limits && limit(wait.root);
    wait.counted = !wait.limited && wait.root->kind != WORKER_GUEST;
    const struct weft__awaited *outer = me->awaited;
    me->awaited = &wait.awaited;
    wait_on(&wait);
    me->awaited = outer;
    if (limits)
        unlimit(wait.root);
    if (!me->context->help.wanted)
        weft__expect_help(me); /* those who helped may have gone to sleep meanwhile */
}

/* Destroy's waiter for USE_CALLER, and a worker's own loop, must go on however full the
 * stack is: nobody is below whom they could keep waiting. */
static void wait_unlimited(struct weft__worker *me, struct weft__latch *latch)
{
    struct wait wait = {
        .w = weft__context_top(me->context), .me = me, .root = weft__root_of(me), .latch = latch};
    wait.counted = wait.root->kind != WORKER_GUEST;
    wait_on(&wait);
}

struct weft__park *weft__thread_park(void)
{
    struct weft__worker *me = weft__worker_current();
    return me ? weft__context_park(weft__context_now(me)) : weft__park_get();
}

void weft__thread_unpark(struct weft__park *park)
{
    if (!weft__worker_current())
        weft__park_put(park);
}

void weft__wait_anywhere(struct weft__spin_latch *latch)
{
    struct weft__worker *me = weft__worker_current();
    if (!me) {
        struct weft__sleeper sleeper = {.park = latch->owner, .latch = &latch->core};
        while (!weft__latch_probe(&latch->core))
            weft__sleep_uncounted(&sleeper, 0);
    } else if (me->kind == WORKER_CALLER && !me->frame) {
        weft__worker_caller_in(me);
        wait_unlimited(me, &latch->core);
        weft__worker_caller_out(me);
    } else {
        weft__wait(weft__context_top(weft__context_now(me)), &latch->core,
                   (struct weft__awaited){0});
    }
}

/* One piece of work of any kind that is left to others. */
static bool run_one(weft *w)
{
    struct weft__worker *me = weft__worker_of(w);
    struct weft__job *job = weft__deque_pop(&me->deque);
    if (!job)
        job = weft__find(me, NULL, true);
    if (job)
        weft__execute(w, job);
    return job != NULL;
}

bool weft__run_one(weft *w)
{
    struct weft__worker *me = weft__worker_of(w);
    return !weft__pool_is_forked(me->pool) && weft__may_help(me) && !weft__is_careful(me) &&
           run_one(w);
}

void weft__worker_serve(struct weft__worker *worker)
{
    wait_unlimited(worker, &worker->stop.core);
}

void weft__worker_loop(struct weft__worker *worker)
{
    weft__worker_serve(worker);
    /* What jobs of other pools left here is theirs to wait for. */
    while (run_one(worker->context->first))
        ;
    weft__worker_rest(worker);
}
