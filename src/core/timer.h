/* SPDX-License-Identifier: MIT */
/* timer.h: jobs at a time. A timer is an alarm that puts a job into the injector.
 *
 *   OFF    -start-> SET                           by the program
 *   SET    -due---> QUEUED                        by the thread for alarms; the job holds the pool
 *   QUEUED -begin-> RUNS -end-> SET, or OFF       by the worker; SET: if it has a period
 *   SET    -stop--> OFF                           by a thread that stops it, or the pool
 *   QUEUED -stop--> OFF                           by a thread that has claimed the job
 *   RUNS   -start-> RUNS                          by the program: SET at the end
 *
 * All steps are made under the lock for alarms. A thread that stops a timer whose job has begun
 * leaves a latch with the timer, and the worker sets it when the timer is OFF. */
#ifndef WEFT_CORE_TIMER_H
#define WEFT_CORE_TIMER_H

#include <stdbool.h>

struct weft_pool;

/* Stops the timers of a pool that is being destroyed, and starts none from here on. Jobs that are
 * QUEUED are run. */
void weft__timers_close(struct weft_pool *pool);

/* Is a timer set, whose job may end any wait in the pool? A hint. */
bool weft__timers_are_set(struct weft_pool *pool);

#endif
