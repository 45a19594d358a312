/* SPDX-License-Identifier: MIT */
/* schedule.h: the threads of an execution, as fibers, and which one goes on. */
#ifndef CHECK_SCHEDULE_H
#define CHECK_SCHEDULE_H

#include "execution.h"

/* Threads change places only before an operation on a location that several threads use. Which
 * these are is learnt on the way; all executions of a harness know them. */
enum { SHARED_MAX = 512 };

struct shared {
    const void *at[SHARED_MAX];
    unsigned count;
    bool grew; /* another one was found */
};

extern struct shared shared;

void schedule_reset(void); /* an execution begins: there are no threads */
void schedule_run(void);   /* until no thread can go on */

/* Of the running thread: the execution is over. */
void schedule_end(enum ending how) __attribute__((noreturn));

unsigned schedule_start(void (*fn)(void *), void *arg); /* 0: there are too many */
void schedule_join(unsigned thread);
void schedule_stack(const char **low, const char **high);

/* What a thread is about to do; two that concern the same location, unless both only read it,
 * can't change places, and so can't two sequentially consistent fences. */
enum touch { TOUCH_READ, TOUCH_WRITE, TOUCH_FENCE, TOUCH_ALL };

/* Before an operation: others may go first, if they can see the difference. */
void schedule_step(enum touch touch, const void *at);

/* The location at this address; the operation that was announced concerns it. */
int schedule_location(const void *at, unsigned size);

/* The running thread waits at a location, until another one makes it ready. */
void schedule_wait(int location, uint64_t ns); /* 0: not for a time */
unsigned schedule_waiting(int location, unsigned list[static THREADS_MAX]);
void schedule_ready(unsigned thread);

#endif
