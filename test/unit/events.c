/* SPDX-License-Identifier: MIT */
/* events.c: the events protocol and its variants, without a pool around them. */
#include "unit/house.h"

static uint64_t jec(struct house *house)
{
    return atomic_load_relaxed(&house->sleep.counters) / house->sleep.jec_one;
}

/* ---- One thread: up to the last look ---- */

static void counts(void **state)
{
    struct house house;
    house_open(&house, WEFT_SLEEP_EVENTS, 2, WEFT__JEC_BITS);
    expect_counts(&house, 0, 0);
    start_looking(&house, 0);
    start_looking(&house, 1);
    expect_counts(&house, 2, 0);
    assert_false(work_found(&house, 0)); /* nobody sleeps: nobody was missed */
    assert_false(work_found(&house, 1));
    expect_counts(&house, 0, 0);
    house_close(&house);
}

/* Odd after new work, even after somebody got sleepy; steps only between the two. */
static void event_counter_parity(void **state)
{
    struct house house;
    house_open(&house, WEFT_SLEEP_EVENTS, 0, WEFT__JEC_BITS);
    assert_int_equal(jec(&house), 0);
    weft__sleep_new_fork(&house.sleep, true);
    assert_int_equal(jec(&house), 1);
    weft__sleep_new_fork(&house.sleep, false);
    weft__sleep_new_jobs(&house.sleep, 5, false);
    assert_int_equal(jec(&house), 1);
    start_looking(&house, 0);
    start_looking(&house, 1);
    assert_false(no_work(&house, 0));
    assert_int_equal(jec(&house), 2);
    assert_false(no_work(&house, 1));
    assert_int_equal(jec(&house), 2);
    weft__sleep_new_jobs(&house.sleep, 1, false);
    assert_int_equal(jec(&house), 3);
    expect_counts(&house, 2, 0);
    house_close(&house);
}

/* Counts what is new, and nothing else. */
static void plain_event_counter(void **state)
{
    struct house house;
    house_open(&house, WEFT_SLEEP_EVENTS_PLAIN, 0, WEFT__JEC_BITS);
    weft__sleep_new_fork(&house.sleep, true);
    weft__sleep_new_fork(&house.sleep, false);
    weft__sleep_new_jobs(&house.sleep, 5, false); /* posted together */
    assert_int_equal(jec(&house), 3);
    start_looking(&house, 0);
    start_looking(&house, 1);
    assert_false(no_work(&house, 0)); /* sleepy, and so is the other one */
    assert_false(no_work(&house, 1));
    assert_int_equal(jec(&house), 3);
    weft__sleep_new_fork(&house.sleep, true);
    for (int i = 0; i < 2; i++) { /* both notice */
        assert_false(no_work(&house, i));
        expect_awake(&house, i);
    }
    assert_int_equal(house.looks, 0);
    expect_counts(&house, 2, 0);
    house_close(&house);
}

static void rounds_before_sleepy(void **state)
{
    struct house house;
    for (unsigned rounds = 0; rounds < 4; rounds++) {
        house_open(&house, WEFT_SLEEP_EVENTS, rounds, WEFT__JEC_BITS);
        house.last_look = something_there;
        weft__sleep_new_jobs(&house.sleep, 1, false);
        start_looking(&house, 0);
        for (unsigned i = 0; i < rounds; i++) {
            assert_false(no_work(&house, 0));
            assert_int_equal(jec(&house), 1);
        }
        assert_false(no_work(&house, 0)); /* sleepy */
        assert_int_equal(jec(&house), 2);
        assert_int_equal(house.looks, 0);
        assert_false(no_work(&house, 0)); /* would sleep, but for the last look */
        assert_int_equal(house.looks, 1);
        house_close(&house);
    }
}

/* Gets sleepy, and once more, so that only the last look keeps it from sleep. */
static void expect_kept_awake(struct house *house, unsigned looks)
{
    assert_false(no_work(house, 0));
    assert_false(no_work(house, 0));
    assert_int_equal(house->looks, looks);
    expect_counts(house, 1, 0);
    expect_awake(house, 0);
}

static void last_look_finds_something(void **state)
{
    FOR_EACH_EVENTS(i)
    {
        struct house house;
        house_open(&house, i, 0, WEFT__JEC_BITS);
        house.last_look = look_while_counted;
        start_looking(&house, 0);
        expect_kept_awake(&house, 1);
        expect_kept_awake(&house, 2); /* one more search, and the same again */
        house_close(&house);
    }
}

/* Who finds something in its last look stays awake, is counted so, and looks again each time
 * before it sleeps. */
static void bug_04_last_look_keeps_awake(void **state)
{
    for (unsigned rounds = 0; rounds <= 32; rounds += 32) {
        struct house house;
        house_open(&house, WEFT_SLEEP_EVENTS, rounds, WEFT__JEC_BITS);
        house.last_look = something_there;
        start_looking(&house, 0);
        for (unsigned i = 0; i < rounds; i++)
            assert_false(no_work(&house, 0));
        for (unsigned looks = 1; looks < 100; looks++)
            expect_kept_awake(&house, looks);
        work_found(&house, 0);
        expect_counts(&house, 0, 0);
        house_close(&house);
    }
}

static void new_work_since_sleepy(void **state)
{
    struct house house;
    house_open(&house, WEFT_SLEEP_EVENTS, 3, WEFT__JEC_BITS);
    start_looking(&house, 0);
    for (int i = 0; i < 4; i++)
        assert_false(no_work(&house, 0));
    for (int i = 0; i < 3; i++) { /* no rounds between: back to just before sleepy */
        weft__sleep_new_fork(&house.sleep, true);
        assert_false(no_work(&house, 0));
        assert_int_equal(house.looks, 0);
        expect_counts(&house, 1, 0);
        expect_awake(&house, 0);
        assert_int_equal(jec(&house) % 2, 1);
        assert_false(no_work(&house, 0));
        assert_int_equal(jec(&house) % 2, 0);
    }
    house_close(&house);
}

static void latch_set_before_sleep(void **state)
{
    FOR_EACH_EVENTS(i)
    {
        struct house house;
        house_open(&house, i, 0, WEFT__JEC_BITS);
        start_looking(&house, 0);
        assert_false(no_work(&house, 0));
        assert_false(weft__latch_set(&house.mice[0].latch));
        assert_false(no_work(&house, 0));
        assert_int_equal(house.looks, 0);
        assert_true(weft__latch_probe(&house.mice[0].latch));
        expect_counts(&house, 1, 0);
        expect_awake(&house, 0);
        house_close(&house);
    }
}

/* Under one protocol a latch goes from UNSET to SLEEPING, under the others by SLEEPY; and back. */
static void latch_is_never_sleepy(void **state)
{
    FOR_EACH_EVENTS(i)
    {
        struct weft__latch latch = {0};
        struct house house;
        house_open(&house, i, 0, WEFT__JEC_BITS);
        assert_int_equal(house.sleep.protocol->at_once, i == WEFT_SLEEP_EVENTS_LATCH);
        assert_true(weft__latch_doze(&latch));
        assert_false(weft__latch_sleep_at_once(&latch));
        weft__latch_get_up(&latch);
        assert_true(weft__latch_sleep_at_once(&latch));
        assert_int_equal(atomic_load_relaxed(&latch.state), LATCH_SLEEPING);
        weft__latch_get_up(&latch);
        assert_int_equal(atomic_load_relaxed(&latch.state), LATCH_UNSET);
        house_close(&house);
    }
}

static bool wake_it(struct house *house)
{
    assert_true(weft__park_wake(house->mice[0].park));
    return false;
}

/* Whatever comes between counting itself and sleep nudges it. */
static void events_during_the_last_look(void **state)
{
    bool (*const events[])(struct house *) = {wake_it, set_its_latch, post_job, post_fork};
    FOR_EACH_EVENTS(protocol)
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        struct house house;
        house_open(&house, protocol, 0, WEFT__JEC_BITS);
        house.last_look = events[i];
        start_looking(&house, 0);
        expect_kept_awake(&house, 1);
        house_close(&house);
    }
}

/* ---- Real sleepers ---- */

/* The waker has uncounted them when it returns, whether they have run or not. */
static void n_jobs_wake_at_most_n(void **state)
{
    FOR_EACH_EVENTS(i)
    {
        struct house house;
        put_to_sleep(&house, i, 4);
        weft__sleep_new_jobs(&house.sleep, 2, false);
        expect_counts(&house, 2, 2);
        weft__sleep_new_jobs(&house.sleep, 2, false); /* two are idle: enough */
        weft__sleep_new_fork(&house.sleep, true);
        expect_counts(&house, 2, 2);
        weft__sleep_new_jobs(&house.sleep, 3, false); /* one too few */
        expect_counts(&house, 3, 1);
        weft__sleep_new_jobs(&house.sleep, 9, false);
        expect_counts(&house, 4, 0);
        wake_up(&house, 4);
    }
}

static void forks_wake_one_at_a_time(void **state)
{
    FOR_EACH_EVENTS(i)
    {
        struct house house;
        put_to_sleep(&house, i, 3);
        assert_true(weft__sleep_new_fork(&house.sleep, true));
        expect_counts(&house, 1, 2);
        assert_true(weft__sleep_new_fork(&house.sleep, true)); /* that one looks at it */
        expect_counts(&house, 1, 2);
        assert_true(weft__sleep_new_fork(&house.sleep, false)); /* and wakes another for more */
        expect_counts(&house, 1, 2);
        wake_up(&house, 3);
    }
}

/* A guest stands in for a worker. */
static void guests_take_room(void **state)
{
    FOR_EACH_EVENTS(i)
    {
        struct house house;
        put_to_sleep(&house, i, 2);
        weft__sleep_guest_entered(&house.sleep);
        weft__sleep_guest_entered(&house.sleep);
        assert_int_equal(weft__sleep_guests(&house.sleep), 2);
        assert_false(weft__sleep_new_fork(&house.sleep, false));
        expect_counts(&house, 0, 2);
        weft__sleep_guest_gone(&house.sleep);
        assert_true(weft__sleep_new_fork(&house.sleep, false));
        expect_counts(&house, 1, 1);
        weft__sleep_new_jobs(&house.sleep, 2, false);
        expect_counts(&house, 1, 1);
        weft__sleep_guest_gone(&house.sleep);
        weft__sleep_new_jobs(&house.sleep, 2, false);
        expect_counts(&house, 2, 0);
        wake_up(&house, 2);
    }
}

static void guest_leaves_room(void **state)
{
    struct house house;
    put_to_sleep(&house, WEFT_SLEEP_EVENTS, 2);
    for (int i = 0; i < 4; i++)
        weft__sleep_guest_entered(&house.sleep);
    assert_false(leaves_room(&house)); /* three guests, for two sleepers */
    assert_false(leaves_room(&house)); /* two */
    assert_true(leaves_room(&house));
    expect_counts(&house, 0, 2); /* what follows is the caller's business */
    weft__sleep_more_work(&house.sleep);
    expect_counts(&house, 1, 1);
    assert_false(leaves_room(&house)); /* somebody is idle already */
    assert_int_equal(weft__sleep_guests(&house.sleep), 0);
    wake_up(&house, 2);
}

/* A worker that does something else leaves room, too. */
static void absent_one_leaves_room(void **state)
{
    struct house house;
    put_to_sleep(&house, WEFT_SLEEP_EVENTS, 1);
    weft__sleep_guest_entered(&house.sleep);
    assert_false(weft__sleep_has_room(&house.sleep)); /* three at work, and the guest */
    weft__sleep_absent(&house.sleep);
    assert_true(weft__sleep_room_made(&house.sleep));
    weft__sleep_present(&house.sleep);
    assert_false(weft__sleep_has_room(&house.sleep));
    wake_up(&house, 1);
}

static void last_searcher_looks_for_more(void **state)
{
    struct house house;
    put_to_sleep(&house, WEFT_SLEEP_EVENTS, 2);
    start_looking(&house, 2);
    start_looking(&house, 3);
    assert_false(work_found(&house, 2)); /* the other one still searches */
    assert_true(work_found(&house, 3));
    expect_counts(&house, 0, 2);
    atomic_store_relaxed(&house.sleep.guests, 2);
    weft__sleep_more_work(&house.sleep); /* there is no room */
    expect_counts(&house, 0, 2);
    atomic_store_relaxed(&house.sleep.guests, 1);
    weft__sleep_more_work(&house.sleep);
    expect_counts(&house, 1, 1);
    weft__sleep_more_work(&house.sleep); /* nor is there now */
    expect_counts(&house, 1, 1);
    atomic_store_relaxed(&house.sleep.guests, 0);
    weft__sleep_more_work(&house.sleep);
    expect_counts(&house, 2, 0);
    weft__sleep_more_work(&house.sleep); /* nobody is left to wake */
    expect_counts(&house, 2, 0);
    wake_up(&house, 2);
}

/* ---- An event counter of two bits (bug 6) ---- */

static void small_counter_wraps(void **state)
{
    struct house house;
    house_open(&house, WEFT_SLEEP_EVENTS, 0, 2);
    start_looking(&house, 0);
    for (uint64_t step = 0; step < 20; step += 2) {
        assert_int_equal(jec(&house), step % 4);
        weft__sleep_new_jobs(&house.sleep, 1, false);
        assert_int_equal(jec(&house), (step + 1) % 4);
        house.mice[0].idle.round = 0;
        assert_false(no_work(&house, 0));
        expect_counts(&house, 1, 0); /* no carry into the other counts */
    }
    house_close(&house);
}

/* The counter wraps again and again, and the counts beside it stay what they are. */
static void bug_06_event_counter_wraps(void **state)
{
    for (unsigned bits = 2; bits <= WEFT__JEC_BITS; bits += WEFT__JEC_BITS - 2) {
        struct house house;
        house_open(&house, WEFT_SLEEP_EVENTS, 0, bits);
        house.last_look = something_there;
        start_looking(&house, 0);
        for (int i = 0; i < 1000; i++) {
            assert_false(no_work(&house, 0)); /* sleepy: one event */
            if (i % 2)
                weft__sleep_new_fork(&house.sleep, true); /* and another */
            else
                weft__sleep_new_jobs(&house.sleep, 1, false);
            assert_false(no_work(&house, 0)); /* the counter moved: it does not look, nor sleep */
            assert_int_equal(house.looks, 0);
            expect_counts(&house, 1, 0);
            expect_awake(&house, 0);
        }
        work_found(&house, 0);
        expect_counts(&house, 0, 0);
        house_close(&house);
    }
}

/* With two bits, four events look like none. The last look has to save the day. */
static void bug_06_four_events_look_like_none(void **state)
{
    struct house house;
    house_open(&house, WEFT_SLEEP_EVENTS, 0, 2);
    house.last_look = something_there;
    start_looking(&house, 0);
    start_looking(&house, 1);
    assert_false(no_work(&house, 0)); /* sleepy */
    for (int i = 0; i < 2; i++) {
        weft__sleep_new_jobs(&house.sleep, 1, false);
        house.mice[1].idle.round = 0;
        assert_false(no_work(&house, 1)); /* the other one is sleepy in between */
    }
    assert_int_equal(jec(&house), 0);
    assert_int_equal(house.looks, 0);
    assert_false(no_work(&house, 0));
    assert_int_equal(house.looks, 1);
    expect_counts(&house, 2, 0);
    expect_awake(&house, 0);
    assert_false(work_found(&house, 1)); /* nobody sleeps */
    expect_counts(&house, 1, 0);
    house_close(&house);
}

/* The same, if each event counts. */
static void small_plain_counter_comes_back(void **state)
{
    struct house house;
    house_open(&house, WEFT_SLEEP_EVENTS_PLAIN, 0, 2);
    house.last_look = something_there;
    start_looking(&house, 0);
    assert_false(no_work(&house, 0)); /* sleepy */
    for (int i = 0; i < 4; i++)
        weft__sleep_new_fork(&house.sleep, true);
    assert_int_equal(jec(&house), 0);
    expect_counts(&house, 1, 0); /* no carry into the other counts */
    assert_false(no_work(&house, 0));
    assert_int_equal(house.looks, 1);
    expect_counts(&house, 1, 0);
    expect_awake(&house, 0);
    house_close(&house);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(event_counter_parity),
        cmocka_unit_test(plain_event_counter),
        cmocka_unit_test(rounds_before_sleepy),
        cmocka_unit_test(last_look_finds_something),
        cmocka_unit_test(bug_04_last_look_keeps_awake),
        cmocka_unit_test(new_work_since_sleepy),
        cmocka_unit_test(latch_set_before_sleep),
        cmocka_unit_test(latch_is_never_sleepy),
        cmocka_unit_test(events_during_the_last_look),
        cmocka_unit_test(n_jobs_wake_at_most_n),
        cmocka_unit_test(forks_wake_one_at_a_time),
        cmocka_unit_test(guests_take_room),
        cmocka_unit_test(guest_leaves_room),
        cmocka_unit_test(absent_one_leaves_room),
        cmocka_unit_test(last_searcher_looks_for_more),
        cmocka_unit_test(small_counter_wraps),
        cmocka_unit_test(bug_06_event_counter_wraps),
        cmocka_unit_test(bug_06_four_events_look_like_none),
        cmocka_unit_test(small_plain_counter_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
