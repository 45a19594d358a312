/* SPDX-License-Identifier: MIT */
/* forked.c: fork(). A pool's workers stay with the parent. In the child every call on it
 * says so at once, the default pool starts anew, and whatever a forked job waits for, the
 * child never hangs: bug 24. */
#include "child.h"
#include "core/pool.h"
#include "core/search.h"
#include "weft/task.h"
#include "weft/timer.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Counts that parent and children share. */
static atomic_int *shared_count(void)
{
    atomic_int *count =
        mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(count != MAP_FAILED);
    return count;
}

static void use_pool(weft_pool *pool)
{
    long n = 15;
    CHECK_EQUAL(weft_run(pool, fib, &n), 0);
    CHECK_EQUAL(n, 610);
    atomic_int ran = 0;
    CHECK_EQUAL(weft_broadcast(pool, count_up, &ran), 0);
    CHECK_EQUAL(atomic_load(&ran), weft_pool_workers(pool ? pool : weft_pool_default()));
    weft_task task;
    CHECK_EQUAL(weft_submit(pool, &task, count_up, &ran), 0);
    CHECK_EQUAL(weft_task_wait(&task), 0);
}

/* A pool whose process is forked. ASan's allocator may be locked for ever in a child that is made
 * while other threads start: there they have all run something before. */
static weft_pool *forked_pool(unsigned workers, unsigned flags, enum way way)
{
    atomic_int ran = 0;
    weft_pool *pool = child_pool(workers, flags, way);
    if (SANITIZED)
        CHECK_EQUAL(weft_broadcast(pool, count_up, &ran), 0);
    return pool;
}

/* Forks; in the child a hang ends in SIGALRM, which a worker would not get otherwise. */
static pid_t fork_guarded(void)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        pthread_sigmask(SIG_SETMASK, &none, NULL);
        alarm(200);
    }
    return pid;
}

static int status_of(pid_t pid)
{
    int status;
    UNTIL(waitpid(pid, &status, WNOHANG) == pid);
    return status;
}

/* It ended by itself, or was told why it can't go on. */
#define CHECK_CLEAR(status) child_check_clear(__LINE__, (status))
#define CHECK_FINE(status) CHECK_EQUAL((status), 0)

static void child_check_clear(int line, int status)
{
    if (status != SIGABRT) /* as of waitpid() */
        child_check_equal(__FILE__, line, "status", status, 0);
}

/* ---- From outside ---- */

struct parent {
    weft_pool *pool;
    weft_task done, pending;
    weft_completions *queue;
    weft_timer timer;
};

static void every_call_says_so(void *arg)
{
    struct parent *parent = arg;
    atomic_int ran = 0;
    weft_task task;
    struct weft__used_cpus used;
    CHECK(!weft__pool_used_cpus(parent->pool, &used)); /* it moves none of its parent's threads */
    CHECK_EQUAL(weft_run(parent->pool, count_up, &ran), -ECHILD);
    CHECK_EQUAL(weft_submit(parent->pool, &task, count_up, &ran), -ECHILD);
    CHECK_EQUAL(weft_submit_with(parent->pool, &task, count_up, &ran, NULL), -ECHILD);
    CHECK_EQUAL(weft_submit_detached(parent->pool, count_up, &ran, NULL), -ECHILD);
    CHECK_EQUAL(weft_broadcast(parent->pool, count_up, &ran), -ECHILD);
    CHECK_EQUAL(weft_broadcast_detached(parent->pool, count_up, &ran), -ECHILD);
    CHECK_EQUAL(weft_task_wait(&parent->pending), -ECHILD);
    CHECK_EQUAL(weft_task_wait_until(&parent->pending, UINT64_MAX), -ECHILD);
    CHECK_EQUAL(weft_task_cancel(&parent->pending), -ECHILD);
    weft_task *over;
    CHECK_EQUAL(weft_completions_next(parent->queue, &over), -ECHILD);
    CHECK_EQUAL(weft_completions_next_until(parent->queue, &over, UINT64_MAX), -ECHILD);
    CHECK_EQUAL(weft_completions_fd(parent->queue), -ECHILD);
    CHECK_EQUAL(weft_completions_destroy(parent->queue), 0); /* of its copy */
    weft_timer timer = WEFT_TIMER_INIT;
    CHECK_EQUAL(weft_timer_start(parent->pool, &timer, 0, 0, count_up, &ran), -ECHILD);
    CHECK_EQUAL(weft_timer_stop(&parent->timer), 0); /* the parent's goes on */
    CHECK(!weft_task_done(&parent->pending));
    CHECK_EQUAL(weft_task_wait(&parent->done), 0); /* was over before */
    CHECK_EQUAL(weft_task_cancel(&parent->done), 0);
    CHECK_EQUAL(weft_pool_destroy(parent->pool), -ECHILD);
    CHECK_EQUAL(atomic_load(&ran), 0);
    CHECK(weft_here() == NULL);
}

static void bug_24_every_call_in_the_child_says_so(void)
{
    static const unsigned flags[] = {0, WEFT_NO_GUESTS, WEFT_USE_CALLER};
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < 3; i++) {
            struct parent parent = {.pool = forked_pool(2, flags[i], way)};
            struct child_gate gate = {0};
            CHECK_EQUAL(weft_completions_create(&parent.queue), 0);
            atomic_int ticks = 0;
            CHECK_EQUAL(weft_timer_start(parent.pool, &parent.timer, 0, 1000, count_up, &ticks), 0);
            CHECK_EQUAL(weft_submit(parent.pool, &parent.done, nothing, NULL), 0);
            CHECK_EQUAL(weft_task_wait(&parent.done), 0);
            CHECK_EQUAL(weft_submit(parent.pool, &parent.pending, pass_gate, &gate), 0);
            UNTIL(atomic_load(&gate.started));
            CHECK_FINE(grandchild(every_call_says_so, &parent));
            CHECK_EQUAL(weft_completions_destroy(parent.queue), 0);
            int ticked = atomic_load(&ticks);
            /* The caller does not work, and the other worker is held. */
            UNTIL(flags[i] == WEFT_USE_CALLER || atomic_load(&ticks) > ticked);
            CHECK_EQUAL(weft_timer_stop(&parent.timer), 0);
            atomic_store(&gate.open, true);
            CHECK_EQUAL(weft_task_wait(&parent.pending), 0);
            use_pool(parent.pool); /* the parent's goes on */
            child_pool_end(parent.pool);
        }
    }
}

/* Its own pool takes no task that is to be told to the parent's queue. */
static void submit_for_queue(void *queue)
{
    atomic_int ran = 0;
    weft_task task;
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    options.completions = queue;
    CHECK_EQUAL(weft_submit_with(NULL, &task, count_up, &ran, &options), -ECHILD);
    use_pool(NULL);
    CHECK_EQUAL(weft_completions_destroy(queue), 0); /* of its copy */
    child_pool_end(weft_pool_default());
    CHECK_EQUAL(atomic_load(&ran), 0);
}

static void child_has_no_queue_of_the_parent(void)
{
    weft_completions *queue;
    CHECK_EQUAL(weft_completions_create(&queue), 0);
    use_pool(NULL);
    CHECK_FINE(grandchild(submit_for_queue, queue));
    CHECK_EQUAL(weft_completions_destroy(queue), 0);
    child_pool_end(weft_pool_default());
}

/* Deadlines and failures of other threads are not the child's; those of the job that forked are. */
static enum group_state state_of(const weft *w)
{
    bool noticed;
    return weft__group_look(weft__context_of((weft *)w)->group, &noticed);
}

static void is_fine(weft *w, void *arg)
{
    CHECK_EQUAL(state_of(w), GROUP_FINE);
}

static void new_ones_are_fine(void *unused)
{
    CHECK_EQUAL(weft_run(NULL, is_fine, NULL), 0);
    use_pool(NULL);
}

static void own_is_timed(void *w)
{
    CHECK_EQUAL(state_of(w), GROUP_TIMED);
    new_ones_are_fine(NULL);
    CHECK_EQUAL(state_of(w), GROUP_TIMED);
}

static void own_is_fine(void *w)
{
    CHECK_EQUAL(state_of(w), GROUP_FINE);
    new_ones_are_fine(NULL);
}

static void fork_with_deadline(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + UINT64_C(3600000000000));
    CHECK_FINE(grandchild(own_is_timed, w));
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
}

static void hold_deadline(weft *w, void *gate)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + UINT64_C(3600000000000));
    pass_gate(w, gate);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
}

/* Another thread's, in the same computation. */
static void fork_beside_deadline(weft *w, void *arg)
{
    struct child_gate gate = {0};
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, hold_deadline, &gate), 0);
    UNTIL(atomic_load(&gate.started));
    CHECK_FINE(grandchild(own_is_fine, w));
    atomic_store(&gate.open, true);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
}

static void bug_24_child_has_no_deadlines_of_others(void)
{
    weft_pool *pool = forked_pool(2, 0, WAY_SPIN);
    struct child_gate gate = {0};
    weft_task task;
    CHECK_EQUAL(weft_submit(pool, &task, hold_deadline, &gate), 0);
    UNTIL(atomic_load(&gate.started));
    CHECK_FINE(grandchild(new_ones_are_fine, NULL));
    CHECK_EQUAL(weft_run(pool, fork_with_deadline, NULL), 0);
    atomic_store(&gate.open, true);
    CHECK_EQUAL(weft_task_wait(&task), 0);
    CHECK_EQUAL(weft_run(pool, fork_beside_deadline, NULL), 0);
    child_pool_end(pool);
}

/* The default pool, and pools made there, work in children and their children. */
static void use_default(void *depth)
{
    use_pool(NULL);
    weft_pool *own = forked_pool(2, 0, WAY_SPIN);
    use_pool(own);
    int left = *(int *)depth - 1;
    if (left > 0)
        CHECK_FINE(grandchild(use_default, &left));
    use_pool(NULL);
    use_pool(own);
    child_pool_end(own);
    child_pool_end(weft_pool_default());
    use_pool(NULL);
}

static void bug_24_default_pool_starts_anew(void)
{
    for (int before = 0; before < 2; before++) {
        if (before)
            use_pool(NULL);
        for (int i = 0; i < rounds_of(SCALED(20, 10)); i++)
            CHECK_FINE(grandchild(use_default, &(int){3}));
    }
    use_pool(NULL);
    child_pool_end(weft_pool_default());
}

/* Locks that other threads hold at that moment are theirs; the child has to do without. */
static atomic_bool stop;

static void *make_pools(void *arg)
{
    while (!atomic_load(&stop)) {
        weft_config config = child_config(WEFT_WORKERS_MAX + 1, 0, WAY_SPIN);
        weft_pool *pool;
        CHECK_EQUAL(weft_pool_create(&pool, &config), -EINVAL);
        config.workers = 1;
        if (atomic_fetch_add((atomic_int *)arg, 1) % 16 == 0)
            child_pool_end(child_pool_of(&config));
    }
    return NULL;
}

static void bug_24_child_of_a_process_that_makes_pools(void)
{
    if (SANITIZED)
        return; /* AddressSanitizer's allocator has such locks itself, and keeps them */
    atomic_int made = 0;
    pthread_t thread;
    child_thread(make_pools, &made, &thread);
    UNTIL(atomic_load(&made) > 10);
    for (int i = 0; i < rounds_of(SCALED(200, 20)); i++)
        CHECK_FINE(grandchild(use_default, &(int){1}));
    atomic_store(&stop, true);
    child_thread_join(thread);
}

/* ---- From inside a job ---- */

/* The right side is with a worker that only the parent has. */
struct waiting {
    weft_pool *pool;
    struct child_gate gate;
    weft *w;
    weft_scope *scope;
    weft_task task;
    int status;
};

static void merge_in_child(void *arg)
{
    struct waiting *waiting = arg;
    weft_merge(waiting->w);
}

static void fork_process_then_merge(weft *w, void *arg)
{
    struct waiting *waiting = arg;
    weft_fork(w, pass_gate, &waiting->gate);
    UNTIL(atomic_load(&waiting->gate.started));
    waiting->w = w;
    waiting->status = grandchild(merge_in_child, waiting);
    atomic_store(&waiting->gate.open, true);
    CHECK(weft_merge(w));
}

static void close_in_child(void *arg)
{
    struct waiting *waiting = arg;
    weft_scope_close(waiting->w, waiting->scope);
}

static void fork_process_then_close(weft *w, void *arg)
{
    struct waiting *waiting = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, pass_gate, &waiting->gate), 0);
    UNTIL(atomic_load(&waiting->gate.started));
    waiting->w = w;
    waiting->scope = &scope;
    waiting->status = grandchild(close_in_child, waiting);
    atomic_store(&waiting->gate.open, true);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
}

static void wait_in_child(void *arg)
{
    struct waiting *waiting = arg;
    CHECK_EQUAL(weft_task_wait(&waiting->task), -ECHILD);
}

static void fork_process_then_wait(weft *w, void *arg)
{
    struct waiting *waiting = arg;
    CHECK_EQUAL(weft_submit(waiting->pool, &waiting->task, pass_gate, &waiting->gate), 0);
    UNTIL(atomic_load(&waiting->gate.started));
    waiting->status = grandchild(wait_in_child, waiting);
    CHECK_FINE(waiting->status);
    atomic_store(&waiting->gate.open, true);
    CHECK_EQUAL(weft_task_wait(&waiting->task), 0);
}

static void bug_24_job_waits_in_the_child(void)
{
    static weft_fn *const jobs[] = {fork_process_then_merge, fork_process_then_close,
                                    fork_process_then_wait};
    static const unsigned flags[] = {0, WEFT_NO_GUESTS, WEFT_USE_CALLER};
    FOR_EACH_WAY(way)
    {
        for (int i = 0; i < 9; i++) {
            struct waiting waiting = {.pool = forked_pool(2, flags[i / 3], way)};
            CHECK_EQUAL(weft_run(waiting.pool, jobs[i % 3], &waiting), 0);
            CHECK_CLEAR(waiting.status);
            child_pool_end(waiting.pool);
        }
    }
}

/* The child comes back from the job. On a guest, and the caller, that is its own business;
 * a worker has nowhere to go. */
static void fork_process_and_return(weft *w, void *arg)
{
    *(pid_t *)arg = fork_guarded();
}

static int return_from_job(unsigned flags, enum way way)
{
    weft_pool *pool = forked_pool(2, flags, way);
    pid_t pid = -1;
    CHECK_EQUAL(weft_run(pool, fork_process_and_return, &pid), 0);
    if (pid == 0) {
        if (!SANITIZED) /* its allocator's locks may be held by threads that are not here */
            use_pool(NULL);
        CHECK_EQUAL(weft_run(pool, nothing, NULL), -ECHILD);
        _exit(0);
    }
    int status = status_of(pid);
    child_pool_end(pool);
    return status;
}

static void bug_24_child_returns_from_a_guests_job(void)
{
    FOR_EACH_WAY(way)
    {
        CHECK_FINE(return_from_job(0, way));
        CHECK_FINE(return_from_job(WEFT_USE_CALLER, way));
    }
}

static void bug_24_child_returns_to_a_worker(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = forked_pool(2, WEFT_NO_GUESTS, way);
        pid_t pid = -1;
        CHECK_EQUAL(weft_run(pool, fork_process_and_return, &pid), 0);
        int status = status_of(pid);
        CHECK_EQUAL(status, SIGABRT);
        child_pool_end(pool);
    }
}

/* What the parent has queued and forked is the parent's to run, and its alone. */
struct queued {
    weft_pool *pool;
    atomic_int *ran; /* shared */
    weft *w;
    struct child_gate gate;
};

static void use_default_in_job(void *arg)
{
    use_pool(NULL);
    weft_pool *own = forked_pool(2, 0, WAY_NO_SPIN);
    use_pool(own);
    child_pool_end(own);
}

static void yield_in_child(void *arg)
{
    struct queued *queued = arg;
    for (int i = 0; i < 100; i++)
        weft_yield(queued->w);
}

static void fork_twice_with_work_queued(weft *w, void *arg)
{
    struct queued *queued = arg;
    weft_scope scope;
    weft_task tasks[5];
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, pass_gate, &queued->gate), 0);
    UNTIL(atomic_load(&queued->gate.started)); /* the other worker is held */
    for (int i = 0; i < 5; i++)
        CHECK_EQUAL(weft_submit(queued->pool, &tasks[i], count_up, queued->ran), 0);
    queued->w = w;
    CHECK_FINE(grandchild(use_default_in_job, queued));
    CHECK_EQUAL(atomic_load(queued->ran), 0);
    CHECK_CLEAR(grandchild(yield_in_child, queued));
    CHECK_EQUAL(atomic_load(queued->ran), 0);
    atomic_store(&queued->gate.open, true);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
    for (int i = 0; i < 5; i++)
        CHECK_EQUAL(weft_task_wait(&tasks[i]), 0);
}

static void bug_24_child_leaves_the_parents_jobs_alone(void)
{
    FOR_EACH_WAY(way)
    {
        struct queued queued = {forked_pool(2, WEFT_NO_GUESTS, way), shared_count(), NULL, {0}};
        CHECK_EQUAL(weft_run(queued.pool, fork_twice_with_work_queued, &queued), 0);
        CHECK_EQUAL(atomic_load(queued.ran), 5);
        child_pool_end(queued.pool);
    }
}

/* The process is forked while thieves are at the job's own forks. */
struct robbed {
    struct child_gate *gate;
    int depth;
    atomic_int ran;
    bool in_child;
};

static void robbed_comb(weft *w, struct robbed *robbed, int left)
{
    if (left == 0) {
        pid_t pid = fork_guarded();
        robbed->in_child = pid == 0;
        if (pid != 0)
            CHECK_CLEAR(status_of(pid));
        return;
    }
    weft *in = weft_fork(w, count_up, &robbed->ran);
    robbed_comb(in, robbed, left - 1);
    if (!weft_merge(w))
        count_up(w, &robbed->ran);
}

static void fork_process_under_thieves(weft *w, void *arg)
{
    struct robbed *robbed = arg;
    robbed_comb(w, robbed, robbed->depth);
    if (robbed->in_child)
        _exit(0);
}

static void bug_24_forked_under_thieves(void)
{
    FOR_EACH_WAY(way)
    {
        weft_config config = child_config(2, 0, way);
        config.quantum = WEFT_NONE;
        weft_pool *pool = child_pool_of(&config);
        for (int i = 0; i < rounds_of(SCALED(200, 20)); i++) {
            struct robbed robbed = {.depth = 200 + i};
            CHECK_EQUAL(weft_run(pool, fork_process_under_thieves, &robbed), 0);
            CHECK_EQUAL(atomic_load(&robbed.ran), robbed.depth);
        }
        child_pool_end(pool);
    }
}

/* The same while outside threads submit: the injector's lock may be held. */
static void *submit_on_and_on(void *arg)
{
    weft_pool *pool = arg;
    while (!atomic_load(&stop)) {
        weft_task task;
        CHECK_EQUAL(weft_submit(pool, &task, nothing, NULL), 0);
        CHECK_EQUAL(weft_task_wait(&task), 0);
    }
    return NULL;
}

static void detach_and_return(weft *w, void *arg)
{
    CHECK_EQUAL(weft_spawn_detached(w, nothing, NULL), 0);
    fork_process_and_return(w, arg);
}

static void bug_24_forked_while_others_submit(void)
{
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = forked_pool(2, 0, way);
        pthread_t threads[2];
        atomic_store(&stop, false);
        for (int i = 0; i < 2; i++)
            child_thread(submit_on_and_on, pool, &threads[i]);
        for (int i = 0; i < rounds_of(SCALED(100, 20)); i++) {
            pid_t pid = -1;
            CHECK_EQUAL(weft_run(pool, detach_and_return, &pid), 0);
            if (pid == 0) {
                CHECK_EQUAL(weft_run(pool, nothing, NULL), -ECHILD);
                _exit(0);
            }
            CHECK_CLEAR(status_of(pid));
        }
        atomic_store(&stop, true);
        for (int i = 0; i < 2; i++)
            child_thread_join(threads[i]);
        child_pool_end(pool);
    }
}

/* The process is forked just when other threads hold every lock of the pool's. */
static void join_in_child(weft *w)
{
    weft_join(w, nothing, NULL, nothing, NULL);
}

static void fail_in_child(weft *w)
{
    weft_fail(w, -EIO);
}

static void set_deadline_in_child(weft *w)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + UINT64_C(1000000000000));
    weft_join(w, nothing, NULL, nothing, NULL);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
}

static void spawn_in_child(weft *w)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, nothing, NULL), -ECHILD);
    CHECK_EQUAL(weft_spawn_fifo(w, &scope, nothing, NULL), -ECHILD);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
    CHECK_EQUAL(weft_spawn_detached(w, nothing, NULL), -ECHILD);
}

static void only_return(weft *w)
{
}

struct locked {
    weft_pool *pool;
    void (*act)(weft *w);
    pid_t pid;
};

static void all_locks(struct locked *locked, struct weft__context *own,
                      void (*each)(struct weft__lock *lock))
{
    for (unsigned i = 0; i < weft_pool_workers(locked->pool); i++) {
        struct weft__worker *worker = locked->pool->workers[i];
        if (worker->context != own)
            each(&worker->context->lock);
        each(&worker->mailbox.lock);
    }
    each(&own->lock);
    each(&locked->pool->injector.lock);
}

static void take_lock(struct weft__lock *lock)
{
    weft__lock_take(lock);
}

static void drop_lock(struct weft__lock *lock)
{
    weft__lock_drop(lock);
}

static void fork_process_under_locks(weft *w, void *arg)
{
    struct locked *locked = arg;
    struct weft__context *own = weft__context_of(w);
    weft_join(w, nothing, NULL, nothing, NULL);
    weft__context_raise_guard(own); /* the next fork takes the slow road */
    all_locks(locked, own, take_lock);
    locked->pid = fork_guarded();
    if (locked->pid == 0)
        locked->act(w);
    else
        all_locks(locked, own, drop_lock);
}

static void bug_24_forked_while_locks_are_held(void)
{
    static void (*const acts[])(weft *) = {join_in_child, fail_in_child, set_deadline_in_child,
                                           spawn_in_child, only_return};
    FOR_EACH_WAY(way)
    {
        for (size_t i = 0; i < 2 * sizeof acts / sizeof acts[0]; i++) {
            struct locked locked = {.act = acts[i / 2]};
            locked.pool = forked_pool(2, i % 2 ? WEFT_USE_CALLER : 0, way);
            until_asleep(locked.pool, i % 2 ? 1 : 2);
            int error = weft_run(locked.pool, fork_process_under_locks, &locked);
            if (locked.pid == 0)
                _exit(0);
            CHECK_EQUAL(error, 0);
            CHECK_CLEAR(status_of(locked.pid));
            child_pool_end(locked.pool);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(bug_24_every_call_in_the_child_says_so),
        IN_CHILD(child_has_no_queue_of_the_parent),
        IN_CHILD(bug_24_child_has_no_deadlines_of_others),
        IN_CHILD(bug_24_default_pool_starts_anew),
        IN_CHILD(bug_24_child_of_a_process_that_makes_pools),
        IN_CHILD(bug_24_job_waits_in_the_child),
        IN_CHILD(bug_24_child_returns_from_a_guests_job),
        IN_CHILD(bug_24_child_returns_to_a_worker),
        IN_CHILD(bug_24_child_leaves_the_parents_jobs_alone),
        IN_CHILD(bug_24_forked_under_thieves),
        IN_CHILD(bug_24_forked_while_others_submit),
        IN_CHILD(bug_24_forked_while_locks_are_held),
    };
    return cmocka_run_group_tests_name("forked", tests, NULL, NULL);
}
