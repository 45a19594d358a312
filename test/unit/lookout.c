/* SPDX-License-Identifier: MIT */
/* lookout.c: while others work, one sleeper looks again now and then. Without a pool around it. */
#include "os/thread.h"
#include "unit/house.h"

#include <unistd.h>

static bool looks_out(struct house *house)
{
    return (atomic_load_relaxed(&house->sleep.counters) & LOOKOUT) != 0;
}

enum { DOZE_NS = 1000 };

static struct atomic_u32 works_held;

static bool holds_work(struct weft__sleep *sleep)
{
    return atomic_load_relaxed(&works_held) > 0;
}

/* A house with a look-out, and so much work for it. */
static void open_watched(struct house *house, unsigned works)
{
    house_open(house, WEFT_SLEEP_EVENTS, 0, WEFT__JEC_BITS);
    house->sleep.look_ns = DOZE_NS;
    house->sleep.holds_work = holds_work;
    atomic_store_relaxed(&works_held, works);
}

/* Until it has slept; the look-out gets up by itself if there is work. */
static void doze(struct house *house, int i)
{
    while (!no_work(house, i))
        ;
    expect_awake(house, i);
}

static void looks_out_while_others_work(void **state)
{
    struct house house;
    house_open(&house, WEFT_SLEEP_EVENTS, 0, WEFT__JEC_BITS);
    house.sleep.look_ns = DOZE_NS;
    start_looking(&house, 0); /* three are at work */
    for (unsigned i = 0; i < 6; i++) {
        doze(&house, 0); /* or it would sleep for ever */
        expect_counts(&house, 1, 0);
        assert_true(house.mice[0].idle.looks_out);
        assert_false(looks_out(&house)); /* who is awake does not */
        assert_int_equal(house.looks, i + 1);
    }
    work_found(&house, 0);
    house_close(&house);
}

/* One is enough: the others sleep for good, and are woken first. */
static void one_looks_out(void **state)
{
    struct house house;
    open_watched(&house, 0);
    put_one_to_sleep(&house, 0, fall_asleep); /* three are at work */
    WAIT_UNTIL(looks_out(&house));
    put_one_to_sleep(&house, 1, fall_asleep);
    weft__sleep_more_work(&house.sleep);
    assert_int_equal(pthread_join(house.mice[1].thread, NULL), 0);
    assert_false(house.mice[1].idle.looks_out);
    assert_true(looks_out(&house));
    expect_counts(&house, 1, 1);
    work_found(&house, 1);
    assert_false(weft__sleep_needs_lookout(&house.sleep, 1));
    weft__sleep_more_work(&house.sleep); /* there is nobody else now */
    assert_int_equal(pthread_join(house.mice[0].thread, NULL), 0);
    work_found(&house, 0);
    assert_true(weft__sleep_needs_lookout(&house.sleep, 1));
    house_close(&house);
}

/* A look-out that is woken may not run for a while. It is off duty all the same, so that the next
 * one who sleeps takes the duty. */
static void off_duty_when_woken(void **state)
{
    struct house house;
    open_watched(&house, 0);
    put_one_to_sleep(&house, 0, fall_asleep);
    WAIT_UNTIL(looks_out(&house));
    weft__sleep_more_work(&house.sleep);
    assert_false(looks_out(&house)); /* whether it runs or not */
    put_one_to_sleep(&house, 1, fall_asleep);
    WAIT_UNTIL(looks_out(&house));
    assert_int_equal(pthread_join(house.mice[0].thread, NULL), 0);
    assert_true(looks_out(&house)); /* it did not take the other one off */
    weft__sleep_more_work(&house.sleep);
    assert_int_equal(pthread_join(house.mice[1].thread, NULL), 0);
    house_close(&house);
}

static void looks_out_while_a_guest_works(void **state)
{
    struct house house;
    house_open(&house, WEFT_SLEEP_EVENTS, 0, WEFT__JEC_BITS);
    house.sleep.look_ns = DOZE_NS;
    weft__sleep_absent(&house.sleep);
    for (int i = 1; i < WORKERS - 1; i++)
        start_looking(&house, i); /* nobody is at work, but */
    weft__sleep_guest_entered(&house.sleep);
    start_looking(&house, 0);
    doze(&house, 0);
    expect_counts(&house, WORKERS - 1, 0);
    house_close(&house);
}

/* A caller who is outside makes no work; one who comes does. */
static void absent_ones_are_not_at_work(void **state)
{
    struct house house;
    house_open(&house, WEFT_SLEEP_EVENTS, 0, WEFT__JEC_BITS);
    house.sleep.look_ns = DOZE_NS;
    weft__sleep_absent(&house.sleep);
    for (int i = 1; i < WORKERS - 1; i++)
        start_looking(&house, i);
    put_one_to_sleep(&house, 0, fall_asleep);
    assert_false(looks_out(&house));
    weft__sleep_present(&house.sleep);
    weft__sleep_more_work(&house.sleep);
    assert_int_equal(pthread_join(house.mice[0].thread, NULL), 0);
    doze(&house, 0); /* ends by itself now */
    assert_true(house.mice[0].idle.looks_out);
    house_close(&house);
}

static void *fall_asleep_for_good(void *p)
{
    struct dormouse *mouse = p;
    fall_asleep(mouse);
    CHECK(!mouse->idle.looks_out); /* woken, not tired of it */
    return NULL;
}

/* Nobody is left who could make work, and the pool has not been used. */
static void last_one_sleeps_for_good(void **state)
{
    struct house house;
    house_open(&house, WEFT_SLEEP_EVENTS, 0, WEFT__JEC_BITS);
    house.sleep.look_ns = DOZE_NS;
    for (int i = 1; i < WORKERS; i++)
        start_looking(&house, i);
    put_one_to_sleep(&house, 0, fall_asleep_for_good);
    expect_counts(&house, WORKERS - 1, 1);
    weft__sleep_more_work(&house.sleep);
    assert_int_equal(pthread_join(house.mice[0].thread, NULL), 0);
    expect_counts(&house, WORKERS, 0);
    house_close(&house);
}

static struct atomic_u32 seconds;

static void count_second(struct weft__sleep *sleep)
{
    atomic_fetch_add_relaxed(&seconds, 1);
}

/* A house whose look-out has just seen the last use. All others search. */
static uint64_t open_unused(struct house *house)
{
    open_watched(house, 0);
    house->sleep.every_second = count_second;
    atomic_store_relaxed(&seconds, 0);
    for (int i = 1; i < WORKERS; i++)
        start_looking(house, i);
    uint64_t begun = weft_now();
    house->mice[0].used = begun;
    put_one_to_sleep(house, 0, fall_asleep);
    return begun;
}

static void close_unused(struct house *house)
{
    expect_counts(house, WORKERS - 1, 1);
    weft__sleep_more_work(&house->sleep);
    assert_int_equal(pthread_join(house->mice[0].thread, NULL), 0);
    assert_null(atomic_load_relaxed(&house->sleep.rester));
    assert_false(house->mice[0].idle.looks_out);
    house_close(house);
}

static void use_briefly(struct house *house)
{
    weft__sleep_guest_entered(&house->sleep);
    weft__sleep_guest_gone(&house->sleep);
}

/* After the last use it looks on for 10 ms, and then no more. What comes in between, however brief,
 * makes it begin anew. */
static void looks_out_for_a_while(void **state)
{
    struct house house;
    uint64_t begun = open_unused(&house), seen = begun;
    while (weft_now() - begun < 3 * WEFT__WATCH_NS) {
        uint64_t came = weft_now();
        use_briefly(&house);
        if (!looks_out(&house)) /* on a busy machine */
            break;
        seen = came;
        sched_yield();
    }
    WAIT_UNTIL(!looks_out(&house));
    assert_true(weft_now() - seen >= WEFT__WATCH_NS);
    close_unused(&house);
}

/* Off duty, it wakes up once in a second, until none has used the pool in that second. */
static void rests_for_a_second(void **state)
{
    struct house house;
    uint64_t begun = open_unused(&house);
    WAIT_UNTIL(!looks_out(&house) && weft__sleep_counts_seconds(&house.sleep));
    use_briefly(&house);
    bool in_time = weft_now() - begun < WEFT__SILENCE_NS; /* not so on a busy machine */
    WAIT_UNTIL(!weft__sleep_counts_seconds(&house.sleep));
    if (in_time) {
        assert_true(weft_now() - begun >= 2 * WEFT__SILENCE_NS);
        assert_int_equal(atomic_load_relaxed(&seconds), 3);
    }
    assert_false(looks_out(&house));
    close_unused(&house);
}

/* If another sleeper has gone off duty since, the seconds are that sleeper's business. */
static void one_rests(void **state)
{
    struct house house;
    uint64_t begun = open_unused(&house);
    WAIT_UNTIL(!looks_out(&house) && weft__sleep_counts_seconds(&house.sleep));
    work_found(&house, 1);
    house.mice[1].used = weft_now();
    put_one_to_sleep(&house, 1, fall_asleep);
    WAIT_UNTIL(atomic_load_relaxed(&house.sleep.rester) == house.mice[1].park);
    bool in_time = weft_now() - begun < WEFT__SILENCE_NS; /* not so on a busy machine */
    WAIT_UNTIL(!weft__sleep_counts_seconds(&house.sleep));
    if (in_time)
        assert_int_equal(atomic_load_relaxed(&seconds), 2);
    for (unsigned i = 0; i < 2; i++)
        weft__sleep_more_work(&house.sleep);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_join(house.mice[i].thread, NULL), 0);
    house_close(&house);
}

/* It gets up for work that it may take, and for nothing else. */
static void gets_up_for_work(void **state)
{
    struct house house;
    open_watched(&house, 0);
    put_one_to_sleep(&house, 0, fall_asleep); /* three are at work */
    WAIT_UNTIL(looks_out(&house));
    weft__sleep_guest_entered(&house.sleep); /* and there is no room */
    atomic_store_relaxed(&works_held, 1);
    uint64_t now = weft_now();
    while (weft_now() - now < 20 * DOZE_NS)
        sched_yield();
    expect_counts(&house, 0, 1);
    weft__sleep_guest_gone(&house.sleep);
    assert_int_equal(pthread_join(house.mice[0].thread, NULL), 0); /* by itself */
    expect_counts(&house, 1, 0);
    house_close(&house);
}

static void *fall_asleep_and_overtake(void *p)
{
    struct dormouse *mouse = p;
    fall_asleep(mouse);
    CHECK(mouse->idle.overtakes);
    return NULL;
}

/* A searcher has the place, but takes nothing: the look-out gets up in its stead. Not if guests
 * have that place, too. */
static void gets_up_for_what_is_overlooked(void **state)
{
    struct house house;
    open_watched(&house, 1);
    start_looking(&house, 1); /* two are at work */
    weft__sleep_guest_entered(&house.sleep);
    weft__sleep_guest_entered(&house.sleep);
    put_one_to_sleep(&house, 0, fall_asleep_and_overtake);
    WAIT_UNTIL(looks_out(&house));
    uint64_t now = weft_now();
    while (weft_now() - now < 20 * DOZE_NS)
        sched_yield();
    expect_counts(&house, 1, 1);
    weft__sleep_guest_gone(&house.sleep);
    assert_int_equal(pthread_join(house.mice[0].thread, NULL), 0); /* by itself */
    expect_counts(&house, 2, 0);
    assert_true(weft__sleep_over_full(&house.sleep)); /* the searcher steps back */
    house_close(&house);
}

/* All have slept so long that nobody looks out: then new work wakes one more, who does. Not twice:
 * and not while there is a look-out, or somebody is up. */
static void deep_sleep_wakes_one_more(void **state)
{
    for (int forks = 0; forks < 2; forks++) {
        struct house house;
        put_to_sleep(&house, WEFT_SLEEP_EVENTS, WORKERS);
        house.sleep.look_ns = DOZE_NS;
        for (unsigned i = 0; i < 2; i++) {
            if (forks)
                weft__sleep_new_fork(&house.sleep, true);
            else
                weft__sleep_new_jobs(&house.sleep, 1 + 2 * i, false);
            /* The second time two are idle: enough for a fork, too few for three jobs. */
            unsigned up = i > 0 && !forks ? 3 : 2;
            expect_counts(&house, up, WORKERS - up);
        }
        wake_up(&house, WORKERS);

        put_to_sleep(&house, WEFT_SLEEP_EVENTS, WORKERS);
        house.sleep.look_ns = DOZE_NS;
        atomic_fetch_add_relaxed(&house.sleep.counters, LOOKOUT);
        if (forks)
            weft__sleep_new_fork(&house.sleep, true);
        else
            weft__sleep_new_jobs(&house.sleep, 1, false);
        expect_counts(&house, 1, WORKERS - 1);
        atomic_fetch_sub_relaxed(&house.sleep.counters, LOOKOUT);
        wake_up(&house, WORKERS);
    }
}

static cpu_set_t cpus_of(int thread)
{
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(thread, sizeof set, &set), 0);
    return set;
}

/* A worker that is awake, but was pinned to a CPU and gets none, is unpinned by the look-out. */
static void lets_go_who_gets_no_cpu(void **state)
{
    struct house house;
    open_watched(&house, 1);
    cpu_set_t before = cpus_of(0);
    weft__park_lend(house.mice[1].park); /* this thread stands for the worker that was woken */
    weft__pin_set(&house.mice[1].park->pin, gettid(), sched_getcpu());
    cpu_set_t held = cpus_of(0);
    start_looking(&house, 1); /* two are at work, */
    weft__sleep_guest_entered(&house.sleep);
    put_one_to_sleep(&house, 0, fall_asleep_and_overtake); /* and there is no place for it */
    assert_int_equal(pthread_join(house.mice[0].thread, NULL), 0);
    cpu_set_t after = cpus_of(0);
    weft__park_take_back(house.mice[1].park);
    house_close(&house);
    assert_int_equal(CPU_COUNT(&held), 1);
    assert_true(CPU_EQUAL(&after, &before));
}

static bool holds_injected(struct weft__sleep *sleep)
{
    return true;
}

/* Injected jobs that no worker may take because of guests are not left alone for ever. */
static void starved_jobs_are_relieved(void **state)
{
    struct house house;
    house_open(&house, WEFT_SLEEP_EVENTS, 0, WEFT__JEC_BITS);
    house.sleep.look_ns = DOZE_NS;
    house.sleep.holds_injected = holds_injected;
    weft__sleep_guest_entered(&house.sleep);
    uint64_t begun = weft_now();
    assert_int_equal(
        pthread_create(&house.mice[0].thread, NULL, step_back_for_good, &house.mice[0]), 0);
    assert_int_equal(pthread_join(house.mice[0].thread, NULL), 0);
    assert_true(weft_now() - begun >= WEFT__STARVED_NS);
    assert_true(house.mice[0].idle.let_in);
    assert_true(weft__sleep_over_full(&house.sleep));
    house_close(&house);
}

/* With more workers than `workers`, somebody is at work even if so many are inactive. */
static void more_than_all_may_be_present(void **state)
{
    struct house house;
    house_open(&house, WEFT_SLEEP_EVENTS, 0, WEFT__JEC_BITS);
    house.sleep.look_ns = DOZE_NS;
    for (int i = 1; i < WORKERS; i++)
        start_looking(&house, i);
    weft__sleep_present(&house.sleep);
    assert_int_equal(atomic_load_relaxed(&house.sleep.absent), -1);
    put_one_to_sleep(&house, 0, fall_asleep);
    WAIT_UNTIL(looks_out(&house));
    expect_counts(&house, WORKERS - 1, 1); /* but as many are up as there may be */
    work_found(&house, 1);
    weft__sleep_absent(&house.sleep);
    assert_int_equal(pthread_join(house.mice[0].thread, NULL), 0); /* it got up */
    house_close(&house);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looks_out_while_others_work),
        cmocka_unit_test(one_looks_out),
        cmocka_unit_test(off_duty_when_woken),
        cmocka_unit_test(looks_out_while_a_guest_works),
        cmocka_unit_test(absent_ones_are_not_at_work),
        cmocka_unit_test(last_one_sleeps_for_good),
        cmocka_unit_test(looks_out_for_a_while),
        cmocka_unit_test(rests_for_a_second),
        cmocka_unit_test(one_rests),
        cmocka_unit_test(gets_up_for_work),
        cmocka_unit_test(gets_up_for_what_is_overlooked),
        cmocka_unit_test(deep_sleep_wakes_one_more),
        cmocka_unit_test(lets_go_who_gets_no_cpu),
        cmocka_unit_test(starved_jobs_are_relieved),
        cmocka_unit_test(more_than_all_may_be_present),
    };
    return cmocka_run_group_tests_name("lookout", tests, NULL, NULL);
}
