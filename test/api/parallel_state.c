/* SPDX-License-Identifier: MIT */
/* parallel_state.c: what bodies have for themselves. */
#include "property.h"
#include "weft/lines.h"
#include "weft/parallel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sum {
    atomic_bool is_used;
    size_t sum;
};

struct loop {
    atomic_size_t made, dropped;
    size_t sum;
    bool slow, nested;
};

static void sum_make(weft *w, void *state, void *arg)
{
    static const struct sum zero;
    struct loop *loop = arg;
    HOLDS(memcmp(state, &zero, sizeof zero) == 0);
    atomic_fetch_add(&loop->made, 1);
}

static void sum_drop(weft *w, void *state, void *arg)
{
    struct sum *sum = state;
    struct loop *loop = arg;
    HOLDS(!atomic_load(&sum->is_used));
    loop->sum += sum->sum;
    atomic_fetch_add(&loop->dropped, 1);
}

static void dawdle_only(weft *w, size_t begin, size_t end, void *arg)
{
    dawdle(begin);
}

static void sum_range(weft *w, size_t begin, size_t end, void *state, void *arg)
{
    struct loop *loop = arg;
    struct sum *sum = state;
    HOLDS(!atomic_exchange(&sum->is_used, true)); /* by nobody else meanwhile */
    for (size_t i = begin; i < end; i++) {
        sum->sum += i;
        if (loop->slow)
            dawdle(i);
    }
    if (loop->nested) /* waits, and runs parts of the same loop meanwhile */
        weft_for(w, 0, 20, dawdle_only, NULL);
    HOLDS(atomic_exchange(&sum->is_used, false));
}

/* The other loops, all over the numbers from 0 to n - 1. */

enum { COLUMNS = 7 };

static void sum_box(weft *w, const weft_box *box, void *state, void *arg)
{
    for (size_t i = box->begin[0]; i < box->end[0]; i++)
        for (size_t j = box->begin[1]; j < box->end[1]; j++)
            sum_range(w, i * COLUMNS + j, i * COLUMNS + j + 1, state, arg);
}

static void sum_cube(weft *w, const weft_box *box, void *state, void *arg)
{
    for (size_t k = box->begin[0]; k < box->end[0]; k++)
        sum_box(w, &(weft_box){{box->begin[1], box->begin[2]}, {box->end[1], box->end[2]}}, state,
                arg);
}

static void sum_element(weft *w, void *element, void *state, void *arg)
{
    size_t number = *(size_t *)element;
    sum_range(w, number, number + 1, state, arg);
}

static void sum_lines(weft *w, const char *begin, const char *end, void *state, void *arg)
{
    weft_text line;
    while (weft_line_next(&begin, end, &line)) {
        size_t number = strtoul(line.bytes, NULL, 10);
        sum_range(w, number, number + 1, state, arg);
    }
}

static void sum_array(weft *w, size_t n, const weft_state *kind, struct loop *loop)
{
    size_t *numbers = malloc((n + 1) * sizeof *numbers);
    HOLDS(numbers);
    for (size_t i = 0; i < n; i++)
        numbers[i] = i;
    weft_for_each_with(w, numbers, n, sizeof *numbers, kind, sum_element, loop);
    free(numbers);
}

static void sum_text(weft *w, size_t n, const weft_state *kind, struct loop *loop)
{
    char *bytes = malloc(8 * n + 1), *at = bytes;
    HOLDS(bytes);
    for (size_t i = 0; i < n; i++)
        at += sprintf(at, "%zu\n", i);
    weft_for_lines_with(w, &(weft_text){bytes, (size_t)(at - bytes)}, kind, sum_lines, loop);
    free(bytes);
}

static void sum_any(weft *w, unsigned way, size_t n, const weft_state *kind, struct loop *loop)
{
    switch (way) {
    case 0:
        weft_for_with(w, 0, n, kind, sum_range, loop);
        break;
    case 1:
        weft_for_2d_with(w, &(weft_box){{0, 0}, {n / COLUMNS, COLUMNS}}, kind, sum_box, loop);
        break;
    case 2:
        weft_for_3d_with(w, &(weft_box){{0, 0, 0}, {1, n / COLUMNS, COLUMNS}}, kind, sum_cube,
                         loop);
        break;
    case 3:
        sum_array(w, n, kind, loop);
        break;
    default:
        sum_text(w, n, kind, loop);
    }
}

static void states(weft *w, struct dice *dice)
{
    static const weft_state kind = {sizeof(struct sum), sum_make, sum_drop};
    struct loop loop = {.slow = dice_below(dice, 2), .nested = dice_below(dice, 3) == 0};
    unsigned way = (unsigned)dice_below(dice, 5);
    size_t n = dice_size(dice, way ? 2000 : loop.slow ? 10000 : 100000) / COLUMNS * COLUMNS;
    sum_any(w, way, n, &kind, &loop);
    HOLDS(loop.sum == (n ? n * (n - 1) / 2 : 0));
    size_t made = atomic_load(&loop.made);
    HOLDS(made == atomic_load(&loop.dropped) && (made > 0) == (n > 0));
    /* Once for each of the workers and this guest. */
    HOLDS(loop.nested || made <= weft_pool_workers(weft_pool_of(w)) + 1);
}

static void states_are_one_for_each_worker(void **state)
{
    property_holds(states, SCALED(60, 5));
}

static void sum_bare(weft *w, size_t begin, size_t end, void *state, void *arg)
{
    *(size_t *)state += end - begin;
    if (begin > 1000)
        weft_fail(w, -EDOM);
}

static void bare_job(weft *w, void *arg)
{
    weft_for_with(w, 0, SIZE_MAX, &(weft_state){.size = sizeof(size_t)}, sum_bare, NULL);
}

static void states_need_no_functions(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, bare_job, NULL), -EDOM);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_are_one_for_each_worker),
        cmocka_unit_test(states_need_no_functions),
    };
    return RUN_ON_ALL_ROADS(tests);
}
