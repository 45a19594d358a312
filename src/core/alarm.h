/* SPDX-License-Identifier: MIT */
/* alarm.h: calls a function at a time: when a wait with a limit is over, or a timer is due. A pool
 * has one thread for all its alarms. It is started by the first alarm, sleeps until the next one is
 * due, and ends when there has been none for a second.
 *
 * One lock for all pools guards all alarms, and what belongs to them: a thread that stops a timer
 * can't know whether the timer's pool exists, before it has the lock. */
#ifndef WEFT_CORE_ALARM_H
#define WEFT_CORE_ALARM_H

#include "core/heap.h"
#include "os/atomic.h"
#include "os/thread.h"

struct weft_pool;
struct weft__timed;

struct weft__alarm {
    struct weft__moment moment;
    /* By the pool's thread for alarms, under the lock: it must not wait, nor use alarms. The memory
     * of the alarm may be gone afterwards, once the lock is free. */
    void (*ring)(struct weft__alarm *alarm);
    struct weft_pool *pool; /* NULL: it has rung, or was taken back */
};

/* Under the lock, all but the atomics. */
struct weft__alarms {
    struct weft__heap heap;
    enum { ALARMS_NONE, ALARMS_SERVED, ALARMS_LEFT } state; /* LEFT: its thread is to be joined */
    bool used; /* there was an alarm: written by threads that are in the pool */
    bool stop;
    bool closed;                /* no timer is set any more; see timer.h */
    unsigned expected;          /* timers whose jobs are queued or run: the thread stays for them */
    struct weft__timed *timers; /* all that are set */
    struct atomic_u32 timers_set; /* how many that are; read by any thread */
    pthread_t thread;
    struct atomic_u32 word; /* changes when the thread has to look again */
};

void weft__alarms_lock(void);
void weft__alarms_unlock(void);

/* Under the lock. The pool exists until the alarm has rung or was taken back. 0, or the error of
 * starting a thread: it is not set. */
int weft__alarm_set_locked(struct weft_pool *pool, struct weft__alarm *alarm, uint64_t when,
                           void (*ring)(struct weft__alarm *alarm));
void weft__alarm_take_back_locked(struct weft__alarm *alarm); /* nothing, if it is not set */

/* The same by a caller that does not have the lock. After take_back, `ring` is not called, and no
 * call goes on. */
int weft__alarm_set(struct weft_pool *pool, struct weft__alarm *alarm, uint64_t when,
                    void (*ring)(struct weft__alarm *alarm));
void weft__alarm_take_back(struct weft__alarm *alarm);

/* Under the lock. An alarm of the pool will be set, by a thread that can't bear an error; or the
 * pool's thread need not stay for it any more. When it is said, the thread is there. */
void weft__alarm_expect(struct weft_pool *pool, bool comes);

/* Ends the pool's thread. There are no alarms. */
void weft__alarms_stop(struct weft_pool *pool);

void weft__alarms_forked(void); /* in a forked child: the thread that had the lock is not here */

#endif
