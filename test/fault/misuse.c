/* SPDX-License-Identifier: MIT */
/* misuse.c: calls that are wrong. With WEFT_DEBUG, forks and merges that don't belong
 * together abort with one line that says what and where; elsewhere -EINVAL. */
#undef WEFT_DEBUG
#define WEFT_DEBUG 1
#include "child.h"
#include "weft/parallel.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>

/* Runs the job given, as a guest and on a worker. */
static void as_guest(void *job)
{
    weft_pool *pool = child_pool(2, 0, WAY_NO_SPIN);
    weft_run(pool, (weft_fn *)(uintptr_t)job, NULL);
}

static void on_worker(void *job)
{
    weft_pool *pool = child_pool(2, WEFT_NO_GUESTS, WAY_NO_SPIN);
    weft_run(pool, (weft_fn *)(uintptr_t)job, NULL);
}

static void expect_misuse(weft_fn *job, const char *const *words)
{
    expect_abort(as_guest, (void *)(uintptr_t)job, words);
    expect_abort(on_worker, (void *)(uintptr_t)job, words);
}

/* "misuse.c:LINE" of the fault is put here by the job's own text. */
static const char *here(int line)
{
    static char text[32];
    snprintf(text, sizeof text, "misuse.c:%d: ", line);
    return text;
}

/* ---- Forks ---- */

enum { LINE_LEFT_IN_W = __LINE__ + 6 };
static void left_in_w(weft *w, void *arg)
{
    weft *in = weft_fork(w, nothing, NULL);
    CHECK(in != w);
    /* The left side was given w, not `in`. */
    weft_fork(w, nothing, NULL);
}

static void fork_left_side_in_w(void **state)
{
    expect_misuse(left_in_w, WORDS(here(LINE_LEFT_IN_W), "weft_fork", "left side"));
}

enum { LINE_NO_FORK = __LINE__ + 3 };
static void merge_only(weft *w, void *arg)
{
    weft_merge(w);
}

enum { LINE_MERGED_TWICE = __LINE__ + 6 };
static void merged_twice(weft *w, void *arg)
{
    weft_fork(w, nothing, NULL);
    if (!weft_merge(w))
        nothing(w, NULL);
    weft_merge(w);
}

enum { LINE_MERGED_IN = __LINE__ + 4 };
static void merged_in(weft *w, void *arg)
{
    weft *in = weft_fork(w, nothing, NULL);
    weft_merge(in);
}

static void cancelled_twice(weft *w, void *arg)
{
    weft_fork(w, nothing, NULL);
    weft_fork_cancel(w);
    weft_fork_cancel(w);
}

static void cancelled_in_another_order(weft *w, void *arg)
{
    weft *in = weft_fork(w, nothing, NULL);
    weft_fork(in, nothing, NULL);
    weft_fork_cancel(w);
}

static void cancelled_nothing(weft *w, void *arg)
{
    weft_fork_cancel(NULL);
}

static void merge_without_fork(void **state)
{
    expect_misuse(cancelled_twice, WORDS("weft_fork_cancel: a merge without weft_fork"));
    expect_misuse(cancelled_in_another_order, WORDS("weft_fork_cancel: a merge in another order"));
    expect_misuse(cancelled_nothing, WORDS("weft_fork_cancel: a merge needs a context"));
    expect_misuse(merge_only, WORDS(here(LINE_NO_FORK), "weft_merge without weft_fork"));
    expect_misuse(merged_twice, WORDS(here(LINE_MERGED_TWICE), "weft_merge without weft_fork",
                                      "was it given w?"));
    expect_misuse(merged_in, WORDS(here(LINE_MERGED_IN), "weft_merge without weft_fork"));
}

enum { LINE_OTHER_ORDER = __LINE__ + 6 };
static void other_order(weft *w, void *arg)
{
    weft *in = weft_fork(w, nothing, NULL);
    weft_fork(in, nothing, NULL);
    /* First `in`, then w, would be right. */
    weft_merge(w);
}

static void merge_in_another_order(void **state)
{
    expect_misuse(other_order, WORDS(here(LINE_OTHER_ORDER), "another order"));
}

enum { LINE_OUTER_OF_FIRST = __LINE__ + 3, LINE_OUTER_OF_FORKED = __LINE__ + 10 };
static void outer_of_first(weft *w, void *arg)
{
    CHECK(!weft_outer(w));
}

static void outer_of_forked(weft *w, void *arg)
{
    weft *in = weft_fork(w, nothing, NULL);
    weft_fork(in, nothing, NULL);
    CHECK(!weft_outer(in));
}

enum { LINE_OUTER_OF_MERGED = __LINE__ + 6 };
static void outer_of_merged(weft *w, void *arg)
{
    weft *in = weft_fork(w, nothing, NULL);
    if (!weft_merge(w))
        nothing(w, NULL);
    CHECK(!weft_outer(in));
}

static void outer_of_the_wrong_context(void **state)
{
    expect_misuse(outer_of_first, WORDS(here(LINE_OUTER_OF_FIRST), "weft_outer", "no pending"));
    expect_misuse(outer_of_forked, WORDS(here(LINE_OUTER_OF_FORKED), "weft_outer", "not merged"));
    expect_misuse(outer_of_merged, WORDS(here(LINE_OUTER_OF_MERGED), "weft_outer", "no pending"));
}

static long number(weft *w, long n)
{
    return n;
}

WEFT_FORKABLE(long, number, long n;, number(w, a->n))

enum { LINE_IN_NULL = __LINE__ + 3 };
static void typed_in_null(weft *w, void *arg)
{
    CHECK(!WEFT_FORK_IN(NULL, number, 1));
}

enum { LINE_IN_UNMERGED = __LINE__ + 4 };
static void typed_twice(weft *w, void *arg)
{
    CHECK(WEFT_FORK_IN(w, number, 1) != w);
    CHECK(WEFT_FORK_IN(w, number, 2) == w);
}

enum { LINE_IN_UNFORKED = __LINE__ + 3 };
static void typed_merge_only(weft *w, void *arg)
{
    CHECK(WEFT_MERGE_IN(w, number) == 1);
}

static void typed_forks_name_the_line(void **state)
{
    expect_misuse(typed_in_null, WORDS(here(LINE_IN_NULL), "weft_fork needs a context"));
    expect_misuse(typed_twice, WORDS(here(LINE_IN_UNMERGED), "has forked already"));
    expect_misuse(typed_merge_only, WORDS(here(LINE_IN_UNFORKED), "weft_merge without weft_fork"));
}

enum { LINE_NULL_RIGHT = __LINE__ + 3 };
static void null_right(weft *w, void *arg)
{
    weft_fork(w, NULL, NULL);
}

static void fork_without_function(void **state)
{
    expect_misuse(null_right, WORDS(here(LINE_NULL_RIGHT), "function"));
}

static void unmerged(weft *w, void *arg)
{
    weft_fork(w, nothing, NULL);
}

static void left_unmerged(weft *w, void *arg)
{
    weft *in = weft_fork(w, nothing, NULL);
    unmerged(in, NULL);
    weft_merge(w);
}

static void unmerged_child(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, unmerged, NULL), 0);
    weft_scope_close(w, &scope);
}

/* Half the time the thief has the right side when the join merges; the inner fork is left
 * over either way. */
static void join_left_unmerged(weft *w, void *arg)
{
    weft_join(w, unmerged, NULL, nothing, NULL);
}

static void job_returns_without_merging(void **state)
{
    expect_misuse(unmerged, WORDS("without merging"));
    expect_misuse(left_unmerged, WORDS("misuse.c:", "another order"));
    expect_misuse(unmerged_child, WORDS("without merging"));
    expect_misuse(join_left_unmerged, WORDS("merg"));
}

/* ---- Scopes ---- */

static void unclosed(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
}

static void unclosed_child(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, unclosed, NULL), 0);
    weft_scope_close(w, &scope);
}

static void unclosed_right(weft *w, void *arg)
{
    weft_join(w, nothing, NULL, unclosed, NULL);
}

static void scope_not_closed(void **state)
{
    expect_misuse(unclosed, WORDS("without closing", "scope"));
    expect_misuse(unclosed_child, WORDS("without closing", "scope"));
    expect_misuse(unclosed_right, WORDS("without closing", "scope"));
}

static void wrong_order(weft *w, void *arg)
{
    weft_scope outer, inner;
    weft_scope_open(w, &outer);
    weft_scope_open(w, &inner);
    weft_scope_close(w, &outer);
}

static void closed_twice(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_close(w, &scope);
    weft_scope_close(w, &scope);
}

static void null_closed(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_close(w, NULL);
}

static void scopes_closed_in_wrong_order(void **state)
{
    expect_misuse(wrong_order, WORDS("weft_scope_close", "innermost"));
    expect_misuse(closed_twice, WORDS("weft_scope_close", "innermost"));
    expect_misuse(null_closed, WORDS("weft_scope_close", "innermost"));
}

/* ---- Arguments ---- */

static void null_inside(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK_EQUAL(weft_spawn(w, &scope, NULL, NULL), -EINVAL);
    CHECK_EQUAL(weft_spawn(w, NULL, nothing, NULL), -EINVAL);
    CHECK_EQUAL(weft_spawn(NULL, &scope, nothing, NULL), -EINVAL);
    CHECK_EQUAL(weft_spawn_fifo(w, &scope, NULL, NULL), -EINVAL);
    CHECK_EQUAL(weft_spawn_fifo(w, NULL, nothing, NULL), -EINVAL);
    CHECK_EQUAL(weft_spawn_fifo(NULL, &scope, nothing, NULL), -EINVAL);
    CHECK_EQUAL(weft_spawn_detached(w, NULL, NULL), -EINVAL);
    CHECK_EQUAL(weft_spawn_detached(NULL, nothing, NULL), -EINVAL);
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
    weft_fail(w, 0); /* no failure: not an error either */
    CHECK(!weft_cancelled(w));
}

struct two {
    int a, b;
};

static void sum_two(weft *w, void *arg)
{
    struct two *two = arg;
    two->a += two->b;
}

static void add_range(weft *w, size_t begin, size_t end, void *arg)
{
    atomic_fetch_add((atomic_long *)arg, (long)(end - begin));
}

/* The macros take arguments as they are. */
static void commas(weft *w, void *arg)
{
    atomic_long sum = 0;
    weft_join(w, sum_two, &(struct two){1, 2}, sum_two, &(struct two){3, 4});
    weft_fork(w, sum_two, &(struct two){5, 6});
    if (!weft_merge(w))
        sum_two(w, &(struct two){5, 6});
    weft_for(w, 0, (size_t[]){7, 10}[1], add_range, &sum);
    CHECK_EQUAL(atomic_load(&sum), 10);
}

static void commas_in_arguments(void)
{
    weft_pool *pool = child_pool(2, 0, WAY_SPIN);
    CHECK_EQUAL(weft_run(pool, commas, NULL), 0);
    child_pool_end(pool);
}

static void null_arguments(void)
{
    weft_pool *pool = child_pool(2, 0, WAY_SPIN);
    weft_task task;
    CHECK_EQUAL(weft_pool_create(NULL, NULL), -EINVAL);
    CHECK_EQUAL(weft_pool_destroy(NULL), -EINVAL);
    CHECK_EQUAL(weft_run(pool, NULL, NULL), -EINVAL);
    CHECK_EQUAL(weft_run(NULL, NULL, NULL), -EINVAL);
    CHECK_EQUAL(weft_submit(pool, NULL, nothing, NULL), -EINVAL);
    CHECK_EQUAL(weft_submit(pool, &task, NULL, NULL), -EINVAL);
    CHECK_EQUAL(weft_task_wait(NULL), -EINVAL);
    CHECK_EQUAL(weft_task_fd(NULL), -EINVAL);
    CHECK_EQUAL(weft_broadcast(pool, NULL, NULL), -EINVAL);
    CHECK_EQUAL(weft_broadcast_detached(pool, NULL, NULL), -EINVAL);
    weft_worker_info info = WEFT_WORKER_INFO_INIT;
    CHECK_EQUAL(weft_worker_get_info(pool, 2, &info), -EINVAL);
    CHECK_EQUAL(weft_worker_get_info(pool, UINT_MAX, &info), -EINVAL);
    CHECK_EQUAL(weft_run(pool, null_inside, NULL), 0);
    child_pool_end(pool);
}

static void null_arguments_worker_info(void)
{
    weft_pool *pool = child_pool(1, 0, WAY_SPIN);
    weft_worker_info info = WEFT_WORKER_INFO_INIT;
    CHECK_EQUAL(weft_worker_get_info(pool, 0, NULL), -EINVAL);
    CHECK_EQUAL(weft_pool_get_info(pool, NULL), -EINVAL);
    CHECK_EQUAL(weft_pool_get_info(NULL, NULL), -EINVAL);
    CHECK_EQUAL(weft_worker_get_info(NULL, UINT_MAX, &info), -EINVAL);
    child_pool_end(pool);
}

static atomic_int failed_on_start;

static void fail_on_start(weft_pool *pool, unsigned worker, void *data)
{
    weft *w = weft_here();
    if (w)
        weft_fail(w, -EIO); /* there is no computation to fail */
    atomic_fetch_add(&failed_on_start, 1);
}

static void fail_outside_of_a_job(void)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 2;
    config.flags = WEFT_USE_CALLER;
    config.on_start = fail_on_start;
    weft_pool *pool;
    CHECK_EQUAL(weft_pool_create(&pool, &config), 0);
    UNTIL(atomic_load(&failed_on_start) == 1);
    fail_on_start(pool, 0, NULL);
    CHECK_EQUAL(weft_run(pool, nothing, NULL), 0);
    child_pool_end(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fork_left_side_in_w),
        cmocka_unit_test(merge_without_fork),
        cmocka_unit_test(merge_in_another_order),
        cmocka_unit_test(fork_without_function),
        cmocka_unit_test(outer_of_the_wrong_context),
        cmocka_unit_test(typed_forks_name_the_line),
        cmocka_unit_test(job_returns_without_merging),
        cmocka_unit_test(scope_not_closed),
        cmocka_unit_test(scopes_closed_in_wrong_order),
        IN_CHILD(null_arguments),
        IN_CHILD(null_arguments_worker_info),
        IN_CHILD(fail_outside_of_a_job),
        IN_CHILD(commas_in_arguments),
    };
    return cmocka_run_group_tests_name("misuse", tests, NULL, NULL);
}
