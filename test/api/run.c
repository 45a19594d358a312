/* SPDX-License-Identifier: MIT */
/* run.c: jobs from outside, from inside, from other pools; who runs them; what comes back. */
#include "check.h"
#include "pools.h"

#include <errno.h>
#include <pthread.h>

static void nothing(weft *w, void *arg)
{
}

/* ---- Who runs it ---- */

struct report {
    weft_pool *pool;
    pthread_t thread;
    unsigned index;
    unsigned times;
};

static void report_job(weft *w, void *arg)
{
    struct report *report = arg;
    CHECK(weft_here() == w);
    report->pool = weft_pool_of(w);
    report->thread = pthread_self();
    report->index = weft_worker_index(w);
    report->times++;
}

static void caller_is_a_guest(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    struct report report = {0};
    assert_int_equal(weft_run(pool, report_job, &report), 0);
    assert_int_equal(report.times, 1);
    assert_ptr_equal(report.pool, pool);
    assert_true(pthread_equal(report.thread, pthread_self()));
    assert_int_equal(report.index, 2);
    assert_null(weft_here());
    pool_drop(pool);
}

static void caller_sleeps_without_guests(void **state)
{
    weft_pool *pool = pool_make(2, WEFT_NO_GUESTS);
    for (int i = 0; i < rounds_of(1000); i++) {
        struct report report = {0};
        assert_int_equal(weft_run(pool, report_job, &report), 0);
        assert_int_equal(report.times, 1);
        assert_ptr_equal(report.pool, pool);
        assert_false(pthread_equal(report.thread, pthread_self()));
        assert_in_range(report.index, 0, 1);
    }
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_pool_get_info(pool, &info);
    assert_int_equal(info.guests, 0);
    pool_drop(pool);
}

static void null_means_default(void **state)
{
    struct report report = {0};
    assert_int_equal(weft_run(NULL, report_job, &report), 0);
    assert_ptr_equal(report.pool, weft_pool_default());
    assert_int_equal(weft_pool_destroy(weft_pool_default()), 0);
}

static void run_again(weft *w, void *arg)
{
    struct report *report = arg;
    CHECK(weft_run(weft_pool_of(w), report_job, report) == 0);
    CHECK(pthread_equal(report->thread, pthread_self()));
    CHECK(report->index == weft_worker_index(w));
    CHECK(weft_here() == w);
}

static void nested_in_the_same_pool(void **state)
{
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        weft_pool *pool = pool_make(1, flags);
        struct report report = {0};
        assert_int_equal(weft_run(pool, run_again, &report), 0);
        assert_int_equal(report.times, 1);
        pool_drop(pool);
    }
}

/* ---- What comes back ---- */

static void fail_job(weft *w, void *arg)
{
    weft_fail(w, *(int *)arg);
}

static void swallow_failure(weft *w, void *arg)
{
    CHECK(weft_run(weft_pool_of(w), fail_job, arg) == *(int *)arg);
    CHECK(!weft_cancelled(w));
}

static void failures_come_back(void **state)
{
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        weft_pool *pool = pool_make(1, flags);
        int code = -EPROTO;
        assert_int_equal(weft_run(pool, fail_job, &code), -EPROTO);
        code = 42;
        assert_int_equal(weft_run(pool, fail_job, &code), 42);
        code = 0; /* no failure */
        assert_int_equal(weft_run(pool, fail_job, &code), 0);
        code = -EPROTO;
        assert_int_equal(weft_run(pool, swallow_failure, &code), 0);
        pool_drop(pool);
    }
}

static void no_function(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    assert_int_equal(weft_run(pool, NULL, NULL), -EINVAL);
    assert_int_equal(weft_run(NULL, NULL, NULL), -EINVAL);
    pool_drop(pool);
}

static void *destroy(void *pool)
{
    pool_drop(pool);
    return NULL;
}

static void closed_to_newcomers(void **state)
{
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        weft_pool *pool = pool_make(2, flags);
        struct held held;
        pool_hold(pool, &held, 1); /* destroy waits for this one */
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, destroy, pool), 0);
        WAIT_UNTIL(weft_run(pool, nothing, NULL) == -ESHUTDOWN);
        weft_task task;
        assert_int_equal(weft_submit(pool, &task, nothing, NULL), -ESHUTDOWN);
        assert_int_equal(weft_broadcast(pool, nothing, NULL), -ESHUTDOWN);
        assert_int_equal(weft_broadcast_detached(pool, nothing, NULL), -ESHUTDOWN);
        assert_int_equal(weft_pool_destroy(pool), -ESHUTDOWN);
        pool_let_go(&held);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
}

static void destroy_own_pool(weft *w, void *arg)
{
    CHECK(weft_pool_destroy(weft_pool_of(w)) == -EDEADLK);
}

static void no_suicide(void **state)
{
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        weft_pool *pool = pool_make(1, flags);
        assert_int_equal(weft_run(pool, destroy_own_pool, NULL), 0);
        pool_drop(pool);
    }
}

/* ---- Many at once ---- */

enum { GUESTS = 8, RUNS = SCALED(2000, 10), LEAVES = 64 };

struct tree {
    unsigned n;
    atomic_ulong *leaves;
};

static void grow_tree(weft *w, void *arg)
{
    struct tree *tree = arg;
    if (tree->n == 1) {
        atomic_fetch_add(tree->leaves, 1);
        return;
    }
    struct tree left = {tree->n / 2, tree->leaves};
    struct tree right = {tree->n - tree->n / 2, tree->leaves};
    weft_join(w, grow_tree, &left, grow_tree, &right);
}

static void run_trees(unsigned i, void *pool)
{
    for (int r = 0; r < RUNS; r++) {
        atomic_ulong leaves = 0;
        struct tree tree = {LEAVES, &leaves};
        CHECK(weft_run(pool, grow_tree, &tree) == 0);
        CHECK(atomic_load(&leaves) == LEAVES);
    }
}

static void many_guests(void **state)
{
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        weft_pool *pool = pool_make(2, flags);
        in_threads(GUESTS, run_trees, pool);
        weft_pool_info info = WEFT_POOL_INFO_INIT;
        weft_pool_get_info(pool, &info);
        assert_int_equal(info.guests, 0);
        assert_int_equal(info.queued, 0);
        pool_drop(pool);
    }
}

/* ---- Other pools ---- */

struct trip {
    weft_pool *there;
    struct report report;
};

static void visit(weft *w, void *arg)
{
    struct trip *trip = arg;
    CHECK(weft_run(trip->there, report_job, &trip->report) == 0);
    CHECK(weft_here() == w); /* back again */
}

static void worker_of_another_pool(void **state)
{
    weft_pool *home = pool_make(1, 0), *there = pool_make(1, 0);
    weft_pool *closed = pool_make(1, WEFT_NO_GUESTS);
    struct trip trip = {.there = there};
    weft_task task;
    assert_int_equal(weft_submit(home, &task, visit, &trip), 0);
    assert_int_equal(weft_task_wait(&task), 0);
    assert_ptr_equal(trip.report.pool, there);
    assert_int_equal(trip.report.index, 1); /* a guest there */
    trip = (struct trip){.there = closed};
    assert_int_equal(weft_submit(home, &task, visit, &trip), 0);
    assert_int_equal(weft_task_wait(&task), 0);
    assert_ptr_equal(trip.report.pool, closed);
    assert_int_equal(trip.report.index, 0);
    pool_drop(closed);
    pool_drop(there);
    pool_drop(home);
}

/* There and back, several times: each pool's only worker waits for the other (bug 21). */
struct bounce {
    weft_pool *pools[2];
    unsigned left;
    atomic_ulong *done;
};

static void bounce_job(weft *w, void *arg)
{
    struct bounce *bounce = arg;
    if (bounce->left == 0) {
        atomic_fetch_add(bounce->done, 1);
        return;
    }
    struct bounce next = *bounce;
    next.left--;
    CHECK(weft_run(bounce->pools[next.left % 2], bounce_job, &next) == 0);
}

enum { PLAYERS = 4, GAMES = SCALED(2000, 10), LENGTH = 7 };

static void play(unsigned i, void *arg)
{
    struct bounce *bounce = arg;
    for (int g = 0; g < GAMES; g++) {
        struct bounce mine = *bounce;
        mine.left = LENGTH - i % 2; /* some start in one pool, some in the other */
        CHECK(weft_run(mine.pools[i % 2], bounce_job, &mine) == 0);
    }
}

static void mutual_pools(void **state)
{
    for (unsigned flags = 0; flags <= WEFT_NO_GUESTS; flags += WEFT_NO_GUESTS) {
        atomic_ulong done = 0;
        struct bounce bounce = {{pool_make(1, flags), pool_make(1, flags)}, 0, &done};
        in_threads(PLAYERS, play, &bounce);
        assert_int_equal(atomic_load(&done), PLAYERS * GAMES);
        pool_drop(bounce.pools[0]);
        pool_drop(bounce.pools[1]);
    }
}

/* A worker that waits in another pool still works for its own. */
struct errand {
    weft_pool *home;
    atomic_ulong done;
};

static void needs_home(weft *w, void *arg)
{
    struct errand *errand = arg;
    weft_task task;
    CHECK(weft_submit(errand->home, &task, count_job, &errand->done) == 0);
    WAIT_UNTIL(weft_task_done(&task)); /* does not help: home's only worker has to */
    CHECK(weft_task_wait(&task) == 0);
}

struct away {
    weft_pool *there;
    struct errand errand;
};

static void go_away(weft *w, void *arg)
{
    struct away *away = arg;
    away->errand.home = weft_pool_of(w);
    CHECK(weft_run(away->there, needs_home, &away->errand) == 0);
}

static void works_for_home_while_away(void **state)
{
    weft_pool *home = pool_make(1, WEFT_NO_GUESTS), *there = pool_make(1, WEFT_NO_GUESTS);
    for (int i = 0; i < rounds_of(500); i++) {
        struct away away = {.there = there};
        assert_int_equal(weft_run(home, go_away, &away), 0);
        assert_int_equal(atomic_load(&away.errand.done), 1);
    }
    pool_drop(there);
    pool_drop(home);
}

/* And twice over: it waits in one pool, works for its own meanwhile, and waits in a third
 * one from there. Whatever it does on top, what is below stays as it was. */
struct outing {
    weft_pool *there;
    struct gate gate;
    atomic_ulong forked;
};

static void wait_there(weft *w, void *arg)
{
    struct outing *outing = arg;
    weft_task task;
    CHECK(weft_submit(outing->there, &task, gate_job, &outing->gate) == 0);
    gate_wait_arrived(&outing->gate);
    CHECK(weft_task_wait(&task) == 0);
}

static void fork_and_go(weft *w, void *arg)
{
    struct outing *outing = arg;
    weft *in = weft_fork(w, count_job, &outing->forked);
    CHECK(weft_run(outing->there, wait_there, outing) == 0);
    CHECK(weft_here() == in);
    if (!weft_merge(w))
        count_job(w, &outing->forked);
    CHECK(weft_here() == w);
}

static void works_for_home_from_two_pools(void **state)
{
    weft_pool *home = pool_make(1, WEFT_NO_GUESTS);
    for (int r = 0; r < rounds_of(50); r++) {
        struct outing first = {.there = pool_make(1, 0)}, second = {.there = pool_make(1, 0)};
        weft_task first_task, second_task, last_task;
        atomic_ulong count = 0;
        assert_int_equal(weft_submit(home, &first_task, fork_and_go, &first), 0);
        gate_wait_arrived(&first.gate);
        assert_int_equal(weft_submit(home, &second_task, fork_and_go, &second), 0);
        gate_wait_arrived(&second.gate);
        assert_int_equal(weft_submit(home, &last_task, count_job, &count), 0);
        assert_int_equal(weft_task_wait(&last_task), 0);
        gate_open(&second.gate);
        assert_int_equal(weft_task_wait(&second_task), 0);
        gate_open(&first.gate);
        assert_int_equal(weft_task_wait(&first_task), 0);
        assert_int_equal(atomic_load(&first.forked), 1);
        assert_int_equal(atomic_load(&second.forked), 1);
        assert_int_equal(atomic_load(&count), 1);
        pool_drop(first.there);
        pool_drop(second.there);
    }
    pool_drop(home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caller_is_a_guest),
        cmocka_unit_test(caller_sleeps_without_guests),
        cmocka_unit_test(null_means_default),
        cmocka_unit_test(nested_in_the_same_pool),
        cmocka_unit_test(failures_come_back),
        cmocka_unit_test(no_function),
        cmocka_unit_test(closed_to_newcomers),
        cmocka_unit_test(no_suicide),
        cmocka_unit_test(many_guests),
        cmocka_unit_test(worker_of_another_pool),
        cmocka_unit_test(mutual_pools),
        cmocka_unit_test(works_for_home_while_away),
        cmocka_unit_test(works_for_home_from_two_pools),
    };
    return RUN_ON_ALL_ROADS(tests);
}
