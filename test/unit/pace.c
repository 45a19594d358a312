/* SPDX-License-Identifier: MIT */
/* pace.c: how many elements make a stretch is learnt, slow ones at once. */
#include "parallel/pace.h"
#include "check.h"
#include "weft/parallel.h"

static void one(void)
{
}

static void another(void)
{
    one();
}

static void unknown_bodies_begin_with_one_element(void **state)
{
    struct weft__pacer pacer;
    assert_int_equal(weft__pace_stretch(WEFT__KEY(one)), 0);
    weft__pacer_plan(&pacer, WEFT__KEY(one), 1000, 1, 0);
    assert_int_equal(pacer.leaf, 1);
    assert_false(pacer.quiet);
    weft__pacer_plan(&pacer, WEFT__KEY(one), 1000, 10, 0);
    assert_int_equal(pacer.leaf, 19); /* 20 have two halves of 10 */
    weft__pacer_plan(&pacer, WEFT__KEY(one), 1000, SIZE_MAX, 0);
    assert_int_equal(pacer.leaf, SIZE_MAX);
}

static void slow_ones_count_at_once(void **state)
{
    weft__key *key = WEFT__KEY(one);
    weft__pace_learn(key, 1000, WEFT__STRETCH_NS);
    assert_int_equal(weft__pace_stretch(key), 1000);
    weft__pace_learn(key, 1800, WEFT__STRETCH_NS);
    assert_int_equal(weft__pace_stretch(key), 1100); /* an eighth of the way */
    weft__pace_learn(key, 10, WEFT__STRETCH_NS);
    assert_int_equal(weft__pace_stretch(key), 10);
    weft__pace_learn(key, 1, WEFT__STRETCH_NS * 1000);
    assert_int_equal(weft__pace_stretch(key), 0);
    weft__pace_learn(key, 1, WEFT__STRETCH_NS);
    assert_int_equal(weft__pace_stretch(key), 1); /* and there is a way back */
    assert_int_equal(weft__pace_stretch(WEFT__KEY(another)), 0);
}

static void short_times_are_the_clocks(void **state)
{
    weft__key *key = WEFT__KEY(another);
    weft__pace_learn(key, 1000, WEFT__STRETCH_NS);
    weft__pace_learn(key, 1, 100); /* 200 in a stretch, says the clock */
    assert_int_equal(weft__pace_stretch(key), 1000);
    weft__pace_learn(key, SIZE_MAX, 0); /* no overflow */
    assert_true(weft__pace_stretch(key) > 1000);
}

static void what_is_soon_over_is_quiet(void **state)
{
    weft__key *key = WEFT__KEY(short_times_are_the_clocks);
    struct weft__pacer pacer;
    weft__pace_learn(key, 100, WEFT__STRETCH_NS);
    weft__pacer_plan(&pacer, key, 299, 1, 0);
    assert_true(pacer.quiet);
    assert_int_equal(pacer.leaf, 37); /* an eighth */
    weft__pacer_plan(&pacer, key, 300, 1, 0);
    assert_false(pacer.quiet);
    assert_int_equal(pacer.open, 0);
    weft__pacer_plan(&pacer, key, 1000, 1, 0); /* halves of 500, five stretches */
    assert_int_equal(pacer.open, 1);
    weft__pacer_plan(&pacer, key, 4000, 1, 0); /* 2000, 1000, 500 */
    assert_int_equal(pacer.open, 3);
    assert_int_equal(pacer.leaf, 100);
}

/* A stretch is shared with those who search, even if it is a short one. */
static void searchers_are_served(void **state)
{
    weft__key *key = WEFT__KEY(slow_ones_count_at_once);
    struct weft__pacer pacer;
    weft__pace_learn(key, 100, WEFT__STRETCH_NS);
    static const unsigned forks[] = {0, 1, 2, 2, 3};
    for (unsigned searchers = 0; searchers < 5; searchers++) {
        weft__pacer_plan(&pacer, key, 99, 1, searchers);
        assert_int_equal(pacer.open, 0);
        weft__pacer_plan(&pacer, key, 100, 1, searchers);
        assert_int_equal(pacer.open, forks[searchers]);
    }
    weft__pacer_plan(&pacer, key, 4000, 1, 1);
    assert_int_equal(pacer.open, 3);
}

/* One in 64, whatever it takes turns with. */
static void everybody_is_timed(void **state)
{
    uint32_t turns = 0;
    unsigned timed = 0;
    for (int i = 0; i < 64000; i++)
        timed += weft__pace_is_turn(&turns);
    assert_in_range(timed, 900, 1100);
    for (unsigned period = 1; period <= 64; period++)
        for (unsigned mine = 0; mine < period; mine++) {
            bool was_mine = false;
            for (unsigned i = 0; i < 1000 * period; i++)
                was_mine |= weft__pace_is_turn(&turns) && i % period == mine;
            assert_true(was_mine);
        }
}

static void little_is_concluded_from_few(void **state)
{
    weft__key *key = WEFT__KEY(everybody_is_timed);
    weft__pace_learn(key, 1, 10); /* 2000 in a stretch, but one was seen */
    assert_int_equal(weft__pace_stretch(key), 8);
    weft__pace_learn(key, 1000, WEFT__STRETCH_NS);
    for (int i = 0; i < 100; i++)
        weft__pace_learn(key, 10, 1);
    assert_int_equal(weft__pace_stretch(key), 132); /* 8, and an eighth of the way to 1000 */
}

/* Two that fall on one place. */
static void neighbours_are_both_known(void **state)
{
    uintptr_t one_key = 16, other = 16;
    do
        other += 16;
    while (weft__pace_place(weft__pace_hash((weft__key *)other)) !=
           weft__pace_place(weft__pace_hash((weft__key *)one_key)));
    for (int i = 0; i < 3; i++) {
        weft__pace_learn((weft__key *)one_key, 100, WEFT__STRETCH_NS);
        weft__pace_learn((weft__key *)other, 200, WEFT__STRETCH_NS);
    }
    assert_int_equal(weft__pace_stretch((weft__key *)one_key), 100);
    assert_int_equal(weft__pace_stretch((weft__key *)other), 200);
}

/* ---- What stops early says nothing about how long its elements take ---- */

static size_t find_here(weft *w, size_t begin, size_t end, void *arg)
{
    return begin < end ? begin : end;
}

static size_t find_last_here(weft *w, size_t begin, size_t end, void *arg)
{
    return begin < end ? end - 1 : end;
}

static bool test_here(weft *w, size_t begin, size_t end, void *arg)
{
    return true;
}

static void fold_here(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    *(uint64_t *)accumulator = 1;
}

static void fold_there(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    fold_here(w, begin, end, accumulator, arg);
}

static void combine(weft *w, void *left, const void *right, void *arg)
{
    *(uint64_t *)left |= *(const uint64_t *)right;
}

static bool halt(weft *w, const void *accumulator, void *arg)
{
    return *(const uint64_t *)accumulator;
}

static void stop_early(weft *w, void *arg)
{
    const size_t n = (size_t)1 << 40;
    weft_reducer reducer = {
        .size = sizeof(uint64_t), .fold = fold_here, .combine = combine, .halt = halt};
    uint64_t sum;
    for (int i = 0; i < 100; i++) {
        CHECK(weft_find_first(w, 0, n, find_here, NULL) == 0);
        CHECK(weft_find_last(w, 0, n, find_last_here, NULL) == n - 1);
        CHECK(weft_any(w, 0, n, test_here, NULL));
        reducer.fold = fold_here;
        weft_reduce(w, 0, n, &reducer, NULL, &sum);
        reducer.fold = fold_there;
        weft_reduce_unordered(w, 0, n, &reducer, NULL, &sum);
    }
}

static void early_stops_teach_nothing(void **state)
{
    CHECK(weft_run(NULL, stop_early, NULL) == 0);
    assert_int_equal(weft__pace_stretch(WEFT__KEY(find_here)), 0);
    assert_int_equal(weft__pace_stretch(WEFT__KEY(find_last_here)), 0);
    assert_int_equal(weft__pace_stretch(WEFT__KEY(test_here)), 0);
    assert_int_equal(weft__pace_stretch(WEFT__KEY(fold_here)), 0);
    assert_int_equal(weft__pace_stretch(WEFT__KEY(fold_there)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_bodies_begin_with_one_element),
        cmocka_unit_test(slow_ones_count_at_once),
        cmocka_unit_test(short_times_are_the_clocks),
        cmocka_unit_test(what_is_soon_over_is_quiet),
        cmocka_unit_test(searchers_are_served),
        cmocka_unit_test(everybody_is_timed),
        cmocka_unit_test(little_is_concluded_from_few),
        cmocka_unit_test(neighbours_are_both_known),
        cmocka_unit_test(early_stops_teach_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
