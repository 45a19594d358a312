/* SPDX-License-Identifier: MIT */
#include "core/until.h"

#include "core/group.h"
#include "core/pool.h"
#include "core/wait.h"
#include "os/clock.h"

#include <errno.h>

/* 0: the limit is not reached; *next is the time at which it will be. By any thread, so a deadline
 * that has passed is only told to the waiter, which notices it for all others. */
static int reason_to_end(const struct weft__limit *limit, uint64_t *next)
{
    uint64_t now = weft__clock_now(), deadline = weft__group_deadline(limit->around.group);
    if (deadline <= now || weft__limit_look(limit) == GROUP_CANCELLED)
        return -ECANCELED;
    *next = limit->when < deadline ? limit->when : deadline;
    return limit->when <= now ? -ETIMEDOUT : 0;
}

/* Under the alarms' lock: ends the wait, or sets the alarm for the next look. Returns the error of
 * that. */
static int look(struct weft__until *until);

static void alarm_rings(struct weft__alarm *alarm)
{
    (void)look((struct weft__until *)alarm); /* no error: the thread for alarms is here */
}

static int look(struct weft__until *until)
{
    uint64_t next;
    int reason = reason_to_end(&until->limit, &next);
    weft__alarm_take_back_locked(&until->alarm);
    if (!reason)
        return weft__alarm_set_locked(until->pool, &until->alarm, next, alarm_rings);
    if (until->take_out(until)) {
        until->reason = reason;
        weft__spin_latch_set(&until->latch);
    }
    return 0;
}

/* If there is an error, the waiter has not looked yet, and will get the same. */
static void nudge(struct weft__limit *limit)
{
    weft__alarms_lock();
    (void)look((struct weft__until *)((char *)limit - offsetof(struct weft__until, limit)));
    weft__alarms_unlock();
}

/* From the list on, the waiter is nudged; so the look comes after it. */
static int begin(struct weft__until *until, uint64_t when)
{
    until->limit = weft__limit_until(when);
    until->limit.nudge = nudge;
    until->pool = weft__worker_current()->pool; /* exists during the wait */
    weft__limit_begin(&until->limit);
    weft__alarms_lock();
    int error = look(until);
    weft__alarms_unlock();
    return error;
}

/* No thread is at the record any more. */
static void end(struct weft__until *until)
{
    uint64_t left;
    weft__limit_end(&until->limit);
    weft__alarm_take_back(&until->alarm);
    if (until->reason)
        (void)weft__limit_reached(&until->limit, &left); /* tells all of a deadline */
}

/* By an actor that ends. */
static void leave(struct weft__until *until)
{
    if (until->stays)
        until->stays(until);
    else if (until->take_out(until))
        until->reason = -ECANCELED;
}

int weft__until_wait(struct weft__until *until, const char *what, const uint64_t *when)
{
    struct weft__awaited awaited = {.what = what, .elsewhere = until->elsewhere, .may_end = true};
    if (when) {
        int error = begin(until, *when);
        if (error && until->take_out(until)) {
            end(until);
            return error;
        }
        awaited.limit = &until->limit;
    }
    bool ends = !weft__wait_anywhere(&until->latch, awaited);
    if (when)
        end(until);
    if (ends && !until->reason)
        leave(until);
    awaited = (struct weft__awaited){.what = what, .elsewhere = until->elsewhere};
    if (!until->reason)
        weft__wait_anywhere(&until->latch, awaited); /* unless it was set long ago */
    return until->reason;
}
