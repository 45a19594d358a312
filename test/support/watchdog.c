/* SPDX-License-Identifier: MIT */
#include "watchdog.h"

#include "check.h"
#include "proc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_S = SANITIZED ? 60 : 20, POOLS_MAX = 64 };

static atomic_ulong kicks;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static weft_pool *known[POOLS_MAX]; /* under the lock */

static void bark(void)
{
    fprintf(stderr, "watchdog: nothing has moved for %d s\n", PATIENCE_S);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < POOLS_MAX; i++)
        if (known[i])
            weft_pool_dump(known[i], stderr);
    abort();
}

static double cpu_seconds(void)
{
    struct timespec t;
    CHECK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A second has passed. How much of it could the process have used, on one CPU? What it did use, if
 * it wanted more than the machine had to give; all of it, if all its threads sleep. */
static double could_have_used(double cpu_used)
{
    double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    return threads_all_sleep((pid_t)syscall(SYS_gettid)) ? 1 : cpu_used / cpus;
}

static void *watch(void *unused)
{
    unsigned long seen = atomic_load(&kicks);
    double still = 0, cpu = cpu_seconds();
    while (still < (double)PATIENCE_S) {
        nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
        double cpu_now = cpu_seconds();
        still += could_have_used(cpu_now - cpu);
        cpu = cpu_now;
        unsigned long now = atomic_load(&kicks);
        if (now != seen)
            still = 0;
        seen = now;
    }
    bark();
    return unused;
}

static void start(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, watch, NULL) == 0);
    pthread_detach(thread);
}

void watchdog_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
}

void watchdog_kick(void)
{
    atomic_fetch_add_explicit(&kicks, 1, memory_order_relaxed);
}

/* Puts `now` where `before` is. */
static void replace(weft_pool *before, weft_pool *now)
{
    int i = 0;
    pthread_mutex_lock(&lock);
    while (i < POOLS_MAX && known[i] != before)
        i++;
    CHECK(i < POOLS_MAX);
    known[i] = now;
    pthread_mutex_unlock(&lock);
    watchdog_kick();
}

void watchdog_know(weft_pool *pool)
{
    replace(NULL, pool);
}

void watchdog_forget(weft_pool *pool)
{
    replace(pool, NULL);
}
