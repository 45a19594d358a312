/* SPDX-License-Identifier: MIT */
#include "core/wait.h"

#include "core/descent.h"
#include "core/execute.h"
#include "core/fiber.h"
#include "core/help.h"
#include "core/pool.h"
#include "core/search.h"
#include "core/spawn.h"
#include "core/steal.h"
#include "os/fatal.h"
#include "os/trace.h"
#include "sleep/crowd.h"

const char weft__awaits_thief[] = "waits for a right side";
const char weft__awaits_children[] = "waits for children of its scope";

static bool helps_own_only(const struct weft__worker *me)
{
    return me->kind == WORKER_GUEST && !(me->pool->config.flags & WEFT_GUESTS_HELP);
}

/* A limited waiter runs only children of the scope that it waits for; with `outer_too`, also of the
 * scopes around that. Other jobs that were spawned after them go to the injector. A fork that is
 * still on the deque was pushed before the scope was opened, and so were all jobs below it. */
static struct weft__job *pop_limited(struct weft__worker *me, const struct weft__group *scope,
                                     bool outer_too)
{
    struct weft__job *job;
    while (scope && (job = weft__worker_pop(me))) {
        if (!weft__job_is_spawn(job)) {
            weft__deque_push(&me->deque, job); /* can't fail: there was room for it before */
            return NULL;
        }
        const struct weft__group *group = scope;
        while (outer_too && group && group != job->group)
            group = group->parent;
        if (job->group && job->group == group)
            return job;
        weft__leave_to_others(me, job);
    }
    return NULL;
}

/* The next job on its own deque. A guest moves detached jobs to the injector: its caller does not
 * wait for them. */
static struct weft__job *pop_own(struct weft__wait *wait)
{
    struct weft__worker *me = wait->me;
    if (wait->limited)
        return pop_limited(me, wait->awaited.scope, false);
    struct weft__job *job;
    while ((job = weft__worker_pop(me)) && !job->group && helps_own_only(me))
        weft__leave_to_others(me, job);
    return job;
}

/* A worker that always has jobs of its own must not starve its mail and the injector: now and then
 * these come first. */
static struct weft__job *find_in_turn(struct weft__worker *me, bool others)
{
    if (++me->own_jobs < WEFT__OWN_TURN)
        return NULL;
    me->own_jobs = 0;
    struct weft__job *job = weft__find_mail(me);
    return !job && others && me->kind != WORKER_GUEST ? weft__find_injected(me) : job;
}

static struct weft__job *next_own(struct weft__wait *wait)
{
    if (wait->loop && weft__steps_back(wait->me))
        return NULL;
    struct weft__job *job = find_in_turn(wait->me, !wait->limited);
    return job ? job : pop_own(wait);
}

/* What `me`, one of the workers that this thread is, may take. */
static struct weft__aim aim_of(struct weft__wait *wait, struct weft__worker *me)
{
    struct weft__group *group = wait->loop ? NULL : weft__context_now(wait->me)->group;
    struct weft__aim aim = {.help = HELP_ALL, .root = group ? group->root : NULL};
    if (me == wait->me) {
        aim.thief = wait->awaited.thief;
        aim.latch = wait->latch;
        aim.by = wait->awaited.by;
    }
    if (wait->limited && !wait->despair) {
        aim.help = HELP_NONE;
        aim.scope = me == wait->me ? wait->awaited.scope : NULL;
    } else if (helps_own_only(me)) {
        aim.help = HELP_OWN_ONLY;
    } else if (weft__steps_back(me)) {
        aim.help = wait->idle.let_in ? HELP_STARVED : HELP_NONE;
    } else if (!wait->loop) {
        aim.help = HELP_OWN_LAST;
    }
    return aim;
}

/* Looks for a job for any of the workers that this thread is. Returns where to run it, or NULL. */
static weft *look_everywhere(struct weft__wait *wait, struct weft__found *found)
{
    struct weft__worker *me = wait->me;
    weft *where = wait->w;
    *found = (struct weft__found){0};
    me->saw_young = wait->outermost->saw_young = false;
    wait->steps_back = wait->counted && weft__steps_back(wait->outermost);
    struct weft__aim aim = aim_of(wait, me);
    if (!wait->loop || (weft__worker_has_jobs(me) && weft__may_begin(me)))
        found->job = pop_own(wait);
    if (!found->job)
        weft__find(me, &aim, found);
    /* Before it sleeps, it takes a fork of its own that is older than the one it waits for: the
     * threads that could steal it may be blocked. */
    if (!found->job && aim.help != HELP_NONE &&
        wait->idle.round >= wait->outermost->pool->sleep.rounds && weft__may_begin(me))
        weft__take_own(me, found);
    for (struct weft__worker *host = me->host; !found->job && host; host = host->host) {
        aim = aim_of(wait, host);
        if (aim.help == HELP_ALL || aim.help == HELP_OWN_LAST)
            found->job = weft__worker_pop(host);
        if (!found->job)
            weft__find(host, &aim, found);
        if (found->job)
            where = weft__context_top(host->context);
    }
    wait->despair = wait->idle.let_in = false;
    return found->job ? where : NULL;
}

/* A limited wait begins. True: all other threads of the pool are limited already, so this one has
 * to take the jobs that they wait for, if no other thread does. A thread counts once, however many
 * limited waits are on its stack. */
static bool limit(struct weft__worker *outermost)
{
    struct weft_pool *pool = outermost->pool;
    unsigned threads = pool->config.workers - (pool->config.flags & WEFT_USE_CALLER ? 1 : 0);
    if (outermost->kind != WORKER_THREAD)
        return outermost->kind == WORKER_CALLER && threads == 0;
    /* relaxed: only a number; its modification order decides which thread is the last. */
    if (outermost->limited_waits++ == 0)
        outermost->limited_last = atomic_fetch_add_relaxed(&pool->limited, 1) + 1 == threads;
    return outermost->limited_last;
}

static void unlimit(struct weft__worker *outermost)
{
    if (outermost->kind == WORKER_THREAD && --outermost->limited_waits == 0)
        atomic_fetch_sub_relaxed(&outermost->pool->limited, 1); /* relaxed: as above */
}

static void wait_on(struct weft__wait *wait)
{
    struct weft__latch *latch = wait->latch;
    while (!weft__latch_probe(latch)) {
        if (weft__pool_is_forked(wait->me->pool))
            weft__fatal("a job in a forked child waits for something that only threads of the "
                        "parent process do");
        /* Its own jobs first, without telling the pool that it is idle. */
        struct weft__found found = {.job = next_own(wait)};
        weft *where = wait->w;
        if (!found.job)
            weft__descent_begin(wait);
        weft__tell(wait->me);
        if (!found.job) {
            while (!weft__latch_probe(latch) && !(where = look_everywhere(wait, &found)))
                weft__descent_step(wait);
            weft__descent_end(wait, found.from != NULL);
        }
        if (found.job && wait->loop)
            weft__execute_untold(where, &found);
        else if (found.job)
            weft__execute_found(where, &found);
    }
    weft__tell(wait->me);
}

/* An actor waits: another actor runs on the thread meanwhile. */
static bool suspend_until(struct weft__context *fiber, struct weft__latch *latch,
                          const struct weft__awaited *awaited)
{
    while (!weft__latch_probe(latch)) {
        if (awaited->may_end && weft__hook_ends(fiber))
            return false;
        weft__hook_waits_for(fiber, awaited->what, NULL);
        if (weft__latch_doze(latch) && weft__latch_sleep(latch))
            weft__hook_suspend(fiber);
        weft__latch_get_up(latch);
    }
    return true;
}

/* The innermost wait, for weft_pool_dump(). relaxed, all: hints. */
struct shown {
    void *what, *whose;
};

static struct shown show(struct weft__worker *me, struct shown shown)
{
    struct weft__counts *counts = me->counts;
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

/* For a trace: what the awaited jobs are a part of; see weft/trace_format.h. */
static uintptr_t whole_of(const struct weft__latch *latch, const struct weft__awaited *awaited)
{
    return awaited->scope ? (uintptr_t)awaited->scope : (uintptr_t)latch;
}

bool weft__wait(weft *w, struct weft__latch *latch, struct weft__awaited awaited)
{
    if (weft__is_fiber(w))
        return suspend_until(weft__context_of(w), latch, &awaited);
    struct weft__worker *me = weft__worker_of(w);
    struct weft__wait wait = {
        .w = w, .me = me, .outermost = weft__outermost(me), .latch = latch, .awaited = awaited};
    if (weft__latch_probe(latch)) {
        WEFT__TRACE(JOIN, whole_of(latch, &awaited), 0);
        return true;
    }
    weft__worker_check_abandoned(__builtin_frame_address(0));
    wait.holds = weft__is_careful(me) || awaited.limit;
    wait.limited = wait.holds || !weft__may_help(me);
    bool limits = wait.limited && !wait.holds;
    wait.last = limits && limit(wait.outermost);
    wait.counted = !wait.limited && wait.outermost->kind != WORKER_GUEST;
    const struct weft__awaited *outer = me->awaited;
    me->awaited = &wait.awaited;
    struct shown shown = show(me, shown_of(&awaited));
    bool waited_by = atomic_load_relaxed(&me->waits_by); /* relaxed: own writes */
    /* release G3: its parking place. */
    atomic_store_release(&me->waits_by, awaited.by && !wait.limited);
    WEFT__TRACE_TEXT(WAIT, whole_of(latch, &awaited), awaited.what);
    wait_on(&wait);
    WEFT__TRACE(WAIT_END, whole_of(latch, &awaited), 0);
    atomic_store_release(&me->waits_by, waited_by); /* release G3: the same for the outer wait */
    me->awaited = outer;
    show(me, shown);
    if (limits)
        unlimit(wait.outermost);
    weft__expect_help_again(me);
    return true;
}

/* A worker's own loop, and the caller of WEFT_USE_CALLER outside jobs, are never limited, however
 * full the stack is: there is no job below them that could be kept waiting. */
static void wait_unlimited(struct weft__worker *me, struct weft__latch *latch)
{
    struct weft__wait wait = {.w = weft__context_top(me->context),
                              .me = me,
                              .outermost = weft__outermost(me),
                              .latch = latch,
                              .loop = true};
    wait.counted = wait.outermost->kind != WORKER_GUEST;
    wait_on(&wait);
}

bool weft__is_elsewhere(const struct weft_pool *pool)
{
    struct weft__worker *me = weft__worker_current();
    return me && me->pool != pool;
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
        me->awaited = &awaited;
        wait_unlimited(me, &latch->core);
        me->awaited = NULL;
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
        /* acquire G3. The guest and its parking place exist as long as the walk has the lock. */
        if (worker->kind != WORKER_GUEST || !atomic_load_acquire(&worker->waits_by))
            continue;
        struct weft__crowd *crowd = worker->park->crowd;
        weft__park_wake(worker->park);
        if (crowd)
            weft__crowd_tickle(crowd);
    }
}

/* One job of any kind. */
static bool run_one(weft *w)
{
    static const struct weft__aim anything = {.help = HELP_ALL};
    struct weft__worker *me = weft__worker_of(w);
    struct weft__found found = {.job = find_in_turn(me, true)};
    if (!found.job)
        found.job = weft__worker_pop(me);
    if (found.job || weft__find(me, &anything, &found))
        weft__execute_found(w, &found);
    return found.job != NULL;
}

/* A limited thread may run mail, and children of the scopes that it has open. */
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

void weft__run_in_turn(weft *w)
{
    struct weft__worker *me = weft__worker_of(w);
    me->own_jobs--; /* find_in_turn() counts it */
    struct weft__job *job = find_in_turn(me, weft__may_help(me) && !weft__is_careful(me));
    if (job)
        weft__execute(w, job);
}

void weft__leave_to_others(struct weft__worker *me, struct weft__job *job)
{
    weft__queue_push(&me->pool->injector, weft__spawn_node(job));
    weft__sleep_new_jobs(&me->pool->sleep, 1, false);
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
    /* Jobs of other pools may have left jobs here, and wait for them. */
    while (run_one(worker->context->first))
        ;
    weft__worker_is_outside(worker);
}
