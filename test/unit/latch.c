/* SPDX-License-Identifier: MIT */
/* latch.c: whoever waits for a set sees it, asleep or not; and what went wrong in other people's
 * latches: memory that died with its owner, and sets that nobody heard. */
#include "sleep/latch.h"

#include "child.h"
#include "sleep/park.h"
#include "sleep/sleep.h"

#include <stdatomic.h>
#include <stdlib.h>
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

static void get_up(void **state)
{
    static const enum latch_state before[] = {LATCH_UNSET, LATCH_SLEEPY, LATCH_SLEEPING, LATCH_SET};
    static const enum latch_state after[] = {LATCH_UNSET, LATCH_UNSET, LATCH_UNSET, LATCH_SET};
    for (int i = 0; i < 4; i++) {
        struct weft__latch latch = in_state(before[i]);
        weft__latch_get_up(&latch);
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
    weft__park_get_up(park);
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

/* Sleeps at once, or looks a few times first. */
static void wait_for(struct weft__latch *latch, struct weft__park *park, int round)
{
    struct weft__sleeper sleeper = {.park = park, .latch = latch};
    for (int i = 0; i < round % 64 && !weft__latch_probe(latch); i++)
        weft__relax();
    while (!weft__latch_probe(latch))
        weft__sleep_uncounted(&sleeper, 0);
}

enum { ROUNDS = SCALED(100000, 10) };

/* One owner, which waits for a latch in its frame, again and again. */
struct duel {
    struct weft__park *park;
    struct atomic_ptr latch; /* the one to be set next; NULL: none yet */
    unsigned setters;
    bool counting;
};

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
    wait_for(&message.latch.spin.core, duel->park, 0);
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
    wait_for(&latch.spin.core, crowd->park, 0);
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

/* ---- The memory is gone ---- */

enum { SETTERS = 3 };

/* Where the owner leaves latches for each setter. It frees a latch the moment it sees it set, so
 * a setter that touches it once more is caught. */
struct mail {
    _Atomic(void *) latch;
    atomic_bool stop;
    void (*set)(void *latch);
};

static void *set_all(void *arg)
{
    struct mail *mail = arg;
    unsigned delay = 0;
    while (!atomic_load(&mail->stop)) {
        void *latch = atomic_exchange(&mail->latch, NULL);
        if (!latch) {
            wait_a_moment();
            continue;
        }
        for (volatile unsigned i = 0; i < delay % 700; i++)
            ; /* so that it meets the owner at different steps */
        delay += 37;
        mail->set(latch);
    }
    return NULL;
}

static void setters_begin(struct mail *mail, pthread_t *threads, int n, void (*set)(void *))
{
    for (int i = 0; i < n; i++) {
        mail[i] = (struct mail){.set = set};
        child_thread(set_all, &mail[i], &threads[i]);
    }
}

static void setters_end(struct mail *mail, pthread_t *threads, int n)
{
    for (int i = 0; i < n; i++) {
        atomic_store(&mail[i].stop, true);
        child_thread_join(threads[i]);
    }
}

static void burn(void *memory, size_t size)
{
    memset(memory, 0xa5, size);
    free(memory);
}

static void set_spin(void *latch)
{
    weft__spin_latch_set(latch);
}

static void bug_01_fields_read_after_set(void)
{
    struct mail mail;
    pthread_t thread;
    struct weft__park *park = weft__park_get();
    setters_begin(&mail, &thread, 1, set_spin);
    for (int i = 0; i < SCALED(60000, 10); i++) {
        struct weft__spin_latch *latch = calloc(1, sizeof *latch);
        latch->owner = park;
        atomic_store(&mail.latch, latch);
        wait_for(&latch->core, park, i);
        burn(latch, sizeof *latch);
    }
    setters_end(&mail, &thread, 1);
    weft__park_put(park);
}

static void set_lock(void *latch)
{
    weft__lock_latch_set(latch);
}

/* The kind that outside threads wait on: the futex is in the latch itself. */
static void bug_01_lock_latch_gone_after_set(void)
{
    struct mail mail;
    pthread_t thread;
    setters_begin(&mail, &thread, 1, set_lock);
    for (int i = 0; i < SCALED(60000, 10); i++) {
        struct weft__latch *latch = calloc(1, sizeof *latch);
        atomic_store(&mail.latch, latch);
        for (int j = 0; j < i % 64 && !weft__latch_probe(latch); j++)
            weft__relax();
        weft__lock_latch_wait(latch);
        burn(latch, sizeof *latch);
    }
    setters_end(&mail, &thread, 1);
}

static void count_down(void *latch)
{
    weft__count_latch_down(latch);
}

static void bug_03_counting_latch_gone_after_set(void)
{
    struct mail mail[SETTERS];
    pthread_t threads[SETTERS];
    struct weft__park *park = weft__park_get();
    setters_begin(mail, threads, SETTERS, count_down);
    for (int i = 0; i < SCALED(30000, 10); i++) {
        struct weft__count_latch *latch = calloc(1, sizeof *latch);
        weft__count_latch_init(latch, park, SETTERS);
        for (int j = 0; j < SETTERS; j++)
            atomic_store(&mail[j].latch, latch);
        wait_for(&latch->spin.core, park, i);
        burn(latch, sizeof *latch);
    }
    setters_end(mail, threads, SETTERS);
    weft__park_put(park);
}

/* ---- Nobody hears it ---- */

/* Set against sleep: one of them must see the other, in each of many thousand meetings. */
static void bug_07_set_and_sleep_see_each_other(void)
{
    struct mail mail;
    pthread_t thread;
    struct weft__park *park = weft__park_get();
    setters_begin(&mail, &thread, 1, set_spin);
    for (int i = 0; i < SCALED(60000, 10); i++) {
        struct weft__spin_latch latch = {.owner = park};
        atomic_store(&mail.latch, &latch);
        wait_for(&latch.core, park, 0);
    }
    setters_end(&mail, &thread, 1);
    weft__park_put(park);
}

/* Step by step: the set comes after each of the owner's steps in turn. */
static void bug_09_notify_between_probe_and_wait(void)
{
    struct weft__park *park = weft__park_get();
    for (int step = 0; step < 4; step++) {
        struct weft__spin_latch latch = {.owner = park};
        CHECK(!weft__latch_probe(&latch.core));
        if (step == 0)
            weft__spin_latch_set(&latch);
        CHECK_EQUAL(weft__latch_doze(&latch.core), step != 0);
        if (step == 0)
            continue;
        if (step == 1)
            weft__spin_latch_set(&latch);
        weft__park_drowse(park, false);
        if (step == 2)
            weft__spin_latch_set(&latch);
        CHECK_EQUAL(weft__latch_sleep(&latch.core), step == 3);
        if (step < 3) {
            weft__park_get_up(park);
            CHECK(weft__latch_probe(&latch.core));
            continue;
        }
        weft__spin_latch_set(&latch);
        CHECK_EQUAL(weft__park_sleep(park, NULL, weft__one_nap(0)),
                    PARK_WAS_NUDGED); /* must not wait now */
        weft__latch_get_up(&latch.core);
        CHECK(weft__latch_probe(&latch.core));
    }
    weft__park_put(park);
}

/* The notifier wakes a parking place after it left something, without any latch. */
struct notice {
    _Atomic(unsigned) left, seen;
    struct weft__park *park;
    unsigned rounds;
};

static bool is_left(void *arg)
{
    struct notice *notice = arg;
    return atomic_load_explicit(&notice->left, memory_order_relaxed) !=
           atomic_load_explicit(&notice->seen, memory_order_relaxed);
}

static void *notify(void *arg)
{
    struct notice *notice = arg;
    for (unsigned i = 1; i <= notice->rounds; i++) {
        atomic_store_explicit(&notice->left, i, memory_order_relaxed);
        atomic_fence_seq_cst();
        weft__park_wake(notice->park);
        while (atomic_load_explicit(&notice->seen, memory_order_relaxed) != i)
            if (i % 2)
                wait_a_moment();
    }
    return NULL;
}

static void bug_09_notice_between_look_and_wait(void)
{
    struct notice notice = {.park = weft__park_get(), .rounds = SCALED(60000, 10)};
    struct weft__latch never = {0};
    struct weft__sleeper sleeper = {notice.park, &never, NULL, is_left, &notice};
    pthread_t thread;
    child_thread(notify, &notice, &thread);
    for (unsigned i = 1; i <= notice.rounds; i++) {
        while (!is_left(&notice))
            weft__sleep_uncounted(&sleeper, 0);
        atomic_store_explicit(&notice.seen, i, memory_order_relaxed);
    }
    child_thread_join(thread);
    CHECK(!weft__latch_probe(&never));
    weft__park_put(notice.park);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doze),
        cmocka_unit_test(sleep_after_doze),
        cmocka_unit_test(get_up),
        cmocka_unit_test(set_says_whom_to_wake),
        cmocka_unit_test(spin_latch_nudges_its_owner),
        cmocka_unit_test(count_latch_sets_at_zero),
        cmocka_unit_test(spin_set_against_sleep),
        cmocka_unit_test(count_set_against_sleep),
        cmocka_unit_test(last_of_many_sets),
        cmocka_unit_test(lock_latch_wakes_all),
        IN_CHILD(bug_01_fields_read_after_set),
        IN_CHILD(bug_01_lock_latch_gone_after_set),
        IN_CHILD(bug_03_counting_latch_gone_after_set),
        IN_CHILD(bug_07_set_and_sleep_see_each_other),
        IN_CHILD(bug_09_notify_between_probe_and_wait),
        IN_CHILD(bug_09_notice_between_look_and_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
