/* SPDX-License-Identifier: MIT */
/* sleep.c: the events protocol and its variants, without a pool around them; and that no protocol
 * misses work. */
#include "core/queue.h"
#include "os/thread.h"
#include "unit/house.h"

#include <stdlib.h>

enum { DOZE_NS = 1000 };

#define FOR_EACH_PROTOCOL(i) \
    for (enum weft_sleep i = WEFT_SLEEP_TICKLE; i <= WEFT_SLEEP_COUNTERS_TWO; i++)

#define FOR_EACH_EVENTS(i)                                                    \
    for (enum weft_sleep i = WEFT_SLEEP_EVENTS; i <= WEFT_SLEEP_EVENTS_LATCH; \
         i = i == WEFT_SLEEP_EVENTS ? WEFT_SLEEP_EVENTS_PLAIN : (enum weft_sleep)(i + 1))

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

static bool something_there(struct house *house)
{
    return true;
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

static bool look_while_counted(struct house *house)
{
    expect_counts(house, 0, 1);
    assert_int_equal(atomic_load_relaxed(&house->mice[0].park->state), PARK_DROWSY);
    assert_int_equal(atomic_load_relaxed(&house->mice[0].latch.state), LATCH_SLEEPING);
    return true;
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
        weft__latch_rouse(&latch);
        assert_true(weft__latch_sleep_at_once(&latch));
        assert_int_equal(atomic_load_relaxed(&latch.state), LATCH_SLEEPING);
        weft__latch_rouse(&latch);
        assert_int_equal(atomic_load_relaxed(&latch.state), LATCH_UNSET);
        house_close(&house);
    }
}

static bool wake_it(struct house *house)
{
    assert_true(weft__park_wake(house->mice[0].park));
    return false;
}

static bool set_its_latch(struct house *house)
{
    struct weft__spin_latch latch = {house->mice[0].latch, house->mice[0].park};
    weft__spin_latch_set(&latch);
    house->mice[0].latch = latch.core;
    return false;
}

static bool post(struct house *house)
{
    weft__sleep_new_jobs(&house->sleep, 1, false);
    return false;
}

static bool fork_(struct house *house)
{
    weft__sleep_new_fork(&house->sleep, true);
    return false;
}

/* Whatever comes between counting itself and sleep nudges it. */
static void events_during_the_last_look(void **state)
{
    bool (*const events[])(struct house *) = {wake_it, set_its_latch, post, fork_};
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
        weft__sleep_guest_left(&house.sleep);
        assert_true(weft__sleep_new_fork(&house.sleep, false));
        expect_counts(&house, 1, 1);
        weft__sleep_new_jobs(&house.sleep, 2, false);
        expect_counts(&house, 1, 1);
        weft__sleep_guest_left(&house.sleep);
        weft__sleep_new_jobs(&house.sleep, 2, false);
        expect_counts(&house, 2, 0);
        wake_up(&house, 2);
    }
}

static bool leaves_room(struct house *house)
{
    weft__sleep_guest_left(&house->sleep);
    return weft__sleep_room_made(&house->sleep);
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

/* ---- Stepping back ---- */

/* For a guest more than there are places, one worker steps back, and no other. */
static void nobody_steps_back_for_nothing(void **state)
{
    FOR_EACH_PROTOCOL(i)
    {
        struct house house;
        house_open(&house, i, 0, WEFT__JEC_BITS);
        start_looking(&house, 0);
        assert_false(weft__sleep_over_full(&house.sleep)); /* no guest, four workers up */
        assert_false(step_back(&house, 0));
        expect_awake(&house, 0);
        weft__sleep_absent(&house.sleep);
        weft__sleep_guest_entered(&house.sleep);
        assert_false(weft__sleep_over_full(&house.sleep));
        assert_false(step_back(&house, 0));
        expect_awake(&house, 0);
        expect_counts(&house, 1, 0);
        weft__sleep_guest_entered(&house.sleep);
        assert_true(weft__sleep_over_full(&house.sleep));
        house_close(&house);
    }
}

static void put_aside(struct house *house)
{
    weft__sleep_guest_entered(&house->sleep);
    assert_int_equal(
        pthread_create(&house->mice[0].thread, NULL, step_back_for_good, &house->mice[0]), 0);
    WAIT_UNTIL(atomic_load_relaxed(&house->mice[0].park->state) == PARK_ASLEEP);
}

/* Until there is room; new jobs are for those who are up. */
static void steps_back_until_there_is_room(void **state)
{
    FOR_EACH_PROTOCOL(i)
    {
        struct house house;
        house_open(&house, i, 0, WEFT__JEC_BITS);
        put_aside(&house);
        assert_false(weft__sleep_over_full(&house.sleep)); /* nobody else need step back */
        weft__sleep_new_jobs(&house.sleep, 1, false);
        weft__sleep_more_work(&house.sleep);
        expect_counts(&house, 0, 1);
        assert_true(leaves_room(&house));
        weft__sleep_more_work(&house.sleep);
        assert_int_equal(pthread_join(house.mice[0].thread, NULL), 0);
        expect_counts(&house, 1, 0);
        house_close(&house);
    }
}

/* There was nothing to do when the guest left. */
static void new_jobs_wake_who_stepped_back(void **state)
{
    FOR_EACH_PROTOCOL(i)
    {
        struct house house;
        house_open(&house, i, 0, WEFT__JEC_BITS);
        put_aside(&house);
        assert_true(leaves_room(&house));
        expect_counts(&house, 0, 1);
        weft__sleep_new_jobs(&house.sleep, 1, false);
        assert_int_equal(pthread_join(house.mice[0].thread, NULL), 0);
        expect_counts(&house, 1, 0);
        house_close(&house);
    }
}

static bool guest_goes(struct house *house)
{
    weft__sleep_guest_left(&house->sleep);
    return false;
}

/* If the guest goes while it is about to sleep, or there is mail, it does not. */
static void room_and_mail_keep_it_awake(void **state)
{
    struct house house;
    house_open(&house, WEFT_SLEEP_EVENTS, 0, WEFT__JEC_BITS);
    start_looking(&house, 0);
    weft__sleep_guest_entered(&house.sleep);
    house.last_look = something_there;
    assert_false(step_back(&house, 0));
    expect_awake(&house, 0);
    house.mice[0].latch = (struct weft__latch){{LATCH_SET}};
    house.last_look = guest_goes; /* is not asked */
    assert_false(step_back(&house, 0));
    assert_int_equal(weft__sleep_guests(&house.sleep), 1);
    expect_counts(&house, 1, 0);
    house_close(&house);
}

/* One that sleeps uncounted can't take new work: a wake-up meant for those who can must not
 * end with it. */
static void *fall_asleep_uncounted(void *p)
{
    struct dormouse *mouse = p;
    struct weft__sleeper sleeper = {.park = mouse->park, .latch = &mouse->latch};
    while (!weft__latch_probe(&mouse->latch))
        weft__sleep_uncounted(&sleeper, 0);
    return NULL;
}

static void uncounted_ones_take_no_wake_ups(void **state)
{
    struct house house;
    house_open(&house, WEFT_SLEEP_EVENTS, 0, WEFT__JEC_BITS);
    put_one_to_sleep(&house, 0, fall_asleep_uncounted); /* the first that a waker comes to */
    put_one_to_sleep(&house, 1, fall_asleep);
    put_one_to_sleep(&house, 2, fall_asleep);
    expect_counts(&house, 0, 2);
    weft__sleep_new_jobs(&house.sleep, 1, false);
    unsigned after_one = weft__sleep_resting(&house.sleep).sleeping;
    weft__sleep_more_work(&house.sleep);
    unsigned after_two = weft__sleep_resting(&house.sleep).sleeping;
    weft__latch_set(&house.mice[0].latch); /* what it does wait for */
    for (int i = 0; i < 3; i++) {
        weft__park_wake(house.mice[i].park);
        assert_int_equal(pthread_join(house.mice[i].thread, NULL), 0);
    }
    house_close(&house);
    assert_int_equal(after_one, 1);
    assert_int_equal(after_two, 0);
}

/* A waker that goes on working wants a sleeper of another CPU, one that is about to sleep
 * wants its own CPU's. */
static void near_and_far(void **state)
{
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    int here = sched_getcpu();
    CPU_ZERO(&one);
    CPU_SET((size_t)here, &one);
    for (int waits = 0; waits < 2; waits++) {
        struct house house;
        house_open(&house, WEFT_SLEEP_EVENTS, 0, WEFT__JEC_BITS);
        atomic_store_relaxed(&house.mice[0].park->cpu, waits ? here + 1 : here);
        atomic_store_relaxed(&house.mice[1].park->cpu, waits ? here : here + 1);
        put_one_to_sleep(&house, 0, fall_asleep);
        put_one_to_sleep(&house, 1, fall_asleep);
        assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
        weft__sleep_new_jobs(&house.sleep, 1, waits);
        assert_true(is_asleep(&house, 0));
        assert_false(is_asleep(&house, 1));
        weft__sleep_new_jobs(&house.sleep, 2, waits); /* if it must be, the other one */
        expect_counts(&house, 2, 0);
        assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
        wake_up(&house, 2);
    }
}

/* If there is only one on its own CPU, and another CPU is free, that one is woken there. */
static int free_cpu, woke_on;
static unsigned asked;

static int both[2];
static const struct weft__cpus both_cpus = {2, both};

static bool all_are_free(struct weft__sleep *sleep, struct weft__used_cpus *used)
{
    *used = (struct weft__used_cpus){.left = -1};
    asked++;
    return true;
}

static void *sleep_and_look_where(void *p)
{
    struct dormouse *mouse = p;
    weft__park_lend(mouse->park);
    fall_asleep(mouse);
    woke_on = sched_getcpu();
    weft__park_take_back(mouse->park);
    return NULL;
}

/* How many times more it woke on the free CPU if the waker goes on than if it does not. */
static int more_elsewhere(const cpu_set_t *before, int here)
{
    enum { TIMES = 40 };
    cpu_set_t one;
    int elsewhere[2] = {0};
    CPU_ZERO(&one);
    CPU_SET((size_t)here, &one);
    for (int i = 0; i < TIMES; i++) {
        bool waits = i % 2; /* whose CPU is free in a moment */
        struct house house;
        house_open(&house, WEFT_SLEEP_EVENTS, 0, WEFT__JEC_BITS);
        both[0] = here;
        both[1] = free_cpu;
        house.sleep.used_cpus = all_are_free;
        house.sleep.cpus = &both_cpus;
        asked = 0;
        atomic_store_relaxed(&house.mice[0].park->cpu, here);
        put_one_to_sleep(&house, 0, sleep_and_look_where);
        assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
        weft__sleep_new_jobs(&house.sleep, 1, waits);
        assert_int_equal(asked, 1);
        assert_int_equal(sched_setaffinity(0, sizeof *before, before), 0);
        wake_up(&house, 1);
        elsewhere[waits] += woke_on == free_cpu;
    }
    return elsewhere[false] - elsewhere[true];
}

/* Once it is awake, the kernel may move it, and on a busy machine does so often. */
static void woken_elsewhere(void **state)
{
    enum { TRIES = 50, MUCH = 6 };
    cpu_set_t before;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    int here = sched_getcpu(), more = 0;
    free_cpu = 0;
    while (!CPU_ISSET((size_t)free_cpu, &before) || free_cpu == here)
        if (++free_cpu == CPU_SETSIZE)
            skip(); /* there is no other one */
    for (int i = 0; i < TRIES && more < MUCH; i++)
        more = more_elsewhere(&before, here);
    assert_true(more >= MUCH);
}

static void uncounted_is_not_counted(void **state)
{
    struct house house;
    house_open(&house, WEFT_SLEEP_EVENTS, 0, WEFT__JEC_BITS);
    house.last_look = something_there;
    struct weft__sleeper sleeper = {house.mice[0].park, &house.mice[0].latch, NULL, look, &house};
    assert_int_equal(weft__sleep_uncounted(&sleeper, 0), PARK_WAS_NUDGED);
    assert_int_equal(house.looks, 1);
    expect_awake(&house, 0);
    house.last_look = NULL;
    assert_int_equal(weft__sleep_uncounted(&sleeper, DOZE_NS), PARK_TIMED_OUT);
    expect_awake(&house, 0);
    house.last_look = set_its_latch;
    assert_int_equal(weft__sleep_uncounted(&sleeper, 0), PARK_WAS_NUDGED);
    expect_awake(&house, 0);
    assert_true(weft__latch_probe(&house.mice[0].latch));
    assert_int_equal(weft__sleep_uncounted(&sleeper, 0), PARK_WAS_NUDGED); /* set: no look */
    assert_int_equal(house.looks, 3);
    expect_counts(&house, 0, 0);
    house_close(&house);
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

/* Four events later the counter looks unmoved. The last look has to save it. */
static void small_counter_comes_back(void **state)
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
    assert_false(no_work(&house, 0));
    assert_int_equal(house.looks, 1);
    expect_counts(&house, 2, 0);
    expect_awake(&house, 0);
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

/* ---- Places and spare workers, whatever the protocol ---- */

/* A place that is given while others are woken. */
static void places_given_later(void **state)
{
    struct house house = {0};
    struct weft__sleep *sleep = &house.sleep;
    assert_int_equal(weft__sleep_init(sleep, WEFT_SLEEP_EVENTS, 1, 3, 0, WEFT__JEC_BITS), 0);
    atomic_fetch_add_relaxed(&sleep->counters, 1); /* somebody sleeps, where nobody knows yet */
    weft__sleep_new_jobs(sleep, 1, false);
    house.mice[0] = (struct dormouse){.sleep = sleep, .park = weft__park_get()};
    weft__sleep_place(sleep, 2, house.mice[0].park);
    put_one_to_sleep(&house, 0, fall_asleep);
    weft__sleep_more_work(sleep);
    assert_int_equal(pthread_join(house.mice[0].thread, NULL), 0);
    assert_int_equal(weft__sleep_resting(sleep).sleeping, 1);
    weft__park_put(house.mice[0].park);
    weft__sleep_destroy(sleep);
}

static unsigned spares_called;

static void count_spare(struct weft__sleep *sleep)
{
    spares_called++;
}

static unsigned spares_for_new_work(struct house *house)
{
    spares_called = 0;
    weft__sleep_new_fork(&house->sleep, true);
    weft__sleep_new_jobs(&house->sleep, 1, false);
    weft__sleep_more_work(&house->sleep);
    return spares_called;
}

static void spares_are_called(void **state)
{
    FOR_EACH_PROTOCOL(i)
    {
        struct house house;
        house_open(&house, i, 0, WEFT__JEC_BITS);
        atomic_store_relaxed(&house.sleep.blocked, 1);
        assert_int_equal(spares_for_new_work(&house), 0); /* there are none */
        house.sleep.call_spare = count_spare;
        assert_int_equal(spares_for_new_work(&house), 3);
        start_looking(&house, 0); /* one is idle: enough */
        assert_int_equal(spares_for_new_work(&house), 0);
        work_found(&house, 0);
        atomic_store_relaxed(&house.sleep.blocked, 0); /* all are at work */
        assert_int_equal(spares_for_new_work(&house), 0);
        house_close(&house);

        put_to_sleep(&house, i, 1); /* one can be woken */
        atomic_store_relaxed(&house.sleep.blocked, 1);
        house.sleep.call_spare = count_spare;
        spares_called = 0;
        weft__sleep_new_fork(&house.sleep, true);
        assert_int_equal(spares_called, 0);
        wake_up(&house, 1);
    }
}

/* ---- Injected work is never missed (bugs 4 to 6, 9, 10, 12) ---- */

enum { PRODUCERS = 2, CONSUMERS = 3 };
#define EACH ((size_t)rounds_of(SCALED(30000, 6)))

struct shop {
    struct weft__sleep sleep;
    struct weft__queue queue;
    struct weft__node *nodes; /* PRODUCERS times EACH */
    struct atomic_u32 *seen;
    struct atomic_size done;
    struct weft__spin_latch closed[CONSUMERS]; /* their owners end when these are set */
};

static bool goods_there(void *arg)
{
    return weft__queue_length(&((struct shop *)arg)->queue) > 0;
}

/* One job after another; waits between them now and then, so that the consumers sleep. */
static void deliver(struct shop *shop, unsigned producer)
{
    struct weft__node *mine = shop->nodes + producer * EACH;
    for (size_t i = 0; i < EACH; i++) {
        weft__queue_push(&shop->queue, &mine[i]);
        weft__sleep_new_jobs(&shop->sleep, 1, false);
        if (i % 4 == 0)
            WAIT_UNTIL(!goods_there(shop));
    }
}

static void sell(struct shop *shop, struct weft__node *node)
{
    atomic_fetch_add_relaxed(&shop->seen[node - shop->nodes], 1);
    if (atomic_fetch_add_relaxed(&shop->done, 1) + 1 < PRODUCERS * EACH)
        return;
    for (int i = 0; i < CONSUMERS; i++) /* it was the last one */
        weft__spin_latch_set(&shop->closed[i]);
}

static void serve(struct shop *shop, unsigned me)
{
    struct weft__spin_latch *closed = &shop->closed[me];
    struct weft__sleeper sleeper = {closed->owner, &closed->core, goods_there, goods_there, shop};
    while (!weft__latch_probe(&closed->core)) {
        struct weft__node *node = NULL;
        struct weft__idle idle;
        weft__sleep_start_looking(&shop->sleep, &idle, 0);
        while (!weft__latch_probe(&closed->core) && !(node = weft__queue_pop(&shop->queue)))
            weft__sleep_no_work(&shop->sleep, &idle, &sleeper);
        if (weft__sleep_work_found(&shop->sleep, &idle) && goods_there(shop))
            weft__sleep_more_work(&shop->sleep);
        if (node)
            sell(shop, node);
    }
}

static void trade(unsigned i, void *arg)
{
    if (i < CONSUMERS)
        serve(arg, i);
    else
        deliver(arg, i - CONSUMERS);
}

static void run_shop_as(enum weft_sleep protocol, unsigned rounds, unsigned jec_bits,
                        uint64_t look_ns)
{
    struct shop shop;
    memset(&shop, 0, sizeof shop);
    assert_int_equal(
        weft__sleep_init(&shop.sleep, protocol, CONSUMERS, CONSUMERS, rounds, jec_bits), 0);
    shop.sleep.look_ns = look_ns;
    for (unsigned i = 0; i < CONSUMERS; i++) {
        shop.closed[i].owner = weft__park_get();
        weft__sleep_place(&shop.sleep, i, shop.closed[i].owner);
    }
    shop.nodes = calloc(PRODUCERS * EACH, sizeof shop.nodes[0]);
    shop.seen = calloc(PRODUCERS * EACH, sizeof shop.seen[0]);
    assert_true(shop.nodes && shop.seen);
    in_threads(CONSUMERS + PRODUCERS, trade, &shop);
    for (size_t i = 0; i < PRODUCERS * EACH; i++)
        assert_int_equal(atomic_load_relaxed(&shop.seen[i]), 1);
    assert_int_equal(weft__sleep_resting(&shop.sleep).idle, 0);
    assert_int_equal(weft__sleep_resting(&shop.sleep).sleeping, 0);
    for (int i = 0; i < CONSUMERS; i++)
        weft__park_put(shop.closed[i].owner);
    weft__sleep_destroy(&shop.sleep);
    free(shop.nodes);
    free(shop.seen);
}

static void run_shop(unsigned rounds, unsigned jec_bits, uint64_t look_ns)
{
    FOR_EACH_PROTOCOL(i)
    run_shop_as(i, rounds, jec_bits, look_ns);
}

static void nothing_is_missed(void **state)
{
    run_shop(WEFT__ROUNDS_DEFAULT, WEFT__JEC_BITS, 0);
}

static void nothing_is_missed_without_spinning(void **state)
{
    run_shop(0, WEFT__JEC_BITS, 0);
}

static void nothing_is_missed_with_two_bits(void **state)
{
    FOR_EACH_EVENTS(i)
    run_shop_as(i, 0, 2, 0);
}

/* Time runs out against wakers: every sleeper is uncounted once, by the one or the other. */
static void nothing_is_missed_by_dozers(void **state)
{
    run_shop(0, WEFT__JEC_BITS, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),
        cmocka_unit_test(event_counter_parity),
        cmocka_unit_test(plain_event_counter),
        cmocka_unit_test(rounds_before_sleepy),
        cmocka_unit_test(last_look_finds_something),
        cmocka_unit_test(new_work_since_sleepy),
        cmocka_unit_test(latch_set_before_sleep),
        cmocka_unit_test(latch_is_never_sleepy),
        cmocka_unit_test(events_during_the_last_look),
        cmocka_unit_test(n_jobs_wake_at_most_n),
        cmocka_unit_test(forks_wake_one_at_a_time),
        cmocka_unit_test(guests_take_room),
        cmocka_unit_test(guest_leaves_room),
        cmocka_unit_test(absent_one_leaves_room),
        cmocka_unit_test(nobody_steps_back_for_nothing),
        cmocka_unit_test(steps_back_until_there_is_room),
        cmocka_unit_test(new_jobs_wake_who_stepped_back),
        cmocka_unit_test(room_and_mail_keep_it_awake),
        cmocka_unit_test(last_searcher_looks_for_more),
        cmocka_unit_test(uncounted_ones_take_no_wake_ups),
        cmocka_unit_test(near_and_far),
        cmocka_unit_test(woken_elsewhere),
        cmocka_unit_test(uncounted_is_not_counted),
        cmocka_unit_test(small_counter_wraps),
        cmocka_unit_test(small_counter_comes_back),
        cmocka_unit_test(small_plain_counter_comes_back),
        cmocka_unit_test(places_given_later),
        cmocka_unit_test(spares_are_called),
        cmocka_unit_test(nothing_is_missed),
        cmocka_unit_test(nothing_is_missed_without_spinning),
        cmocka_unit_test(nothing_is_missed_with_two_bits),
        cmocka_unit_test(nothing_is_missed_by_dozers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
