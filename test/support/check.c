/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void check_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
    abort();
}

static pthread_once_t asked = PTHREAD_ONCE_INIT;
static bool busy;

/* The tests that run beside this one are no reason: they keep two CPUs below a load of 10. */
static void ask_how_busy(void)
{
    enum { BUSY = 5 }; /* that many threads want each CPU */
    double load;
    busy = getloadavg(&load, 1) == 1 && load >= BUSY * (double)sysconf(_SC_NPROCESSORS_ONLN);
}

int rounds_of(int n)
{
    pthread_once(&asked, ask_how_busy);
    return busy ? n / 20 + 1 : n;
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
