/* SPDX-License-Identifier: MIT */
#include "loads.h"

#include "../clock.h"

#include <stdlib.h>

enum { LOAD_REPS = 5 };

#define NOOP_PAUSE 10e-3 /* seconds */

struct load {
    unsigned size;
    uint64_t jobs;  /* done */
    double own_cpu; /* not the runtime's */
};

static void *prepare(unsigned size)
{
    struct load *load = malloc(sizeof *load);
    if (load)
        load->size = size;
    return load;
}

static void reset(void *data)
{
    struct load *load = data;
    *load = (struct load){.size = load->size};
}

static uint64_t checksum(const void *data)
{
    const struct load *load = data;
    return load->jobs;
}

static double operations(const void *data)
{
    return (double)checksum(data);
}

static double own_cpu(const void *data)
{
    const struct load *load = data;
    return load->own_cpu;
}

#define KERNEL(name_, twin)                                                    \
    {                                                                          \
        .name = name_, .prepare = prepare, .reset = reset, .sequential = twin, \
        .checksum = checksum, .operations = operations, .release = free,       \
    }

/* ---- An empty job now and then ---- */

static void count_job(weft *w, void *data)
{
    (void)w;
    struct load *load = data;
    load->jobs++;
}

static void noop_twin(void *data)
{
    struct load *load = data;
    for (unsigned i = 0; i < load->size; i++) {
        clock_rest(NOOP_PAUSE);
        count_job(NULL, load);
    }
}

/* Nobody waits for a job until it is long over. */
static void noop(weft_pool *pool, void *data)
{
    struct load *load = data;
    weft_task task;
    for (unsigned i = 0; i < load->size; i++) {
        clock_rest(NOOP_PAUSE);
        if (i > 0)
            weft_task_wait(&task);
        weft_submit(pool, &task, count_job, load);
    }
    weft_task_wait(&task);
}

static const struct kernel noop_kernel = KERNEL("noop", noop_twin);

const struct contest noop_load = {
    .kernel = &noop_kernel,
    .weft = noop,
    .size = 50,
    .quick = 2,
    .reps = LOAD_REPS,
};

/* ---- Nothing ---- */

static void idle_twin(void *data)
{
    struct load *load = data;
    clock_rest(load->size * 1e-3);
    load->jobs = 1;
}

static void nothing(weft *w, void *data)
{
    (void)w;
    (void)data;
}

static void idle(weft_pool *pool, void *data)
{
    struct load *load = data;
    double before = clock_cpu();
    int error = weft_broadcast(pool, nothing, NULL);
    load->own_cpu = clock_cpu() - before;
    if (!error)
        idle_twin(load);
}

static const struct kernel idle_kernel = KERNEL("idle", idle_twin);

const struct contest idle_load = {
    .kernel = &idle_kernel,
    .weft = idle,
    .own_cpu = own_cpu,
    .size = 300,
    .quick = 10,
    .reps = LOAD_REPS,
};

/* ---- One long job ---- */

static void long_twin(void *data)
{
    struct load *load = data;
    double before = clock_cpu_here();
    clock_compute(load->size * 1e-3);
    load->jobs = 1;
    load->own_cpu = clock_cpu_here() - before;
}

static void long_job(weft *w, void *data)
{
    (void)w;
    long_twin(data);
}

static void long_run(weft_pool *pool, void *data)
{
    weft_run(pool, long_job, data);
}

static const struct kernel long_kernel = KERNEL("long job", long_twin);

const struct contest long_load = {
    .kernel = &long_kernel,
    .weft = long_run,
    .own_cpu = own_cpu,
    .size = 300,
    .quick = 10,
    .reps = LOAD_REPS,
};
