/* SPDX-License-Identifier: MIT */
/* row.c: many forks in a row, merged in reverse; more of them than a context has slots for. */
#include "actors.h"
#include "check.h"
#include "pools.h"

#include <errno.h>
#include <stdlib.h>
#include <weft/parallel.h>

/* More than there are slots in any context. */
enum { MANY = SCALED(1000000, 10) };

/* ---- Each right side runs once ---- */

struct row {
    atomic_ulong done;
    unsigned char *ran; /* how often each right side ran */
    struct right {
        struct row *row;
        size_t i;
    } * rights;
};

static void right_job(weft *w, void *arg)
{
    struct right *right = arg;
    right->row->ran[right->i]++;
    atomic_fetch_add_explicit(&right->row->done, 1, memory_order_relaxed);
}

static void row_make(struct row *row)
{
    atomic_init(&row->done, 0);
    row->ran = calloc(MANY, 1);
    row->rights = calloc(MANY, sizeof row->rights[0]);
    CHECK(row->ran && row->rights);
    for (size_t i = 0; i < MANY; i++)
        row->rights[i] = (struct right){row, i};
}

static void row_check(const struct row *row, unsigned times)
{
    CHECK(atomic_load(&row->done) == times * (unsigned long)MANY);
    for (size_t i = 0; i < MANY; i++)
        CHECK(row->ran[i] == times);
}

static void row_free(struct row *row)
{
    free(row->ran);
    free(row->rights);
}

static weft *fork_row(weft *w, struct row *row)
{
    for (size_t i = 0; i < MANY; i++)
        w = weft_fork(w, right_job, &row->rights[i]);
    return w;
}

static void fork_and_merge_row(weft *w, void *arg)
{
    struct row *row = arg;
    weft *in = fork_row(w, row);
    CHECK(weft_here() == in);
    for (size_t i = MANY; i-- > 0;) {
        in = weft_outer(in);
        if (!weft_merge(in))
            right_job(in, &row->rights[i]);
    }
    CHECK(in == w);
    CHECK(weft_here() == w);
}

static void each_runs_once(void **state)
{
    struct row row;
    for (unsigned workers = 1; workers <= 3; workers++) {
        weft_pool *pool = pool_make(workers, WEFT_NO_GUESTS);
        row_make(&row);
        for (unsigned r = 1; r <= 2; r++) { /* and the context is as good as new */
            assert_int_equal(weft_run(pool, fork_and_merge_row, &row), 0);
            row_check(&row, r);
        }
        row_free(&row);
        pool_drop(pool);
    }
}

static int row_of_actor(weft *w, void *arg)
{
    fork_and_merge_row(w, arg);
    return 0;
}

static void each_runs_once_in_an_actor(void **state)
{
    for (unsigned workers = 1; workers <= 3; workers += 2) {
        weft_pool *pool = pool_make(workers, 0);
        struct row row;
        row_make(&row);
        assert_int_equal(run_one(pool, row_of_actor, &row), 0);
        row_check(&row, 1);
        row_free(&row);
        pool_drop(pool);
    }
}

/* ---- Nested forks ---- */

/* ThreadSanitizer has room for few frames. */
#if defined __SANITIZE_THREAD__
enum { DEPTH = 40000 };
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
enum { DEPTH = 40000 };
#else
enum { DEPTH = MANY };
#endif
#else
enum { DEPTH = MANY };
#endif

static void nested_right(weft *w, void *arg)
{
    *(long *)arg = 1;
}

static __attribute__((noinline)) long nest(weft *w, long depth)
{
    if (depth == 0)
        return 0;
    long right = 0;
    weft *in = weft_fork(w, nested_right, &right);
    long left = nest(in, depth - 1);
    if (!weft_merge(w))
        nested_right(w, &right);
    return left + right;
}

static void nest_job(weft *w, void *sum)
{
    *(long *)sum = nest(w, DEPTH);
}

static void a_million_nested_forks(void **state)
{
    for (unsigned workers = 1; workers <= 2; workers++) {
        weft_config config = WEFT_CONFIG_INIT;
        config.workers = workers;
        config.flags = WEFT_NO_GUESTS;
        config.stack_size = (size_t)512 << 20;
        weft_pool *pool = pool_make_with(&config);
        long sum = 0;
        assert_int_equal(weft_run(pool, nest_job, &sum), 0);
        assert_int_equal(sum, DEPTH);
        pool_drop(pool);
    }
}

/* ---- In the last context of all ---- */

static void nothing_job(weft *w, void *arg)
{
}

/* Forks until the context stays the same, and once more. */
static weft *fill(weft *w, size_t *forks)
{
    for (*forks = 0;; ++*forks) {
        weft *in = weft_fork(w, nothing_job, NULL);
        if (in == w)
            break;
        w = in;
    }
    ++*forks;
    return w;
}

static void empty(weft *in, size_t forks)
{
    while (forks-- > 0) {
        in = weft_outer(in);
        if (!weft_merge(in))
            nothing_job(in, NULL);
    }
}

static void count_range(weft *w, size_t lo, size_t hi, void *count)
{
    CHECK(weft_pool_of(w) != NULL);
    atomic_fetch_add((atomic_ulong *)count, hi - lo);
}

static void run_there(weft *w, void *count)
{
    CHECK(weft_run(weft_pool_of(w), count_job, count) == 0);
}

static void use_last_context(weft *w, void *arg)
{
    atomic_ulong *count = arg;
    size_t forks;
    weft *in = fill(w, &forks);
    weft_scope scope;
    CHECK(weft_here() == in);
    weft_for(in, 0, 100000, count_range, count);
    weft_scope_open(in, &scope);
    for (int i = 0; i < 100; i++)
        CHECK(weft_spawn(in, &scope, count_job, count) == 0);
    CHECK(weft_scope_close(in, &scope) == 0);
    weft_join(in, run_there, count, run_there, count);
    CHECK(weft_outer(in) == in); /* what is pending there comes first */
    empty(in, forks);
    CHECK(weft_here() == w);
}

static int actor_in_last_context(weft *w, void *arg)
{
    use_last_context(w, arg);
    return 0;
}

static void anything_goes_in_the_last_context(void **state)
{
    for (unsigned workers = 1; workers <= 3; workers++) {
        weft_pool *pool = pool_make(workers, workers == 1 ? WEFT_NO_GUESTS : 0);
        atomic_ulong count = 0;
        for (unsigned long r = 1; r <= 3; r++) {
            assert_int_equal(weft_run(pool, use_last_context, &count), 0);
            assert_int_equal(atomic_load(&count), r * 100102);
        }
        assert_int_equal(run_one(pool, actor_in_last_context, &count), 0);
        assert_int_equal(atomic_load(&count), 4 * 100102);
        pool_drop(pool);
    }
}

/* ---- Failure ---- */

static void fail_in_row(weft *w, void *arg)
{
    struct row *row = arg;
    weft *in = fork_row(w, row);
    weft_fail(in, -EDOM);
    for (size_t i = MANY; i-- > 0;) {
        in = weft_outer(in);
        CHECK(weft_merge(in));
    }
}

static void failure_skips_the_rest(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    struct row row;
    row_make(&row);
    assert_int_equal(weft_run(pool, fail_in_row, &row), -EDOM);
    assert_int_equal(atomic_load(&row.done), 0);
    assert_int_equal(weft_run(pool, fork_and_merge_row, &row), 0);
    row_check(&row, 1);
    row_free(&row);
    pool_drop(pool);
}

/* The next actor gets the same fiber. */
static int end_in_row(weft *w, void *arg)
{
    struct row *row = arg;
    weft *in = fork_row(w, row);
    weft_scope scope;
    weft_scope_open(in, &scope);
    weft_actor_kill(weft_actor_self(in));
    weft_yield(in);
    check_failed(__FILE__, __LINE__, "it goes on");
    return 0;
}

static void ended_actors_leave_nothing(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    struct row row;
    row_make(&row);
    assert_int_equal(run_one(pool, end_in_row, &row), -ECANCELED);
    assert_int_equal(atomic_load(&row.done), 0);
    assert_int_equal(run_one(pool, row_of_actor, &row), 0);
    row_check(&row, 1);
    row_free(&row);
    pool_drop(pool);
}

/* ---- Arguments and results in the slots ---- */

struct four {
    long a, b, c, d;
};

static struct four four(weft *w, long a, int b, char c, const atomic_ulong *d);
WEFT_FORKABLE(struct four, four, long a; int b; char c; const atomic_ulong *d;
              , four(w, a->a, a->b, a->c, a->d))

static struct four four(weft *w, long a, int b, char c, const atomic_ulong *d)
{
    return (struct four){a, b, c, (long)atomic_load(d)};
}

static void check_fours(weft *w, void *arg)
{
    static const atomic_ulong answer = 42;
    size_t n = *(size_t *)arg;
    weft *in = w;
    for (size_t i = 0; i < n; i++)
        in = WEFT_FORK_IN(in, four, (long)i, (int)i + 1, (char)(i % 100), &answer);
    for (size_t i = n; i-- > 0;) {
        in = weft_outer(in);
        struct four x = WEFT_MERGE_IN(in, four);
        CHECK(x.a == (long)i && x.b == (int)i + 1 && x.c == (char)(i % 100) && x.d == 42);
    }
    CHECK(in == w);
}

static int check_fours_in_actor(weft *w, void *arg)
{
    check_fours(w, arg);
    return 0;
}

static void arguments_in_slots(void **state)
{
    for (unsigned workers = 1; workers <= 3; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        for (size_t n = 1; n <= MANY; n *= 10) {
            assert_int_equal(weft_run(pool, check_fours, &n), 0);
            assert_int_equal(run_one(pool, check_fours_in_actor, &n), 0);
        }
        pool_drop(pool);
    }
}

/* A thief has it: what it returns comes back in the slot. */
static long taken(weft *w, struct gate *gate, long x);
WEFT_FORKABLE(long, taken, struct gate *gate; long x;, taken(w, a->gate, a->x))

static long taken(weft *w, struct gate *gate, long x)
{
    gate_job(w, gate);
    return 2 * x;
}

static void let_one_be_taken(weft *w, void *arg)
{
    struct gate gates[2] = {{0}};
    weft *in = WEFT_FORK_IN(w, taken, &gates[0], 21);
    in = WEFT_FORK_IN(in, taken, &gates[1], 4);
    gate_wait_arrived(&gates[0]);
    gate_open(&gates[0]);
    gate_open(&gates[1]);
    in = weft_outer(in);
    CHECK(WEFT_MERGE_IN(in, taken) == 8);
    in = weft_outer(in);
    CHECK(WEFT_MERGE_IN(in, taken) == 42);
    CHECK(in == w);
}

static void results_of_thieves(void **state)
{
    weft_pool *pool = pool_make(2, WEFT_NO_GUESTS);
    for (int i = 0; i < rounds_of(20); i++)
        assert_int_equal(weft_run(pool, let_one_be_taken, NULL), 0);
    pool_drop(pool);
}

/* Every node forks all its children, in slots and past them. */
static long tree(weft *w, long width, long depth);
WEFT_FORKABLE(long, tree, long width; long depth;, tree(w, a->width, a->depth))

static long tree(weft *w, long width, long depth)
{
    if (depth == 0)
        return 1;
    long sum = 0;
    for (long i = 0; i < width; i++)
        w = WEFT_FORK_IN(w, tree, width, depth - 1);
    for (long i = 0; i < width; i++) {
        w = weft_outer(w);
        sum += WEFT_MERGE_IN(w, tree);
    }
    return sum;
}

static void trees(weft *w, void *arg)
{
    CHECK(tree(w, 2, 12) == 1 << 12);
    CHECK(tree(w, 30, 3) == 27000);
    size_t forks;
    weft *in = fill(w, &forks);
    CHECK(tree(in, 2, 12) == 1 << 12);
    CHECK(tree(in, 30, 3) == 27000);
    CHECK(tree(in, 2000, 1) == 2000);
    empty(in, forks);
}

static int trees_in_actor(weft *w, void *arg)
{
    trees(w, arg);
    return 0;
}

static void trees_of_any_width(void **state)
{
    for (unsigned workers = 1; workers <= 3; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        assert_int_equal(weft_run(pool, trees, NULL), 0);
        assert_int_equal(run_one(pool, trees_in_actor, NULL), 0);
        pool_drop(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_runs_once),
        cmocka_unit_test(each_runs_once_in_an_actor),
        cmocka_unit_test(a_million_nested_forks),
        cmocka_unit_test(anything_goes_in_the_last_context),
        cmocka_unit_test(failure_skips_the_rest),
        cmocka_unit_test(ended_actors_leave_nothing),
        cmocka_unit_test(arguments_in_slots),
        cmocka_unit_test(results_of_thieves),
        cmocka_unit_test(trees_of_any_width),
    };
    return RUN_ON_ALL_ROADS(tests);
}
