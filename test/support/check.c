/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void check_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
    abort();
}

static pthread_once_t asked = PTHREAD_ONCE_INIT;
static bool busy;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Not by the load average: that knows a minute later. The tests that run beside this one take two
 * CPUs at most half of the time. */
static void ask_how_busy(void)
{
    enum { YIELDS = 10 };
    const double many = 6e-3; /* on the average: time slices of several others */
    double begun = now();
    for (int i = 0; i < YIELDS; i++)
        sched_yield();
    busy = now() - begun > (double)YIELDS * many;
}

int rounds_of(int n)
{
    pthread_once(&asked, ask_how_busy);
    return busy ? n / 20 + 1 : n;
}

/* How busy the machine is may change. */
void wait_a_moment(void)
{
    enum { NAPS = 100 };      /* after a yield that took long, */
    const double slow = 2e-3; /* that is, a time slice of somebody else's */
    static _Thread_local int naps;
    if (naps > 0) {
        naps--;
        nanosleep(&(struct timespec){.tv_nsec = 50 * 1000}, NULL);
        return;
    }
    double begun = now();
    sched_yield();
    naps = now() - begun > slow ? NAPS : 0;
}

struct call {
    void (*fn)(unsigned i, void *arg);
    void *arg;
    unsigned i;
    pthread_barrier_t *start;
    pthread_t thread;
};

static void *call(void *p)
{
    struct call *c = p;
    pthread_barrier_wait(c->start);
    c->fn(c->i, c->arg);
    return NULL;
}

void in_threads(unsigned n, void (*fn)(unsigned i, void *arg), void *arg)
{
    pthread_barrier_t start;
    struct call *calls = calloc(n, sizeof *calls);
    CHECK(calls && pthread_barrier_init(&start, NULL, n) == 0);
    for (unsigned i = 0; i < n; i++) {
        calls[i] = (struct call){.fn = fn, .arg = arg, .i = i, .start = &start};
        CHECK(pthread_create(&calls[i].thread, NULL, call, &calls[i]) == 0);
    }
    for (unsigned i = 0; i < n; i++)
        CHECK(pthread_join(calls[i].thread, NULL) == 0);
    pthread_barrier_destroy(&start);
    free(calls);
}
