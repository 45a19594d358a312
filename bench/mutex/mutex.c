/* SPDX-License-Identifier: MIT */
/* What a weft_mutex costs, with nobody else there, with two workers that want it all the time, and
 * with far more than there are CPUs; beside a pthread_mutex_t in the same jobs. */
#include "../../tool/progress.h"
#include "../bench.h"
#include "../clock.h"

#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <weft/sync.h>

enum {
    REPS = 15,
    REPS_QUICK = 2,
    SECTIONS = 1600000, /* of all workers together, in a repetition */
    SECTIONS_QUICK = 3200,
    SIZES = 3,
};

static const unsigned sizes[SIZES] = {1, 2, 16};

/* ---- One repetition ---- */

struct crowd {
    weft_mutex mutex;
    pthread_mutex_t twin;
    unsigned workers, each;   /* how many sections each has */
    unsigned long sum;        /* under the mutex */
    atomic_uint there, ended; /* how many workers */
    double begun_at, ended_at;
};

/* All begin together: else the first would be done before the last is awake. */
static void begin(struct crowd *crowd)
{
    if (atomic_fetch_add(&crowd->there, 1) + 1 == crowd->workers)
        crowd->begun_at = clock_now();
    while (atomic_load(&crowd->there) < crowd->workers)
        sched_yield();
}

static void end(struct crowd *crowd)
{
    if (atomic_fetch_add(&crowd->ended, 1) + 1 == crowd->workers)
        crowd->ended_at = clock_now();
}

static void lock_weft(weft *w, void *arg)
{
    struct crowd *crowd = arg;
    begin(crowd);
    for (unsigned i = 0; i < crowd->each; i++) {
        weft_mutex_lock(w, &crowd->mutex);
        crowd->sum++;
        weft_mutex_unlock(w, &crowd->mutex);
    }
    end(crowd);
}

static void lock_pthread(weft *w, void *arg)
{
    (void)w;
    struct crowd *crowd = arg;
    begin(crowd);
    for (unsigned i = 0; i < crowd->each; i++) {
        pthread_mutex_lock(&crowd->twin);
        crowd->sum++;
        pthread_mutex_unlock(&crowd->twin);
    }
    end(crowd);
}

struct contender {
    const char *name;
    weft_fn *fn;
    struct samples samples; /* seconds for a section */
    double cpu;             /* of all repetitions */
    unsigned long sum;      /* of the last one */
};

static int measure(weft_pool *pool, unsigned workers, unsigned sections, struct contender *one)
{
    struct crowd crowd = {.workers = workers, .each = sections / workers};
    weft_mutex_init(&crowd.mutex, "bench");
    pthread_mutex_init(&crowd.twin, NULL);
    double cpu = clock_cpu();
    int error = weft_broadcast(pool, one->fn, &crowd);
    one->cpu += clock_cpu() - cpu;
    pthread_mutex_destroy(&crowd.twin);
    if (error) {
        warnx("mutex: %s", weft_strerror(error));
        return EXIT_FAILURE;
    }
    samples_add(&one->samples, (crowd.ended_at - crowd.begun_at) / sections);
    one->sum = crowd.sum;
    return EXIT_SUCCESS;
}

/* ---- Together ---- */

struct size {
    unsigned workers;
    struct contender twin, own;
};

static int run_size(struct size *size, unsigned reps, unsigned sections, struct progress *progress)
{
    struct contender *twin = &size->twin, *own = &size->own;
    weft_pool *pool = bench_pool(&(weft_config){.workers = size->workers});
    bool ready = pool && samples_init(&twin->samples, reps) && samples_init(&own->samples, reps);
    int status = ready ? EXIT_SUCCESS : EXIT_FAILURE;
    for (unsigned i = 0; i < reps && status == EXIT_SUCCESS; i++) {
        status = measure(pool, size->workers, sections, i % 2 ? own : twin);
        if (status == EXIT_SUCCESS)
            status = measure(pool, size->workers, sections, i % 2 ? twin : own);
        progress_step(progress, 1);
    }
    if (pool)
        weft_pool_destroy(pool);
    return status;
}

static void print(struct report *report, const struct size *size, const struct contender *one,
                  unsigned sections)
{
    struct summary seconds = samples_summary(&one->samples);
    report_row(report, &(struct result){
                           .bench = "mutex",
                           .peer = one->name,
                           .workers = size->workers,
                           .seconds = seconds,
                           .ns_per_op = seconds.median * 1e9,
                           .cpu = one->cpu / ((double)one->samples.count * sections),
                           .checksum = one->sum,
                           .times_twin = samples_ratio(&one->samples, &size->twin.samples),
                           .steals = -1,
                       });
}

static void print_all(struct report *report, const struct size *all, unsigned sections)
{
    report_title(report, "mutex: one short section after the other, by every worker\n");
    report_head(report, "section");
    for (unsigned i = 0; i < SIZES; i++) {
        print(report, &all[i], &all[i].twin, sections);
        print(report, &all[i], &all[i].own, sections);
    }
    report_title(report, "\n");
}

int bench_mutex(const struct bench_run *run)
{
    unsigned reps = run->reps ? run->reps : run->quick ? REPS_QUICK : REPS;
    unsigned sections = run->quick ? SECTIONS_QUICK : SECTIONS;
    struct size all[SIZES];
    for (unsigned i = 0; i < SIZES; i++)
        all[i] = (struct size){
            .workers = sizes[i],
            .twin = {.name = "pthread", .fn = lock_pthread},
            .own = {.name = "weft", .fn = lock_weft},
        };
    int status = EXIT_SUCCESS;
    struct progress progress;
    progress_begin(&progress, "mutex", SIZES * reps);
    for (unsigned i = 0; i < SIZES && status == EXIT_SUCCESS; i++)
        status = run_size(&all[i], reps, sections, &progress);
    progress_end(&progress);
    if (status == EXIT_SUCCESS)
        print_all(run->report, all, sections);
    for (unsigned i = 0; i < SIZES; i++) {
        samples_free(&all[i].twin.samples);
        samples_free(&all[i].own.samples);
    }
    return status;
}
