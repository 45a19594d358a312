/* SPDX-License-Identifier: MIT */
/* tickle.c: the crowd's word, step by step, and the tickle protocols around it. */
#include "sleep/crowd.h"
#include "unit/house.h"

static const enum weft_sleep protocols[] = {
    WEFT_SLEEP_TICKLE,
    WEFT_SLEEP_TICKLE_SEQCST,
    WEFT_SLEEP_TICKLE_FLAG,
    WEFT_SLEEP_TICKLE_SWAP,
};

enum { PROTOCOLS = sizeof protocols / sizeof protocols[0], DOZE_NS = 1000 };

static void expect_state(struct house *house, uint32_t state)
{
    assert_int_equal(atomic_load_relaxed(&house->sleep.crowd->state), state);
}

/* ---- The word ---- */

/* 0: all are awake; 2: worker 0 is sleepy; 4: worker 1 is. */
static void states_of_the_word(void **state)
{
    for (enum crowd_kind kind = CROWD_ACQ_REL; kind <= CROWD_SWAPS; kind++) {
        struct weft__crowd *crowd = weft__crowd_get(kind);
        assert_int_equal(atomic_load_relaxed(&crowd->state), 0);
        weft__crowd_tickle(crowd); /* nobody is there */
        for (unsigned number = 1; number <= 2; number++) {
            assert_true(weft__crowd_get_sleepy(crowd, number));
            assert_int_equal(atomic_load_relaxed(&crowd->state), 2 * number);
            assert_true(weft__crowd_is_sleepy(crowd, number));
            assert_false(weft__crowd_is_sleepy(crowd, 3 - number));
            assert_false(weft__crowd_get_sleepy(crowd, 3 - number)); /* one at a time */
            weft__crowd_be_awake(crowd, 3 - number);                 /* it was not sleepy */
            assert_int_equal(atomic_load_relaxed(&crowd->state), 2 * number);
            if (number == 1)
                weft__crowd_be_awake(crowd, number);
            else
                weft__crowd_tickle(crowd);
            assert_int_equal(atomic_load_relaxed(&crowd->state), 0);
            assert_false(weft__crowd_is_sleepy(crowd, number));
        }
        weft__crowd_put(crowd);
    }
}

/* Tickled between its last search and sleep, it does not sleep. */
static void tickled_before_sleep(void **state)
{
    struct weft__park *park = weft__park_get();
    struct atomic_u64 counted = {1};
    for (enum crowd_kind kind = CROWD_ACQ_REL; kind <= CROWD_SWAPS; kind++) {
        struct weft__crowd *crowd = weft__crowd_get(kind);
        assert_true(weft__crowd_get_sleepy(crowd, 1));
        weft__crowd_tickle(crowd);
        assert_int_equal(weft__crowd_sleep(crowd, park, &counted, weft__one_nap(0)),
                         PARK_WAS_NUDGED);
        assert_true(weft__crowd_get_sleepy(crowd, 2)); /* and somebody else is sleepy now */
        assert_int_equal(weft__crowd_sleep(crowd, park, &counted, weft__one_nap(0)),
                         PARK_WAS_NUDGED);
        assert_int_equal(atomic_load_relaxed(&crowd->state), 4);
        assert_int_equal(atomic_load_relaxed(&counted), 1); /* the caller's business */
        weft__crowd_put(crowd);
    }
    weft__park_put(park);
}

/* Bit 0 may stay behind one whose time was up. It wakes nobody, and somebody can get sleepy. */
static void time_is_up(void **state)
{
    struct weft__park *park = weft__park_get();
    struct atomic_u64 counted = {1};
    for (enum crowd_kind kind = CROWD_ACQ_REL; kind <= CROWD_SWAPS; kind++) {
        struct weft__crowd *crowd = weft__crowd_get(kind);
        assert_true(weft__crowd_get_sleepy(crowd, 1));
        assert_int_equal(weft__crowd_sleep(crowd, park, &counted, weft__one_nap(DOZE_NS)),
                         PARK_TIMED_OUT);
        assert_int_equal(atomic_load_relaxed(&crowd->state), CROWD_ASLEEP);
        assert_int_equal(crowd->asleep, 0);
        assert_true(weft__crowd_get_sleepy(crowd, 1));
        assert_int_equal(atomic_load_relaxed(&crowd->state), 3);
        weft__crowd_be_awake(crowd, 1);
        assert_int_equal(atomic_load_relaxed(&crowd->state), CROWD_ASLEEP);
        weft__crowd_tickle(crowd);
        assert_int_equal(atomic_load_relaxed(&crowd->state), 0);
        assert_int_equal(atomic_load_relaxed(&counted), 1);
        weft__crowd_put(crowd);
    }
    weft__park_put(park);
}

/* Crowds are handed on, with their kind, and never freed: a late one may tickle. */
static void crowds_are_kept(void **state)
{
    struct weft__crowd *swaps = weft__crowd_get(CROWD_SWAPS);
    struct weft__crowd *plain = weft__crowd_get(CROWD_ACQ_REL);
    assert_true(weft__crowd_get_sleepy(swaps, 7));
    weft__crowd_put(swaps);
    weft__crowd_tickle(swaps);
    weft__crowd_put(plain);
    struct weft__crowd *other = weft__crowd_get(CROWD_SWAPS);
    assert_ptr_equal(other, swaps);
    assert_int_equal(atomic_load_relaxed(&other->state), 0);
    assert_int_equal(other->kind, CROWD_SWAPS);
    weft__crowd_put(other);
}

/* ---- The protocol, one thread ---- */

static void rounds_until_sleepy_and_asleep(void **state)
{
    for (int p = 0; p < PROTOCOLS; p++) {
        for (unsigned rounds = 0; rounds < 4; rounds++) {
            struct house house;
            house_open(&house, protocols[p], rounds, WEFT__JEC_BITS);
            house.sleep.look_ns = DOZE_NS; /* three are at work, so it comes back */
            start_looking(&house, 1);
            for (unsigned i = 0; i < rounds; i++) {
                assert_false(no_work(&house, 1));
                expect_state(&house, 0);
            }
            for (unsigned i = 0; i <= rounds; i++) { /* sleepy: one search, and so many more */
                assert_false(no_work(&house, 1));
                expect_state(&house, 4);
            }
            assert_true(no_work(&house, 1));
            expect_state(&house, CROWD_ASLEEP);
            expect_counts(&house, 1, 0);
            assert_true(house.mice[1].idle.looks_out);
            work_found(&house, 1);
            expect_counts(&house, 0, 0);
            house_close(&house);
        }
    }
}

static void one_is_sleepy(void **state)
{
    for (int p = 0; p < PROTOCOLS; p++) {
        struct house house;
        house_open(&house, protocols[p], 0, WEFT__JEC_BITS);
        start_looking(&house, 0);
        start_looking(&house, 1);
        assert_false(no_work(&house, 0));
        expect_state(&house, 2);
        for (int i = 0; i < 5; i++) {
            assert_false(no_work(&house, 1)); /* tries again */
            expect_state(&house, 2);
        }
        assert_false(work_found(&house, 0)); /* nobody sleeps */
        expect_state(&house, 0);
        assert_false(no_work(&house, 1));
        expect_state(&house, 4);
        house_close(&house);
    }
}

static void fork_(struct house *house)
{
    weft__sleep_new_fork(&house->sleep, true);
}

static void post(struct house *house)
{
    weft__sleep_new_jobs(&house->sleep, 1, false);
}

static void more(struct house *house)
{
    weft__sleep_more_work(&house->sleep);
}

/* Any latch of any of them. */
static void set_a_latch(struct house *house)
{
    struct weft__latch latch = {{LATCH_UNSET}};
    weft__latch_set_for(&latch, house->mice[3].park);
}

static void (*const news[])(struct house *) = {fork_, post, more, set_a_latch};

enum { NEWS = sizeof news / sizeof news[0] };

static void tickled_while_sleepy(void **state)
{
    for (int p = 0; p < PROTOCOLS; p++) {
        for (int i = 0; i < NEWS; i++) {
            struct house house;
            house_open(&house, protocols[p], 2, WEFT__JEC_BITS);
            start_looking(&house, 0);
            for (int r = 0; r < 3; r++)
                assert_false(no_work(&house, 0));
            expect_state(&house, 2);
            news[i](&house);
            expect_state(&house, 0);
            assert_false(no_work(&house, 0)); /* it notices, and starts over */
            assert_int_equal(house.mice[0].idle.round, 0);
            assert_int_equal(house.mice[0].idle.sleepy, 0);
            expect_state(&house, 0);
            house_close(&house);
        }
    }
}

/* ---- Real sleepers ---- */

static void all_are_woken(void **state)
{
    for (int p = 0; p < PROTOCOLS; p++) {
        for (int i = 0; i < NEWS; i++) {
            struct house house;
            put_to_sleep(&house, protocols[p], 3);
            expect_state(&house, 1);
            start_looking(&house, 3);
            assert_false(no_work(&house, 3));
            expect_state(&house, 9); /* worker 3 is sleepy, others sleep */
            news[i](&house);
            expect_state(&house, 0);
            expect_counts(&house, 4, 0); /* uncounted before they run */
            assert_false(work_found(&house, 3));
            wake_up(&house, 3);
        }
    }
}

/* Who finds work and was sleepy leaves the sleepers alone. */
static void finding_work_wakes_nobody(void **state)
{
    struct house house;
    put_to_sleep(&house, WEFT_SLEEP_TICKLE, 2);
    start_looking(&house, 2);
    assert_false(no_work(&house, 2));
    expect_state(&house, 7);
    assert_false(work_found(&house, 2));
    expect_state(&house, 1);
    expect_counts(&house, 0, 2);
    wake_up(&house, 2);
}

/* A guest stands in for one as far as it is asked whether there is more for another. */
static void guests_take_room(void **state)
{
    struct house house;
    put_to_sleep(&house, WEFT_SLEEP_TICKLE, 2);
    weft__sleep_guest_entered(&house.sleep);
    weft__sleep_guest_entered(&house.sleep);
    assert_false(weft__sleep_has_room(&house.sleep));
    weft__sleep_more_work(&house.sleep);
    expect_counts(&house, 0, 2);
    weft__sleep_guest_gone(&house.sleep);
    weft__sleep_more_work(&house.sleep);
    expect_counts(&house, 2, 0);
    wake_up(&house, 2);
}

/* ---- The census ---- */

static unsigned reports;

static void report(struct weft__census *census)
{
    reports++;
}

static uint64_t resting(struct weft__census *census)
{
    return atomic_load_relaxed(&census->word) & UINT32_MAX;
}

static void sleepers_rest(void **state)
{
    struct weft__census census = {.all_rest = report};
    struct house house;
    reports = 0;
    house_open(&house, WEFT_SLEEP_TICKLE_SEQCST, 0, WEFT__JEC_BITS);
    for (int i = 0; i < 3; i++) {
        house.mice[i].park->census = &census;
        weft__census_enter(&census);
    }
    for (int i = 0; i < 2; i++)
        put_one_to_sleep(&house, i, fall_asleep);
    assert_int_equal(resting(&census), 2);
    assert_int_equal(reports, 0);
    house.sleep.look_ns = DOZE_NS;
    start_looking(&house, 2);
    while (!no_work(&house, 2))
        ;
    assert_int_equal(reports, 1); /* once, and it got up by itself */
    assert_int_equal(resting(&census), 2);
    weft__sleep_new_jobs(&house.sleep, 1, false);
    assert_int_equal(resting(&census), 0); /* at once, before anybody runs */
    work_found(&house, 2);
    wake_up(&house, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_of_the_word),
        cmocka_unit_test(tickled_before_sleep),
        cmocka_unit_test(time_is_up),
        cmocka_unit_test(crowds_are_kept),
        cmocka_unit_test(rounds_until_sleepy_and_asleep),
        cmocka_unit_test(one_is_sleepy),
        cmocka_unit_test(tickled_while_sleepy),
        cmocka_unit_test(all_are_woken),
        cmocka_unit_test(finding_work_wakes_nobody),
        cmocka_unit_test(guests_take_room),
        cmocka_unit_test(sleepers_rest),
    };
    return cmocka_run_group_tests_name("tickle", tests, NULL, NULL);
}
