/* SPDX-License-Identifier: MIT */
/* timer.c: jobs that run at a time, and every so often. */
#include "weft/timer.h"
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/sync.h"

#include <errno.h>
#include <stdlib.h>

enum { MS = 1000000 };

static uint64_t in(uint64_t ns)
{
    return weft_now() + ns;
}

static const uint64_t far_away = UINT64_MAX;

/* ---- Once ---- */

struct once {
    weft_timer timer;
    uint64_t when;
    atomic_ulong ran;
};

static void note_once(weft *w, void *arg)
{
    struct once *once = arg;
    CHECK(weft_now() >= once->when);
    atomic_fetch_add(&once->ran, 1);
}

static void at_a_time(void **state)
{
    static const unsigned flags[] = {0, WEFT_NO_GUESTS};
    for (unsigned i = 0; i < 2; i++) {
        weft_pool *pool = pool_make(1 + i, flags[i]);
        struct once once = {.timer = WEFT_TIMER_INIT};
        for (unsigned long r = 1; r <= 20; r++) {
            once.when = r % 4 ? in(r * 100000) : 0; /* or long ago */
            assert_int_equal(weft_timer_start(pool, &once.timer, once.when, 0, note_once, &once),
                             0);
            WAIT_UNTIL(atomic_load(&once.ran) == r);
            assert_int_equal(weft_timer_stop(&once.timer), 0);
        }
        assert_int_equal(atomic_load(&once.ran), 20);
        pool_drop(pool);
        assert_int_equal(weft_timer_stop(&once.timer), 0);
    }
}

/* In the order of their times, whatever the order in which they were started. */
enum { MANY = 200 };

struct many {
    struct numbered {
        weft_timer timer;
        struct many *all;
        uint64_t when;
    } timers[MANY];
    uint64_t last;
    atomic_ulong ran;
};

static void note_order(weft *w, void *arg)
{
    struct numbered *timer = arg;
    CHECK(timer->when >= timer->all->last && weft_now() >= timer->when); /* one worker */
    timer->all->last = timer->when;
    atomic_fetch_add(&timer->all->ran, 1);
}

static void many_in_order(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    struct many *many = calloc(1, sizeof *many);
    assert_non_null(many);
    uint64_t begin = in(20 * MS);
    for (int i = 0; i < MANY; i++) {
        struct numbered *timer = &many->timers[i];
        timer->all = many;
        timer->when = begin + (uint64_t)(i * 77 % MANY) * 20000;
        assert_int_equal(weft_timer_start(pool, &timer->timer, timer->when, 0, note_order, timer),
                         0);
    }
    for (int i = 0; i < MANY; i += 5) /* some of them not */
        assert_int_equal(weft_timer_stop(&many->timers[i].timer), 0);
    WAIT_UNTIL(atomic_load(&many->ran) >= MANY - MANY / 5);
    pool_drop(pool);
    free(many);
}

/* ---- Every so often ---- */

struct often {
    weft_timer timer;
    atomic_ulong ran;
    atomic_bool runs;
};

static void note_often(weft *w, void *arg)
{
    struct often *often = arg;
    CHECK(!atomic_exchange(&often->runs, true)); /* never twice at once */
    atomic_fetch_add(&often->ran, 1);
    atomic_store(&often->runs, false);
}

static void every_so_often(void **state)
{
    for (unsigned workers = 1; workers <= 3; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        struct often often = {.ran = 0};
        for (unsigned long period = 1; period <= 100000; period *= 10) {
            atomic_store(&often.ran, 0);
            assert_int_equal(
                weft_timer_start(pool, &often.timer, weft_now(), period, note_often, &often), 0);
            assert_int_equal(
                weft_timer_start(pool, &often.timer, weft_now(), period, note_often, &often),
                -EBUSY);
            WAIT_UNTIL(atomic_load(&often.ran) >= 20);
            assert_int_equal(weft_timer_stop(&often.timer), 0);
            unsigned long ran = atomic_load(&often.ran);
            assert_false(atomic_load(&often.runs));
            for (int i = 0; i < 100; i++)
                wait_a_moment();
            assert_int_equal(atomic_load(&often.ran), ran);
        }
        pool_drop(pool);
    }
}

/* Ten periods pass while all workers are busy. It runs once for the first time and once for all
 * that were missed, then at its old times: so the fourth run is more than a period after that. */
static void missed_periods_count_once(void **state)
{
    enum { PERIOD = 5 * MS };
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    struct often often = {.ran = 0};
    struct held held;
    pool_hold(pool, &held, 1);
    uint64_t begin = weft_now();
    assert_int_equal(weft_timer_start(pool, &often.timer, begin, PERIOD, note_often, &often), 0);
    WAIT_UNTIL(weft_now() > begin + 10 * PERIOD);
    uint64_t freed = weft_now();
    pool_let_go(&held);
    WAIT_UNTIL(atomic_load(&often.ran) >= 4);
    assert_true(weft_now() > freed + PERIOD);
    assert_int_equal(weft_timer_stop(&often.timer), 0);
    pool_drop(pool);
}

/* ---- Stop ---- */

struct stopped {
    weft_timer timer;
    struct gate gate;
    atomic_bool over;
};

static void hold_job(weft *w, void *arg)
{
    struct stopped *stopped = arg;
    gate_job(w, &stopped->gate);
    atomic_store(&stopped->over, true);
}

static void stop_it(unsigned i, void *arg)
{
    struct stopped *stopped = arg;
    if (i == 0) {
        gate_open(&stopped->gate);
        return;
    }
    CHECK(weft_timer_stop(&stopped->timer) == 0);
    CHECK(atomic_load(&stopped->over));
}

static void stop_in_job(weft *w, void *arg)
{
    stop_it(1, arg);
}

static int stop_in_actor(weft *w, void *arg)
{
    stop_it(1, arg);
    return 0;
}

/* By threads outside, by a job, by an actor: each returns when the run is over. */
static void stop_waits_for_a_run(void **state)
{
    weft_pool *pool = pool_make(3, 0);
    for (int r = 0; r < rounds_of(100); r++) {
        struct stopped stopped = {.over = false};
        uint64_t period = r % 2 ? 1000 : 0;
        assert_int_equal(weft_timer_start(pool, &stopped.timer, 0, period, hold_job, &stopped), 0);
        gate_wait_arrived(&stopped.gate);
        weft_task task;
        assert_int_equal(weft_submit(pool, &task, stop_in_job, &stopped), 0);
        weft_actor *actor = start(pool, stop_in_actor, &stopped, NULL);
        in_threads(3, stop_it, &stopped);
        assert_int_equal(weft_task_wait(&task), 0);
        assert_int_equal(end(actor), 0);
        assert_int_equal(weft_timer_stop(&stopped.timer), 0);
    }
    pool_drop(pool);
}

/* Its job waits in the injector, because all workers are busy: it never runs. */
static void never(weft *w, void *arg)
{
    check_failed(__FILE__, __LINE__, "this one should not have run");
}

static void stop_before_it_begins(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    struct held held;
    weft_timer timer = WEFT_TIMER_INIT;
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    assert_int_equal(weft_timer_stop(&timer), 0); /* was never started */
    for (int i = 0; i < 20; i++) {
        assert_int_equal(weft_timer_start(pool, &timer, far_away, 1, never, NULL), 0);
        assert_int_equal(weft_timer_stop(&timer), 0);
        pool_hold(pool, &held, 1);
        assert_int_equal(weft_timer_start(pool, &timer, 0, (unsigned)i % 2, never, NULL), 0);
        do
            assert_int_equal(weft_pool_get_info(pool, &info), 0);
        while (info.queued == 0);
        assert_int_equal(weft_timer_stop(&timer), 0);
        pool_let_go(&held);
    }
    pool_drop(pool);
}

static void stop_itself(weft *w, void *arg)
{
    struct once *once = arg;
    CHECK(weft_timer_stop(&once->timer) == 0);
    CHECK(atomic_fetch_add(&once->ran, 1) == 0);
}

static void start_anew(weft *w, void *arg)
{
    struct once *once = arg;
    if (atomic_fetch_add(&once->ran, 1) < 9)
        CHECK(weft_timer_start(weft_pool_of(w), &once->timer, in(1000), 0, start_anew, once) == 0);
}

static void by_its_own_job(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    struct once once = {.ran = 0};
    assert_int_equal(weft_timer_start(pool, &once.timer, 0, 1, stop_itself, &once), 0);
    WAIT_UNTIL(atomic_load(&once.ran) == 1);
    assert_int_equal(weft_timer_stop(&once.timer), 0);
    assert_int_equal(weft_timer_start(pool, &once.timer, 0, 0, start_anew, &once), 0);
    WAIT_UNTIL(atomic_load(&once.ran) == 10);
    assert_int_equal(weft_timer_stop(&once.timer), 0);
    assert_int_equal(atomic_load(&once.ran), 10);
    pool_drop(pool);
}

/* The timer's job waits, and the job that it runs meanwhile wants to stop it. */
struct below {
    weft_timer timer;
    atomic_int result;
    atomic_bool over;
};

static void stop_below(weft *w, void *arg)
{
    struct below *below = arg;
    atomic_store(&below->result, weft_timer_stop(&below->timer));
}

static void wait_below(weft *w, void *arg)
{
    struct below *below = arg;
    weft_task task;
    CHECK(weft_submit(weft_pool_of(w), &task, stop_below, arg) == 0);
    CHECK(weft_task_wait(&task) == 0);
    atomic_store(&below->over, true);
}

static void from_on_top(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    struct below below = {.over = false};
    assert_int_equal(weft_timer_start(pool, &below.timer, 0, 1, wait_below, &below), 0);
    WAIT_UNTIL(atomic_load(&below.over));
    assert_int_equal(atomic_load(&below.result), -EDEADLK);
    assert_int_equal(weft_timer_stop(&below.timer), 0);
    pool_drop(pool);
}

/* What the timer's job runs in a pool without guests, on a worker there, is a part of it: it does
 * not wait for the end of what waits for it. */
struct beyond {
    struct below below; /* first: it is what stop_below() gets */
    weft_pool *other;
};

static void run_beyond(weft *w, void *arg)
{
    struct beyond *beyond = arg;
    CHECK(weft_run(beyond->other, stop_below, &beyond->below) == 0);
    atomic_store(&beyond->below.over, true);
}

static void from_another_pool(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    struct beyond beyond = {.below.result = 1, .other = pool_make(1, WEFT_NO_GUESTS)};
    weft_timer *timer = &beyond.below.timer;
    assert_int_equal(weft_timer_start(pool, timer, 0, MS, run_beyond, &beyond), 0);
    WAIT_UNTIL(atomic_load(&beyond.below.over));
    assert_int_equal(weft_timer_stop(timer), 0);
    assert_int_equal(atomic_load(&beyond.below.result), 0);
    pool_drop(beyond.other);
    pool_drop(pool);
}

/* Started and stopped all the time, by several threads. */
static void start_and_stop(unsigned i, void *pool)
{
    for (int r = 0; r < rounds_of(SCALED(500, 5)); r++) {
        struct often often = {.ran = 0};
        CHECK(weft_timer_start(pool, &often.timer, in((uint64_t)(r % 7) * 10000), (uint64_t)r % 3,
                               note_often, &often) == 0);
        if (r % 2)
            WAIT_UNTIL(atomic_load(&often.ran) > 0);
        CHECK(weft_timer_stop(&often.timer) == 0);
        CHECK(!atomic_load(&often.runs));
    }
}

static void from_many_threads(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    in_threads(4, start_and_stop, pool);
    pool_drop(pool);
}

/* ---- The pool ends ---- */

static void destroy_stops_them(void **state)
{
    static const unsigned flags[] = {0, WEFT_NO_GUESTS, WEFT_USE_CALLER};
    for (int r = 0; r < 3 * rounds_of(30); r++) {
        weft_pool *pool = pool_make(2, flags[r % 3]);
        weft_timer late = WEFT_TIMER_INIT;
        struct often often[4] = {{.ran = 0}};
        assert_int_equal(weft_timer_start(pool, &late, far_away, 0, never, NULL), 0);
        for (int i = 0; i < 4; i++)
            assert_int_equal(weft_timer_start(pool, &often[i].timer, 0, 1, note_often, &often[i]),
                             0);
        WAIT_UNTIL(r % 2 || atomic_load(&often[3].ran) > 0);
        pool_drop(pool);
        assert_int_equal(weft_timer_stop(&late), 0);
        for (int i = 0; i < 4; i++) {
            assert_false(atomic_load(&often[i].runs));
            assert_int_equal(weft_timer_stop(&often[i].timer), 0);
        }
    }
}

/* ---- Deadlocks ---- */

static void told(weft_pool *pool, const char *report, const char *graph, void *data)
{
    check_failed(__FILE__, __LINE__, "no deadlock");
}

static void set_event(weft *w, void *event)
{
    weft_event_set(w, event);
}

static void wait_for_event(weft *w, void *event)
{
    weft_event_wait(w, event);
}

/* All threads rest; a timer will go on. */
static void is_no_deadlock(void **state)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 1;
    config.deadlock = told;
    weft_pool *pool = pool_make_with(&config);
    weft_event event = WEFT_EVENT_INIT;
    weft_timer timer = WEFT_TIMER_INIT;
    assert_int_equal(weft_timer_start(pool, &timer, in(20 * MS), 0, set_event, &event), 0);
    assert_int_equal(weft_run(pool, wait_for_event, &event), 0);
    assert_int_equal(weft_timer_stop(&timer), 0);
    pool_drop(pool);
}

/* A timer rings just when all come to rest. */
static void wait_for_many_rings(weft *w, void *arg)
{
    for (int i = 0; i < rounds_of(SCALED(300, 10)); i++) {
        weft_event event = WEFT_EVENT_INIT;
        weft_timer timer = WEFT_TIMER_INIT;
        uint64_t when = in((uint64_t)(i % 200) * 500);
        CHECK(weft_timer_start(weft_pool_of(w), &timer, when, 0, set_event, &event) == 0);
        weft_event_wait(w, &event);
        CHECK(weft_timer_stop(&timer) == 0);
    }
}

static void ringing_is_no_deadlock(void **state)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 2;
    config.deadlock = told;
    weft_pool *pool = pool_make_with(&config);
    assert_int_equal(weft_run(pool, wait_for_many_rings, NULL), 0);
    pool_drop(pool);
}

static void bad_arguments(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    weft_timer timer = WEFT_TIMER_INIT;
    assert_int_equal(weft_timer_start(pool, NULL, 0, 0, never, NULL), -EINVAL);
    assert_int_equal(weft_timer_start(pool, &timer, 0, 0, NULL, NULL), -EINVAL);
    assert_int_equal(weft_timer_stop(NULL), -EINVAL);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_a_time),
        cmocka_unit_test(many_in_order),
        cmocka_unit_test(every_so_often),
        cmocka_unit_test(missed_periods_count_once),
        cmocka_unit_test(stop_waits_for_a_run),
        cmocka_unit_test(stop_before_it_begins),
        cmocka_unit_test(by_its_own_job),
        cmocka_unit_test(from_on_top),
        cmocka_unit_test(from_another_pool),
        cmocka_unit_test(from_many_threads),
        cmocka_unit_test(destroy_stops_them),
        cmocka_unit_test(is_no_deadlock),
        cmocka_unit_test(ringing_is_no_deadlock),
        cmocka_unit_test(bad_arguments),
    };
    return RUN_ON_ALL_ROADS(tests);
}
