/* SPDX-License-Identifier: MIT */
/* How long work waits while its owner computes, whatever the pool has learnt before, beside the
 * wake-up of a thread by a bare futex. A pool learns which jobs and loops are brief, and wakes
 * nobody for them; here they are learnt to be brief, and then are not. */
#include "../../tool/progress.h"
#include "../bench.h"
#include "../clock.h"
#include "../wake/futex.h"

#include <err.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <weft/parallel.h>

enum {
    REPS = 40,
    REPS_QUICK = 4,
    BRIEF_RUNS = 20, /* before a long one */
    TASKS = 1000,    /* the same */
    SILENT_TURN = 5, /* of rows with a long pause, one repetition in so many, */
    SILENT_MOST = 10 /* and no more than these */
};

#define GIVE_UP 0.1       /* what takes longer counts as that */
#define LIMIT 1e-3        /* while the pool was used in the last second */
#define LIMIT_SILENT 5e-3 /* else */
#define LONG_PAUSE 1.5
#define BLOCKED 50e-3

/* ---- A fork: brief, or silent until its right side has started ---- */

struct pair {
    bool is_long;
    _Atomic double started_at; /* the right side; 0: not yet */
    double waited;             /* from the fork to that */
    atomic_bool over;
};

static void note_start(weft *w, void *arg)
{
    (void)w;
    struct pair *pair = arg;
    atomic_store(&pair->started_at, clock_now());
}

/* Neither forks nor merges. */
static void compute_until_started(const struct pair *pair, double give_up)
{
    while (atomic_load(&pair->started_at) == 0 && clock_now() < give_up)
        ;
}

static double capped(double seconds)
{
    return seconds < GIVE_UP ? seconds : GIVE_UP;
}

/* The same function and the same right side, brief or long: nothing tells them apart before. */
static void run_pair(weft *w, void *arg)
{
    struct pair *pair = arg;
    double forked_at = clock_now();
    weft_fork(w, note_start, pair);
    if (pair->is_long)
        compute_until_started(pair, forked_at + GIVE_UP);
    if (weft_merge(w))
        pair->waited = capped(atomic_load(&pair->started_at) - forked_at);
    else
        pair->waited = GIVE_UP;
    atomic_store(&pair->over, true);
}

static double pair_of_guest(weft_pool *pool)
{
    struct pair pair = {.is_long = true};
    weft_run(pool, run_pair, &pair);
    return pair.waited;
}

/* A long one comes first, for the worker that takes it is the look-out afterwards; without one,
 * nothing is guessed. Brief ones teach something only while somebody sleeps. */
static void learn_pair(weft_pool *pool)
{
    pair_of_guest(pool);
    for (int i = 0; i < BRIEF_RUNS; i++) {
        bench_until_asleep(pool);
        weft_run(pool, run_pair, &(struct pair){.is_long = false});
    }
}

/* The caller sleeps meanwhile. If it waited for the task, it might run it itself. */
static double pair_of_worker(weft_pool *pool)
{
    struct pair pair = {.is_long = true};
    weft_task task;
    if (weft_submit(pool, &task, run_pair, &pair))
        return GIVE_UP;
    while (!atomic_load(&pair.over))
        clock_rest(1e-3);
    weft_task_wait(&task);
    return pair.waited;
}

/* One job forks something brief, of which a worker is told, is blocked, and forks something long.
 */
static void run_two_pairs(weft *w, void *pair)
{
    run_pair(w, &(struct pair){.is_long = false});
    weft_block_begin(w);
    clock_rest(BLOCKED);
    weft_block_end(w);
    run_pair(w, pair);
}

static double pair_after_block(weft_pool *pool)
{
    struct pair pair = {.is_long = true};
    weft_run(pool, run_two_pairs, &pair);
    return pair.waited;
}

/* Each task ends with a wake of its waiter, often on the CPU of the worker that ran it; then that
 * worker has no CPU, and is not yet idle. */
static void learn_tasks(weft_pool *pool)
{
    for (int i = 0; i < TASKS; i++) {
        weft_task task;
        if (weft_submit(pool, &task, run_pair, &(struct pair){.is_long = false}) == 0)
            weft_task_wait(&task);
    }
}

/* ---- A loop: its body is one for all, and what is done for an element is in its argument ---- */

enum {
    LEARNT_LOOPS = 10, /* until many elements are known to take no time, */
    LEARNT_ELEMENTS = 50000,
    ELEMENTS = 64,
};

struct loop {
    void (*element)(struct loop *loop);
    size_t count;
    pthread_t first;             /* the caller of the loop */
    _Atomic double elsewhere_at; /* an element was begun by another thread; 0: not yet */
    double waited;
};

static void nothing(struct loop *loop)
{
    (void)loop;
}

/* One of 1 ms; of no time when there is nothing left to be seen. */
static void compute(struct loop *loop)
{
    double not_yet = 0;
    if (!pthread_equal(pthread_self(), loop->first))
        atomic_compare_exchange_strong(&loop->elsewhere_at, &not_yet, clock_now());
    if (atomic_load(&loop->elsewhere_at) == 0)
        clock_compute(1e-3);
}

static void do_elements(weft *w, size_t begin, size_t end, void *arg)
{
    (void)w;
    struct loop *loop = arg;
    for (size_t i = begin; i < end; i++)
        loop->element(loop);
}

static void run_loop(weft *w, void *arg)
{
    struct loop *loop = arg;
    loop->first = pthread_self();
    double begun_at = clock_now();
    weft_for(w, 0, loop->count, do_elements, loop);
    double elsewhere_at = atomic_load(&loop->elsewhere_at);
    loop->waited = elsewhere_at > 0 ? capped(elsewhere_at - begun_at) : GIVE_UP;
}

static void learn_loop(weft_pool *pool)
{
    for (int i = 0; i < LEARNT_LOOPS; i++)
        weft_run(pool, run_loop, &(struct loop){.element = nothing, .count = LEARNT_ELEMENTS});
    for (int i = 0; i < BRIEF_RUNS; i++) {
        bench_until_asleep(pool);
        weft_run(pool, run_loop, &(struct loop){.element = nothing, .count = ELEMENTS});
    }
}

static double loop_of_guest(weft_pool *pool)
{
    struct loop loop = {.element = compute, .count = ELEMENTS};
    weft_run(pool, run_loop, &loop);
    return loop.waited;
}

/* ---- Histories ---- */

struct history {
    const char *name;
    void (*learn)(weft_pool *pool); /* NULL: nothing */
    double pause;                   /* after that */
    double (*measure)(weft_pool *pool);
};

static const struct history histories[] = {
    {"a fork, the first in its pool", NULL, 0, pair_of_guest},
    {"after brief ones", learn_pair, 0, pair_of_guest},
    {"after brief ones and 10 ms", learn_pair, 10e-3, pair_of_guest},
    {"after brief ones and 300 ms", learn_pair, 300e-3, pair_of_guest},
    {"after brief ones and 1.5 s", learn_pair, LONG_PAUSE, pair_of_guest},
    {"by a worker, after brief ones and 10 ms", learn_pair, 10e-3, pair_of_worker},
    {"in one job, after a block of 50 ms", learn_pair, 0, pair_after_block},
    {"after 1000 tasks that were waited for", learn_tasks, 0, pair_of_guest},
    {"a loop of 1 ms elements, after cheap ones", learn_loop, 0, loop_of_guest},
};

enum { HISTORIES = sizeof histories / sizeof histories[0] };

static bool is_silent(const struct history *history)
{
    return history->pause >= LONG_PAUSE;
}

static double limit_of(const struct history *history)
{
    return is_silent(history) ? LIMIT_SILENT : LIMIT;
}

static bool has_turn(const struct history *history, unsigned rep)
{
    return !is_silent(history) || (rep % SILENT_TURN == 0 && rep / SILENT_TURN < SILENT_MOST);
}

/* ---- Taking turns ---- */

struct trial {
    const struct bench_run *run;
    unsigned reps;
    struct sleeper_pair sleepers;
    struct samples waited[HISTORIES], all, futex;
};

/* In a pool of its own, so that there is no other history. */
static bool take_turn(struct trial *t, int h)
{
    const struct history *history = &histories[h];
    samples_add(&t->futex, sleeper_pair_wake(&t->sleepers));
    weft_pool *pool = bench_pool(&(weft_config){.workers = t->run->workers});
    if (!pool)
        return false;
    if (history->learn)
        history->learn(pool);
    if (history->pause > 0)
        clock_rest(history->pause);
    double waited = history->measure(pool);
    weft_pool_destroy(pool);
    samples_add(&t->waited[h], waited);
    samples_add(&t->all, waited);
    return true;
}

static bool take_turns(struct trial *t)
{
    struct progress progress;
    bool good = true;
    progress_begin(&progress, "found", (uint64_t)t->reps * HISTORIES);
    for (unsigned rep = 0; rep < t->reps && good; rep++)
        for (int h = 0; h < HISTORIES && good; h++) {
            if (has_turn(&histories[h], rep))
                good = take_turn(t, h);
            progress_step(&progress, 1);
        }
    progress_end(&progress);
    return good;
}

/* ---- What came out ---- */

static size_t count_above(const struct samples *samples, double limit)
{
    size_t count = 0;
    for (size_t i = 0; i < samples->count; i++)
        count += samples->values[i] > limit;
    return count;
}

/* How many are above the limit. */
static size_t print_row(const struct trial *t, const char *name, const struct samples *samples,
                        double limit)
{
    struct summary seconds = samples_summary(samples);
    size_t above = count_above(samples, limit);
    report_title(t->run->report, "  %-46s %8.1f %9.1f %9.1f %6zu of %-3zu above %.0f ms\n", name,
                 seconds.median * 1e6, seconds.high * 1e6, seconds.last * 1e6, above,
                 samples->count, limit * 1e3);
    report_add(t->run->report, &(struct result){
                                   .bench = "found",
                                   .peer = name,
                                   .workers = t->run->workers,
                                   .seconds = seconds,
                                   .ns_per_op = seconds.median * 1e9,
                                   .steals = -1,
                                   .measured = true,
                                   .value = (double)above,
                               });
    return above;
}

static void print_all(const struct trial *t)
{
    struct report *report = t->run->report;
    size_t above = 0;
    report_title(report,
                 "found: until somebody else takes what waits, while its owner computes, "
                 "%u workers: us\n",
                 t->run->workers);
    report_title(report, "  %-46s %8s %9s %9s %10s\n", "", "median", "90 %", "99 %", "too late");
    for (int h = 0; h < HISTORIES; h++)
        above += print_row(t, histories[h].name, &t->waited[h], limit_of(&histories[h]));
    size_t late = print_row(t, "a bare futex wake of a thread on another CPU", &t->futex, LIMIT);
    report_claim(report, "share above the limit, all rows but the futex",
                 (double)above / (double)t->all.count, REPORT_AT_MOST, 0.05);
    report_claim(report, "share above the limit, futex", (double)late / (double)t->futex.count,
                 REPORT_AT_MOST, 0);
    report_claim(report, "median of all rows / futex",
                 samples_summary(&t->all).median / samples_summary(&t->futex).median,
                 REPORT_AT_MOST, 0);
    report_title(report, "\n");
}

/* ---- Together ---- */

static bool open(struct trial *t)
{
    for (int h = 0; h < HISTORIES; h++)
        if (!samples_init(&t->waited[h], t->reps))
            return false;
    size_t turns = (size_t)t->reps * HISTORIES;
    if (!samples_init(&t->all, turns) || !samples_init(&t->futex, turns))
        return false;
    int error = sleeper_pair_start(&t->sleepers);
    if (error)
        warnx("found: no threads to wake: %s", strerror(error));
    return error == 0;
}

static void free_samples(struct trial *t)
{
    for (int h = 0; h < HISTORIES; h++)
        samples_free(&t->waited[h]);
    samples_free(&t->all);
    samples_free(&t->futex);
}

int bench_found(const struct bench_run *run)
{
    if (!bench_has_two_cpus() || run->workers < 2) {
        report_title(run->report, "found: needs two CPUs\n\n");
        return EXIT_SUCCESS;
    }
    struct trial trial = {.run = run, .reps = run->quick ? REPS_QUICK : REPS};
    if (run->reps)
        trial.reps = run->reps;
    bool good = open(&trial);
    if (good) {
        good = take_turns(&trial);
        sleeper_pair_stop(&trial.sleepers);
    }
    if (good)
        print_all(&trial);
    free_samples(&trial);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
