/* SPDX-License-Identifier: MIT */
/* actor.c: actors that leave their stacks, that find no memory, in forked processes, and rules that
 * are broken. */
#include "weft/actor.h"
#include "actor/actor.h"
#include "child.h"
#include "core/fiber.h"
#include "os/memory.h"
#include "weft/sync.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static weft_actor *start(weft_pool *pool, weft_actor_fn *fn, void *arg)
{
    weft_actor *actor;
    CHECK_EQUAL(weft_actor_create(&actor, pool, fn, arg, NULL), 0);
    CHECK_EQUAL(weft_actor_run(actor), 0);
    return actor;
}

static int end(weft_actor *actor)
{
    int reason = weft_actor_wait(NULL, actor);
    weft_actor_release(actor);
    return reason;
}

/* ---- Overflow: one ends alone ---- */

#if !SANITIZED
static int add_up(weft *w, void *arg)
{
    unsigned long sum = 0;
    for (unsigned long i = 1; i <= 100000; i++) {
        sum += i;
        weft_poll(w);
    }
    return sum == 5000050000 ? 0 : 1;
}

static unsigned recurse(volatile char *above, unsigned depth)
{
    volatile char frame[512];
    frame[0] = above ? above[0] : 0;
    return depth == 0 ? 0 : 1 + recurse(frame, depth - 1) + (unsigned)frame[0];
}

static int overflow(weft *w, void *arg)
{
    return (int)recurse(NULL, UINT32_MAX);
}

static void overflow_job(weft *w, void *arg)
{
    overflow(w, arg);
}

static int overflow_in_fork(weft *w, void *arg)
{
    weft_join(w, overflow_job, arg, nothing, NULL);
    return 0;
}

static int overflow_in_scope(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, UINT64_MAX);
    return overflow(w, arg);
}

static int overflow_while_blocked(weft *w, void *arg)
{
    weft_block_begin(w);
    return overflow(w, arg);
}

static void overflow_on(weft_pool *pool)
{
    static weft_actor_fn *const fns[] = {overflow, overflow_in_fork, overflow_in_scope,
                                         overflow_while_blocked};
    for (unsigned i = 0; i < 4 * sizeof fns / sizeof fns[0]; i++) {
        weft_actor *deep = start(pool, fns[i / 4], NULL);
        weft_actor *other = start(pool, add_up, NULL);
        CHECK_EQUAL(end(deep), -EOVERFLOW);
        CHECK_EQUAL(end(other), 0);
    }
}

static void wait_in_job(weft *w, void *actor)
{
    CHECK(weft_actor_wait(w, actor) == -EOVERFLOW);
}

/* Nobody but the guest is there to drive the executor. */
static void gate(weft *w, void *arg)
{
    atomic_bool *gate = arg;
    atomic_store(&gate[0], true);
    UNTIL(atomic_load(&gate[1]));
}

/* ---- Delegates have as much stack as an actor has ---- */

enum { LEVEL = 4096, MOST = 2680 << 10 }; /* bytes that a right side needs: nearly all there are */

static unsigned use_stack(volatile char *above, size_t bytes)
{
    volatile char frame[LEVEL];
    frame[0] = above ? above[0] : 0;
    if (bytes <= sizeof frame)
        return (unsigned)frame[0];
    return use_stack(frame, bytes - sizeof frame) + (unsigned)frame[0];
}

struct deep {
    weft_mutex mutex;
    atomic_uint begun, done;
    size_t depth; /* of the actor, where it waits */
};

static void use_most(weft *w, void *arg)
{
    struct deep *deep = arg;
    atomic_fetch_add(&deep->begun, 1);
    weft_mutex_lock(w, &deep->mutex);
    use_stack(NULL, MOST);
    weft_mutex_unlock(w, &deep->mutex);
    atomic_fetch_add(&deep->done, 1);
}

static unsigned poll_below(weft *w, volatile char *above, size_t depth)
{
    volatile char frame[LEVEL];
    frame[0] = above ? above[0] : 0;
    if (depth > LEVEL)
        return poll_below(w, frame, depth - LEVEL) + (unsigned)frame[0];
    for (int i = 0; i < 2000; i++)
        weft_poll(w);
    return 0;
}

/* What it has forked above is stolen while it is deep down: one right side runs on top of it there,
 * unless that is too deep. */
static int fork_and_go_down(weft *w, void *arg)
{
    struct deep *deep = arg;
    weft *in = weft_fork(w, use_most, deep);
    weft *in_both = weft_fork(in, use_most, deep);
    poll_below(in_both, NULL, deep->depth);
    if (!weft_merge(in))
        use_most(in, deep);
    if (!weft_merge(w))
        use_most(w, deep);
    return 0;
}

static void delegates_have_a_whole_stack(void)
{
    static const size_t depths[] = {0, 150 << 10, 300 << 10, 1500 << 10};
    for (unsigned i = 0; i < 16; i++) {
        struct deep deep = {.mutex = WEFT_MUTEX_INIT, .depth = depths[i % 4]};
        weft_pool *pool = child_pool(2, 0, WAY_SPIN);
        const weft_actors_config counted = {.size = sizeof counted, .counted = 10};
        CHECK_EQUAL(weft_actors_setup(pool, &counted), 0);
        weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
        config.steal = i / 4 % 2 ? WEFT_STEAL_LIVE : WEFT_STEAL_STRICT;
        weft_actor *actor;
        CHECK_EQUAL(weft_actor_create(&actor, pool, fork_and_go_down, &deep, &config), 0);
        CHECK_EQUAL(weft_actor_run(actor), 0);
        CHECK_EQUAL(weft_actor_wait(NULL, actor), 0);
        weft_actor_info info = WEFT_ACTOR_INFO_INIT;
        weft_actor_get_info(actor, &info);
        CHECK(info.steals > 0 || depths[i % 4] > 192 << 10);
        weft_actor_release(actor);
        CHECK_EQUAL(atomic_load(&deep.begun), 2);
        CHECK_EQUAL(atomic_load(&deep.done), 2);
        child_pool_end(pool);
    }
}

/* ---- Overflow: what was deferred ---- */

static void count_deferred(weft *w, void *count)
{
    ++*(unsigned *)count;
    nothing(w, NULL);
}

static int overflow_and_clean_up(weft *w, void *count)
{
    unsigned in_frame = 7;
    CHECK(weft_defer(w, count_deferred, count) == 0);
    CHECK(weft_defer(w, count_deferred, &in_frame) == 0);
    return overflow(w, &in_frame);
}

static void overflow_elsewhere_job(weft *w, void *arg)
{
    atomic_bool *begun = arg;
    atomic_store(begun, true);
    CHECK(weft_defer(w, count_deferred, (unsigned *)(void *)(begun + 4)) == 0);
    overflow(w, NULL);
}

/* A delegate's overflow is its actor's. */
static int overflow_elsewhere(weft *w, void *arg)
{
    atomic_bool *begun = arg;
    weft *in = weft_fork(w, overflow_elsewhere_job, arg);
    while (!atomic_load(begun))
        weft_poll(in);
    if (!weft_merge(w))
        overflow_elsewhere_job(w, arg);
    return 0;
}

/* Every level calls the library, which needs more stack than a level does. */
static int poll_down(weft *w, volatile char *above, unsigned depth)
{
    volatile char frame[64];
    frame[0] = above ? above[0] : 0;
    weft_yield(w);
    weft_poll_slow_(w);
    return depth == 0 ? 0 : poll_down(w, frame, depth - 1) + frame[0];
}

static int overflow_in_library(weft *w, void *arg)
{
    return poll_down(w, NULL, UINT32_MAX);
}

static void overflow_cleans_up(void)
{
    weft_pool *pool = child_pool(2, 0, WAY_SPIN);
    for (int i = 0; i < 4; i++) {
        unsigned count = 0;
        CHECK_EQUAL(end(start(pool, overflow_and_clean_up, &count)), -EOVERFLOW);
        CHECK_EQUAL(count, 1);
        struct {
            atomic_bool begun[4];
            unsigned count;
        } elsewhere = {0};
        CHECK_EQUAL(end(start(pool, overflow_elsewhere, &elsewhere)), -EOVERFLOW);
        CHECK_EQUAL(elsewhere.count, 1);
        CHECK_EQUAL(end(start(pool, overflow_in_library, NULL)), -EOVERFLOW);
        CHECK_EQUAL(end(start(pool, add_up, NULL)), 0);
    }
    child_pool_end(pool);
}

/* ---- Overflow where a lock may be held ---- */

/* Needs more stack than is left, sooner or later. */
static int format_down(volatile char *above, unsigned depth)
{
    static char text[400];
    volatile char frame[64];
    frame[0] = above ? above[0] : 0;
    int length = snprintf(text, sizeof text, "%.300f", (double)depth);
    return depth == 0 ? length : format_down(frame, depth - 1) + frame[0];
}

static int format_for_ever(weft *w, void *arg)
{
    return format_down(NULL, UINT32_MAX);
}

static void overflow_on_workers(void)
{
    weft_pool *pool = child_pool(2, 0, WAY_SPIN);
    overflow_on(pool);
    child_pool_end(pool);
}

static void overflow_on_caller(void)
{
    weft_pool *pool = child_pool(1, WEFT_USE_CALLER, WAY_SPIN);
    overflow_on(pool);
    child_pool_end(pool);
}

static void overflow_on_guest(void)
{
    weft_pool *pool = child_pool(1, 0, WAY_SPIN);
    atomic_bool busy[2] = {false, false};
    weft_task task;
    CHECK_EQUAL(weft_submit(pool, &task, gate, busy), 0);
    UNTIL(atomic_load(&busy[0]));
    weft_actor *actor = start(pool, overflow, NULL);
    CHECK_EQUAL(weft_run(pool, wait_in_job, actor), 0);
    weft_actor_release(actor);
    atomic_store(&busy[1], true);
    CHECK_EQUAL(weft_task_wait(&task), 0);
    child_pool_end(pool);
}

#endif

/* ---- Broken rules ---- */

static void run_actor(void *fn)
{
    weft_pool *pool = child_pool(2, 0, WAY_SPIN);
    end(start(pool, (weft_actor_fn *)(uintptr_t)fn, NULL));
}

static void expect_broken(weft_actor_fn *fn, const char *const *words)
{
    expect_abort(run_actor, (void *)(uintptr_t)fn, words);
}

static int forget_merge(weft *w, void *arg)
{
    weft_fork(w, nothing, NULL);
    return 0;
}

static int forget_close(weft *w, void *arg)
{
    static weft_scope scope;
    weft_scope_open(w, &scope);
    return 0;
}

static int forget_block(weft *w, void *arg)
{
    weft_block_begin(w);
    return 0;
}

static int wait_in_block(weft *w, void *arg)
{
    void *message;
    weft_block_begin(w);
    return weft_receive(w, &message);
}

static int end_block_twice(weft *w, void *arg)
{
    weft_block_begin(w);
    weft_block_end(w);
    weft_block_end(w);
    return 0;
}

static int end_for_other(weft *w, void *other)
{
    weft_block_end(other);
    return 0;
}

static int let_other_end_block(weft *w, void *arg)
{
    weft_block_begin(w);
    weft_actor *other = start(weft_pool_of(w), end_for_other, w);
    UNTIL(weft_actor_done(other));
    return 0;
}

/* ---- No memory ---- */

static int count_actor(weft *w, void *count)
{
    count_up(w, count);
    return 0;
}

static int use_scope(weft *w, void *count)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + 1000000000);
    int error = 0;
    for (int i = 0; i < 3 && !error; i++)
        error = weft_spawn(w, &scope, count_up, count);
    int failure = weft_scope_close(w, &scope);
    return error ? error : failure;
}

static int try_without(uint32_t k)
{
    weft_pool *pool = child_pool(2, 0, WAY_NO_SPIN);
    weft_actor *actor;
    atomic_int count = 0;
    until_asleep(pool, 2); /* they allocate when they start */
    atomic_store_relaxed(&weft__alloc_fail_at, k);
    int error = weft_actor_create(&actor, pool, use_scope, &count, NULL);
    if (!error) {
        CHECK_EQUAL(weft_actor_run(actor), 0);
        error = end(actor);
    }
    bool failed = atomic_load_relaxed(&weft__alloc_fail_at) == 0;
    atomic_store_relaxed(&weft__alloc_fail_at, 0);
    CHECK(error == 0 || error == -ENOMEM);
    CHECK(error || atomic_load(&count) == 3);
    child_pool_end(pool);
    return failed;
}

static void actors_without_memory(void)
{
    uint32_t k = 1;
    while (try_without(k))
        k++;
    CHECK(k > 5); /* executors, a slab, a block, a parking place, the actor, ... */
}

/* ---- Ended by two at once ---- */

struct killers {
    _Atomic(weft_actor *) actor; /* to be killed by the other one; itself: no more */
    atomic_int done;
};

static void *kill_each(void *arg)
{
    struct killers *killers = arg;
    weft_actor *actor, *last = NULL;
    for (;;) {
        UNTIL((actor = atomic_load(&killers->actor)) != last);
        if (actor == (void *)killers)
            return NULL;
        last = actor;
        weft_actor_kill(actor);
        atomic_fetch_add(&killers->done, 1);
    }
}

/* Before it has started: one of them ends it, and the other's failure of its group is taken back,
 * or the whole process would look for what was cancelled for ever. */
static void killed_twice_before_it_starts(void)
{
    enum { TIMES = SCALED(10000, 1000) };
    static weft_actor *actors[TIMES]; /* released late: all have addresses of their own */
    struct killers killers = {NULL, 0};
    weft_pool *pool = child_pool(1, 0, WAY_NO_SPIN);
    atomic_int count = 0;
    pthread_t thread;
    child_thread(kill_each, &killers, &thread);
    for (int i = 0; i < TIMES; i++) {
        CHECK_EQUAL(weft_actor_create(&actors[i], pool, count_actor, &count, NULL), 0);
        atomic_store(&killers.actor, actors[i]);
        for (volatile int wait = 0; wait < i % 64; wait++)
            ; /* as long as the other one may need to see it */
        weft_actor_kill(actors[i]);
        UNTIL(atomic_load(&killers.done) == i + 1);
    }
    atomic_store(&killers.actor, (void *)&killers);
    child_thread_join(thread);
    for (int i = 0; i < TIMES; i++) {
        UNTIL(weft_actor_done(actors[i]));
        CHECK(!weft__group_alarm(&actors[i]->group));
        CHECK_EQUAL(end(actors[i]), -ECANCELED);
    }
    CHECK_EQUAL(atomic_load(&count), 0);
    child_pool_end(pool);
}

/* ---- Forked ---- */

/* As if another thread had been about to wake a fiber when the process was forked. */
static void forked_beside_a_waker(void)
{
    atomic_fetch_add_relaxed(&weft__fiber_wakers, 1);
    weft_pool *parents = child_pool(1, 0, WAY_SPIN); /* forks are watched from the first on */
    until_asleep(parents, 1); /* ASan's allocator must not be in use in another thread */
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        alarm(400);
        atomic_int count = 0;
        weft_pool *pool = child_pool(1, 0, WAY_SPIN);
        CHECK_EQUAL(end(start(pool, count_actor, &count)), 0);
        child_pool_end(pool);
        _exit(atomic_load(&count) == 1 ? 0 : 1);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    atomic_fetch_sub_acq_rel(&weft__fiber_wakers, 1);
    child_pool_end(parents);
}

#if !SANITIZED
static void overflow_inside_libc(void **state)
{
    expect_broken(format_for_ever, WORDS("actor has overflowed its stack inside", "library"));
}
#endif

static void unmerged_fork(void **state)
{
    expect_broken(forget_merge, WORDS("actor", "without merging"));
}

static void unclosed_scope(void **state)
{
    expect_broken(forget_close, WORDS("actor", "without closing a scope"));
}

static void unended_block(void **state)
{
    expect_broken(forget_block, WORDS("actor", "between weft_block_begin and weft_block_end"));
}

static void wait_between(void **state)
{
    expect_broken(wait_in_block, WORDS("actor waits between weft_block_begin"));
}

static void block_ended_twice(void **state)
{
    expect_broken(end_block_twice, WORDS("weft_block_end without weft_block_begin"));
}

static void block_ended_by_other(void **state)
{
    expect_broken(let_other_end_block, WORDS("weft_block_end for an actor", "another"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if !SANITIZED /* which have their own ideas of stacks */
        IN_CHILD(overflow_on_workers),
        IN_CHILD(overflow_on_caller),
        IN_CHILD(overflow_on_guest),
        IN_CHILD(delegates_have_a_whole_stack),
        IN_CHILD(overflow_cleans_up),
        cmocka_unit_test(overflow_inside_libc),
#endif
        IN_CHILD(actors_without_memory),
        IN_CHILD(killed_twice_before_it_starts),
        IN_CHILD(forked_beside_a_waker),
        cmocka_unit_test(unmerged_fork),
        cmocka_unit_test(unclosed_scope),
        cmocka_unit_test(unended_block),
        cmocka_unit_test(wait_between),
        cmocka_unit_test(block_ended_twice),
        cmocka_unit_test(block_ended_by_other),
    };
    return cmocka_run_group_tests_name("actor", tests, NULL, NULL);
}
