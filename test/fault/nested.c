/* SPDX-License-Identifier: MIT */
/* nested.c: jobs that wait: in their own pool, in another one, in several at once. Who
 * waits keeps working for all of them, as far as its stack allows, and nothing is left
 * where nobody looks.
 *
 * Fault 22, a waiter that runs a job which wants a lock it holds itself, is not here: jobs
 * that block need to be known as such first. */
#include "child.h"
#include "core/pool.h"
#include "os/thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

static unsigned sleeping(weft_pool *pool)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_pool_get_info(pool, &info);
    return info.sleeping;
}

/* A job that somebody else runs, and how far it has got. */
struct other {
    weft_pool *pool, *host;
    atomic_int started, ran;
    atomic_bool go;
    enum way way;
};

static void start_and_hold(weft *w, void *arg)
{
    struct other *other = arg;
    atomic_fetch_add(&other->started, 1);
    UNTIL(atomic_load(&other->go));
    atomic_fetch_add(&other->ran, 1);
}

/* Forks `right`, which somebody takes and holds; then waits for it. */
static void fork_and_wait(weft *w, weft_fn *right, struct other *other)
{
    weft_fork(w, right, other);
    UNTIL(atomic_load(&other->started));
    CHECK(weft_merge(w));
}

/* ---- Run from outside ---- */

static void note_thread(weft *w, void *thread)
{
    *(pthread_t *)thread = pthread_self();
}

/* Without guests the job is injected, and its caller sleeps. */
static void run_from_foreign_thread_is_injected(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(1, WEFT_NO_GUESTS, way);
        for (int i = 0; i < rounds_of(SCALED(2000, 10)); i++) {
            pthread_t thread = pthread_self();
            CHECK_EQUAL(weft_run(pool, note_thread, &thread), 0);
            CHECK(!pthread_equal(thread, pthread_self()));
        }
        child_pool_end(pool);
    }
}

/* ---- Waiting in another pool ---- */

static void wait_in_other(weft *w, void *arg)
{
    fork_and_wait(w, start_and_hold, arg);
}

static void run_in_other(weft *w, void *arg)
{
    struct other *other = arg;
    CHECK_EQUAL(weft_run(other->pool, wait_in_other, other), 0);
}

static void let_go(weft *w, void *arg)
{
    atomic_store(&((struct other *)arg)->go, true);
}

/* The only worker of a pool waits in another one for what only a job of its own pool can
 * bring about. */
static void job_waits_in_another_pool_and_keeps_working(void)
{
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < rounds_of(SCALED(60, 10)); i++) {
            struct other other = {.pool = child_pool(2, 0, way)};
            weft_pool *host = child_pool(1, 0, way);
            weft_task waits, helps;
            CHECK_EQUAL(weft_submit(host, &waits, run_in_other, &other), 0);
            UNTIL(atomic_load(&other.started));
            if (i % 2)
                until_asleep(host, 1);
            CHECK_EQUAL(weft_submit(host, &helps, let_go, &other), 0);
            UNTIL(weft_task_done(&helps) && weft_task_done(&waits));
            child_pool_end(host);
            child_pool_end(other.pool);
            CHECK_EQUAL(atomic_load(&other.ran), 1);
        }
    }
}

/* Pools that call each other, to and fro, from both ends at once. */
struct mutual {
    weft_pool *pools[2];
    atomic_int leaves;
};

struct visit {
    struct mutual *mutual;
    int depth;
};

static void visit(weft *w, void *arg)
{
    struct visit *v = arg;
    struct visit deeper = {v->mutual, v->depth - 1}, right = deeper;
    if (v->depth == 0) {
        atomic_fetch_add(&v->mutual->leaves, 1);
        return;
    }
    weft_pool *other = v->mutual->pools[weft_pool_of(w) == v->mutual->pools[0]];
    weft *in = weft_fork(w, visit, &right);
    CHECK(in != NULL);
    if (v->depth % 2) {
        CHECK_EQUAL(weft_run(other, visit, &deeper), 0);
    } else {
        weft_task task;
        CHECK_EQUAL(weft_submit(other, &task, visit, &deeper), 0);
        CHECK_EQUAL(weft_task_wait(&task), 0);
    }
    if (!weft_merge(w))
        visit(w, &right);
}

static void visit_from_outside(unsigned i, void *arg)
{
    struct mutual *mutual = arg;
    for (int round = 0; round < rounds_of(SCALED(50, 10)); round++) {
        struct visit v = {mutual, 6};
        CHECK_EQUAL(weft_run(mutual->pools[i % 2], visit, &v), 0);
    }
}

static void bug_21_nested_and_mutual_pools(void)
{
    FOR_EACH_WAY(way)
    {
        for (unsigned n = 1; n <= 2; n++) {
            for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
                struct mutual mutual = {{child_pool(n, flags, way), child_pool(n, flags, way)}, 0};
                in_threads(4, visit_from_outside, &mutual);
                child_pool_end(mutual.pools[0]);
                child_pool_end(mutual.pools[1]);
                CHECK_EQUAL(atomic_load(&mutual.leaves), 4 * rounds_of(SCALED(50, 10)) * 64);
            }
        }
    }
}

/* Each pool's only worker waits for the other one's mail to be read. */
static void broadcast_to_other(weft *w, void *arg)
{
    struct mutual *mutual = arg;
    weft_pool *other = mutual->pools[weft_pool_of(w) == mutual->pools[0]];
    for (int i = 0; i < SCALED(1000, 10); i++)
        CHECK_EQUAL(weft_broadcast(other, count_up, &mutual->leaves), 0);
}

static void bug_21_broadcasts_to_each_other(void)
{
    FOR_EACH_WAY(way)
    {
        struct mutual mutual = {{child_pool(1, 0, way), child_pool(1, 0, way)}, 0};
        weft_task tasks[2];
        for (int i = 0; i < 2; i++)
            CHECK_EQUAL(weft_submit(mutual.pools[i], &tasks[i], broadcast_to_other, &mutual), 0);
        UNTIL(weft_task_done(&tasks[0]) && weft_task_done(&tasks[1]));
        child_pool_end(mutual.pools[0]);
        child_pool_end(mutual.pools[1]);
        CHECK_EQUAL(atomic_load(&mutual.leaves), 2 * SCALED(1000, 10));
    }
}

/* Comes to an end when the waiter sleeps: as a worker of `host`, whose others do too. */
static void end_when_waiter_sleeps(weft *w, void *arg)
{
    struct other *other = arg;
    atomic_fetch_add(&other->started, 1);
    UNTIL(sleeping(other->host) == weft_pool_workers(other->host));
    atomic_fetch_add(&other->ran, 1);
}

static void wait_asleep(weft *w, void *arg)
{
    fork_and_wait(w, end_when_waiter_sleeps, arg);
}

static void make_pool_and_wait(weft *w, void *arg)
{
    struct other *other = arg;
    other->pool = child_pool(2, 0, other->way);
    CHECK_EQUAL(weft_run(other->pool, wait_asleep, other), 0);
    child_pool_end(other->pool);
}

/* A job makes a pool, sleeps in it, and destroys it. */
static void bug_21_pool_made_by_a_job(void)
{
    FOR_EACH_WAY(way)
    {
        for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
            struct other other = {.host = child_pool(1, WEFT_NO_GUESTS, way), .way = way};
            CHECK_EQUAL(weft_run(other.host, make_pool_and_wait, &other), 0);
            CHECK_EQUAL(atomic_load(&other.ran), 1);
            child_pool_end(other.host);
        }
    }
}

/* The same by the thread that is worker 0. */
static void bug_21_caller_sleeps_in_another_pool(void)
{
    FOR_EACH_WAY(way)
    {
        struct other other = {.host = child_pool(2, WEFT_USE_CALLER, way), .way = way};
        other.pool = child_pool(2, 0, way);
        CHECK_EQUAL(weft_run(other.pool, wait_asleep, &other), 0);
        CHECK_EQUAL(atomic_load(&other.ran), 1);
        child_pool_end(other.pool);
        child_pool_end(other.host);
    }
}

static void broadcast_when_waiter_sleeps(weft *w, void *arg)
{
    struct other *other = arg;
    atomic_fetch_add(&other->started, 1);
    UNTIL(sleeping(other->host) == weft_pool_workers(other->host));
    CHECK_EQUAL(weft_broadcast(other->host, count_up, &other->ran), 0);
}

static void wait_for_broadcast(weft *w, void *arg)
{
    fork_and_wait(w, broadcast_when_waiter_sleeps, arg);
}

/* And gets its mail there. */
static void bug_21_caller_in_another_pool_gets_its_mail(void)
{
    FOR_EACH_WAY(way)
    {
        struct other other = {.host = child_pool(2, WEFT_USE_CALLER, way), .way = way};
        other.pool = child_pool(2, 0, way);
        CHECK_EQUAL(weft_run(other.pool, wait_for_broadcast, &other), 0);
        CHECK_EQUAL(atomic_load(&other.ran), 2);
        child_pool_end(other.pool);
        child_pool_end(other.host);
    }
}

static void be_refused(weft *w, void *arg)
{
    weft_config config = child_config(2, WEFT_USE_CALLER, WAY_SPIN);
    weft_pool *second;
    CHECK_EQUAL(weft_pool_create(&second, &config), -EBUSY);
    CHECK(second == NULL);
}

/* A thread is the worker of one pool only; and whoever is in one can't become it. */
static void bug_21_second_pool_of_one_caller_is_refused(void)
{
    weft_pool *pool = child_pool(2, WEFT_USE_CALLER, WAY_SPIN);
    be_refused(NULL, NULL);
    CHECK_EQUAL(weft_run(pool, be_refused, NULL), 0);
    child_pool_end(pool);
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        pool = child_pool(2, flags, WAY_SPIN);
        CHECK_EQUAL(weft_run(pool, be_refused, NULL), 0);
        child_pool_end(pool);
    }
    child_pool_end(child_pool(2, WEFT_USE_CALLER, WAY_SPIN)); /* free again */
}

/* ---- Helping and the stack ---- */

enum { SMALL_STACK = 512 << 10, JOB_STACK = 24 << 10 };

static weft_pool *small_pool(enum way way)
{
    weft_config config = child_config(2, WEFT_NO_GUESTS, way);
    config.stack_size = SMALL_STACK;
    return child_pool_of(&config);
}

static void broadcast_from_below(void *arg)
{
    struct other *other = arg;
    CHECK_EQUAL(weft_broadcast(other->pool, nothing, NULL), 0);
}

/* Waits for the other worker, which is held, and helps meanwhile: with another one of the
 * same kind, and so on. */
static void wait_for_held_worker(weft *w, void *arg)
{
    struct other *other = arg;
    atomic_fetch_add(&other->started, 1);
    deep_down(JOB_STACK, broadcast_from_below, other);
    atomic_fetch_add(&other->ran, 1);
}

/* No more jobs have begun for a while: who helps has stopped, or will go on later. */
static void until_no_more_begin(struct other *other)
{
    int before;
    do {
        before = atomic_load(&other->started);
        for (unsigned i = 0; i < 200; i++)
            child_nap(i);
    } while (before != atomic_load(&other->started));
}

/* One worker is held while so many jobs wait for it, one on top of the other. The number
 * that had begun when the other one stopped helping. */
static int pile_up(enum way way, int jobs)
{
    weft_task *tasks = calloc((size_t)jobs, sizeof *tasks), holder;
    struct other other = {.pool = small_pool(way)}, held = {0};
    CHECK_EQUAL(weft_submit(other.pool, &holder, start_and_hold, &held), 0);
    UNTIL(atomic_load(&held.started));
    for (int i = 0; i < jobs; i++)
        CHECK_EQUAL(weft_submit(other.pool, &tasks[i], wait_for_held_worker, &other), 0);
    UNTIL(atomic_load(&other.started) >= 3); /* it does help */
    until_no_more_begin(&other);
    int depth = atomic_load(&other.started);
    CHECK_EQUAL(atomic_load(&other.ran), 0);
    atomic_store(&held.go, true);
    for (int i = 0; i < jobs; i++)
        CHECK_EQUAL(weft_task_wait(&tasks[i]), 0);
    CHECK_EQUAL(weft_task_wait(&holder), 0);
    child_pool_end(other.pool);
    CHECK_EQUAL(atomic_load(&other.ran), jobs);
    free(tasks);
    return depth;
}

/* Not more than half of the stack, and one job. */
static void bug_23_helping_stops_at_half_the_stack(void)
{
    FOR_EACH_WAY(way)
    {
        int depth = pile_up(way, SMALL_STACK / JOB_STACK - 5); /* would just fit */
        CHECK(depth <= SMALL_STACK / 2 / JOB_STACK + 1);
    }
}

/* However many there are, and whoever is left to help. */
static void bug_23_helping_never_overflows(void)
{
    FOR_EACH_WAY(way)
    {
        pile_up(way, 500);
    }
}

/* Children that fork and are robbed, by the thousand, on stacks that hold few of them. */
static void touch(void *arg)
{
}

static void robbed(weft *w, void *ran)
{
    weft_fork(w, count_up, ran);
    deep_down(JOB_STACK, touch, NULL);
    if (weft_has_pending(w) && atomic_load((atomic_int *)ran) % 16 == 0)
        wait_a_moment();
    if (!weft_merge(w))
        count_up(w, ran);
}

static void spawn_robbed(weft *w, void *ran)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < SCALED(10000, 10); i++)
        CHECK_EQUAL((i % 2 ? weft_spawn : weft_spawn_fifo)(w, &scope, robbed, ran), 0);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
}

static void bug_23_many_robbed_children(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = small_pool(way);
        atomic_int ran = 0;
        CHECK_EQUAL(weft_run(pool, spawn_robbed, &ran), 0);
        CHECK_EQUAL(atomic_load(&ran), SCALED(10000, 10));
        child_pool_end(pool);
    }
}

/* ---- Work that nobody finds ---- */

/* Each posts a job, and blocks until somebody else has run it. (A fork does not promise so
 * much: its owner may be the one to run it.) */
static void block_after_spawn(weft *w, void *ran)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, count_up, ran), 0);
    UNTIL(atomic_load((atomic_int *)ran) == 1);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
}

static void block_after_spawn_fifo(weft *w, void *ran)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn_fifo(w, &scope, count_up, ran), 0);
    UNTIL(atomic_load((atomic_int *)ran) == 1);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
}

static void block_after_detach(weft *w, void *ran)
{
    CHECK_EQUAL(weft_spawn_detached(w, count_up, ran), 0);
    UNTIL(atomic_load((atomic_int *)ran) == 1);
}

static void bug_27_blocked_worker_is_robbed(void)
{
    static weft_fn *const jobs[] = {block_after_spawn, block_after_spawn_fifo, block_after_detach};
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(2, WEFT_NO_GUESTS, way);
        for (int i = 0; i < rounds_of(SCALED(2000, 10)); i++) {
            atomic_int ran = 0;
            CHECK_EQUAL(weft_run(pool, jobs[i % 3], &ran), 0);
            CHECK_EQUAL(atomic_load(&ran), 1);
            if (i % 100 < 4)
                until_asleep(pool, 2);
        }
        child_pool_end(pool);
    }
}

static void detach_three(weft *w, void *ran)
{
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(weft_spawn_detached(w, count_up, ran), 0);
}

/* A guest leaves, and does not come back for what it spawned. */
static void bug_27_guest_leaves_work_behind(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(1, 0, way);
        for (int i = 0; i < rounds_of(SCALED(1000, 10)); i++) {
            atomic_int ran = 0;
            if (i % 2)
                until_asleep(pool, 1);
            CHECK_EQUAL(weft_run(pool, detach_three, &ran), 0);
            UNTIL(atomic_load(&ran) == 3);
        }
        child_pool_end(pool);
    }
}

static void bug_27_caller_leaves_work_behind(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(2, WEFT_USE_CALLER, way);
        for (int i = 0; i < rounds_of(SCALED(1000, 10)); i++) {
            atomic_int ran = 0;
            if (i % 2)
                until_asleep(pool, 1);
            CHECK_EQUAL(weft_run(pool, detach_three, &ran), 0);
            UNTIL(atomic_load(&ran) == 3);
        }
        child_pool_end(pool);
    }
}

/* The caller waits for a task and helps; what it helped with leaves a job on its deque just
 * when the task is over. Steps, each by the thread named:
 *   guest   runs `task`, and in it detaches `leaver`, which wakes the caller: worker 1 looks out
 *   caller  runs `leaver`: detaches a job, and holds until the task is over
 *   guest   ends the task, and stays: it counts as the second worker at work
 *   caller  leaves weft_task_wait()
 * If worker 1 was faster than the caller, once more. */
struct left {
    weft_pool *pool;
    weft_task task;
    pthread_t caller;
    atomic_int leaving, over, ran;
    atomic_bool stay, by_caller;
};

static void leaver(weft *w, void *arg)
{
    struct left *left = arg;
    atomic_store(&left->by_caller, pthread_equal(left->caller, pthread_self()) != 0);
    CHECK_EQUAL(weft_spawn_detached(w, count_up, &left->ran), 0);
    atomic_store(&left->leaving, 1);
    UNTIL(atomic_load(&left->over));
}

static void detach_leaver(weft *w, void *arg)
{
    struct left *left = arg;
    until_asleep(left->pool, 2); /* the caller too, in its wait */
    CHECK_EQUAL(weft_spawn_detached(w, leaver, left), 0);
    UNTIL(atomic_load(&left->leaving));
}

static void run_task_and_stay(weft *w, void *arg)
{
    struct left *left = arg;
    CHECK_EQUAL(weft_task_wait(&left->task), 0); /* runs it */
    atomic_store(&left->over, 1);
    UNTIL(!atomic_load(&left->stay));
}

static void *be_guest(void *arg)
{
    struct left *left = arg;
    CHECK_EQUAL(weft_run(left->pool, run_task_and_stay, left), 0);
    return NULL;
}

/* True: as described above. */
static bool leave_work_behind(enum way way)
{
    weft_config config = child_config(2, WEFT_USE_CALLER, way);
    config.fork = WEFT_FORK_EAGER;
    config.pin = WEFT_PIN_NEVER;
    config.sleep = WEFT_SLEEP_EVENTS; /* which wakes one alone */
    struct left left = {.caller = pthread_self(), .stay = true};
    struct other held = {0};
    weft_task holder;
    pthread_t guest;
    left.pool = child_pool_of(&config);
    CHECK_EQUAL(weft_submit(left.pool, &holder, start_and_hold, &held), 0);
    UNTIL(atomic_load(&held.started)); /* worker 1 can't take the task */
    CHECK_EQUAL(weft_submit(left.pool, &left.task, detach_leaver, &left), 0);
    child_thread(be_guest, &left, &guest);
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    UNTIL((weft_pool_get_info(left.pool, &info), info.queued == 0)); /* the guest has it */
    atomic_store(&held.go, true);
    until_asleep(left.pool, 1);
    CHECK_EQUAL(weft_task_wait(&left.task), 0);
    UNTIL(atomic_load(&left.ran) == 1);
    atomic_store(&left.stay, false);
    child_thread_join(guest);
    CHECK_EQUAL(weft_task_wait(&holder), 0);
    child_pool_end(left.pool);
    return atomic_load(&left.by_caller);
}

static void bug_27_caller_leaves_work_behind_after_a_wait(void)
{
    FOR_EACH_WAY(way)
    {
        while (!leave_work_behind(way))
            ;
    }
}

/* A worker of one pool sleeps as a guest of another. There it is not at work, so it must
 * not keep anybody from being woken. */
static void spawn_when_guest_sleeps(weft *w, void *arg)
{
    struct other *other = arg;
    atomic_fetch_add(&other->started, 1);
    UNTIL(sleeping(other->host) == 1 && sleeping(other->pool) == 1);
    block_after_spawn(w, &other->ran); /* for the second worker */
}

static void wait_for_spawn(weft *w, void *arg)
{
    fork_and_wait(w, spawn_when_guest_sleeps, arg);
}

static void be_hosted_guest(weft *w, void *arg)
{
    struct other *other = arg;
    CHECK_EQUAL(weft_run(other->pool, wait_for_spawn, other), 0);
}

static void bug_27_sleeping_guest_with_a_host_is_not_at_work(void)
{
    FOR_EACH_WAY(way)
    {
        struct other other = {.host = child_pool(1, WEFT_NO_GUESTS, way),
                              .pool = child_pool(2, 0, way)};
        until_asleep(other.pool, 2);
        CHECK_EQUAL(weft_run(other.host, be_hosted_guest, &other), 0);
        CHECK_EQUAL(atomic_load(&other.ran), 1);
        child_pool_end(other.pool);
        child_pool_end(other.host);
    }
}

/* A worker deep down in its stack sleeps until its latch is set, and can't help. New work
 * has to wake the one who can. */
struct deep {
    weft_pool *pool;
    weft_task task;
    struct other task_holder, worker_holder;
    atomic_int submitted;
};

static void wait_deep_down(void *arg)
{
    struct deep *deep = arg;
    CHECK_EQUAL(weft_submit(deep->pool, &deep->task, start_and_hold, &deep->task_holder), 0);
    atomic_store(&deep->submitted, 1);
    UNTIL(atomic_load(&deep->task_holder.started)); /* by an outside thread */
    CHECK_EQUAL(weft_task_wait(&deep->task), 0);
}

static void first_goes_deep(weft *w, void *arg)
{
    struct deep *deep = arg;
    if (weft_worker_index(w) == 0) {
        UNTIL(atomic_load(&deep->worker_holder.started)); /* so it can't take the task */
        deep_down(SMALL_STACK * 5 / 8, wait_deep_down, deep);
    } else {
        start_and_hold(w, &deep->worker_holder);
    }
}

static void *take_task(void *arg)
{
    struct deep *deep = arg;
    UNTIL(atomic_load(&deep->submitted));
    CHECK_EQUAL(weft_task_wait(&deep->task), 0);
    return NULL;
}

static void bug_27_wake_up_reaches_one_who_can_help(void)
{
    FOR_EACH_WAY(way)
    {
        weft_config config = child_config(2, 0, way);
        config.stack_size = SMALL_STACK;
        config.pin = WEFT_PIN_NEVER; /* worker 0 is the first to be woken */
        static struct deep deep;
        deep = (struct deep){0};
        pthread_t outside;
        weft_task task;
        atomic_int ran = 0;
        deep.pool = child_pool_of(&config);
        CHECK_EQUAL(weft_broadcast_detached(deep.pool, first_goes_deep, &deep), 0);
        child_thread(take_task, &deep, &outside);
        UNTIL(atomic_load(&deep.task_holder.started));
        atomic_store(&deep.worker_holder.go, true);
        until_asleep(deep.pool, 1);
        UNTIL(atomic_load_relaxed(&deep.pool->workers[0]->park->state) ==
              (PARK_ASLEEP | PARK_UNCOUNTED));
        CHECK_EQUAL(weft_submit(deep.pool, &task, count_up, &ran), 0);
        UNTIL(weft_task_done(&task));
        atomic_store(&deep.task_holder.go, true);
        child_thread_join(outside);
        child_pool_end(deep.pool);
        CHECK_EQUAL(atomic_load(&ran), 1);
    }
}

/* Far down, a scope is waited for while an older fork lies on the same deque:
 *   fork `older`; in a scope: fork, spawn `late`, merge, close
 * The merge can't run `late` itself down there, and leaves it to others; so the scope's wait
 * gets to see `older`, which is none of its business. */
struct limited {
    struct weft_pool *pool;
    struct weft__worker *waiter;
    weft *w;
    atomic_int older, late;
};

static void run_late(weft *w, void *arg)
{
    struct limited *limited = arg;
    struct weft__park *park = limited->waiter->park;
    if (weft__worker_of(w) != limited->waiter)
        UNTIL(atomic_load_relaxed(&park->state) == (PARK_ASLEEP | PARK_UNCOUNTED));
    atomic_fetch_add(&limited->late, 1);
}

static void close_deep_down(void *arg)
{
    struct limited *limited = arg;
    weft *w = limited->w;
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft *in = weft_fork(w, nothing, NULL);
    CHECK_EQUAL(weft_spawn(in, &scope, run_late, limited), 0);
    weft_merge(w);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
    CHECK_EQUAL(atomic_load(&limited->late), 1);
}

static void fork_and_go_deep(weft *w, void *arg)
{
    struct limited *limited = arg;
    limited->waiter = weft__worker_of(w);
    limited->w = weft_fork(w, count_up, &limited->older);
    deep_down(SMALL_STACK * 5 / 8, close_deep_down, limited);
    if (!weft_merge(w))
        count_up(w, &limited->older);
}

static void bug_27_limited_waiter_leaves_older_forks_alone(void)
{
    FOR_EACH_WAY(way)
    {
        weft_config config = child_config(2, WEFT_NO_GUESTS, way);
        config.stack_size = SMALL_STACK;
        config.quantum = 1000000000; /* long enough for `older` not to be taken */
        struct limited limited = {.pool = child_pool_of(&config)};
        CHECK_EQUAL(weft_run(limited.pool, fork_and_go_deep, &limited), 0);
        CHECK_EQUAL(atomic_load(&limited.older), 1);
        child_pool_end(limited.pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(run_from_foreign_thread_is_injected),
        IN_CHILD(job_waits_in_another_pool_and_keeps_working),
        IN_CHILD(bug_21_nested_and_mutual_pools),
        IN_CHILD(bug_21_broadcasts_to_each_other),
        IN_CHILD(bug_21_pool_made_by_a_job),
        IN_CHILD(bug_21_caller_sleeps_in_another_pool),
        IN_CHILD(bug_21_caller_in_another_pool_gets_its_mail),
        IN_CHILD(bug_21_second_pool_of_one_caller_is_refused),
        IN_CHILD(bug_23_helping_stops_at_half_the_stack),
        IN_CHILD(bug_23_helping_never_overflows),
        IN_CHILD(bug_23_many_robbed_children),
        IN_CHILD(bug_27_blocked_worker_is_robbed),
        IN_CHILD(bug_27_guest_leaves_work_behind),
        IN_CHILD(bug_27_caller_leaves_work_behind),
        IN_CHILD(bug_27_caller_leaves_work_behind_after_a_wait),
        IN_CHILD(bug_27_sleeping_guest_with_a_host_is_not_at_work),
        IN_CHILD(bug_27_wake_up_reaches_one_who_can_help),
        IN_CHILD(bug_27_limited_waiter_leaves_older_forks_alone),
    };
    return cmocka_run_group_tests_name("nested", tests, NULL, NULL);
}
