/* SPDX-License-Identifier: MIT */
#include "futex.h"

#include "../clock.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static void futex(atomic_uint *word, int operation, unsigned value)
{
    syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void wait_while(atomic_uint *word, unsigned value)
{
    while (atomic_load(word) == value)
        futex(word, FUTEX_WAIT_PRIVATE, value);
}

static void pin_to(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void *sleep_and_answer(void *arg)
{
    struct sleeper *sleeper = arg;
    if (sleeper->cpu >= 0)
        pin_to(sleeper->cpu);
    for (unsigned n = 0;; n++) {
        wait_while(&sleeper->ping, n);
        if (sleeper->end)
            return NULL;
        atomic_store(&sleeper->woken_at, clock_now());
        atomic_store(&sleeper->pong, n + 1);
        futex(&sleeper->pong, FUTEX_WAKE_PRIVATE, 1);
    }
}

int sleeper_start(struct sleeper *sleeper, int cpu)
{
    *sleeper = (struct sleeper){.cpu = cpu};
    return pthread_create(&sleeper->thread, NULL, sleep_and_answer, sleeper);
}

void sleeper_wake(struct sleeper *sleeper)
{
    atomic_fetch_add(&sleeper->ping, 1);
    futex(&sleeper->ping, FUTEX_WAKE_PRIVATE, 1);
}

void sleeper_wait_pong(struct sleeper *sleeper)
{
    unsigned n = atomic_load(&sleeper->ping);
    wait_while(&sleeper->pong, n - 1);
}

void sleeper_stop(struct sleeper *sleeper)
{
    sleeper->end = true;
    sleeper_wake(sleeper);
    pthread_join(sleeper->thread, NULL);
}

int sleeper_pair_start(struct sleeper_pair *pair)
{
    int error = sleeper_start(&pair->on[0], 0);
    if (error)
        return error;
    error = sleeper_start(&pair->on[1], 1);
    if (error)
        sleeper_stop(&pair->on[0]);
    return error;
}

void sleeper_pair_stop(struct sleeper_pair *pair)
{
    sleeper_stop(&pair->on[0]);
    sleeper_stop(&pair->on[1]);
}

double sleeper_pair_wake(struct sleeper_pair *pair)
{
    clock_rest(300e-6); /* until it sleeps */
    clock_compute(SLEEPER_BUSY);
    struct sleeper *sleeper = &pair->on[(sched_getcpu() + 1) % 2];
    unsigned answered = atomic_load(&sleeper->pong);
    double start = clock_now();
    sleeper_wake(sleeper);
    while (atomic_load(&sleeper->pong) == answered)
        ;
    return atomic_load(&sleeper->woken_at) - start;
}
