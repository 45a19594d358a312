/* SPDX-License-Identifier: MIT */
/* actor.c: actors that leave their stacks, and rules that are broken. */
#include "weft/actor.h"
#include "child.h"

#include <errno.h>
#include <stdatomic.h>

static void nothing(weft *w, void *arg)
{
}

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

static int overflow_slots(weft *w, void *arg)
{
    for (;;)
        w = weft_fork(w, nothing, NULL);
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
    static weft_actor_fn *const fns[] = {overflow, overflow_in_fork, overflow_slots,
                                         overflow_in_scope, overflow_while_blocked};
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
#endif
        cmocka_unit_test(unmerged_fork),
        cmocka_unit_test(unclosed_scope),
        cmocka_unit_test(unended_block),
        cmocka_unit_test(wait_between),
        cmocka_unit_test(block_ended_twice),
        cmocka_unit_test(block_ended_by_other),
    };
    return cmocka_run_group_tests_name("actor", tests, NULL, NULL);
}
