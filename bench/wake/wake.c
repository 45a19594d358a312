/* SPDX-License-Identifier: MIT */
/* What it costs to get a sleeping pool to work, beside two threads with a bare futex. */
#include "../bench.h"
#include "futex.h"

#include <err.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static void nothing(weft *w, void *arg)
{
    (void)w;
    (void)arg;
}

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
}

/* ---- There and back ---- */

static double ping(struct sleeper *sleeper)
{
    rest();
    double start = bench_now_us();
    sleeper_wake(sleeper);
    sleeper_wait_pong(sleeper);
    return bench_now_us() - start;
}

static double submit_and_wait(weft_pool *pool)
{
    weft_task task;
    bench_until_asleep(pool);
    rest();
    double start = bench_now_us();
    weft_submit(pool, &task, nothing, NULL);
    weft_task_wait(&task);
    return bench_now_us() - start;
}

static double run_empty(weft_pool *pool)
{
    bench_until_asleep(pool);
    rest();
    double start = bench_now_us();
    weft_run(pool, nothing, NULL);
    return bench_now_us() - start;
}

static int round_trips(weft_pool *pool, weft_pool *no_guests, unsigned reps)
{
    struct samples raw, submit, handed, run;
    struct sleeper sleeper;
    if (!samples_init(&raw, "two threads and a futex, there and back", reps) ||
        !samples_init(&submit, "weft_submit and weft_task_wait", reps) ||
        !samples_init(&handed, "weft_run, handed to a worker (WEFT_NO_GUESTS)", reps) ||
        !samples_init(&run, "weft_run, by the caller", reps) || sleeper_start(&sleeper, -1))
        return EXIT_FAILURE;
    for (unsigned i = 0; i < reps; i++) {
        samples_add(&raw, ping(&sleeper));
        samples_add(&submit, submit_and_wait(pool));
        samples_add(&handed, run_empty(no_guests));
        samples_add(&run, run_empty(pool));
    }
    sleeper_stop(&sleeper);
    printf("An empty job from outside, pool asleep: us, median (10%% to 90%%)\n");
    bench_print(&raw);
    bench_print(&submit);
    bench_print(&handed);
    bench_print(&run);
    bench_print_ratio("submit and wait / futex", &submit, &raw, 1.5);
    bench_print_ratio("handed to a worker / futex", &handed, &raw, 1.5);
    samples_free(&raw);
    samples_free(&submit);
    samples_free(&handed);
    samples_free(&run);
    return 0;
}

static void run_many(weft_pool *pool)
{
    enum { RUNS = 100000 };
    struct rusage before, after;
    bench_until_asleep(pool);
    getrusage(RUSAGE_THREAD, &before);
    double start = bench_now_us();
    for (int i = 0; i < RUNS; i++)
        weft_run(pool, nothing, NULL);
    double us = (bench_now_us() - start) / RUNS;
    getrusage(RUSAGE_THREAD, &after);
    printf("  %-52s %8.3f  (should be under 2; %ld voluntary context switches in %d)\n",
           "weft_run of an empty job, in a row", us, after.ru_nvcsw - before.ru_nvcsw, RUNS);
}

/* ---- A second worker beside a busy first ---- */

/* The waker computed before and goes on computing: so the woken thread needs a CPU of its
 * own, and quickly. */
enum { BUSY_US = 500 };

static double raw_second(struct sleeper *sleepers, int cpus)
{
    rest();
    bench_compute_us(BUSY_US);
    int other = (sched_getcpu() + 1) % cpus;
    struct sleeper *sleeper = &sleepers[other];
    unsigned answered = atomic_load(&sleeper->pong);
    double start = bench_now_us();
    sleeper_wake(sleeper);
    while (atomic_load(&sleeper->pong) == answered)
        ;
    return atomic_load(&sleeper->woken_at) - start;
}

struct second {
    double forked_at;
    _Atomic double started_at;
};

static void note_start(weft *w, void *arg)
{
    (void)w;
    struct second *second = arg;
    atomic_store(&second->started_at, bench_now_us());
}

static void fork_once(weft *w, void *arg)
{
    struct second *second = arg;
    bench_compute_us(BUSY_US);
    second->forked_at = bench_now_us();
    weft_fork(w, note_start, second);
    double give_up = second->forked_at + 1e5;
    while (atomic_load(&second->started_at) == 0 && bench_now_us() < give_up)
        ;
    if (!weft_merge(w))
        note_start(w, second);
}

static double weft_second(weft_pool *pool)
{
    struct second second = {0};
    bench_until_asleep(pool);
    rest();
    weft_run(pool, fork_once, &second);
    return atomic_load(&second.started_at) - second.forked_at;
}

static int second_worker(weft_pool *pool, unsigned reps)
{
    weft_pool_info info;
    weft_pool_get_info(pool, &info);
    if (info.cpus < 2) {
        printf("A second worker beside a busy first: needs two CPUs\n");
        return 0;
    }
    struct sleeper sleepers[2];
    struct samples raw, fork;
    if (!samples_init(&raw, "a bare futex wake of a thread pinned to another CPU", reps) ||
        !samples_init(&fork, "the right side of a fork, pool asleep", reps) ||
        sleeper_start(&sleepers[0], 0) || sleeper_start(&sleepers[1], 1))
        return EXIT_FAILURE;
    for (unsigned i = 0; i < reps; i++) {
        samples_add(&raw, raw_second(sleepers, 2));
        samples_add(&fork, weft_second(pool));
    }
    sleeper_stop(&sleepers[0]);
    sleeper_stop(&sleepers[1]);
    printf("A second worker beside a busy first: us until it runs, median (10%% to 90%%)\n");
    bench_print(&raw);
    bench_print(&fork);
    bench_print_ratio("fork / futex", &fork, &raw, 1.5);
    samples_free(&raw);
    samples_free(&fork);
    return 0;
}

int bench_wake(unsigned reps)
{
    weft_config config = WEFT_CONFIG_INIT;
    weft_pool *pool = NULL, *no_guests = NULL;
    int error = weft_pool_create(&pool, &config);
    config.flags = WEFT_NO_GUESTS;
    if (!error)
        error = weft_pool_create(&no_guests, &config);
    if (error) {
        warnx("no pool: error %d", -error);
        return EXIT_FAILURE;
    }
    int status = round_trips(pool, no_guests, reps);
    run_many(pool);
    if (!status)
        status = second_worker(pool, reps);
    weft_pool_destroy(no_guests);
    weft_pool_destroy(pool);
    return status;
}
