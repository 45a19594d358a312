/* SPDX-License-Identifier: MIT */
#include "core/wait.h"

#include "core/fiber.h"
#include "core/fork.h"
#include "core/pool.h"
#include "core/scope.h"
#include "core/search.h"
#include "os/clock.h"
#include "os/fatal.h"
#include "os/thread.h"
#include "sleep/crowd.h"

enum {
    STUCK_NS = 10000000, /* how long a pool stands still before its last limited waiter helps */
    OWN_TURN = 32,       /* so many of its own jobs at most before a worker looks for others' */
    LINGER_NS = 100000,  /* how long a thread that has reason to stays awake without work */
    LINGER_REASONS = 2,  /* how many idle spells in a row have to have been shorter than that */
};

const char weft__awaits_thief[] = "waits for a right side";
const char weft__awaits_children[] = "waits for children of its scope";

/* A wait. The thread is `me`, and whatever hosts it; it sleeps as `root`. */
struct wait {
    weft *w;
    struct weft__worker *me;
    struct weft__worker *root; /* the outermost one */
    struct weft__latch *latch;
    struct weft__awaited awaited;
    bool limited;    /* takes no other people's jobs, */
    bool last;       /* unless it is the last one left */
    bool despair;    /* and nothing has happened for a while: */
    uint64_t jobs;   /* so many were run in its pool when it looked last */
    bool holds;      /* a mutex, or is part of what a holder does: it takes no jobs of others */
    bool counted;    /* idle and asleep as a worker of root's pool */
    bool loop;       /* not a wait at all: a worker's own loop */
    bool steps_back; /* there are too many of root's pool up, and it begins nothing new */
    bool settled;    /* it has seen to it that it is on a CPU of its own */
    struct weft__idle idle;
    uint64_t since;         /* when it began to look for work */
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
    return mail_waits(root) || weft__queue_length(&root->pool->injector) > 0;
}

/* Who begins to search on the CPU of somebody at work would not get far: that one goes on
 * computing, and the kernel may take milliseconds to notice that another CPU is idle. */
static void keep_clear(struct weft__worker *root)
{
    int here = weft__thread_cpu();
    if (root->pool->config.pin != WEFT_PIN_ASLEEP || root->kind == WORKER_GUEST ||
        root->kind == WORKER_CALLER)
        return;
    struct weft__used_cpus used;
    if (!weft__pool_used_cpus(root->pool, &used))
        return;
    int other = weft__cpu_other(&used, &root->pool->homes, here, CPU_LEFT);
    if (other == here)
        return;
    weft__park_go_to(root->own_park, other);
}

static void seek(struct wait *wait, enum worker_seeks seeks)
{
    atomic_store_relaxed(&wait->root->seeks, seeks); /* relaxed: it has begun nothing, or counts as
                                                        busy by now */
}

/* It has found nothing so far. Who has another one's place keeps that: not two may take one. */
static void seek_on(struct wait *wait)
{
    enum worker_seeks idle = wait->loop ? SEEKS_FREELY : SEEKS_NOTHING;
    if (wait->counted)
        seek(wait, wait->root->overtakes ? SEEKS_TAKES : idle);
}

static void start_looking(struct wait *wait)
{
    weft__state_is(wait->me, WORKER_SEARCHING);
    wait->settled = false;
    wait->since = weft__clock_now();
    weft__state_since(wait->me, wait->since);
    /* relaxed: own writes. A worker that has not done anything has no use to look out for. */
    uint64_t used = atomic_load_relaxed(&wait->root->counts.jobs) > 0 ? wait->since : 0;
    if (wait->counted) {
        weft__sleep_start_looking(&wait->root->pool->sleep, &wait->idle, used);
        seek_on(wait);
    } else {
        wait->idle = (struct weft__idle){0};
    }
    wait->patient_until = 0;
}

/* Staying awake pays if the last idle spells were short; one that was long ends it. So it costs
 * at most LINGER_NS for each spell that follows two that were shorter. */
static void learn_to_linger(struct wait *wait)
{
    uint64_t now = weft__clock_now();
    bool brief = now - wait->since < LINGER_NS;
    weft__state_since(wait->me, now);
    if (!brief)
        wait->root->brief_spells = 0;
    else if (wait->root->brief_spells < LINGER_REASONS)
        wait->root->brief_spells++;
}

static void stop_looking(struct wait *wait, bool stole)
{
    atomic_store_relaxed(&wait->me->counts.cpu, weft__thread_cpu()); /* relaxed: a hint */
    weft__state_is(wait->me, WORKER_BUSY);
    learn_to_linger(wait);
    if (!wait->counted)
        return;
    struct weft_pool *pool = wait->root->pool;
    wait->root->overtakes = false;
    bool last = weft__sleep_work_found(&pool->sleep, &wait->idle);
    seek(wait, SEEKS_NOTHING);
    /* relaxed: a hint. Who blocked while this one searched has called nobody else. */
    bool short_handed = atomic_load_relaxed(&pool->sleep.blocked) > 0;
    if (!last && !short_handed)
        return;
    /* Where something was stolen there may be more; and somebody should look out for the forks of
     * others. For its own, a job wakes somebody itself. */
    if (weft__pool_holds_jobs(pool) ||
        (last && (stole || weft__sleep_needs_lookout(&pool->sleep, 1))))
        weft__sleep_more_work(&pool->sleep);
}

static bool helps_own_only(const struct weft__worker *me)
{
    return me->kind == WORKER_GUEST && !(me->pool->config.flags & WEFT_GUESTS_HELP);
}

static void leave_to_others(struct weft__worker *me, struct weft__job *job)
{
    weft__queue_push(&me->pool->injector, weft__spawn_node(job));
    weft__sleep_new_jobs(&me->pool->sleep, 1, false);
}

/* A limited waiter runs only children of the scope that it waits for. Whatever else was spawned on
 * top of them goes where others find it. A fork that is still here was there before the scope was
 * opened, and so are all below it. */
static struct weft__job *pop_limited(struct weft__worker *me, const struct weft__group *scope,
                                     bool outer_too)
{
    struct weft__job *job;
    while (scope && (job = weft__deque_pop(&me->deque))) {
        if (!weft__job_is_spawn(job)) {
            weft__deque_push(&me->deque, job); /* there is room: it was there */
            return NULL;
        }
        const struct weft__group *group = scope;
        while (outer_too && group && group != job->group)
            group = group->parent;
        if (job->group && job->group == group)
            return job;
        leave_to_others(me, job);
    }
    return NULL;
}

/* The next one on its own deque. What a guest has detached is nobody's to wait for. */
static struct weft__job *pop_own(struct wait *wait)
{
    struct weft__worker *me = wait->me;
    if (wait->limited)
        return pop_limited(me, wait->awaited.scope, false);
    struct weft__job *job;
    while ((job = weft__deque_pop(&me->deque)) && !job->group && helps_own_only(me))
        leave_to_others(me, job);
    return job;
}

/* Its own jobs must not keep a worker from its mail and the injector: now and then those come
 * first. */
static struct weft__job *find_in_turn(struct weft__worker *me, bool others)
{
    if (++me->own_jobs < OWN_TURN)
        return NULL;
    me->own_jobs = 0;
    struct weft__job *job = weft__find_mail(me);
    return !job && others && me->kind != WORKER_GUEST ? weft__find_injected(me) : job;
}

static struct weft__job *next_own(struct wait *wait)
{
    if (wait->loop && weft__steps_back(wait->me))
        return NULL;
    struct weft__job *job = find_in_turn(wait->me, !wait->limited);
    return job ? job : pop_own(wait);
}

/* Whom `me`, one of those this thread is, helps. */
static struct weft__aim aim_of(struct wait *wait, struct weft__worker *me)
{
    struct weft__group *group = wait->loop ? NULL : weft__context_now(wait->me)->group;
    struct weft__aim aim = {.help = HELP_ANYBODY, .root = group ? group->root : NULL};
    if (me == wait->me) {
        aim.thief = wait->awaited.thief;
        aim.latch = wait->latch;
        aim.by = wait->awaited.by;
    }
    if (wait->limited && !wait->despair)
        aim.help = HELP_NOBODY;
    else if (helps_own_only(me))
        aim.help = HELP_OWN_ONLY;
    else if (weft__steps_back(me))
        aim.help = wait->idle.relieves ? HELP_STARVED : HELP_NOBODY;
    else if (!wait->loop)
        aim.help = HELP_OWN_LAST;
    return aim;
}

/* A job for any of the workers this thread is, and where to run it. */
static struct weft__job *look_everywhere(struct wait *wait, weft **where)
{
    struct weft__worker *me = wait->me;
    *where = wait->w;
    me->saw_young = wait->root->saw_young = false;
    wait->steps_back = wait->counted && weft__steps_back(wait->root);
    struct weft__aim aim = aim_of(wait, me);
    struct weft__job *job = NULL;
    if (!wait->loop || (weft__deque_size(&me->deque) > 0 && weft__may_begin(me)))
        job = pop_own(wait);
    if (!job)
        job = weft__find(me, &aim);
    /* Before it sleeps: a fork of its own that is older than what it waits for, since those
     * who could take it may be blocked. */
    if (!job && aim.help != HELP_NOBODY && wait->idle.round >= wait->root->pool->sleep.rounds &&
        weft__may_begin(me))
        job = weft__take_own(me);
    for (struct weft__worker *host = me->host; !job && host; host = host->host) {
        aim = aim_of(wait, host);
        if (aim.help == HELP_ANYBODY || aim.help == HELP_OWN_LAST)
            job = weft__deque_pop(&host->deque);
        if (!job)
            job = weft__find(host, &aim);
        if (job)
            *where = weft__context_top(host->context);
    }
    wait->despair = wait->idle.relieves = false;
    if (!job)
        seek_on(wait);
    return job;
}

/* There is work that will be old enough to be taken soon, unless its owner gets to it
 * first: not for ever, since a program may fork and merge without end and leave nothing. */
static bool be_patient(struct wait *wait)
{
    enum { QUANTA = 4, LOOKOUTS_QUANTA = 2, MOST_NS = 2000000 };
    if (!wait->me->saw_young && !wait->root->saw_young)
        return false;
    uint64_t now = weft__clock_now();
    if (wait->patient_until == 0) {
        unsigned quanta = wait->idle.looks_out ? LOOKOUTS_QUANTA : QUANTA;
        uint64_t patience = quanta * wait->me->pool->config.quantum;
        wait->patient_until = now + (patience < MOST_NS ? patience : MOST_NS);
    }
    if (now >= wait->patient_until)
        return false;
    weft__thread_yield();
    return true;
}

static bool linger(struct wait *wait)
{
    if (wait->root->brief_spells < LINGER_REASONS || wait->root->pool->sleep.rounds == 0 ||
        weft__clock_now() - wait->since >= LINGER_NS)
        return false;
    weft__thread_yield();
    return true;
}

/* Who sleeps and is not counted leaves its place to somebody else: a guest, and a worker that is
 * limited. */
static void leave_places(struct wait *wait)
{
    for (struct weft__worker *me = wait->me; me; me = me->host) {
        if (me->kind == WORKER_GUEST)
            weft__sleep_guest_left(&me->pool->sleep);
        else if (!wait->counted)
            weft__sleep_absent(&me->pool->sleep);
        if (me->kind == WORKER_GUEST || !wait->counted)
            weft__pool_has_room(me->pool);
    }
}

static void return_to_places(struct wait *wait)
{
    for (struct weft__worker *me = wait->me; me; me = me->host) {
        if (me->kind == WORKER_GUEST)
            weft__sleep_guest_entered(&me->pool->sleep);
        else if (!wait->counted)
            weft__sleep_present(&me->pool->sleep);
    }
}

/* Has nobody in the pool run anything since this was asked last? */
static bool stands_still(struct wait *wait)
{
    uint64_t jobs = 0;
    struct weft__walk walk = {.pool = wait->root->pool};
    struct weft__worker *worker;
    while ((worker = weft__walk_next(&walk)))
        jobs += atomic_load_relaxed(&worker->counts.jobs); /* relaxed: a hint */
    bool same = jobs == wait->jobs;
    wait->jobs = jobs;
    return same;
}

static struct weft__sleeper sleeper_of(struct wait *wait)
{
    return (struct weft__sleeper){
        .park = wait->root->park,
        .latch = wait->latch,
        .last_look = anything_queued,
        .mail = mail_waits,
        .arg = wait->root,
    };
}

/* What is on its own deque is for those who have a place. */
static bool step_back(struct wait *wait)
{
    struct weft__sleep *sleep = &wait->root->pool->sleep;
    struct weft__sleeper sleeper = sleeper_of(wait);
    if (wait->loop)
        weft__worker_spill(wait->me);
    return weft__sleep_step_back(sleep, &wait->idle, &sleeper);
}

static bool fall_asleep(struct wait *wait)
{
    struct weft__sleep *sleep = &wait->root->pool->sleep;
    struct weft__sleeper sleeper = sleeper_of(wait);
    if (wait->counted)
        return weft__sleep_no_work(sleep, &wait->idle, &sleeper);
    enum park_result result = weft__sleep_uncounted_in(sleep, &sleeper, wait->last ? STUCK_NS : 0);
    wait->despair = result == PARK_TIMED_OUT && stands_still(wait);
    wait->idle.round = 0;
    return result != PARK_WAS_NUDGED;
}

/* Where others want its CPU, each round would take a time slice of theirs, and the worker would be
 * in their way, and seem to be at hand: then one is enough. */
static void next_round(struct wait *wait)
{
    struct weft__idle *idle = &wait->idle;
    idle->hurries |= !weft__thread_yield();
    idle->round = idle->hurries ? wait->root->pool->sleep.rounds : idle->round + 1;
}

static void found_nothing(struct wait *wait)
{
    struct weft__worker *root = wait->root;
    if (!wait->settled)
        keep_clear(root);
    wait->settled = true;
    if (!wait->steps_back) {
        if (be_patient(wait))
            return;
        if (wait->idle.round < root->pool->sleep.rounds) {
            next_round(wait);
            return;
        }
        if (linger(wait))
            return;
    }
    leave_places(wait);
    if (wait->holds)
        weft__block_count(root->pool);
    root->overtakes = wait->idle.overtakes = false;
    seek_on(wait);
    if (wait->counted && root->pool->sleep.crowd)
        seek(wait,
             SEEKS_NOTHING); /* who sleeps has no place; here its parking place does not say */
    bool slept = wait->steps_back ? step_back(wait) : fall_asleep(wait);
    root->overtakes = wait->idle.overtakes && weft__may_overtake(root);
    seek_on(wait);
    weft__block_let_report(root->pool);
    if (wait->holds)
        weft__block_uncount(root->pool);
    return_to_places(wait);
    if (slept && (!wait->counted || wait->idle.woken))
        weft__count_up(&wait->me->counts.sleeps);
    if (slept)
        wait->patient_until = 0;
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
        struct weft__job *job = next_own(wait);
        weft *where = wait->w;
        if (!job)
            start_looking(wait);
        weft__tell(wait->me);
        if (!job) {
            while (!weft__latch_probe(latch) && !(job = look_everywhere(wait, &where)))
                found_nothing(wait);
            stop_looking(wait, job && weft__worker_of(where)->taken_from);
        }
        if (job && wait->loop)
            weft__execute_untold(where, job);
        else if (job)
            weft__execute(where, job);
    }
    weft__tell(wait->me);
}

/* An actor waits: somebody else has the thread meanwhile. */
static bool suspend_until(struct weft__context *fiber, struct weft__latch *latch,
                          const struct weft__awaited *awaited)
{
    while (!weft__latch_probe(latch)) {
        if (awaited->may_end && fiber->ops->ends(fiber))
            return false;
        fiber->ops->waits_for(fiber, awaited->what, NULL);
        if (weft__latch_doze(latch) && weft__latch_sleep(latch))
            fiber->ops->suspend(fiber);
        weft__latch_rouse(latch);
    }
    return true;
}

/* The innermost wait, for weft_pool_dump(). relaxed, all: hints. */
struct shown {
    void *what, *whose;
};

static struct shown show(struct weft__worker *me, struct shown shown)
{
    struct weft__counts *counts = &me->counts;
    struct shown before = {atomic_load_relaxed(&counts->awaits),
                           atomic_load_relaxed(&counts->awaits_for)};
    atomic_store_relaxed(&counts->awaits_for, shown.whose);
    atomic_store_relaxed(&counts->awaits, shown.what);
    return before;
}

static struct shown shown_of(const struct weft__awaited *awaited)
{
    return (struct shown){(void *)(uintptr_t)awaited->what,
                          awaited->thief ? (void *)awaited->thief : (void *)awaited->scope};
}

bool weft__wait(weft *w, struct weft__latch *latch, struct weft__awaited awaited)
{
    if (weft__fiber_ops(w))
        return suspend_until(weft__context_of(w), latch, &awaited);
    struct weft__worker *me = weft__worker_of(w);
    struct wait wait = {
        .w = w, .me = me, .root = weft__root_of(me), .latch = latch, .awaited = awaited};
    if (weft__latch_probe(latch))
        return true;
    weft__worker_check_left(__builtin_frame_address(0));
    wait.holds = weft__is_careful(me);
    wait.limited = wait.holds || !weft__may_help(me);
    bool limits = wait.limited && !wait.holds;
    wait.last = limits && limit(wait.root);
    wait.counted = !wait.limited && wait.root->kind != WORKER_GUEST;
    const struct weft__awaited *outer = me->awaited;
    me->awaited = &wait.awaited;
    struct shown shown = show(me, shown_of(&awaited));
    bool waited_by = atomic_load_relaxed(&me->waits_by); /* relaxed: own writes */
    /* release G3: its parking place. */
    atomic_store_release(&me->waits_by, awaited.by && !wait.limited);
    wait_on(&wait);
    atomic_store_release(&me->waits_by, waited_by); /* release G3: the same for the outer wait */
    me->awaited = outer;
    show(me, shown);
    if (limits)
        unlimit(wait.root);
    if (!me->context->help.wanted)
        weft__expect_help(me); /* those who helped may have gone to sleep meanwhile */
    return true;
}

/* Destroy's waiter for USE_CALLER, and a worker's own loop, must go on however full the
 * stack is: nobody is below whom they could keep waiting. */
static void wait_unlimited(struct weft__worker *me, struct weft__latch *latch)
{
    struct wait wait = {.w = weft__context_top(me->context),
                        .me = me,
                        .root = weft__root_of(me),
                        .latch = latch,
                        .loop = true};
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

bool weft__wait_anywhere(struct weft__spin_latch *latch, struct weft__awaited awaited)
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
        return weft__wait(weft__context_top(weft__context_now(me)), &latch->core, awaited);
    }
    return true;
}

void weft__wake_helpers(struct weft_pool *pool)
{
    struct weft__walk walk = {.pool = pool};
    struct weft__worker *worker;
    while ((worker = weft__walk_next(&walk))) {
        /* acquire G3. It can't leave, nor its parking place, as long as the walk has the lock. */
        if (worker->kind != WORKER_GUEST || !atomic_load_acquire(&worker->waits_by))
            continue;
        struct weft__crowd *crowd = worker->park->crowd;
        weft__park_wake(worker->park);
        if (crowd)
            weft__crowd_tickle(crowd);
    }
}

/* One piece of work of any kind that is left to others. */
static bool run_one(weft *w)
{
    static const struct weft__aim anything = {.help = HELP_ANYBODY};
    struct weft__worker *me = weft__worker_of(w);
    struct weft__job *job = find_in_turn(me, true);
    if (!job)
        job = weft__deque_pop(&me->deque);
    if (!job)
        job = weft__find(me, &anything);
    if (job)
        weft__execute(w, job);
    return job != NULL;
}

/* What a limited one may run: mail, and children of the scopes that it has open. */
static bool run_one_limited(weft *w)
{
    struct weft__worker *me = weft__worker_of(w);
    struct weft__job *job = weft__find_mail(me);
    if (!job)
        job = pop_limited(me, weft__context_of(w)->group, true);
    if (job)
        weft__execute(w, job);
    return job != NULL;
}

bool weft__run_one(weft *w)
{
    struct weft__worker *me = weft__worker_of(w);
    if (weft__pool_is_forked(me->pool))
        return false;
    return weft__may_help(me) && !weft__is_careful(me) ? run_one(w) : run_one_limited(w);
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
