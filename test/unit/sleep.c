/* SPDX-License-Identifier: MIT */
/* sleep.c: what the sleep protocols share, without a pool around them; and that no protocol misses
 * work. */
#include "child.h"
#include "core/queue.h"
#include "os/thread.h"
#include "unit/house.h"

#include <stdlib.h>

enum { DOZE_NS = 1000 };

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
    weft__sleep_guest_gone(&house->sleep);
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
    *used = (struct weft__used_cpus){.recent = -1};
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

/* ---- Injected work is never missed (bugs 4 to 6, 9 to 12) ---- */

enum { CONSUMERS = 3 }; /* at most */

struct shop {
    struct weft__sleep sleep;
    struct weft__queue queue;
    unsigned producers, consumers;
    size_t each; /* what each producer delivers */
    void (*deliver)(struct shop *shop, unsigned producer);
    bool until_rest; /* closes when all sleep; otherwise, when the last node is sold */
    struct weft__node *nodes;
    struct atomic_u32 *seen; /* how often each was sold */
    struct atomic_size done;
    struct weft__spin_latch closed[CONSUMERS]; /* their owners end when these are set */
};

static bool goods_there(void *arg)
{
    return weft__queue_length(&((struct shop *)arg)->queue) > 0;
}

static void put(struct shop *shop, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        weft__queue_push(&shop->queue, &shop->nodes[first + i]);
    weft__sleep_new_jobs(&shop->sleep, (unsigned)n, false);
}

static bool all_sleep(struct shop *shop)
{
    return weft__sleep_resting(&shop->sleep).sleeping == shop->consumers;
}

/* One after another; waits between them now and then, so that the consumers sleep. */
static void deliver(struct shop *shop, unsigned producer)
{
    for (size_t i = 0; i < shop->each; i++) {
        put(shop, producer * shop->each + i, 1);
        if (i % 4 == 0)
            WAIT_UNTIL(!goods_there(shop));
    }
}

/* Alone or in bunches, when all sleep or while some fall asleep. */
static void deliver_in_bunches(struct shop *shop, unsigned producer)
{
    for (size_t i = 0; i < shop->each;) {
        size_t bunch = i % 5 == 0 && i + 3 <= shop->each ? 3 : 1;
        put(shop, i, bunch);
        i += bunch;
        if (i % 3)
            WAIT_UNTIL(atomic_load_relaxed(&shop->done) == i);
        if (i % 500 == 1)
            WAIT_UNTIL(all_sleep(shop));
    }
}

/* The next one when the one before is sold. */
static void deliver_one_by_one(struct shop *shop, unsigned producer)
{
    for (size_t i = producer * shop->each, n = shop->each; n > 0; i++, n--) {
        put(shop, i, 1);
        WAIT_UNTIL(atomic_load_relaxed(&shop->seen[i]) == 1);
    }
}

static void close_shop(struct shop *shop)
{
    for (unsigned i = 0; i < shop->consumers; i++)
        weft__spin_latch_set(&shop->closed[i]);
}

static bool all_is_sold(struct shop *shop)
{
    return atomic_load_relaxed(&shop->done) == shop->producers * shop->each;
}

static void sell(struct shop *shop, struct weft__node *node)
{
    atomic_fetch_add_relaxed(&shop->seen[node - shop->nodes], 1);
    size_t before = atomic_fetch_add_relaxed(&shop->done, 1);
    if (!shop->until_rest && before + 1 == shop->producers * shop->each)
        close_shop(shop);
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
    struct shop *shop = arg;
    if (i < shop->consumers) {
        serve(shop, i);
        return;
    }
    shop->deliver(shop, i - shop->consumers);
    if (!shop->until_rest || i > shop->consumers)
        return;
    WAIT_UNTIL(all_is_sold(shop) && all_sleep(shop));
    CHECK_EQUAL(weft__sleep_resting(&shop->sleep).idle, 0);
    close_shop(shop);
}

/* `kind` says how many there are, and how they deliver. */
static void run_shop(const struct shop *kind, enum weft_sleep protocol, unsigned rounds,
                     unsigned jec_bits, uint64_t look_ns)
{
    struct shop shop = *kind;
    unsigned n = shop.consumers;
    size_t all = shop.producers * shop.each;
    CHECK_EQUAL(weft__sleep_init(&shop.sleep, protocol, n, n, rounds, jec_bits), 0);
    shop.sleep.look_ns = look_ns;
    for (unsigned i = 0; i < n; i++) {
        shop.closed[i].owner = weft__park_get();
        weft__sleep_place(&shop.sleep, i, shop.closed[i].owner);
    }
    shop.nodes = calloc(all, sizeof shop.nodes[0]);
    shop.seen = calloc(all, sizeof shop.seen[0]);
    CHECK(shop.nodes && shop.seen);
    in_threads(n + shop.producers, trade, &shop);
    for (size_t i = 0; i < all; i++)
        CHECK_EQUAL(atomic_load_relaxed(&shop.seen[i]), 1);
    CHECK_EQUAL(weft__sleep_resting(&shop.sleep).idle, 0);
    CHECK_EQUAL(weft__sleep_resting(&shop.sleep).sleeping, 0); /* bug 11: and not -1 either */
    for (unsigned i = 0; i < n; i++)
        weft__park_put(shop.closed[i].owner);
    weft__sleep_destroy(&shop.sleep);
    free(shop.nodes);
    free(shop.seen);
}

static void run_large_shop(enum weft_sleep protocol, unsigned rounds, unsigned jec_bits,
                           uint64_t look_ns)
{
    const struct shop shop = {.producers = 2,
                              .consumers = CONSUMERS,
                              .each = (size_t)rounds_of(SCALED(30000, 6)),
                              .deliver = deliver};
    run_shop(&shop, protocol, rounds, jec_bits, look_ns);
}

static void nothing_is_missed(void)
{
    FOR_EACH_PROTOCOL(i)
    run_large_shop(i, WEFT__ROUNDS_DEFAULT, WEFT__JEC_BITS, 0);
}

static void nothing_is_missed_without_spinning(void)
{
    FOR_EACH_PROTOCOL(i)
    run_large_shop(i, 0, WEFT__JEC_BITS, 0);
}

static void nothing_is_missed_with_two_bits(void)
{
    FOR_EACH_EVENTS(i)
    run_large_shop(i, 0, 2, 0);
}

/* Time runs out against wakers: every sleeper is uncounted once, by the one or the other. */
static void nothing_is_missed_by_dozers(void)
{
    FOR_EACH_PROTOCOL(i)
    run_large_shop(i, 0, WEFT__JEC_BITS, 100);
}

static void deliver_to_each_number(enum weft_sleep protocol, int jobs, unsigned jec_bits)
{
    for (unsigned n = 1; n <= CONSUMERS; n++) {
        const struct shop shop = {.producers = 1,
                                  .consumers = n,
                                  .each = (size_t)rounds_of(jobs),
                                  .deliver = deliver_in_bunches,
                                  .until_rest = true};
        for (unsigned rounds = 0; rounds <= 32; rounds += 32)
            run_shop(&shop, protocol, rounds, jec_bits, WEFT__LOOK_NS);
    }
}

static void bug_05_injected_job_is_seen_before_sleep(void)
{
    FOR_EACH_PROTOCOL(i)
    deliver_to_each_number(i, SCALED(2000, 10), WEFT__JEC_BITS);
}

static void bug_06_pool_with_two_bits_of_events(void)
{
    FOR_EACH_EVENTS(i)
    deliver_to_each_number(i, SCALED(10000, 10), 2);
}

/* The notifier's fence. Two notifiers for one sleeper, one job at a time each. */
static void bug_10_notifiers_and_a_sleeper(void)
{
    const struct shop shop = {.producers = 2,
                              .consumers = 1,
                              .each = SCALED(3000, 10),
                              .deliver = deliver_one_by_one,
                              .until_rest = true};
    FOR_EACH_PROTOCOL(i)
    for (unsigned rounds = 0; rounds <= 32; rounds += 32)
        run_shop(&shop, i, rounds, WEFT__JEC_BITS, WEFT__LOOK_NS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_steps_back_for_nothing),
        cmocka_unit_test(steps_back_until_there_is_room),
        cmocka_unit_test(new_jobs_wake_who_stepped_back),
        cmocka_unit_test(room_and_mail_keep_it_awake),
        cmocka_unit_test(uncounted_ones_take_no_wake_ups),
        cmocka_unit_test(near_and_far),
        cmocka_unit_test(woken_elsewhere),
        cmocka_unit_test(uncounted_is_not_counted),
        cmocka_unit_test(places_given_later),
        cmocka_unit_test(spares_are_called),
        IN_CHILD(nothing_is_missed),
        IN_CHILD(nothing_is_missed_without_spinning),
        IN_CHILD(nothing_is_missed_with_two_bits),
        IN_CHILD(nothing_is_missed_by_dozers),
        IN_CHILD(bug_05_injected_job_is_seen_before_sleep),
        IN_CHILD(bug_06_pool_with_two_bits_of_events),
        IN_CHILD(bug_10_notifiers_and_a_sleeper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
