/* SPDX-License-Identifier: MIT */
/* thread.h: threads, their names, CPUs, signals and stacks. */
#ifndef WEFT_OS_THREAD_H
#define WEFT_OS_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For functions that use a thread-local variable and may be called on a fiber. A fiber can go on on
 * another thread. A compiler takes the address of a thread-local variable for constant as long as a
 * function runs, and keeps it, also across a switch of fibers. If it inlined these functions, as
 * optimisation at link time does, the fiber would use the variable of the thread that it has
 * left. */
#define WEFT__OF_THREAD __attribute__((noinline))

/* Starts run(arg) with asynchronous signals blocked, pinned to this CPU if the caller may use it;
 * else on any CPU of the caller's. A stack size of 0 is the default: large, since memory is used
 * only where it is touched; smaller if address space is limited. 0 or a negative errno value. */
int weft__thread_start(pthread_t *thread, size_t stack_size, int cpu, void *(*run)(void *),
                       void *arg);

/* First thing on a worker's thread: name, signals, no cancellation, alternate stack. */
void weft__thread_enter(const char *name, unsigned index, bool explain_overflow);
void weft__thread_leave(void);

/* Makes waits of the calling thread with a time limit end within microseconds of that limit. */
void weft__thread_be_punctual(void);

/* Keeps the calling thread on one of the CPUs that it may use, until weft__thread_unpin(). Failure
 * is harmless. */
void weft__thread_pin(int cpu) WEFT__OF_THREAD;
void weft__thread_unpin(void) WEFT__OF_THREAD;
int weft__thread_cpu(void); /* where the caller runs; -1: unknown */

/* The kernel's number of the caller. Cheap after the first call. */
int weft__thread_number(void) WEFT__OF_THREAD;

/* A thread, the caller or another one, stays on one CPU from weft__pin_set() to weft__pin_clear().
 * A second weft__pin_set() moves it to another CPU. Nothing happens if it may not run there. At
 * most one pin for each thread, which must not end meanwhile. */
struct weft__pin {
    int thread; /* 0: it is not pinned, and the rest means nothing */
    int cpu;
    cpu_set_t allowed; /* where it may run without the pin */
};
void weft__pin_set(struct weft__pin *pin, int thread, int cpu);
void weft__pin_clear(struct weft__pin *pin);

/* Lets other threads run. False: that took long, because others want this CPU. */
bool weft__thread_yield(void);

/* Nanoseconds of CPU time; 0: unknown. */
uint64_t weft__thread_cpu_time(pthread_t thread);

/* The calling thread's own stack, from low to high. Cheap after the first call. */
struct weft__stack {
    const char *low, *high;
};
struct weft__stack weft__thread_stack(void) WEFT__OF_THREAD;

/* How often fork() was called between the first process and this one. A pool that was made at
 * another count has no workers in this process. */
extern uint32_t weft__forks; /* written in a forked child, while it has one thread */
static inline uint32_t weft__fork_count(void)
{
    return weft__forks;
}

/* Calls `in_child` in every forked child from now on. */
int weft__fork_watch(void (*in_child)(void));

#endif
