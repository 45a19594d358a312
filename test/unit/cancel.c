/* SPDX-License-Identifier: MIT */
/* cancel.c: who is called when a computation fails, and whose forks look at a deadline. */
#include "core/cancel.h"

#include "check.h"
#include "core/execute.h"
#include "core/pool.h"

#include <errno.h>
#include <stdatomic.h>

static const unsigned sizes[] = {2, 64, 256};
enum { SIZES = 3, CHILDREN = 3 };

static weft_pool *pool_of(unsigned workers, unsigned flags)
{
    weft_config config = WEFT_CONFIG_INIT;
    weft_pool *pool;
    config.workers = workers;
    config.flags = flags;
    config.stack_size = 256 * 1024;
    assert_int_equal(weft_pool_create(&pool, &config), 0);
    if (pool->config.fork != WEFT_FORK_LAZY) { /* there, every merge looks, and nobody is called */
        assert_int_equal(weft_pool_destroy(pool), 0);
        skip();
    }
    return pool;
}

static void nothing(weft *w, void *arg)
{
}

/* ---- Who is called ---- */

static bool is_called(struct weft__context *context, bool forget)
{
    weft__context_lock(context);
    bool called = context->raised;
    context->raised = called && !forget;
    weft__lock_drop(&context->lock);
    return called;
}

/* How many workers are; the caller, who may be a guest, is not counted then. */
static unsigned count_called(weft_pool *pool, bool forget)
{
    unsigned count = 0;
    for (unsigned i = 0; i < pool->config.workers; i++)
        count += is_called(pool->workers[i]->context, forget);
    return count;
}

static void fail_alone(weft *w, void *called)
{
    weft_pool *pool = weft_pool_of(w);
    count_called(pool, true);
    weft_fail(w, -EIO);
    *(unsigned *)called = count_called(pool, false);
    CHECK(weft_cancelled(w));
}

/* Nobody took a part of it: the others are left alone, however many there are. */
static void failure_of_one_calls_nobody(void **state)
{
    for (int i = 0; i < SIZES; i++) {
        weft_pool *pool = pool_of(sizes[i], 0);
        unsigned called = 1;
        assert_int_equal(weft_run(pool, fail_alone, &called), -EIO);
        assert_int_equal(called, 0);
        assert_int_equal(weft_pool_destroy(pool), 0);
    }
}

/* Children that the workers run at the same time, and that don't look by themselves. */
struct parts {
    atomic_uint started, failing, failed;
    atomic_bool over;
    unsigned children, called, owner_called;
    bool by_child;
};

static void be_a_part(weft *w, void *arg)
{
    struct parts *parts = arg;
    atomic_fetch_add(&parts->started, 1);
    unsigned one = 1;
    while (!atomic_load(&parts->over)) {
        if (atomic_compare_exchange_strong(&parts->failing, &one, 0)) {
            weft_fail(w, -EIO);
            atomic_store(&parts->failed, 1);
        }
        one = 1;
        sched_yield();
    }
}

static void fail_among_others(weft *w, void *arg)
{
    struct parts *parts = arg;
    weft_pool *pool = weft_pool_of(w);
    struct weft__context *own = weft__context_of(w);
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (unsigned i = 0; i < parts->children; i++)
        CHECK(weft_spawn(w, &scope, be_a_part, parts) == 0);
    WAIT_UNTIL(atomic_load(&parts->started) == parts->children);
    count_called(pool, true);
    is_called(own, true);
    if (parts->by_child) {
        atomic_store(&parts->failing, 1);
        WAIT_UNTIL(atomic_load(&parts->failed));
    } else {
        weft_fail(w, -EIO);
    }
    parts->called = count_called(pool, false);
    parts->owner_called = is_called(own, false);
    weft_fork(w, nothing, NULL);
    CHECK(weft_merge(w)); /* skipped */
    atomic_store(&parts->over, true);
    CHECK(weft_scope_close(w, &scope) == -EIO);
}

static void expect_parts_called(bool by_child)
{
    for (int i = 0; i < SIZES; i++) {
        weft_pool *pool = pool_of(sizes[i], 0);
        struct parts parts = {.by_child = by_child, .children = sizes[i] > CHILDREN ? CHILDREN : 1};
        assert_int_equal(weft_run(pool, fail_among_others, &parts), 0);
        assert_int_equal(parts.called, parts.children);
        assert_true(parts.owner_called);
        assert_int_equal(weft_pool_destroy(pool), 0);
    }
}

static void failure_calls_those_that_run_a_part(void **state)
{
    expect_parts_called(false);
}

static void failure_of_a_part_calls_its_guest(void **state)
{
    expect_parts_called(true);
}

/* ---- Who looks by itself ---- */

static void is_run(weft *w, void *ran)
{
    *(bool *)ran = true;
}

/* Another computation, on top of the one that fails meanwhile. */
static void fail_the_one_below(weft *w, void *root)
{
    weft_pool *pool = weft_pool_of(w);
    CHECK(weft__group_fail(root, -EIO));
    CHECK(weft__alert_others(pool, root, NULL) == 0);
    CHECK(!weft_cancelled(w));
}

static void fail_below(weft *w, void *ran)
{
    struct weft__group *root = weft__context_of(w)->group->root, other;
    weft__group_begin(&other, NULL);
    weft *in = weft_fork(w, is_run, ran);
    weft__call(in, fail_the_one_below, root, &other);
    CHECK(weft__group_end(&other) == 0);
    CHECK(weft_merge(w)); /* it was not called, and knows */
}

static void who_comes_back_looks(void **state)
{
    weft_pool *pool = pool_of(1, WEFT_USE_CALLER); /* nobody steals */
    bool ran = false;
    assert_int_equal(weft_run(pool, fail_below, &ran), -EIO);
    assert_false(ran);
    assert_int_equal(weft_pool_destroy(pool), 0);
}

/* ---- Deadlines ---- */

/* Does a fork in w take the slow road? */
static bool is_guarded(weft *w)
{
    return (uintptr_t)w < atomic_load_relaxed(&weft__context_of(w)->guard);
}

static void fork_twice(weft *w)
{
    for (int i = 0; i < 2; i++) { /* the first one may have been asked to look */
        weft_fork(w, nothing, NULL);
        if (!weft_merge(w))
            nothing(w, NULL);
    }
}

static void deadline_elsewhere(weft *w, void *arg)
{
    struct weft__group other;
    weft__group_begin(&other, NULL);
    weft__group_set_deadline(&other, UINT64_MAX);
    fork_twice(w);
    CHECK(!is_guarded(w));
    weft__group_fail(&other, -EIO);
    fork_twice(w);
    CHECK(!is_guarded(w));
    weft__group_end(&other);
}

static void child_is_guarded(weft *w, void *arg)
{
    fork_twice(w);
    CHECK(is_guarded(w));
}

/* In the scope that has it, and nowhere else in the same computation. */
static void deadline_here(weft *w, void *arg)
{
    struct weft__group beside;
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + UINT64_C(3600000000000));
    fork_twice(w);
    CHECK(is_guarded(w));
    CHECK(weft_spawn(w, &scope, child_is_guarded, NULL) == 0);
    weft__group_begin(&beside, weft__context_of(w)->group->parent);
    weft__call(w, deadline_elsewhere, NULL, &beside);
    CHECK(weft__group_end(&beside) == 0);
    fork_twice(w);
    CHECK(is_guarded(w));
    CHECK(weft_scope_close(w, &scope) == 0);
    fork_twice(w);
    CHECK(!is_guarded(w));
}

static void expect_fine_alone(weft_fn *fn)
{
    weft_pool *pool = pool_of(1, WEFT_USE_CALLER); /* there are no sleepers to look for */
    assert_int_equal(weft_run(pool, fn, NULL), 0);
    assert_int_equal(weft_pool_destroy(pool), 0);
}

static void deadline_elsewhere_leaves_forks_alone(void **state)
{
    expect_fine_alone(deadline_elsewhere);
}

static void deadline_is_looked_at_where_it_is(void **state)
{
    expect_fine_alone(deadline_here);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failure_of_one_calls_nobody),
        cmocka_unit_test(failure_calls_those_that_run_a_part),
        cmocka_unit_test(failure_of_a_part_calls_its_guest),
        cmocka_unit_test(who_comes_back_looks),
        cmocka_unit_test(deadline_elsewhere_leaves_forks_alone),
        cmocka_unit_test(deadline_is_looked_at_where_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
