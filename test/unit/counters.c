/* SPDX-License-Identifier: MIT */
/* counters.c: the counters protocol and its variants: when they sleep, and how many are woken. */
#include "unit/house.h"

static const enum weft_sleep protocols[] = {
    WEFT_SLEEP_COUNTERS,     WEFT_SLEEP_COUNTERS_LOCAL, WEFT_SLEEP_COUNTERS_BLOCKS,
    WEFT_SLEEP_COUNTERS_ALL, WEFT_SLEEP_COUNTERS_TWO,
};

enum { PROTOCOLS = sizeof protocols / sizeof protocols[0], DOZE_NS = 1000 };

/* ---- One thread: up to the last look ---- */

/* Nobody gets sleepy first: after so many searches in vain it would sleep. Then it starts over. */
static void rounds_before_sleep(void **state)
{
    for (int p = 0; p < PROTOCOLS; p++) {
        for (unsigned rounds = 0; rounds < 4; rounds++) {
            struct house house;
            house_open(&house, protocols[p], rounds, WEFT__JEC_BITS);
            house.last_look = look_while_counted;
            start_looking(&house, 0);
            for (unsigned tries = 1; tries < 4; tries++) {
                for (unsigned i = 0; i <= rounds; i++) {
                    assert_int_equal(house.looks, tries - 1);
                    assert_false(no_work(&house, 0));
                }
                assert_int_equal(house.looks, tries);
                expect_counts(&house, 1, 0);
                expect_awake(&house, 0);
            }
            house_close(&house);
        }
    }
}

/* Whatever comes between counting itself and sleep nudges it. */
static void events_during_the_last_look(void **state)
{
    bool (*const events[])(struct house *) = {post_job, post_fork, set_its_latch};
    for (int p = 0; p < PROTOCOLS; p++) {
        for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
            struct house house;
            house_open(&house, protocols[p], 0, WEFT__JEC_BITS);
            house.last_look = events[i];
            start_looking(&house, 0);
            assert_false(no_work(&house, 0));
            assert_int_equal(house.looks, 1);
            expect_counts(&house, 1, 0);
            expect_awake(&house, 0);
            house_close(&house);
        }
    }
}

static void latch_set_before_sleep(void **state)
{
    struct house house;
    house_open(&house, WEFT_SLEEP_COUNTERS, 0, WEFT__JEC_BITS);
    start_looking(&house, 0);
    assert_false(weft__latch_set(&house.mice[0].latch));
    assert_false(no_work(&house, 0));
    assert_int_equal(house.looks, 0);
    expect_counts(&house, 1, 0);
    expect_awake(&house, 0);
    house_close(&house);
}

/* ---- Real sleepers ---- */

static void each_post_wakes_one(void **state)
{
    struct house house;
    put_to_sleep(&house, WEFT_SLEEP_COUNTERS, 4);
    weft__sleep_new_jobs(&house.sleep, 3, false);
    expect_counts(&house, 1, 3);
    weft__sleep_new_jobs(&house.sleep, 1, false); /* one is idle: enough */
    assert_true(weft__sleep_new_fork(&house.sleep, true));
    assert_true(weft__sleep_new_fork(&house.sleep, false));
    expect_counts(&house, 1, 3);
    weft__sleep_new_jobs(&house.sleep, 3, false);
    expect_counts(&house, 2, 2);
    wake_up(&house, 4);
}

static void a_fork_wakes_one_if_nobody_is_idle(void **state)
{
    for (int p = 0; p < PROTOCOLS; p++) {
        struct house house;
        unsigned woken = protocols[p] == WEFT_SLEEP_COUNTERS_TWO ? 2 : 1;
        put_to_sleep(&house, protocols[p], 3);
        assert_true(weft__sleep_new_fork(&house.sleep, true)); /* one is awake: two, or four */
        expect_counts(&house, woken, 3 - woken);
        wake_up(&house, 3);
    }
}

/* A post wakes until two are idle; one that is not enough for so many jobs, one more. */
static void two_idle_are_the_aim(void **state)
{
    struct house house;
    put_to_sleep(&house, WEFT_SLEEP_COUNTERS_TWO, 4);
    weft__sleep_new_jobs(&house.sleep, 1, false);
    expect_counts(&house, 2, 2);
    weft__sleep_new_jobs(&house.sleep, 1, false); /* two are idle: enough */
    weft__sleep_new_jobs(&house.sleep, 2, false);
    assert_true(weft__sleep_new_fork(&house.sleep, true));
    expect_counts(&house, 2, 2);
    weft__sleep_new_jobs(&house.sleep, 9, false);
    expect_counts(&house, 3, 1);
    wake_up(&house, 4);

    put_to_sleep(&house, WEFT_SLEEP_COUNTERS_TWO, 3);
    start_looking(&house, 3); /* one is idle: one too few */
    assert_true(weft__sleep_new_fork(&house.sleep, true));
    expect_counts(&house, 2, 2);
    assert_false(work_found(&house, 3));
    weft__sleep_new_jobs(&house.sleep, 1, false);
    expect_counts(&house, 2, 1);
    wake_up(&house, 3);
}

static void all_known_jobs_wake_as_many(void **state)
{
    struct house house;
    put_to_sleep(&house, WEFT_SLEEP_COUNTERS_ALL, 4);
    weft__sleep_new_jobs(&house.sleep, 2, false);
    expect_counts(&house, 2, 2);
    weft__sleep_new_jobs(&house.sleep, 3, false); /* one too few */
    expect_counts(&house, 3, 1);
    weft__sleep_new_jobs(&house.sleep, 9, false);
    expect_counts(&house, 4, 0);
    wake_up(&house, 4);
}

/* 0 awake: to 1; then 1 to 2, 2 to 4. */
static void blocks_fill_up_powers_of_two(void **state)
{
    struct house house;
    put_to_sleep(&house, WEFT_SLEEP_COUNTERS_BLOCKS, 4);
    weft__sleep_new_jobs(&house.sleep, 4, false);
    expect_counts(&house, 1, 3);
    weft__sleep_new_jobs(&house.sleep, 4, false);
    expect_counts(&house, 2, 2);
    weft__sleep_new_jobs(&house.sleep, 2, false); /* two are idle: enough */
    expect_counts(&house, 2, 2);
    weft__sleep_new_jobs(&house.sleep, 3, false);
    expect_counts(&house, 4, 0);
    wake_up(&house, 4);

    put_to_sleep(&house, WEFT_SLEEP_COUNTERS_BLOCKS, 2); /* two are at work */
    assert_true(weft__sleep_new_fork(&house.sleep, true));
    expect_counts(&house, 2, 0);
    wake_up(&house, 2);
}

static void local_asks_the_deque(void **state)
{
    struct house house;
    put_to_sleep(&house, WEFT_SLEEP_COUNTERS_LOCAL, 3);
    atomic_fetch_add_relaxed(&house.sleep.counters, LOOKOUT); /* somebody will look */
    assert_true(weft__sleep_new_fork(&house.sleep, true));
    expect_counts(&house, 0, 3);
    assert_true(weft__sleep_new_fork(&house.sleep, false));
    assert_true(weft__sleep_new_fork(&house.sleep, false)); /* whoever is idle */
    expect_counts(&house, 2, 1);
    weft__sleep_new_jobs(&house.sleep, 2, false); /* from outside: the counts decide */
    expect_counts(&house, 2, 1);
    atomic_fetch_sub_relaxed(&house.sleep.counters, LOOKOUT);
    assert_true(weft__sleep_new_fork(&house.sleep, true)); /* nobody would ever look */
    expect_counts(&house, 3, 0);
    assert_true(weft__sleep_new_fork(&house.sleep, false));
    wake_up(&house, 3);
}

static void guests_take_room(void **state)
{
    for (int p = 0; p < PROTOCOLS; p++) {
        struct house house;
        put_to_sleep(&house, protocols[p], 2);
        weft__sleep_guest_entered(&house.sleep);
        weft__sleep_guest_entered(&house.sleep);
        assert_false(weft__sleep_new_fork(&house.sleep, false));
        expect_counts(&house, 0, 2);
        weft__sleep_new_jobs(&house.sleep, 1, false);
        expect_counts(&house, 0, 2);
        weft__sleep_guest_gone(&house.sleep);
        assert_true(weft__sleep_room_made(&house.sleep));
        weft__sleep_new_jobs(&house.sleep, 1, false);
        expect_counts(&house, 1, 1);
        wake_up(&house, 2);
    }
}

/* What was missed is found by the look-out, on the eager road too. */
static void there_is_a_look_out(void **state)
{
    for (int p = 0; p < PROTOCOLS; p++) {
        struct weft__sleep sleep = {0};
        assert_int_equal(weft__sleep_init(&sleep, protocols[p], 1, 1, 0, WEFT__JEC_BITS), 0);
        assert_int_equal(sleep.look_ns, WEFT__LOOK_NS);
        weft__sleep_destroy(&sleep);
        struct house house;
        house_open(&house, protocols[p], 2, WEFT__JEC_BITS);
        house.sleep.look_ns = DOZE_NS;
        start_looking(&house, 0); /* three are at work */
        for (int i = 0; i < 6; i++) {
            while (!no_work(&house, 0)) /* or it would sleep for ever */
                ;
            assert_int_equal(house.looks, i + 1); /* once awake, one search */
            assert_true(house.mice[0].idle.looks_out);
            expect_counts(&house, 1, 0);
            expect_awake(&house, 0);
        }
        house_close(&house);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_before_sleep),
        cmocka_unit_test(events_during_the_last_look),
        cmocka_unit_test(latch_set_before_sleep),
        cmocka_unit_test(each_post_wakes_one),
        cmocka_unit_test(a_fork_wakes_one_if_nobody_is_idle),
        cmocka_unit_test(two_idle_are_the_aim),
        cmocka_unit_test(all_known_jobs_wake_as_many),
        cmocka_unit_test(blocks_fill_up_powers_of_two),
        cmocka_unit_test(local_asks_the_deque),
        cmocka_unit_test(guests_take_room),
        cmocka_unit_test(there_is_a_look_out),
    };
    return cmocka_run_group_tests_name("counters", tests, NULL, NULL);
}
