/* SPDX-License-Identifier: MIT */
/* latch.c: whoever waits for a set sees it, asleep or not. */
#include "sleep/latch.h"

#include "check.h"
#include "sleep/sleep.h"

#include <string.h>

static struct weft__latch in_state(enum latch_state state)
{
    struct weft__latch latch;
    memset(&latch, 0, sizeof latch);
    assert_false(weft__latch_probe(&latch)); /* zero is UNSET */
    atomic_store_relaxed(&latch.state, state);
    return latch;
}

static uint32_t state_of(struct weft__latch *latch)
{
    return atomic_load_relaxed(&latch->state);
}

/* ---- One thread ---- */

static void doze(void **state)
{
    struct weft__latch unset = in_state(LATCH_UNSET), set = in_state(LATCH_SET);
    assert_true(weft__latch_doze(&unset));
    assert_int_equal(state_of(&unset), LATCH_SLEEPY);
    assert_false(weft__latch_doze(&set));
    assert_int_equal(state_of(&set), LATCH_SET);
}

static void sleep_after_doze(void **state)
{
    struct weft__latch sleepy = in_state(LATCH_SLEEPY), set = in_state(LATCH_SET);
    assert_true(weft__latch_sleep(&sleepy));
    assert_int_equal(state_of(&sleepy), LATCH_SLEEPING);
    assert_false(weft__latch_sleep(&set));
    assert_int_equal(state_of(&set), LATCH_SET);
}

static void rouse(void **state)
{
    static const enum latch_state before[] = {LATCH_UNSET, LATCH_SLEEPY, LATCH_SLEEPING, LATCH_SET};
    static const enum latch_state after[] = {LATCH_UNSET, LATCH_UNSET, LATCH_UNSET, LATCH_SET};
    for (int i = 0; i < 4; i++) {
        struct weft__latch latch = in_state(before[i]);
        weft__latch_rouse(&latch);
        assert_int_equal(state_of(&latch), after[i]);
    }
}

static void set_says_whom_to_wake(void **state)
{
    static const enum latch_state before[] = {LATCH_UNSET, LATCH_SLEEPY, LATCH_SLEEPING, LATCH_SET};
    for (int i = 0; i < 4; i++) {
        struct weft__latch latch = in_state(before[i]);
        assert_int_equal(weft__latch_probe(&latch), before[i] == LATCH_SET);
        assert_int_equal(weft__latch_set(&latch), before[i] == LATCH_SLEEPING);
        assert_true(weft__latch_probe(&latch));
    }
}

static void spin_latch_nudges_its_owner(void **state)
{
    struct weft__park *park = weft__park_get();
    struct weft__spin_latch latch = {.owner = park};
    weft__park_drowse(park, true); /* the latch does not say SLEEPING: the owner will look itself */
    weft__spin_latch_set(&latch);
    assert_int_equal(atomic_load_relaxed(&park->state), PARK_DROWSY);
    latch.core = in_state(LATCH_SLEEPING);
    weft__spin_latch_set(&latch);
    assert_int_equal(atomic_load_relaxed(&park->state), PARK_NUDGED);
    weft__park_rouse(park);
    weft__park_put(park);
}

static void count_latch_sets_at_zero(void **state)
{
    struct weft__count_latch latch;
    memset(&latch, 0xff, sizeof latch);
    struct weft__park *park = weft__park_get();
    weft__count_latch_init(&latch, park, 2);
    weft__count_latch_up(&latch);
    for (int left = 3; left > 0; left--) {
        assert_false(weft__latch_probe(&latch.spin.core));
        weft__count_latch_down(&latch);
    }
    assert_true(weft__latch_probe(&latch.spin.core));
    weft__park_put(park);
}

/* ---- Set against sleep ---- */

enum { ROUNDS = SCALED(100000, 10) };

/* One owner, which waits for a latch in its frame, again and again. */
struct duel {
    struct weft__park *park;
    struct atomic_ptr latch; /* the one to be set next; NULL: none yet */
    unsigned setters;
    bool counting;
};

static void wait_for(struct weft__park *park, struct weft__latch *latch)
{
    struct weft__sleeper sleeper = {.park = park, .latch = latch};
    while (!weft__latch_probe(latch))
        weft__sleep_uncounted(&sleeper, 0);
}

struct message {
    struct weft__count_latch latch;
    int text; /* plain: what the set publishes */
};

static void expect_one(struct duel *duel, int round)
{
    struct message message = {.text = -1};
    weft__count_latch_init(&message.latch, duel->park, 1);
    atomic_store_release(&duel->latch, &message);
    if (round % 2) /* let the setter come first now and then */
        wait_a_moment();
    wait_for(duel->park, &message.latch.spin.core);
    CHECK(message.text == round);
    memset(&message, 0x55, sizeof message); /* whoever touches it now is late */
}

static void answer_one(struct duel *duel, int round)
{
    struct message *message;
    WAIT_UNTIL((message = atomic_load_acquire(&duel->latch)));
    atomic_store_relaxed(&duel->latch, NULL); /* relaxed: the set below is what counts */
    message->text = round;
    if (duel->counting)
        weft__count_latch_down(&message->latch);
    else
        weft__spin_latch_set(&message->latch.spin);
}

static void fight(unsigned i, void *arg)
{
    for (int r = 0; r < rounds_of(ROUNDS); r++)
        (i == 0 ? expect_one : answer_one)(arg, r);
}

static void set_against_sleep(bool counting)
{
    struct duel duel = {.park = weft__park_get(), .counting = counting};
    in_threads(2, fight, &duel);
    assert_int_equal(atomic_load_relaxed(&duel.park->state), PARK_AWAKE);
    weft__park_put(duel.park);
}

static void spin_set_against_sleep(void **state)
{
    set_against_sleep(false);
}

static void count_set_against_sleep(void **state)
{
    set_against_sleep(true);
}

/* ---- Many who count down ---- */

enum { COUNTERS = 4, ERAS = SCALED(2000, 4) };

struct crowd {
    struct weft__park *park;
    struct atomic_ptr latch;
    struct atomic_u32 era;
    unsigned long work[COUNTERS]; /* plain: each one's work is seen by the owner */
};

static void gather(struct crowd *crowd, uint32_t era)
{
    struct weft__count_latch latch;
    weft__count_latch_init(&latch, crowd->park, 1);
    for (int i = 0; i < COUNTERS; i++)
        weft__count_latch_up(&latch);
    atomic_store_relaxed(&crowd->latch, &latch);
    atomic_store_release(&crowd->era, era);
    weft__count_latch_down(&latch);
    wait_for(crowd->park, &latch.spin.core);
    for (int i = 0; i < COUNTERS; i++)
        CHECK(crowd->work[i] == era);
    memset(&latch, 0x55, sizeof latch);
}

static void attend(unsigned i, void *arg)
{
    struct crowd *crowd = arg;
    for (uint32_t era = 1; era <= ERAS; era++) {
        if (i == COUNTERS) {
            gather(crowd, era);
            continue;
        }
        WAIT_UNTIL(atomic_load_acquire(&crowd->era) == era);
        crowd->work[i]++;
        weft__count_latch_down(atomic_load_relaxed(&crowd->latch));
    }
}

static void last_of_many_sets(void **state)
{
    struct crowd crowd = {.park = weft__park_get()};
    in_threads(COUNTERS + 1, attend, &crowd);
    weft__park_put(crowd.park);
}

/* ---- The lock latch ---- */

enum { WAITERS = 6 };

struct theatre {
    struct weft__latch latch;
    struct atomic_u32 in;
    bool early; /* set before anybody waits */
    int play;
};

static void watch(unsigned i, void *arg)
{
    struct theatre *theatre = arg;
    if (i > 0) {
        atomic_fetch_add_relaxed(&theatre->in, 1);
        weft__lock_latch_wait(&theatre->latch);
        CHECK(theatre->play == 7);
        return;
    }
    if (!theatre->early)
        WAIT_UNTIL(state_of(&theatre->latch) == LATCH_SLEEPING &&
                   atomic_load_relaxed(&theatre->in) == WAITERS);
    theatre->play = 7;
    weft__lock_latch_set(&theatre->latch);
}

static void lock_latch_wakes_all(void **state)
{
    for (int r = 0; r < rounds_of(1000); r++) {
        struct theatre theatre = {.early = r % 2};
        in_threads(1 + WAITERS, watch, &theatre);
        assert_int_equal(state_of(&theatre.latch), LATCH_SET);
        weft__lock_latch_wait(&theatre.latch); /* and later ones go straight through */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doze),
        cmocka_unit_test(sleep_after_doze),
        cmocka_unit_test(rouse),
        cmocka_unit_test(set_says_whom_to_wake),
        cmocka_unit_test(spin_latch_nudges_its_owner),
        cmocka_unit_test(count_latch_sets_at_zero),
        cmocka_unit_test(spin_set_against_sleep),
        cmocka_unit_test(count_set_against_sleep),
        cmocka_unit_test(last_of_many_sets),
        cmocka_unit_test(lock_latch_wakes_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
