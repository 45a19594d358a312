/* SPDX-License-Identifier: MIT */
#include "os/thread.h"

#include "core/atomic.h"
#include "os/overflow.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

static _Thread_local cpu_set_t allowed; /* before weft__thread_pin() */
static _Thread_local bool pinned;

static _Thread_local struct weft__stack stack; /* empty until asked for */

/* Everything but what a thread does to itself: those signals can't wait. */
static void asynchronous_signals(sigset_t *set)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigfillset(set);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(set, own[i]);
}

int weft__thread_start(pthread_t *thread, size_t stack_size, void *(*run)(void *), void *arg)
{
    enum { GUARD = 64 * 1024 }; /* a large frame must not step over it */
    pthread_attr_t attr;
    int error = pthread_attr_init(&attr);
    if (error)
        return -error;
    error = pthread_attr_setstacksize(&attr, stack_size);
    if (!error)
        error = pthread_attr_setguardsize(&attr, GUARD);
    if (!error) {
        sigset_t block, old;
        asynchronous_signals(&block);
        pthread_sigmask(SIG_BLOCK, &block, &old); /* the new thread inherits it */
        error = pthread_create(thread, &attr, run, arg);
        pthread_sigmask(SIG_SETMASK, &old, NULL);
    }
    pthread_attr_destroy(&attr);
    return -error;
}

void weft__thread_enter(const char *name, unsigned index, bool explain_overflow)
{
    enum { NAME_MAX_LENGTH = 15 }; /* the kernel's */
    char full[NAME_MAX_LENGTH + 16], number[16];
    int digits = snprintf(number, sizeof number, "-%u", index);
    snprintf(full, sizeof full, "%.*s%s", NAME_MAX_LENGTH - digits, name, number);
    pthread_setname_np(pthread_self(), full);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    sigset_t block; /* again, for threads that somebody else started */
    asynchronous_signals(&block);
    pthread_sigmask(SIG_BLOCK, &block, NULL);
    if (explain_overflow)
        weft__overflow_enter(index);
}

void weft__thread_leave(void)
{
    weft__overflow_leave();
}

void weft__thread_pin(int cpu)
{
    int saved = errno;
    cpu_set_t one;
    CPU_ZERO(&one);
    if (cpu < CPU_SETSIZE && sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
        CPU_ISSET((size_t)cpu, &allowed)) {
        CPU_SET((size_t)cpu, &one);
        pinned = sched_setaffinity(0, sizeof one, &one) == 0;
    }
    errno = saved;
}

void weft__thread_unpin(void)
{
    int saved = errno;
    if (pinned)
        sched_setaffinity(0, sizeof allowed, &allowed);
    pinned = false;
    errno = saved;
}

int weft__thread_cpu(void)
{
    return sched_getcpu();
}

void weft__thread_yield(void)
{
    sched_yield();
}

uint64_t weft__thread_cpu_time(pthread_t thread)
{
    clockid_t clock;
    struct timespec t;
    if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &t))
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

struct weft__stack weft__thread_stack(void)
{
    if (stack.high)
        return stack;
    pthread_attr_t attr;
    void *low = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        pthread_attr_getstack(&attr, &low, &size);
        pthread_attr_destroy(&attr);
    }
    stack = (struct weft__stack){low, (char *)low + size};
    return stack;
}

static struct atomic_u32 fork_count;

static void count_fork(void)
{
    atomic_fetch_add_relaxed(&fork_count, 1); /* relaxed: a child starts with one thread */
}

uint32_t weft__fork_count(void)
{
    return atomic_load_relaxed(&fork_count);
}

int weft__fork_watch(void (*in_child)(void))
{
    int error = pthread_atfork(NULL, NULL, count_fork);
    return -(error ? error : pthread_atfork(NULL, NULL, in_child));
}
