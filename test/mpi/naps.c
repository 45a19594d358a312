/* SPDX-License-Identifier: MIT */
/* naps.c: how long naps are, on a clock that the test moves. */
#include "../../mpi/naps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <cmocka.h>

static const uint64_t us = 1000, ms = 1000000, second = 1000000000;

/* A thread that looks and naps: a look takes no time, and a nap COST of CPU time. */
enum { COST = 50000 };

struct thread {
    struct weft__naps naps;
    uint64_t now;
};

static struct thread begin(uint64_t now)
{
    struct thread t = {.now = now};
    for (int i = 0; i < 50; i++)
        weft__naps_learn(&t.naps, COST);
    weft__naps_begin_anew(&t.naps, now);
    return t;
}

static int64_t nap(struct thread *t)
{
    int64_t ns = weft__naps_next(&t->naps, t->now);
    t->now += (uint64_t)ns;
    return ns;
}

/* No later than a third, and 64 ms; and a wait of a second costs less than 4 ms. */
static void naps_are_a_third_and_cheap(void **state)
{
    (void)state;
    for (uint64_t start = 0; start < 20; start++) {
        struct thread t = begin(77 * second + start * 13 * ms);
        uint64_t first = t.now;
        int looks = 0;
        while (t.now - first < second) {
            int64_t third = (int64_t)(t.now - first) / 3, ns = nap(&t);
            assert_true(ns >= WEFT__NAPS_FIRST && ns <= WEFT__NAPS_LAST);
            assert_true(ns <= third || ns == WEFT__NAPS_FIRST);
            looks++;
        }
        assert_true(looks * COST < 4 * (int64_t)ms);
    }
}

/* Expensive looks make early naps longer than cheap ones, but not longer than a third. */
static void early_naps_are_as_short_as_they_cost(void **state)
{
    (void)state;
    struct thread cheap = begin(second), dear = begin(second);
    for (int i = 0; i < 50; i++)
        weft__naps_learn(&cheap.naps, COST / 10);
    cheap.now = dear.now = second + 5 * ms;
    assert_in_range(weft__naps_next(&cheap.naps, cheap.now), 19 * COST / 10, 21 * COST / 10);
    assert_in_range(weft__naps_next(&dear.naps, dear.now), 19 * COST, 21 * COST);
}

/* Whenever a thread began to wait: once its naps are long, it looks four times at each meeting. */
static void all_meet(void **state)
{
    (void)state;
    for (uint64_t start = 0; start < 40; start++) {
        struct thread t = begin(second + start * 17 * ms + start * 7 * us);
        uint64_t from = (t.now + 300 * ms) / WEFT__NAPS_MEET + 1, n = 8;
        int looks[8] = {0};
        while (t.now < (from + n) * WEFT__NAPS_MEET) {
            uint64_t meeting = t.now / WEFT__NAPS_MEET;
            if (meeting >= from && t.now % WEFT__NAPS_MEET < 200 * us)
                looks[meeting - from]++;
            nap(&t);
        }
        for (uint64_t i = 0; i < n; i++)
            assert_int_equal(looks[i], 4);
    }
}

static void naps_are_short_while_bytes_move(void **state)
{
    (void)state;
    struct thread t = begin(second);
    t.now += second;
    weft__naps_expect(&t.naps, t.now, 1000000);
    weft__naps_expect(&t.naps, t.now, 1000); /* does not end it sooner */
    uint64_t until = t.now + 10 * ms;
    while (t.now < until)
        assert_int_equal(nap(&t), WEFT__NAPS_FIRST);
    assert_true(nap(&t) > WEFT__NAPS_LONG);
    weft__naps_expect(&t.naps, t.now, 1000000);
    assert_int_equal(nap(&t), WEFT__NAPS_FIRST);
    weft__naps_arrived(&t.naps);
    assert_true(nap(&t) > WEFT__NAPS_FIRST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(naps_are_a_third_and_cheap),
        cmocka_unit_test(early_naps_are_as_short_as_they_cost),
        cmocka_unit_test(all_meet),
        cmocka_unit_test(naps_are_short_while_bytes_move),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
