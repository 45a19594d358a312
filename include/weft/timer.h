/* SPDX-License-Identifier: MIT */
/* weft/timer.h: jobs that run at a time, or every so often. */
#ifndef WEFT_TIMER_H
#define WEFT_TIMER_H

#include "../weft.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of the program. Starts as zeros, and must stay where it is until weft_timer_stop() has
 * returned; if its own job stops it, until that job has returned. Its contents belong to the
 * library. */
typedef struct weft_timer {
    WEFT_ALIGNAS(8) unsigned char opaque[256];
} weft_timer;

/* clang-format off */
#define WEFT_TIMER_INIT {{0}}
/* clang-format on */

/* Runs fn(w, arg) as a job of the pool when weft_now() is `when`, and, unless `period` is 0, every
 * `period` nanoseconds after that. It never runs twice at once. If it takes longer than a period,
 * or all workers are busy, the periods that have passed meanwhile count as one: it runs once, at
 * once, and then at its old times again. Each run is a computation of its own; what it fails with
 * is dropped. weft_pool_destroy() stops the timers of the pool. A job may start its own timer anew,
 * if that has no period. -EINVAL: no timer or no function; -EBUSY: it is started already;
 * -ESHUTDOWN, -ECHILD, -ENOMEM: as weft_submit(); or the error of starting the pool's thread for
 * timers. */
WEFT_API WEFT_MUST_USE WEFT_INLINE_ int weft_timer_start(weft_pool *pool, weft_timer *timer,
                                                         uint64_t when, uint64_t period,
                                                         weft_fn *fn, void *arg);

/* When it has returned, the job does not run, and will not. Waits for a run that has begun; a job
 * runs other jobs meanwhile. In the timer's own job it does not wait: that run is the last one. Any
 * number of times, also when the pool is gone. -EINVAL: no timer; -EDEADLK: the timer's job runs
 * below the caller on the same stack; -ENOMEM: the caller can't wait. In both cases the job will
 * not begin again. */
WEFT_API int weft_timer_stop(weft_timer *timer);

/* See weft/inline.h. */
WEFT_API WEFT_MUST_USE int weft_timer_start_(weft_pool *pool, weft_timer *timer, uint64_t when,
                                             uint64_t period, weft_fn *fn, void *arg,
                                             unsigned layout);
#if defined __GNUC__
WEFT_ENTRY_ weft_timer_start(weft_pool *pool_, weft_timer *timer_, uint64_t when_, uint64_t period_,
                             weft_fn *fn_, void *arg_)
{
    return weft_timer_start_(pool_, timer_, when_, period_, fn_, arg_, WEFT_LAYOUT_);
}
#endif

#ifdef __cplusplus
}
#endif

#endif
