/* SPDX-License-Identifier: MIT */
#include "copies.h"

#include "clock.h"

#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct start {
    atomic_uint missing; /* copies that are not ready yet */
};

struct copy {
    const struct kernel *kernel;
    void *data;
    struct start *start;
    double began, ended, cpu;
    pthread_t thread;
};

static void *copy_run(void *arg)
{
    struct copy *copy = arg;
    copy->kernel->reset(copy->data);
    atomic_fetch_sub(&copy->start->missing, 1);
    while (atomic_load(&copy->start->missing) > 0)
        sched_yield();
    double cpu = clock_cpu_here();
    copy->began = clock_now();
    copy->kernel->sequential(copy->data);
    copy->ended = clock_now();
    copy->cpu = clock_cpu_here() - cpu;
    return NULL;
}

/* The CPU with this number among those we may use, from the beginning again after the last. */
static cpu_set_t one_cpu(unsigned number)
{
    cpu_set_t allowed, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return one;
    number %= (unsigned)CPU_COUNT(&allowed);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && number-- == 0)
            CPU_SET(cpu, &one);
    return one;
}

static int copy_start(struct copy *copy, unsigned number)
{
    pthread_attr_t attributes;
    cpu_set_t cpu = one_cpu(number);
    pthread_attr_init(&attributes);
    pthread_attr_setaffinity_np(&attributes, sizeof cpu, &cpu);
    int error = pthread_create(&copy->thread, &attributes, copy_run, copy);
    pthread_attr_destroy(&attributes);
    return error;
}

/* From the first that began to the last that ended. */
static bool sum_up(const struct copy *copies, unsigned count, struct turn *turn)
{
    const struct kernel *kernel = copies[0].kernel;
    double began = copies[0].began, ended = copies[0].ended;
    *turn = (struct turn){.checksum = kernel->checksum(copies[0].data)};
    bool agree = true;
    for (unsigned i = 0; i < count; i++) {
        began = copies[i].began < began ? copies[i].began : began;
        ended = copies[i].ended > ended ? copies[i].ended : ended;
        turn->cpu += copies[i].cpu;
        agree = agree && kernel->checksum(copies[i].data) == turn->checksum;
    }
    turn->seconds = ended - began;
    if (!agree)
        warnx("%s: two copies of the sequential program disagree", kernel->name);
    return agree;
}

bool copies_turn(const struct kernel *kernel, void **data, unsigned count, struct turn *turn)
{
    struct start start = {count};
    struct copy *copies = calloc(count, sizeof *copies);
    int error = copies ? 0 : ENOMEM;
    unsigned started = 0;
    for (; started < count && !error; started++) {
        copies[started] = (struct copy){.kernel = kernel, .data = data[started], .start = &start};
        error = copy_start(&copies[started], started);
    }
    if (error)
        atomic_store(&start.missing, 0); /* those that wait must not wait for ever */
    for (unsigned i = 0; i < started - (error && started > 0); i++)
        pthread_join(copies[i].thread, NULL);
    if (error)
        warnx("%u copies of %s: %s", count, kernel->name, strerror(error));
    bool done = !error && sum_up(copies, count, turn);
    free(copies);
    return done;
}
