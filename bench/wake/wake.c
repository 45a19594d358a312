/* SPDX-License-Identifier: MIT */
/* What it costs to get a sleeping pool to work, beside two threads with a bare futex. */
#include "../../tool/progress.h"
#include "../bench.h"
#include "../clock.h"
#include "futex.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum {
    WAKE_REPS = 300,
    WAKE_REPS_QUICK = 10,
    WAKE_RUNS = 100000,
    WAKE_RUNS_QUICK = 1000,
};

static void nothing(weft *w, void *arg)
{
    (void)w;
    (void)arg;
}

static void rest(void)
{
    clock_rest(300e-6);
}

static struct result result_of(const char *name, unsigned workers, struct samples *samples)
{
    struct summary seconds = samples_summary(samples);
    return (struct result){
        .bench = "wake",
        .peer = name,
        .workers = workers,
        .seconds = seconds,
        .ns_per_op = seconds.median * 1e9,
        .steals = -1,
    };
}

/* ---- There and back ---- */

static double ping(struct sleeper *sleeper)
{
    rest();
    double start = clock_now();
    sleeper_wake(sleeper);
    sleeper_wait_pong(sleeper);
    return clock_now() - start;
}

static double submit_and_wait(weft_pool *pool)
{
    weft_task task;
    bench_until_asleep(pool);
    rest();
    double start = clock_now();
    weft_submit(pool, &task, nothing, NULL);
    weft_task_wait(&task);
    return clock_now() - start;
}

static double run_empty(weft_pool *pool)
{
    bench_until_asleep(pool);
    rest();
    double start = clock_now();
    weft_run(pool, nothing, NULL);
    return clock_now() - start;
}

struct pools {
    weft_pool *pool, *no_guests;
    unsigned workers;
};

struct trips {
    struct samples raw, submit, handed, run;
};

static void trips_print(struct trips *trips, const struct pools *pools, struct report *report)
{
    struct result raw = result_of("two threads and a futex, there and back", 2, &trips->raw);
    struct result submit =
        result_of("weft_submit and weft_task_wait", pools->workers, &trips->submit);
    struct result handed =
        result_of("weft_run, handed to a worker (WEFT_NO_GUESTS)", pools->workers, &trips->handed);
    struct result run = result_of("weft_run, by the caller", pools->workers, &trips->run);
    report_title(report,
                 "wake: an empty job from outside, pool asleep: us, median (10%% to 90%%)\n");
    report_sample(report, &raw);
    report_sample(report, &submit);
    report_sample(report, &handed);
    report_sample(report, &run);
    double futex = raw.seconds.median;
    report_claim(report, "submit and wait / futex", submit.seconds.median / futex, REPORT_AT_MOST,
                 1.5);
    report_claim(report, "handed to a worker / futex", handed.seconds.median / futex,
                 REPORT_AT_MOST, 0);
}

static void trips_measure(struct trips *trips, const struct pools *pools, struct sleeper *sleeper,
                          unsigned reps)
{
    struct progress progress;
    progress_begin(&progress, "wake", reps);
    for (unsigned i = 0; i < reps; i++) {
        samples_add(&trips->raw, ping(sleeper));
        samples_add(&trips->submit, submit_and_wait(pools->pool));
        samples_add(&trips->handed, run_empty(pools->no_guests));
        samples_add(&trips->run, run_empty(pools->pool));
        progress_step(&progress, 1);
    }
    progress_end(&progress);
}

static bool round_trips(const struct pools *pools, unsigned reps, struct report *report)
{
    struct trips trips = {0};
    struct sleeper sleeper;
    bool ready = samples_init(&trips.raw, reps) && samples_init(&trips.submit, reps) &&
                 samples_init(&trips.handed, reps) && samples_init(&trips.run, reps) &&
                 sleeper_start(&sleeper, -1) == 0;
    if (ready) {
        trips_measure(&trips, pools, &sleeper, reps);
        sleeper_stop(&sleeper);
        trips_print(&trips, pools, report);
    }
    samples_free(&trips.raw);
    samples_free(&trips.submit);
    samples_free(&trips.handed);
    samples_free(&trips.run);
    return ready;
}

static void run_many(weft_pool *pool, unsigned runs, const struct report *report)
{
    struct rusage before, after;
    bench_until_asleep(pool);
    getrusage(RUSAGE_THREAD, &before);
    double start = clock_now();
    for (unsigned i = 0; i < runs; i++)
        weft_run(pool, nothing, NULL);
    double us = (clock_now() - start) * 1e6 / runs;
    getrusage(RUSAGE_THREAD, &after);
    report_claim(report, "weft_run of an empty job, in a row, us", us, REPORT_BELOW, 2);
    report_claim(report, "  the caller's voluntary context switches, each",
                 (double)(after.ru_nvcsw - before.ru_nvcsw) / runs, REPORT_BELOW, 0);
}

/* ---- A second worker beside a busy first ---- */

struct second {
    double forked_at;
    _Atomic double started_at;
};

static void note_start(weft *w, void *arg)
{
    (void)w;
    struct second *second = arg;
    atomic_store(&second->started_at, clock_now());
}

static void fork_once(weft *w, void *arg)
{
    struct second *second = arg;
    clock_compute(SLEEPER_BUSY);
    second->forked_at = clock_now();
    weft_fork(w, note_start, second);
    double give_up = second->forked_at + 0.1;
    while (atomic_load(&second->started_at) == 0 && clock_now() < give_up)
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

static void second_print(struct samples *raw, struct samples *fork, const weft_pool_info *info,
                         struct report *report)
{
    struct result futex = result_of("a bare futex wake of a thread pinned to another CPU", 2, raw);
    struct result forked = result_of("the right side of a fork, pool asleep", info->workers, fork);
    report_title(report, "wake: a second worker beside a busy first: us until it runs, median "
                         "(10%% to 90%%)\n");
    report_sample(report, &futex);
    report_sample(report, &forked);
    report_claim(report, "fork / futex", forked.seconds.median / futex.seconds.median,
                 REPORT_AT_MOST, info->quantum == WEFT_NONE ? 1.5 : 0);
    double quantum = info->quantum == WEFT_NONE ? 0 : (double)info->quantum * 1e-9;
    report_claim(report, "fork / (a quantum + 1.5 x futex)",
                 forked.seconds.median / (quantum + 1.5 * futex.seconds.median), REPORT_AT_MOST, 1);
    report_claim(report, "futex, 99th of 100, us", futex.seconds.last * 1e6, REPORT_BELOW, 0);
    report_claim(report, "fork, 99th of 100, us", forked.seconds.last * 1e6, REPORT_BELOW, 1000);
}

static bool second_worker(const struct pools *pools, unsigned reps, struct report *report)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_pool_get_info(pools->pool, &info);
    if (info.cpus < 2 || pools->workers < 2) {
        report_title(report, "wake: a second worker beside a busy first: needs two CPUs\n");
        return true;
    }
    struct sleeper_pair sleepers;
    struct samples raw = {0}, fork = {0};
    bool ready =
        samples_init(&raw, reps) && samples_init(&fork, reps) && sleeper_pair_start(&sleepers) == 0;
    for (unsigned i = 0; i < reps && ready; i++) {
        samples_add(&raw, sleeper_pair_wake(&sleepers));
        samples_add(&fork, weft_second(pools->pool));
    }
    if (ready) {
        sleeper_pair_stop(&sleepers);
        second_print(&raw, &fork, &info, report);
    }
    samples_free(&raw);
    samples_free(&fork);
    return ready;
}

int bench_wake(const struct bench_run *run)
{
    struct pools pools = {
        .pool = bench_pool(&(weft_config){.workers = run->workers}),
        .no_guests = bench_pool(&(weft_config){.workers = run->workers, .flags = WEFT_NO_GUESTS}),
        .workers = run->workers,
    };
    unsigned reps = run->reps ? run->reps : run->quick ? WAKE_REPS_QUICK : WAKE_REPS;
    bool good = pools.pool && pools.no_guests && round_trips(&pools, reps, run->report);
    if (good) {
        run_many(pools.pool, run->quick ? WAKE_RUNS_QUICK : WAKE_RUNS, run->report);
        good = second_worker(&pools, reps, run->report);
    }
    if (pools.no_guests)
        weft_pool_destroy(pools.no_guests);
    if (pools.pool)
        weft_pool_destroy(pools.pool);
    report_title(run->report, "\n");
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
