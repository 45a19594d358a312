/* SPDX-License-Identifier: MIT */
/* captured: small calls from outside while long tasks keep all workers. A caller that waits for a
 * part of its call, and meanwhile takes a long task, comes back when that is over; one that has to
 * queue behind them waits for all. The client is the same for all runtimes; each brings a way to
 * start a long task, and to make a call. */
#ifndef BENCH_CAPTURED_H
#define BENCH_CAPTURED_H

#include "../kernel.h"

#include <pthread.h>
#include <semaphore.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CAPTURED_LEAVES = 256,     /* of a call; two milliseconds together */
    CAPTURED_ROUNDS = 5000,    /* of a leaf: 8 microseconds */
    CAPTURED_CALLS_MAX = 1000, /* in one run */
};

#define CAPTURED_LONG 50e-3 /* seconds of a long task */

/* A kernel's size says both: how many workers to keep busy, and how many calls to make. */
#define CAPTURED_SIZE(workers, calls) ((workers)*CAPTURED_CALLS_MAX + (calls))

struct captured;

struct captured_task {
    struct captured *captured;
    unsigned starts; /* so far */
    int over;        /* atomic */
};

struct captured {
    unsigned workers, calls;
    int beside; /* long tasks */
    int stop;   /* for them; atomic */
    uint64_t result;
    double *took;       /* seconds of each call */
    pthread_t *threads; /* of the twin */
    unsigned count;     /* of the long tasks: one for each worker, and one that waits */
    struct captured_task *tasks;
    sem_t over; /* one of them */
};

extern const struct kernel captured_alone_kernel, captured_beside_kernel;

static inline uint64_t captured_leaf(uint64_t x)
{
    for (int i = 0; i < CAPTURED_ROUNDS; i++)
        x = (x ^ x >> 29) * 0x9e3779b97f4a7c15u;
    return x;
}

/* What a long task does; the last touch of it. */
void captured_task_run(struct captured_task *task);

struct captured_runtime {
    /* From a thread of its own; returns at once. */
    void (*start)(struct captured_task *task, void *data);
    /* The sum of the leaves from `first` on; returns when it is known. */
    uint64_t (*call)(uint64_t first, void *data);
    void *data;
};

/* Makes all calls; beside, if that is what is wanted, long tasks that are started anew whenever one
 * is over. All are over in the end. */
void captured_client(struct captured *captured, const struct captured_runtime *runtime);

/* The same by weft: calls by weft_run, long tasks by weft_submit. */
struct weft_pool;
void captured_weft(struct weft_pool *pool, struct captured *captured);

#ifdef __cplusplus
}
#endif

#endif
