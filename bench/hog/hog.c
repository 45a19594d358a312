/* SPDX-License-Identifier: MIT */
/* Work that comes while a real-time thread keeps the CPU on which a worker sleeps: how long until
 * it is begun. A pool that has slept for a while, one that was used just now, and the same where
 * the kernel places workers by itself. In turns. */
#include "../../tool/progress.h"
#include "../bench.h"
#include "../clock.h"
#include "thread.h"

#include <err.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { REPS = 9, REPS_QUICK = 1, CPUS = 2 };

#define HOG_NS 900000000
#define SILENCE 1.1 /* after a second, nobody looks out any more */

enum row { DEEP, USED, NEVER_PINNED, ROWS };

static const char *const names[ROWS] = {
    [DEEP] = "a task, the pool long asleep",
    [USED] = "a task, the pool used 1 ms ago",
    [NEVER_PINNED] = "a task, long asleep, WEFT_PIN_NEVER",
};

struct hogs {
    weft_pool *pools[ROWS];
    int cpus[CPUS]; /* this thread's, and the hog's */
    struct samples took[ROWS];
};

static void note_time(weft *w, void *arg)
{
    (void)w;
    atomic_store((_Atomic double *)arg, clock_now());
}

static double submit(weft_pool *pool, double rest_before_wait)
{
    weft_task task;
    _Atomic double begun = 0;
    double start = clock_now();
    if (weft_submit(pool, &task, note_time, &begun) != 0)
        errx(EXIT_FAILURE, "hog: no task");
    while (rest_before_wait > 0 && !weft_task_done(&task))
        clock_rest(rest_before_wait); /* or the waiter would run it itself */
    weft_task_wait(&task);
    return atomic_load(&begun) - start;
}

/* False: hogs are not allowed here. */
static bool measure(struct hogs *hogs, enum row row)
{
    struct hog hog;
    submit(hogs->pools[row], 0);
    clock_rest(row == USED ? 1e-3 : SILENCE);
    if (!hog_start(&hog, hogs->cpus[1], HOG_NS))
        return false;
    while (!atomic_load(&hog.runs))
        clock_rest(1e-5);
    samples_add(&hogs->took[row], submit(hogs->pools[row], 1e-4));
    hog_stop(&hog);
    return true;
}

static void print_all(struct hogs *hogs, struct report *report)
{
    report_title(report, "hog: a real-time thread has a worker's CPU: us until a task is begun, "
                         "median (10%% to 90%%)\n");
    for (int row = 0; row < ROWS; row++) {
        struct summary seconds = samples_summary(&hogs->took[row]);
        report_sample(report, &(struct result){
                                  .bench = "hog",
                                  .peer = names[row],
                                  .workers = CPUS,
                                  .seconds = seconds,
                                  .ns_per_op = seconds.median * 1e9,
                                  .steals = -1,
                              });
    }
    report_claim(report, "long asleep, us", samples_summary(&hogs->took[DEEP]).median * 1e6,
                 REPORT_BELOW, 1000);
    report_claim(report, "used just now, us", samples_summary(&hogs->took[USED]).median * 1e6,
                 REPORT_BELOW, 1000);
    report_title(report, "\n");
}

static bool open_all(struct hogs *hogs, unsigned reps)
{
    bool good = true;
    for (int row = 0; row < ROWS; row++) {
        hogs->pools[row] = bench_pool(
            &(weft_config){.workers = CPUS, .pin = row == NEVER_PINNED ? WEFT_PIN_NEVER : 0});
        good &= hogs->pools[row] && samples_init(&hogs->took[row], reps);
    }
    return good;
}

static void measure_all(struct hogs *hogs, const struct bench_run *run, unsigned reps)
{
    struct progress progress;
    bool allowed = true;
    progress_begin(&progress, "hog", reps);
    for (unsigned i = 0; i < reps && allowed; i++) {
        for (int row = 0; row < ROWS && allowed; row++)
            allowed = measure(hogs, (enum row)row);
        progress_step(&progress, 1);
    }
    progress_end(&progress);
    if (allowed)
        print_all(hogs, run->report);
    else
        report_title(run->report, "hog: real-time threads are not allowed here; left out\n\n");
}

int bench_hog(const struct bench_run *run)
{
    unsigned reps = run->reps ? run->reps : run->quick ? REPS_QUICK : REPS;
    struct hogs hogs = {0};
    cpu_set_t all;
    hogs.cpus[0] = sched_getcpu(); /* where this thread stays */
    hogs.cpus[1] =
        sched_getaffinity(0, sizeof all, &all) == 0 ? hog_other_cpu(&all, hogs.cpus[0]) : -1;
    if (hogs.cpus[1] < 0) {
        report_title(run->report, "hog: needs two CPUs; left out\n\n");
        return EXIT_SUCCESS;
    }
    bool ready = open_all(&hogs, reps); /* where all CPUs may be used */
    cpu_set_t one = hog_set_of(hogs.cpus[0]);
    sched_setaffinity(0, sizeof one, &one);
    if (ready)
        measure_all(&hogs, run, reps);
    sched_setaffinity(0, sizeof all, &all);
    for (int row = 0; row < ROWS; row++) {
        if (hogs.pools[row])
            weft_pool_destroy(hogs.pools[row]);
        samples_free(&hogs.took[row]);
    }
    return ready ? EXIT_SUCCESS : EXIT_FAILURE;
}
