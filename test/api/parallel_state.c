/* SPDX-License-Identifier: MIT */
/* parallel_state.c: what bodies have for themselves. */
#include "property.h"
#include "weft/parallel.h"

#include <errno.h>
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

static void states(weft *w, struct dice *dice)
{
    static const weft_state kind = {sizeof(struct sum), sum_make, sum_drop};
    struct loop loop = {.slow = dice_below(dice, 2), .nested = dice_below(dice, 3) == 0};
    size_t n = dice_size(dice, loop.slow ? 10000 : 100000);
    weft_for_with(w, 0, n, &kind, sum_range, &loop);
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
