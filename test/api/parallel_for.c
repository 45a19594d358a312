/* SPDX-License-Identifier: MIT */
/* parallel_for.c: loops do each element once, whoever takes what. */
#include "child.h"
#include "property.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

/* ---- Each element once ---- */

struct marks {
    unsigned char *count; /* of element `begin` first */
    size_t begin, end, min;
    atomic_size_t calls;
    bool slow;
};

static void mark_range(weft *w, size_t begin, size_t end, void *arg)
{
    struct marks *marks = arg;
    HOLDS(marks->begin <= begin && begin < end && end <= marks->end);
    HOLDS(end - begin >= marks->min || marks->end - marks->begin < marks->min);
    for (size_t i = begin; i < end; i++) {
        marks->count[i - marks->begin]++;
        if (marks->slow)
            dawdle(i);
    }
    atomic_fetch_add(&marks->calls, 1);
}

static void each_once(weft *w, struct dice *dice)
{
    struct marks marks = {.slow = dice_below(dice, 2)};
    size_t n = dice_size(dice, marks.slow ? 10000 : 300000);
    marks.begin = dice_below(dice, 2) ? SIZE_MAX - n - dice_below(dice, 2) : dice_below(dice, 100);
    marks.end = marks.begin + n;
    marks.count = calloc(n + 1, 1);
    HOLDS(marks.count);
    if (dice_below(dice, 2)) {
        weft_for(w, marks.begin, marks.end, mark_range, &marks);
    } else {
        marks.min = 1 + dice_size(dice, 2 * n);
        weft_for_min(w, marks.begin, marks.end, marks.min, mark_range, &marks);
    }
    for (size_t i = 0; i < n; i++)
        HOLDS(marks.count[i] == 1);
    HOLDS(n > 0 || atomic_load(&marks.calls) == 0);
    free(marks.count);
}

static void loops_do_each_element_once(void **state)
{
    property_holds(each_once, SCALED(120, 5));
}

/* ---- Loops in loops ---- */

struct table {
    size_t rows, columns;
    atomic_uchar *count;
};

struct row {
    struct table *table;
    size_t i;
};

static void mark_cells(weft *w, size_t begin, size_t end, void *arg)
{
    struct row *row = arg;
    for (size_t i = begin; i < end; i++) {
        atomic_fetch_add(&row->table->count[row->i * row->table->columns + i], 1);
        dawdle(i);
    }
}

static void mark_rows(weft *w, size_t begin, size_t end, void *arg)
{
    struct table *table = arg;
    for (size_t i = begin; i < end; i++)
        weft_for(w, 0, table->columns, mark_cells, (&(struct row){table, i}));
}

static void nested(weft *w, struct dice *dice)
{
    struct table table = {dice_size(dice, 100), dice_size(dice, 500), NULL};
    table.count = calloc(table.rows * table.columns + 1, sizeof table.count[0]);
    HOLDS(table.count);
    weft_for(w, 0, table.rows, mark_rows, &table);
    for (size_t i = 0; i < table.rows * table.columns; i++)
        HOLDS(atomic_load(&table.count[i]) == 1);
    free(table.count);
}

static void loops_nest(void **state)
{
    property_holds(nested, SCALED(40, 4));
}

/* ---- Two elements that can only go on together: somebody has to take one ---- */

static void meet(weft *w, size_t begin, size_t end, void *arg)
{
    atomic_size_t *arrived = arg;
    atomic_fetch_add(arrived, end - begin);
    WAIT_UNTIL(atomic_load(arrived) == 2);
}

static void meet_job(weft *w, void *arg)
{
    weft_for(w, 0, 2, meet, arg);
}

static void two_elements_run_at_once(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < rounds_of(100); i++) {
        atomic_size_t arrived = 0;
        assert_int_equal(weft_run(pool, meet_job, &arrived), 0);
    }
    pool_drop(pool);
}

/* ---- Failure ends a loop ---- */

struct fails {
    atomic_size_t calls;
    size_t after;
};

/* However few the elements of a range are, it takes a while: so ranges stay short. */
static void fail_after(weft *w, size_t begin, size_t end, void *arg)
{
    enum { WHILE_NS = 20000 };
    struct fails *fails = arg;
    for (uint64_t start = weft_now(); weft_now() - start < WHILE_NS;)
        ;
    if (atomic_fetch_add(&fails->calls, 1) == fails->after)
        weft_fail(w, -EDOM);
}

static void endless_job(weft *w, void *arg)
{
    weft_for(w, 0, SIZE_MAX, fail_after, arg);
}

static void failure_ends_an_endless_loop(void **state)
{
    for (unsigned workers = 1; workers <= 3; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        for (size_t i = 0; i < 50; i++) {
            struct fails fails = {.after = i};
            assert_int_equal(weft_run(pool, endless_job, &fails), -EDOM);
        }
        pool_drop(pool);
    }
}

static void failed_job(weft *w, void *arg)
{
    struct fails *fails = arg;
    weft_fail(w, -EDOM);
    weft_for(w, 0, 10, fail_after, fails);
    weft_for(w, 0, SIZE_MAX, fail_after, fails);
    CHECK(atomic_load(&fails->calls) == 0);
}

static void failed_computations_start_no_loop(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    struct fails fails = {.after = SIZE_MAX};
    assert_int_equal(weft_run(pool, failed_job, &fails), -EDOM);
    pool_drop(pool);
}

/* ---- Nothing to do ---- */

static void never(weft *w, size_t begin, size_t end, void *arg)
{
    CHECK(false);
}

static void nothing_job(weft *w, void *arg)
{
    weft_for(w, 0, 0, never, NULL);
    weft_for(w, SIZE_MAX, SIZE_MAX, never, NULL);
    weft_for_min(w, 2, 1, 3, never, NULL);
}

static void backwards_job(weft *w, void *arg)
{
    weft_for_checked_(w, 2, 1, never, NULL, "here:1");
}

static void run_backwards(void *arg)
{
    weft_run(NULL, backwards_job, NULL);
}

static void empty_ranges_are_no_calls(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, nothing_job, NULL), 0);
    pool_drop(pool);
    expect_abort(run_backwards, NULL, WORDS("here:1", "ends before it begins"));
}

/* However long a loop is: as long as a call takes no time, the next one gets more. */
static atomic_size_t done, calls;

static void take_no_time(weft *w, size_t begin, size_t end, void *arg)
{
    atomic_fetch_add(&done, end - begin);
    atomic_fetch_add(&calls, 1);
}

static void longest_job(weft *w, void *arg)
{
    weft_for(w, 0, SIZE_MAX, take_no_time, NULL);
}

static void longest_loop_ends(void **state)
{
    enum { MANY = 1000000 };
    weft_pool *pool = pool_make(2, 0);
    atomic_store(&done, 0);
    atomic_store(&calls, 0);
    assert_int_equal(weft_run(pool, longest_job, NULL), 0);
    assert_true(atomic_load(&done) == SIZE_MAX);
    assert_true(atomic_load(&calls) < MANY);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_do_each_element_once),
        cmocka_unit_test(loops_nest),
        cmocka_unit_test(two_elements_run_at_once),
        cmocka_unit_test(failure_ends_an_endless_loop),
        cmocka_unit_test(failed_computations_start_no_loop),
        cmocka_unit_test(empty_ranges_are_no_calls),
        cmocka_unit_test(longest_loop_ends),
    };
    return RUN_ON_ALL_ROADS(tests);
}
