/* SPDX-License-Identifier: MIT */
/* futex.h: the twin of the `wake` and `found` benchmarks: two threads and a futex, nothing else. */
#ifndef BENCH_WAKE_FUTEX_H
#define BENCH_WAKE_FUTEX_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* A thread that sleeps on `ping` until it changes, notes the time, and says so. */
struct sleeper {
    atomic_uint ping, pong;
    _Atomic double woken_at; /* by clock_now() */
    int cpu;                 /* pinned to it; -1: anywhere */
    bool end;                /* read after `ping` changed */
    pthread_t thread;
};

int sleeper_start(struct sleeper *sleeper, int cpu); /* 0 or an errno value */
void sleeper_stop(struct sleeper *sleeper);

void sleeper_wake(struct sleeper *sleeper);
void sleeper_wait_pong(struct sleeper *sleeper); /* asleep, until it has answered */

/* One on each of two CPUs, so that there is one on another CPU than the caller's. */
struct sleeper_pair {
    struct sleeper on[2];
};

int sleeper_pair_start(struct sleeper_pair *pair); /* 0 or an errno value */
void sleeper_pair_stop(struct sleeper_pair *pair);

/* The caller computes, wakes the one on the other CPU, and goes on computing: so the woken thread
 * needs a CPU of its own, and quickly. Seconds until it runs. */
double sleeper_pair_wake(struct sleeper_pair *pair);

/* How long the caller computes before. */
#define SLEEPER_BUSY 500e-6

#endif
