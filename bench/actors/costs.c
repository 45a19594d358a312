/* SPDX-License-Identifier: MIT */
/* What it costs to go from one actor to another, and to have one at all; beside threads. */
#include "../../tool/progress.h"
#include "../clock.h"
#include "actors.h"

#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>

enum {
    COSTS_REPS = 15,
    COSTS_REPS_QUICK = 2,
    SWITCHES = 400000,
    SWITCHES_QUICK = 2000,
    LIVES = 20000,
    LIVES_QUICK = 200,
    THREADS = 200,
    THREAD_SWITCHES = 20000, /* which are slower */
    THREAD_SWITCHES_QUICK = 1000,
    TOGETHER = 100, /* alive at the same time */
};

static const char part[] = "actors/costs";

/* ---- Switching ---- */

struct pair {
    unsigned count;
    atomic_uint ready;
    atomic_bool over;
    double each; /* seconds */
    double voluntary, involuntary;
};

/* CPU time, for nobody waits here, and others may want the CPU. */
static void pair_note(struct pair *pair, const struct rusage *before, double start)
{
    struct rusage after;
    pair->each = (clock_cpu() - start) / (2.0 * pair->count);
    getrusage(RUSAGE_THREAD, &after);
    pair->voluntary = (double)(after.ru_nvcsw - before->ru_nvcsw);
    pair->involuntary = (double)(after.ru_nivcsw - before->ru_nivcsw);
}

static int pair_first(weft *w, void *arg)
{
    struct pair *pair = arg;
    atomic_fetch_add(&pair->ready, 1);
    while (atomic_load(&pair->ready) < 2)
        weft_yield(w);
    struct rusage before;
    getrusage(RUSAGE_THREAD, &before);
    double start = clock_cpu();
    for (unsigned i = 0; i < pair->count; i++)
        weft_yield(w);
    pair_note(pair, &before, start);
    atomic_store(&pair->over, true);
    return 0;
}

static int pair_second(weft *w, void *arg)
{
    struct pair *pair = arg;
    atomic_fetch_add(&pair->ready, 1);
    while (!atomic_load_explicit(&pair->over, memory_order_relaxed))
        weft_yield(w);
    return 0;
}

static bool switches(weft_pool *pool, struct pair *pair)
{
    weft_actor *one = actors_start(pool, pair_first, pair, NULL);
    weft_actor *two = one ? actors_start(pool, pair_second, pair, NULL) : NULL;
    if (!two)
        return false;
    return actors_reap(NULL, one) == 0 && actors_reap(NULL, two) == 0;
}

/* The twin: two threads on one CPU. */
static void *thread_second(void *arg)
{
    struct pair *pair = arg;
    atomic_fetch_add(&pair->ready, 1);
    while (!atomic_load_explicit(&pair->over, memory_order_relaxed))
        sched_yield();
    return NULL;
}

static void *thread_first(void *arg)
{
    struct pair *pair = arg;
    atomic_fetch_add(&pair->ready, 1);
    while (atomic_load(&pair->ready) < 2)
        sched_yield();
    struct rusage before;
    getrusage(RUSAGE_THREAD, &before);
    double start = clock_cpu();
    for (unsigned i = 0; i < pair->count; i++)
        sched_yield();
    pair_note(pair, &before, start);
    atomic_store(&pair->over, true);
    return NULL;
}

static bool switches_of_threads(struct pair *pair)
{
    cpu_set_t here;
    pthread_attr_t attributes;
    pthread_t one, two;
    CPU_ZERO(&here);
    CPU_SET((size_t)sched_getcpu(), &here);
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof here, &here);
    bool first = pthread_create(&one, &attributes, thread_first, pair) == 0;
    bool second = first && pthread_create(&two, &attributes, thread_second, pair) == 0;
    pthread_attr_destroy(&attributes);
    if (!second) {
        warnx("actors: no threads to compare with");
        atomic_store(&pair->ready, 2); /* the first one is not kept waiting */
    }
    if (first)
        pthread_join(one, NULL);
    if (second)
        pthread_join(two, NULL);
    return second;
}

/* ---- Lives ---- */

struct lives {
    weft_pool *pool;
    unsigned count, together;
    double each;
    bool failed;
};

static int nothing(weft *w, void *arg)
{
    (void)w;
    (void)arg;
    return 0;
}

/* Inside, nobody waits: CPU time, as above. */
static double lives_clock(weft *w)
{
    return w ? clock_cpu() : clock_now();
}

static void live(weft *w, struct lives *lives)
{
    weft_actor *actors[TOGETHER];
    double start = lives_clock(w);
    for (unsigned i = 0; i < lives->count && !lives->failed; i += lives->together) {
        for (unsigned k = 0; k < lives->together; k++)
            if (!(actors[k] = actors_start(lives->pool, nothing, NULL, NULL)))
                lives->failed = true;
        for (unsigned k = 0; k < lives->together; k++)
            lives->failed |= actors[k] && actors_reap(w, actors[k]) != 0;
    }
    lives->each = (lives_clock(w) - start) / lives->count;
}

static int live_inside(weft *w, void *arg)
{
    live(w, arg);
    return 0;
}

static bool lives_of(weft_pool *pool, unsigned count, unsigned together, bool inside,
                     struct samples *samples)
{
    struct lives lives = {.pool = pool, .count = count, .together = together};
    if (inside) {
        weft_actor *actor = actors_start(pool, live_inside, &lives, NULL);
        if (!actor)
            return false;
        actors_reap(NULL, actor);
    } else {
        live(NULL, &lives);
    }
    if (lives.failed)
        warnx("actors: one of the empty ones failed");
    samples_add(samples, lives.each);
    return !lives.failed;
}

static void *thread_empty(void *arg)
{
    return arg;
}

static bool lives_of_threads(unsigned count, struct samples *samples)
{
    double start = clock_now();
    for (unsigned i = 0; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, thread_empty, NULL) != 0)
            return false;
        pthread_join(thread, NULL);
    }
    samples_add(samples, (clock_now() - start) / count);
    return true;
}

/* ---- Together ---- */

enum cost {
    SWITCH,
    SWITCH_THREAD,
    VOLUNTARY,
    INVOLUNTARY,
    INSIDE,
    INSIDE_TOGETHER,
    OUTSIDE,
    OUTSIDE_TOGETHER,
    LIFE_THREAD,
    COSTS
};

static bool measure(struct samples *costs, weft_pool *pool, bool quick)
{
    unsigned lives = quick ? LIVES_QUICK : LIVES;
    struct pair pair = {.count = quick ? SWITCHES_QUICK : SWITCHES};
    struct pair twin = {.count = quick ? THREAD_SWITCHES_QUICK : THREAD_SWITCHES};
    if (!switches(pool, &pair) || !switches_of_threads(&twin))
        return false;
    samples_add(&costs[SWITCH], pair.each);
    samples_add(&costs[SWITCH_THREAD], twin.each);
    samples_add(&costs[VOLUNTARY], pair.voluntary);
    samples_add(&costs[INVOLUNTARY], pair.involuntary);
    return lives_of(pool, lives, 1, true, &costs[INSIDE]) &&
           lives_of(pool, lives, TOGETHER, true, &costs[INSIDE_TOGETHER]) &&
           lives_of(pool, lives / 10, 1, false, &costs[OUTSIDE]) &&
           lives_of(pool, lives, TOGETHER, false, &costs[OUTSIDE_TOGETHER]) &&
           lives_of_threads(THREADS, &costs[LIFE_THREAD]);
}

static void print(const struct samples *costs, const struct bench_run *run)
{
    report_title(run->report, "actors: two of them on one executor that only yield\n");
    actors_time(run, part, "ns a switch", 1, &costs[SWITCH], 1e-9, 30);
    actors_time(run, part, "  two threads on one CPU, sched_yield, ns", 1, &costs[SWITCH_THREAD],
                1e-9, 0);
    actors_claim(run, part, "  the kernel's switches because the thread waits",
                 samples_summary(&costs[VOLUNTARY]).median, REPORT_BELOW, 1);
    actors_claim(run, part, "  and because another one wants its CPU",
                 samples_summary(&costs[INVOLUNTARY]).median, REPORT_BELOW, 0);
    report_title(run->report, "actors: an empty one, made, run, waited for and released\n");
    actors_time(run, part, "us, by an actor, one after the other", 1, &costs[INSIDE], 1e-6, 1);
    actors_time(run, part, "us, by an actor, 100 at once", 1, &costs[INSIDE_TOGETHER], 1e-6, 0);
    actors_time(run, part, "us, from outside, one after the other", 1, &costs[OUTSIDE], 1e-6, 0);
    actors_time(run, part, "us, from outside, 100 at once", 1, &costs[OUTSIDE_TOGETHER], 1e-6, 0);
    actors_time(run, part, "  a thread, made and joined, us", 1, &costs[LIFE_THREAD], 1e-6, 0);
    report_title(run->report, "\n");
}

bool actors_costs(const struct bench_run *run)
{
    unsigned reps = run->reps ? run->reps : run->quick ? COSTS_REPS_QUICK : COSTS_REPS;
    weft_pool *pool = bench_pool(&(weft_config){.workers = 1});
    struct samples costs[COSTS] = {0};
    struct progress progress;
    bool good = pool != NULL;
    for (int i = 0; i < COSTS && good; i++)
        good = samples_init(&costs[i], reps);
    progress_begin(&progress, "actors: costs", reps);
    for (unsigned i = 0; i < reps && good; i++) {
        good = measure(costs, pool, run->quick);
        progress_step(&progress, 1);
    }
    progress_end(&progress);
    if (good)
        print(costs, run);
    for (int i = 0; i < COSTS; i++)
        samples_free(&costs[i]);
    if (pool)
        weft_pool_destroy(pool);
    return good;
}
