/* SPDX-License-Identifier: MIT */
/* until.h: a job waits for a latch, perhaps with a limit: until a time, or until its computation is
 * cancelled (limit.h).
 *
 * The waiter puts the latch where the thread that ends the wait will find it. If the limit is
 * reached first, another thread takes the latch out of that place, and sets it: the pool's thread
 * for alarms, or a thread that fails the computation. If the computation gets a new deadline, the
 * alarm is set again. */
#ifndef WEFT_CORE_UNTIL_H
#define WEFT_CORE_UNTIL_H

#include "core/alarm.h"
#include "core/limit.h"
#include "sleep/latch.h"

/* Of one wait; lies in the waiting frame. The caller sets the latch's owner, and the functions. */
struct weft__until {
    struct weft__alarm alarm; /* first; under the alarms' lock, as `reason` */
    struct weft__limit limit;
    struct weft_pool *pool; /* whose thread for alarms it is: the waiter's */
    struct weft__spin_latch latch;
    bool elsewhere; /* for reports: another pool ends the wait */
    int reason;     /* why the latch was taken out; 0: it was not */
    /* By any thread, and by the waiter. False: the latch is not there any more, and the thread that
       took it sets it. */
    bool (*take_out)(struct weft__until *until);
    /* NULL; or an actor that ends goes on waiting, and says so by this: what it waits for lies on
       its stack. */
    void (*stays)(struct weft__until *until);
};

/* The latch is where it will be found. 0: it was set by the thread that ends the wait; or why it
 * was taken out: -ETIMEDOUT, -ECANCELED; or the error of starting the thread for alarms. `what`:
 * for reports. `when`: NULL: without a limit, and only an actor that ends leaves. An actor has to
 * be ended by the caller, if it may (weft__fiber_end_here()). */
int weft__until_wait(struct weft__until *until, const char *what, const uint64_t *when);

#endif
