/* SPDX-License-Identifier: MIT */
/* What one steal costs: a fork whose right side is taken by a worker that is awake, beside two
 * threads that spin on a flag, which is what the machine itself needs for a word and an answer. */
#include "../../tool/progress.h"
#include "../bench.h"
#include "../clock.h"

#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEAL_REPS = 25,
    STEAL_REPS_QUICK = 2,
    STEAL_BATCH = 400, /* steals one after the other in a repetition */
    STEAL_BATCH_QUICK = 20,
    STEAL_WARM = 10, /* until the thief is awake, not counted */
};

/* ---- The twin: a word and an answer ---- */

struct flags {
    alignas(64) atomic_uint word;
    alignas(64) atomic_uint answer;
    unsigned last;
};

static void *answer_all(void *arg)
{
    struct flags *flags = arg;
    for (unsigned seen = 0; seen < flags->last;) {
        unsigned word = atomic_load_explicit(&flags->word, memory_order_acquire);
        if (word != seen)
            atomic_store_explicit(&flags->answer, word, memory_order_release);
        seen = word;
    }
    return NULL;
}

/* Pins the other thread away from this one. The first word waits until it runs, so it is not
 * timed. Seconds for one, or 0 with a message. */
static double word_and_answer(unsigned batch)
{
    struct flags flags = {.last = batch + 1};
    pthread_attr_t attributes;
    cpu_set_t others;
    pthread_t thread;
    sched_getaffinity(0, sizeof others, &others);
    CPU_CLR((size_t)sched_getcpu(), &others);
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof others, &others);
    int error = pthread_create(&thread, &attributes, answer_all, &flags);
    pthread_attr_destroy(&attributes);
    if (error) {
        warnx("steal: no second thread: %s", strerror(error));
        return 0;
    }
    double start = 0;
    for (unsigned i = 1; i <= flags.last; i++) {
        atomic_store_explicit(&flags.word, i, memory_order_release);
        while (atomic_load_explicit(&flags.answer, memory_order_acquire) != i)
            ;
        if (i == 1)
            start = clock_now();
    }
    double each = (clock_now() - start) / batch;
    pthread_join(thread, NULL);
    return each;
}

/* ---- A fork that is stolen, and one that is not ---- */

struct batch {
    unsigned count;
    bool wait;                        /* for a thief */
    struct samples *started, *merged; /* from fork on; NULL: nobody wants to know */
    atomic_bool taken;
    double taken_at; /* written before `taken`, read after it */
};

static void note_start(weft *w, void *arg)
{
    (void)w;
    struct batch *batch = arg;
    batch->taken_at = clock_now();
    atomic_store_explicit(&batch->taken, true, memory_order_release);
}

/* The owner is deaf while it waits: it neither forks nor merges. */
static bool fork_one(weft *w, struct batch *batch, double *started, double *merged)
{
    double start = clock_now(), give_up = start + 0.05;
    atomic_store_explicit(&batch->taken, false, memory_order_relaxed);
    weft_fork(w, note_start, batch);
    while (batch->wait && !atomic_load_explicit(&batch->taken, memory_order_acquire) &&
           clock_now() < give_up)
        ;
    bool stolen = weft_merge(w);
    *merged = clock_now() - start;
    *started = stolen ? batch->taken_at - start : 0;
    return stolen;
}

static void fork_batch(weft *w, void *arg)
{
    struct batch *batch = arg;
    for (unsigned i = 0; i < STEAL_WARM + batch->count; i++) {
        double started, merged;
        bool stolen = fork_one(w, batch, &started, &merged);
        if (i < STEAL_WARM || stolen != batch->wait)
            continue;
        if (batch->started)
            samples_add(batch->started, started);
        if (batch->merged)
            samples_add(batch->merged, merged);
    }
}

/* ---- Together ---- */

struct steal {
    weft_pool *at_once; /* without a quantum */
    weft_pool *usual;
    struct samples flag, kept, started, merged, usual_started;
};

static void measure(struct steal *steal, unsigned count)
{
    samples_add(&steal->flag, word_and_answer(count));
    struct batch kept = {.count = count, .merged = &steal->kept};
    weft_run(steal->at_once, fork_batch, &kept);
    struct batch stolen = {
        .count = count,
        .wait = true,
        .started = &steal->started,
        .merged = &steal->merged,
    };
    weft_run(steal->at_once, fork_batch, &stolen);
    struct batch usual = {.count = count, .wait = true, .started = &steal->usual_started};
    weft_run(steal->usual, fork_batch, &usual);
}

static void print_one(struct report *report, const char *name, struct samples *samples)
{
    struct summary seconds = samples_summary(samples);
    report_sample(report, &(struct result){
                              .bench = "steal",
                              .peer = name,
                              .workers = 2,
                              .seconds = seconds,
                              .ns_per_op = seconds.median * 1e9,
                              .steals = -1,
                          });
}

static void print_all(struct steal *steal, struct report *report)
{
    report_title(report, "steal: one fork, two workers awake: us, median (10%% to 90%%)\n");
    print_one(report, "two threads, a word and an answer in memory", &steal->flag);
    print_one(report, "fork to merge, not stolen, and the clock twice", &steal->kept);
    print_one(report, "fork to the start of the stolen side, no quantum", &steal->started);
    print_one(report, "fork to merge, stolen, no quantum", &steal->merged);
    print_one(report, "fork to the start of the stolen side, usual quantum", &steal->usual_started);
    report_title(report, "\n");
}

int bench_steal(const struct bench_run *run)
{
    if (!bench_has_two_cpus()) {
        report_title(run->report, "steal: needs two CPUs\n\n");
        return EXIT_SUCCESS;
    }
    unsigned reps = run->reps ? run->reps : run->quick ? STEAL_REPS_QUICK : STEAL_REPS;
    unsigned batch = run->quick ? STEAL_BATCH_QUICK : STEAL_BATCH;
    size_t forks = (size_t)reps * batch;
    const weft_config at_once = {.workers = 2, .quantum = WEFT_NONE};
    struct steal steal = {.at_once = bench_pool(&at_once),
                          .usual = bench_pool(&(weft_config){.workers = 2})};
    bool ready = steal.at_once && steal.usual && samples_init(&steal.flag, reps) &&
                 samples_init(&steal.kept, forks) && samples_init(&steal.started, forks) &&
                 samples_init(&steal.merged, forks) && samples_init(&steal.usual_started, forks);
    if (ready) {
        struct progress progress;
        progress_begin(&progress, "steal", reps);
        for (unsigned i = 0; i < reps; i++) {
            measure(&steal, batch);
            progress_step(&progress, 1);
        }
        progress_end(&progress);
        print_all(&steal, run->report);
    }
    samples_free(&steal.flag);
    samples_free(&steal.kept);
    samples_free(&steal.started);
    samples_free(&steal.merged);
    samples_free(&steal.usual_started);
    if (steal.at_once)
        weft_pool_destroy(steal.at_once);
    if (steal.usual)
        weft_pool_destroy(steal.usual);
    return ready ? EXIT_SUCCESS : EXIT_FAILURE;
}
