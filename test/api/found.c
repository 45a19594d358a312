/* SPDX-License-Identifier: MIT */
/* found.c: work that waits is taken, whatever was learnt before. Here the caller waits for work of
 * its own that only somebody else can do: if nobody comes, the test hangs. */
#include "check.h"
#include "pools.h"
#include "weft/lines.h"
#include "weft/parallel.h"
#include "weft/sync.h"
#include "weft/task.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const unsigned sizes[] = {2, 8}; /* of pools: one place is the caller's */
enum { SIZES = 2 };

static const unsigned ways_in[] = {0, WEFT_NO_GUESTS, WEFT_USE_CALLER};
enum { WAYS_IN = 3 };

/* Longer than anybody looks out for work that nobody was told of. */
static void stay_silent(void)
{
    nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 200000000}, NULL);
}

/* ---- A right side ---- */

struct pair {
    bool waits; /* the left side, for the right one */
    atomic_bool started;
};

static void left_side(weft *w, void *arg)
{
    struct pair *pair = arg;
    if (pair->waits)
        WAIT_UNTIL(atomic_load(&pair->started));
}

static void right_side(weft *w, void *arg)
{
    atomic_store(&((struct pair *)arg)->started, true);
}

static void join_pair(weft *w, void *arg)
{
    weft_join(w, left_side, arg, right_side, arg);
}

static void learn_that_it_is_brief(weft_pool *pool)
{
    for (int i = 0; i < 10; i++)
        assert_int_equal(weft_run(pool, join_pair, &(struct pair){.waits = false}), 0);
}

static void expect_taken(weft_pool *pool)
{
    assert_int_equal(weft_run(pool, join_pair, &(struct pair){.waits = true}), 0);
}

static void right_side_of_a_brief_pair(void **state)
{
    for (int i = 0; i < SIZES * WAYS_IN; i++) {
        weft_pool *pool = pool_make(sizes[i % SIZES], ways_in[i / SIZES]);
        for (int r = 0; r < rounds_of(20); r++) {
            learn_that_it_is_brief(pool);
            expect_taken(pool);
        }
        pool_drop(pool);
    }
}

static void right_side_while_all_sleep(void **state)
{
    for (int i = 0; i < SIZES * 2; i++) {
        weft_pool *pool = pool_make(sizes[i % SIZES], ways_in[i / SIZES]);
        for (int r = 0; r < rounds_of(20); r++) {
            learn_that_it_is_brief(pool);
            pool_wait_asleep(pool);
            expect_taken(pool);
        }
        pool_drop(pool);
    }
}

static void right_side_in_a_new_pool(void **state)
{
    for (int r = 0; r < 10; r++) {
        for (int i = 0; i < SIZES * WAYS_IN; i++) {
            weft_pool *pool = pool_make(sizes[i % SIZES], ways_in[i / SIZES]);
            expect_taken(pool);
            pool_drop(pool);
        }
    }
}

/* Brief ones in the same job, so that nobody is told again. */
static void join_many_pairs(weft *w, void *arg)
{
    for (int i = 0; i < 1000; i++)
        join_pair(w, &(struct pair){.waits = false});
    join_pair(w, &(struct pair){.waits = true});
}

static void right_side_after_many_brief_ones(void **state)
{
    for (int i = 0; i < SIZES * WAYS_IN; i++) {
        weft_pool *pool = pool_make(sizes[i % SIZES], ways_in[i / SIZES]);
        for (int r = 0; r < rounds_of(20); r++)
            assert_int_equal(weft_run(pool, join_many_pairs, NULL), 0);
        pool_drop(pool);
    }
}

/* ---- A child ---- */

/* Brief children first, so that the owner keeps the next ones back. The last one is not run by the
 * owner, which does not come to close the scope before the child has begun. */
static void spawn_many_children(weft *w, void *arg)
{
    for (int i = 0; i < 200; i++) {
        weft_scope scope;
        weft_scope_open(w, &scope);
        struct pair pair = {.waits = i % 50 == 49}, brief = {.waits = false};
        for (int j = 0; j < 16; j++)
            CHECK(weft_spawn(w, &scope, right_side, &brief) == 0);
        CHECK(weft_scope_close(w, &scope) == 0);
        weft_scope_open(w, &scope);
        CHECK(weft_spawn(w, &scope, right_side, &pair) == 0);
        left_side(w, &pair);
        CHECK(weft_scope_close(w, &scope) == 0);
    }
}

static void child_after_many_brief_ones(void **state)
{
    for (int i = 0; i < SIZES * WAYS_IN; i++) {
        weft_pool *pool = pool_make(sizes[i % SIZES], ways_in[i / SIZES]);
        for (int r = 0; r < rounds_of(20); r++)
            assert_int_equal(weft_run(pool, spawn_many_children, NULL), 0);
        pool_drop(pool);
    }
}

/* ---- Loops and what is made of them ---- */

enum { LONG = SCALED(50000, 10), SHORT = 100, WAITING = 400 };

static long in[LONG], out[LONG], other[LONG];
static char lines[LONG];

struct work {
    void (*element)(struct work *work); /* what is done for an element */
    pthread_t caller;                   /* of the loop */
    atomic_bool elsewhere;              /* an element was done by another thread */
};

static void do_nothing(struct work *work)
{
}

static void wait_for_others(struct work *work)
{
    if (pthread_equal(pthread_self(), work->caller))
        WAIT_UNTIL(atomic_load(&work->elsewhere));
    else
        atomic_store(&work->elsewhere, true);
}

static void do_element(void *arg)
{
    struct work *work = arg;
    work->element(work);
}

static void do_elements(size_t begin, size_t end, void *arg)
{
    for (size_t i = begin; i < end; i++)
        do_element(arg);
}

typedef void use_fn(weft *w, size_t n, struct work *work);

/* Plain loops. */

static void body(weft *w, size_t begin, size_t end, void *arg)
{
    do_elements(begin, end, arg);
}

static void use_for(weft *w, size_t n, struct work *work)
{
    weft_for(w, 0, n, body, work);
}

static void use_for_min(weft *w, size_t n, struct work *work)
{
    weft_for_min(w, 0, n, 10, body, work);
}

static size_t side(const weft_box *box, int d)
{
    return box->end[d] - box->begin[d];
}

static void body_2d(weft *w, const weft_box *box, void *arg)
{
    do_elements(0, side(box, 0) * side(box, 1), arg);
}

static void use_for_2d(weft *w, size_t n, struct work *work)
{
    weft_for_2d(w, &(weft_box){.end = {n / 10, 10}}, body_2d, work);
}

static void body_3d(weft *w, const weft_box *box, void *arg)
{
    do_elements(0, side(box, 0) * side(box, 1) * side(box, 2), arg);
}

static void use_for_3d(weft *w, size_t n, struct work *work)
{
    weft_for_3d(w, &(weft_box){.end = {n / 20, 4, 5}}, body_3d, work);
}

static void body_for_each(weft *w, void *element, void *arg)
{
    do_element(arg);
}

static void use_for_each(weft *w, size_t n, struct work *work)
{
    weft_for_each(w, out, n, sizeof out[0], body_for_each, work);
}

static void map(weft *w, const void *from, void *to, void *arg)
{
    do_element(arg);
    *(long *)to = *(const long *)from;
}

static void use_map(weft *w, size_t n, struct work *work)
{
    weft_map(w, in, n, sizeof in[0], map, work, out, sizeof out[0]);
}

static void body_with_state(weft *w, size_t begin, size_t end, void *state, void *arg)
{
    do_elements(begin, end, arg);
}

static void use_for_again(weft *w, size_t n, struct work *work)
{
    weft_again again = WEFT_AGAIN_INIT;
    weft_for_again(w, &again, 0, n, body, work);
}

static void use_for_with(weft *w, size_t n, struct work *work)
{
    weft_for_with(w, 0, n, &(weft_state){.size = 1}, body_with_state, work);
}

static void body_for_lines(weft *w, const char *begin, const char *end, void *arg)
{
    do_elements(0, (size_t)(end - begin), arg);
}

static void use_for_lines(weft *w, size_t n, struct work *work)
{
    weft_for_lines(w, &(weft_text){lines, n}, body_for_lines, work);
}

/* Reductions. */

static void fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    do_elements(begin, end, arg);
    *(long *)accumulator += (long)(end - begin);
}

static void add(weft *w, void *left, const void *right, void *arg)
{
    *(long *)left += *(const long *)right;
}

static const weft_reducer reducer = {
    .size = sizeof(long), .fold = fold, .combine = add, .block = 1};

static void use_reduce(weft *w, size_t n, struct work *work)
{
    long sum;
    weft_reduce(w, 0, n, &reducer, work, &sum);
    CHECK(sum == (long)n);
}

static void use_reduce_unordered(weft *w, size_t n, struct work *work)
{
    long sum;
    weft_reduce_unordered(w, 0, n, &reducer, work, &sum);
    CHECK(sum == (long)n);
}

static void combine(weft *w, void *left, const void *right, void *arg)
{
    do_element(arg);
    add(w, left, right, arg);
}

static void use_array_reduce(weft *w, size_t n, struct work *work)
{
    long sum = 0;
    weft_array_reduce(w, in, n, sizeof in[0], combine, work, &sum);
    CHECK(sum == (long)(n * (n - 1) / 2));
}

static void use_map_reduce(weft *w, size_t n, struct work *work)
{
    long sum = 0;
    weft_map_reduce(w, in, n, sizeof in[0], map, add, work, &sum, sizeof sum);
    CHECK(sum == (long)(n * (n - 1) / 2));
}

static size_t count(weft *w, size_t begin, size_t end, void *arg)
{
    do_elements(begin, end, arg);
    return end - begin;
}

static void use_count(weft *w, size_t n, struct work *work)
{
    CHECK(weft_count(w, 0, n, count, work) == n);
}

static size_t bin(weft *w, const void *element, void *arg)
{
    do_element(arg);
    return *(const long *)element % 2 == 0;
}

static void use_histogram(weft *w, size_t n, struct work *work)
{
    size_t counts[2];
    weft_histogram(w, in, n, sizeof in[0], bin, work, counts, 2);
    CHECK(counts[0] + counts[1] == n);
}

/* Searches for what is not there. */

static size_t find(weft *w, size_t begin, size_t end, void *arg)
{
    do_elements(begin, end, arg);
    return end;
}

static void use_find_first(weft *w, size_t n, struct work *work)
{
    CHECK(weft_find_first(w, 0, n, find, work) == n);
}

static void use_find_last(weft *w, size_t n, struct work *work)
{
    CHECK(weft_find_last(w, 0, n, find, work) == n);
}

static void use_find_any(weft *w, size_t n, struct work *work)
{
    CHECK(weft_find_any(w, 0, n, find, work) == n);
}

static bool is_none(weft *w, size_t begin, size_t end, void *arg)
{
    do_elements(begin, end, arg);
    return false;
}

static void use_any(weft *w, size_t n, struct work *work)
{
    CHECK(!weft_any(w, 0, n, is_none, work));
}

static bool is_one(weft *w, size_t begin, size_t end, void *arg)
{
    return !is_none(w, begin, end, arg);
}

static void use_all(weft *w, size_t n, struct work *work)
{
    CHECK(weft_all(w, 0, n, is_one, work));
}

/* Arrays. */

static void use_scan_inclusive(weft *w, size_t n, struct work *work)
{
    weft_scan_inclusive(w, in, n, sizeof in[0], combine, work, out);
    CHECK(out[n - 1] == (long)(n * (n - 1) / 2));
}

static void use_scan_exclusive(weft *w, size_t n, struct work *work)
{
    long zero = 0, total;
    weft_scan_exclusive(w, in, n, sizeof in[0], &zero, combine, work, out, &total);
    CHECK(total == (long)(n * (n - 1) / 2));
}

static bool keep(weft *w, const void *element, void *arg)
{
    do_element(arg);
    return *(const long *)element % 2 == 0;
}

static void use_filter(weft *w, size_t n, struct work *work)
{
    CHECK(weft_filter(w, in, n, sizeof in[0], keep, work, out) == n / 2);
}

static void use_partition(weft *w, size_t n, struct work *work)
{
    CHECK(weft_partition(w, in, n, sizeof in[0], keep, work, out, other) == n / 2);
}

static bool is_equal(weft *w, const void *a, const void *b, void *arg)
{
    do_element(arg);
    return *(const long *)a == *(const long *)b;
}

static void use_unique(weft *w, size_t n, struct work *work)
{
    CHECK(weft_unique(w, in, n, sizeof in[0], is_equal, work, out) == n);
}

/* Before it forks it has to know where to cut: what waits is the comparison of the first ones. */
static int compare(const void *a, const void *b, void *arg)
{
    struct work *work = arg;
    long x = *(const long *)a, y = *(const long *)b;
    if ((x == 0 && y == 0) || !pthread_equal(pthread_self(), work->caller))
        do_element(arg);
    return (x > y) - (x < y);
}

static void use_merge_sorted(weft *w, size_t n, struct work *work)
{
    weft_merge_sorted(w, in, n / 2, in, n / 2, sizeof in[0], compare, work, out);
    CHECK(out[n - 1] == (long)n / 2 - 1);
}

/* What is defined for one type has no argument. */

static struct work *current;

static inline long same(long number)
{
    do_element(current);
    return number;
}

static inline long sum_of(long a, long b)
{
    do_element(current);
    return a + b;
}

static inline bool is_even(long number)
{
    do_element(current);
    return number % 2 == 0;
}

WEFT_MAP_DEFINE(map_longs, long, same, long)
WEFT_SCAN_DEFINE(scan_longs, long, sum_of)
WEFT_FILTER_DEFINE(filter_longs, long, is_even)

static void use_map_define(weft *w, size_t n, struct work *work)
{
    current = work;
    map_longs(w, in, n, out);
}

static void use_scan_define(weft *w, size_t n, struct work *work)
{
    current = work;
    scan_longs(w, in, n, out);
    CHECK(out[n - 1] == (long)(n * (n - 1) / 2));
}

static void use_filter_define(weft *w, size_t n, struct work *work)
{
    current = work;
    CHECK(filter_longs(w, in, n, out) == n / 2);
}

static inline void visit(long *number)
{
    (void)number;
    do_element(current);
}

static inline bool is_none_of(long number, long value)
{
    do_element(current);
    return number == value;
}

static inline bool is_same(long a, long b)
{
    do_element(current);
    return a == b;
}

static inline size_t bin_of_long(long number)
{
    do_element(current);
    return (size_t)number % 2;
}

/* As compare() above. */
static inline bool is_less(long a, long b)
{
    if ((a == 0 && b == 0) || !pthread_equal(pthread_self(), current->caller))
        do_element(current);
    return a < b;
}

WEFT_FOR_EACH_DEFINE(visit_longs, long, visit)
WEFT_FIND_DEFINE(find_long, long, is_none_of, long)
WEFT_SCAN_EXCLUSIVE_DEFINE(scan_longs_before, long, 0, sum_of)
WEFT_UNIQUE_DEFINE(unique_longs, long, is_same)
WEFT_PARTITION_DEFINE(partition_longs, long, is_even)
WEFT_MERGE_SORTED_DEFINE(merge_longs, long, is_less)
WEFT_HISTOGRAM_DEFINE(count_longs, long, bin_of_long)

static void use_for_each_define(weft *w, size_t n, struct work *work)
{
    current = work;
    visit_longs(w, in, n);
}

static void use_find_define(weft *w, size_t n, struct work *work)
{
    current = work;
    CHECK(find_long(w, in, n, -1) == n);
}

static void use_scan_exclusive_define(weft *w, size_t n, struct work *work)
{
    long total;
    current = work;
    scan_longs_before(w, in, n, out, &total);
    CHECK(total == (long)(n * (n - 1) / 2));
}

static void use_unique_define(weft *w, size_t n, struct work *work)
{
    current = work;
    CHECK(unique_longs(w, in, n, out) == n);
}

static void use_partition_define(weft *w, size_t n, struct work *work)
{
    current = work;
    CHECK(partition_longs(w, in, n, out, other) == n / 2);
}

static void use_merge_define(weft *w, size_t n, struct work *work)
{
    current = work;
    merge_longs(w, in, n / 2, in, n / 2, out);
    CHECK(out[n - 1] == (long)n / 2 - 1);
}

static void use_histogram_define(weft *w, size_t n, struct work *work)
{
    size_t counts[2];
    current = work;
    count_longs(w, in, n, counts, 2);
    CHECK(counts[0] == n / 2);
}

/* ---- They are learnt to be cheap, and then are not ---- */

struct loops {
    use_fn *use;
    unsigned count;
    size_t n; /* elements of each */
    void (*element)(struct work *work);
};

static void run_loops(weft *w, void *arg)
{
    const struct loops *loops = arg;
    for (unsigned i = 0; i < loops->count; i++) {
        struct work work = {.element = loops->element, .caller = pthread_self()};
        loops->use(w, loops->n, &work);
    }
}

static void run(weft_pool *pool, use_fn *use, unsigned count, size_t n,
                void (*element)(struct work *))
{
    assert_int_equal(weft_run(pool, run_loops, &(struct loops){use, count, n, element}), 0);
}

static void learn_that_it_is_cheap(weft_pool *pool, use_fn *use)
{
    for (int i = 0; i < 50; i++)
        run(pool, use, 1, i < 10 ? LONG : SHORT, do_nothing);
}

static void learnt_to_be_cheap(void **state)
{
    use_fn *use = (use_fn *)(uintptr_t)*state;
    for (int i = 0; i < SIZES * 2; i++) {
        weft_pool *pool = pool_make(sizes[i % SIZES], ways_in[i / SIZES]);
        learn_that_it_is_cheap(pool, use);
        run(pool, use, 1, WAITING, wait_for_others);
        learn_that_it_is_cheap(pool, use);
        pool_wait_asleep(pool);
        run(pool, use, 1, WAITING, wait_for_others);
        pool_drop(pool);
    }
}

static void *state_of(use_fn *use)
{
    return (void *)(uintptr_t)use;
}

#define LEARNT(use) ((struct CMUnitTest){#use, learnt_to_be_cheap, NULL, NULL, state_of(use)})

/* Learnt where others did it, and then the first thing in a pool. */
static void first_loop_in_a_new_pool(void **state)
{
    weft_pool *school = pool_make(2, 0);
    for (int i = 0; i < SIZES * WAYS_IN; i++) {
        learn_that_it_is_cheap(school, use_for);
        weft_pool *pool = pool_make(sizes[i % SIZES], ways_in[i / SIZES]);
        run(pool, use_for, 1, WAITING, wait_for_others);
        pool_drop(pool);
    }
    pool_drop(school);
}

/* Loops that wait among many that don't, all in one job. */
static void run_mixed_loops(weft *w, void *arg)
{
    for (int i = 0; i < 5; i++) {
        run_loops(w, &(struct loops){use_for, 1000, SHORT, do_nothing});
        run_loops(w, &(struct loops){use_for, 1, WAITING, wait_for_others});
    }
}

static void many_short_loops_in_one_job(void **state)
{
    for (int i = 0; i < SIZES * WAYS_IN; i++) {
        weft_pool *pool = pool_make(sizes[i % SIZES], ways_in[i / SIZES]);
        for (int r = 0; r < 5; r++)
            assert_int_equal(weft_run(pool, run_mixed_loops, NULL), 0);
        pool_drop(pool);
    }
}

/* ---- After more than a second in which nobody did anything ---- */

enum { TRIALS = 3 };

static void try_after_silence(int trial, weft_pool *pool)
{
    if (trial == 0)
        expect_taken(pool);
    else if (trial == 1)
        run(pool, use_for, 1, WAITING, wait_for_others);
    else
        assert_int_equal(weft_run(pool, run_mixed_loops, NULL), 0);
}

/* All share the silence. */
static void found_after_silence(void **state)
{
    weft_pool *pools[TRIALS * SIZES * 2];
    for (int i = 0; i < TRIALS * SIZES * 2; i++) {
        pools[i] = pool_make(sizes[i % SIZES], ways_in[i / SIZES % 2]);
        learn_that_it_is_brief(pools[i]);
        learn_that_it_is_cheap(pools[i], use_for);
    }
    stay_silent();
    for (int i = 0; i < TRIALS * SIZES * 2; i++) {
        try_after_silence(i / SIZES / 2, pools[i]);
        pool_drop(pools[i]);
    }
}

/* ---- In one job, after a wait ---- */

/* Longer than the look-out stays when all wait, so that the job can't rely on it any more. */
enum { REST_NS = 30000000 };

struct pause {
    void (*wait)(weft *w, struct pause *pause); /* NULL: none, and all is brief */
    weft_fn *share;
    weft_event late;
    weft_task task; /* waits for it */
    bool has_task;
};

static void be_blocked(weft *w, struct pause *pause)
{
    weft_block_begin(w);
    nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
    weft_block_end(w);
}

static void wait_for_event(weft *w, struct pause *pause)
{
    CHECK(weft_event_wait_until(w, &pause->late, weft_now() + REST_NS) == -ETIMEDOUT);
}

static void wait_late(weft *w, void *event)
{
    weft_event_wait(w, event);
}

static void wait_for_task(weft *w, struct pause *pause)
{
    pause->has_task = true;
    CHECK(weft_submit(weft_pool_of(w), &pause->task, wait_late, &pause->late) == 0);
    CHECK(weft_task_wait_until(&pause->task, weft_now() + REST_NS) == -ETIMEDOUT);
}

static void (*const waits[])(weft *w, struct pause *pause) = {be_blocked, wait_for_event,
                                                              wait_for_task};

static void spawn_pair(weft *w, void *pair)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, right_side, pair) == 0);
    left_side(w, pair);
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void loop_over_pair(weft *w, void *arg)
{
    struct pair *pair = arg;
    struct work work = {.element = pair->waits ? wait_for_others : do_nothing,
                        .caller = pthread_self()};
    use_for(w, WAITING, &work);
}

static weft_fn *const ways_to_share[] = {join_pair, spawn_pair, loop_over_pair};

/* A worker may be told of the first pair, and has to be told of the second one, too. */
static void share_wait_share(weft *w, void *arg)
{
    struct pause *pause = arg;
    join_pair(w, &(struct pair){.waits = false});
    if (pause->wait)
        pause->wait(w, pause);
    pause->share(w, &(struct pair){.waits = pause->wait});
    weft_event_set(w, &pause->late);
    if (pause->has_task)
        CHECK(weft_task_wait(&pause->task) == 0);
}

static void expect_shared(weft_pool *pool, struct pause pause)
{
    weft_event_init(&pause.late, "late");
    weft_event_from_outside(&pause.late);
    assert_int_equal(weft_run(pool, share_wait_share, &pause), 0);
}

static void share_after_a_wait(weft_pool *pool, bool learns)
{
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++)
        for (size_t j = 0; j < sizeof ways_to_share / sizeof ways_to_share[0]; j++) {
            for (int k = 0; learns && k < 10; k++)
                expect_shared(pool, (struct pause){.share = ways_to_share[j]});
            expect_shared(pool, (struct pause){.wait = waits[i], .share = ways_to_share[j]});
        }
}

static void found_after_a_wait(void **state)
{
    for (int i = 0; i < SIZES * WAYS_IN; i++) {
        weft_pool *pool = pool_make(sizes[i % SIZES] + 1, ways_in[i / SIZES]);
        share_after_a_wait(pool, false);
        share_after_a_wait(pool, true);
        pool_drop(pool);
    }
}

int main(void)
{
    for (int i = 0; i < LONG; i++)
        in[i] = i;
    memset(lines, '\n', sizeof lines);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_side_of_a_brief_pair),
        cmocka_unit_test(right_side_while_all_sleep),
        cmocka_unit_test(right_side_in_a_new_pool),
        cmocka_unit_test(right_side_after_many_brief_ones),
        cmocka_unit_test(child_after_many_brief_ones),
        LEARNT(use_for),
        LEARNT(use_for_min),
        LEARNT(use_for_again),
        LEARNT(use_for_2d),
        LEARNT(use_for_3d),
        LEARNT(use_for_each),
        LEARNT(use_map),
        LEARNT(use_for_with),
        LEARNT(use_for_lines),
        LEARNT(use_reduce),
        LEARNT(use_reduce_unordered),
        LEARNT(use_array_reduce),
        LEARNT(use_map_reduce),
        LEARNT(use_count),
        LEARNT(use_histogram),
        LEARNT(use_find_first),
        LEARNT(use_find_last),
        LEARNT(use_find_any),
        LEARNT(use_any),
        LEARNT(use_all),
        LEARNT(use_scan_inclusive),
        LEARNT(use_scan_exclusive),
        LEARNT(use_filter),
        LEARNT(use_partition),
        LEARNT(use_unique),
        LEARNT(use_merge_sorted),
        LEARNT(use_map_define),
        LEARNT(use_scan_define),
        LEARNT(use_filter_define),
        LEARNT(use_for_each_define),
        LEARNT(use_find_define),
        LEARNT(use_scan_exclusive_define),
        LEARNT(use_unique_define),
        LEARNT(use_partition_define),
        LEARNT(use_merge_define),
        LEARNT(use_histogram_define),
        cmocka_unit_test(first_loop_in_a_new_pool),
        cmocka_unit_test(many_short_loops_in_one_job),
        cmocka_unit_test(found_after_silence),
        cmocka_unit_test(found_after_a_wait),
    };
    return RUN_ON_ALL_ROADS(tests);
}
