/* SPDX-License-Identifier: MIT */
#include "captured.h"

#include "../clock.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

#define SETTLE 20e-3 /* seconds until all workers have a long task */
#define PAUSE 20e-6  /* between two calls it is less than so many of these, by chance: */
#define PAUSES 1000  /* calls come at any time of a long task */

static int stopped(const struct captured *c)
{
    return __atomic_load_n(&c->stop, __ATOMIC_RELAXED);
}

static void stop(struct captured *c)
{
    __atomic_store_n(&c->stop, 1, __ATOMIC_RELAXED);
}

static void compute(const struct captured *c)
{
    double end = clock_now() + CAPTURED_LONG;
    while (clock_now() < end && !stopped(c))
        ;
}

void captured_task_run(struct captured_task *task)
{
    struct captured *c = task->captured;
    compute(c);
    __atomic_store_n(&task->over, 1, __ATOMIC_RELEASE);
    sem_post(&c->over);
}

/* ---- The client ---- */

static void make_calls(struct captured *c, const struct captured_runtime *runtime)
{
    uint64_t random = 1;
    for (unsigned i = 0; i < c->calls; i++) {
        clock_rest((double)(kernel_random(&random) % PAUSES) * PAUSE);
        double start = clock_now();
        c->result += runtime->call((uint64_t)i * CAPTURED_LEAVES, runtime->data);
        c->took[i] = clock_now() - start;
    }
}

struct feeder {
    struct captured *captured;
    const struct captured_runtime *runtime;
};

static void start_task(const struct feeder *feeder, struct captured_task *task)
{
    feeder->runtime->start(task, feeder->runtime->data);
    task->starts++;
}

/* One that is over. There are as many as posts that nobody has answered. */
static struct captured_task *find_over(struct captured *c)
{
    unsigned i = 0;
    while (!__atomic_exchange_n(&c->tasks[i].over, 0, __ATOMIC_ACQUIRE))
        i = (i + 1) % c->count;
    return &c->tasks[i];
}

static void *feed(void *arg)
{
    const struct feeder *feeder = arg;
    struct captured *c = feeder->captured;
    for (unsigned i = 0; i < c->count; i++)
        start_task(feeder, &c->tasks[i]);
    for (unsigned left = c->count; left > 0;) {
        while (sem_wait(&c->over) != 0)
            ; /* a signal */
        struct captured_task *task = find_over(c);
        if (stopped(c))
            left--;
        else
            start_task(feeder, task);
    }
    return NULL;
}

static void start_thread(pthread_t *thread, void *(*run)(void *), void *arg)
{
    int error = pthread_create(thread, NULL, run, arg);
    if (error)
        errx(EXIT_FAILURE, "captured: no thread: %s", strerror(error));
}

void captured_client(struct captured *c, const struct captured_runtime *runtime)
{
    struct feeder feeder = {c, runtime};
    pthread_t thread;
    if (c->beside) {
        start_thread(&thread, feed, &feeder);
        clock_rest(SETTLE);
    }
    make_calls(c, runtime);
    stop(c);
    if (c->beside)
        pthread_join(thread, NULL);
}

/* ---- The twin: the calls without forks, and a thread for each worker ---- */

static uint64_t call(uint64_t first, void *data)
{
    (void)data;
    uint64_t sum = 0;
    for (uint64_t leaf = 0; leaf < CAPTURED_LEAVES; leaf++)
        sum += captured_leaf(first + leaf);
    return sum;
}

static void *compute_all(void *arg)
{
    const struct captured *c = arg;
    while (!stopped(c))
        compute(c);
    return NULL;
}

static void sequential(void *data)
{
    struct captured *c = data;
    unsigned threads = c->beside ? c->workers : 0;
    for (unsigned i = 0; i < threads; i++)
        start_thread(&c->threads[i], compute_all, c);
    if (c->beside)
        clock_rest(SETTLE);
    make_calls(c, &(struct captured_runtime){.call = call});
    stop(c);
    for (unsigned i = 0; i < threads; i++)
        pthread_join(c->threads[i], NULL);
}

/* ---- The data ---- */

static void release(void *data)
{
    struct captured *c = data;
    sem_destroy(&c->over);
    free(c->took);
    free(c->threads);
    free(c->tasks);
    free(c);
}

static void *prepare(unsigned size, int beside)
{
    struct captured *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->workers = size / CAPTURED_CALLS_MAX;
    c->calls = size % CAPTURED_CALLS_MAX;
    c->beside = beside;
    c->count = 2 * c->workers;
    c->took = calloc(c->calls, sizeof *c->took);
    c->threads = calloc(c->workers, sizeof *c->threads);
    c->tasks = calloc(c->count, sizeof *c->tasks);
    sem_init(&c->over, 0, 0);
    if (!c->took || !c->threads || !c->tasks) {
        release(c);
        return NULL;
    }
    return c;
}

static void *prepare_alone(unsigned size)
{
    return prepare(size, 0);
}

static void *prepare_beside(unsigned size)
{
    return prepare(size, 1);
}

static void reset(void *data)
{
    struct captured *c = data;
    c->stop = 0;
    c->result = 0;
    for (unsigned i = 0; i < c->count; i++)
        c->tasks[i] = (struct captured_task){.captured = c};
}

static uint64_t checksum(const void *data)
{
    const struct captured *c = data;
    return c->result;
}

static double operations(const void *data)
{
    const struct captured *c = data;
    return c->calls;
}

static const double *times(const void *data, unsigned *count)
{
    const struct captured *c = data;
    *count = c->calls;
    return c->took;
}

#define KERNEL(kernel_name, by)                                                             \
    {                                                                                       \
        .name = (kernel_name), .prepare = (by), .reset = reset, .sequential = sequential,   \
        .checksum = checksum, .operations = operations, .times = times, .release = release, \
    }

const struct kernel captured_alone_kernel = KERNEL("captured-alone", prepare_alone);
const struct kernel captured_beside_kernel = KERNEL("captured-beside", prepare_beside);
