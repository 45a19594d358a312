/* SPDX-License-Identifier: MIT */
/* limit.h: waits that end by themselves: at a time, or when their computation is cancelled.
 *
 * The waiting thread looks for both whenever it wakes up. It sleeps no longer than until the time,
 * or the first deadline of a scope around it. So that it also wakes when its computation fails, or
 * gets a deadline, it stands in a list while it waits. There is a list, with a lock, for some of
 * all computations each; who fails looks there for those of its own.
 *
 *   waits:  into the list, under its lock      look at the groups around
 *   fails:  write the group's error            under the lock: nudge all in the list
 *
 * The lock decides: the thread that fails finds the waiter, or the waiter finds the failure. */
#ifndef WEFT_CORE_LIMIT_H
#define WEFT_CORE_LIMIT_H

#include "core/context.h"

/* Of one wait; lives in the waiting frame. */
struct weft__limit {
    uint64_t when;                 /* WEFT_FOREVER: only a cancellation ends it */
    struct weft__context *context; /* where it waits; NULL: outside, where nothing is cancelled */
    struct weft__around around;    /* where in the context; its group may be NULL */
    /* Wakes the waiter, which looks again. Called with the list's lock held, from begin to end. */
    void (*nudge)(struct weft__limit *limit);
    struct weft__limit *next, **link; /* in the list; under its lock */
};

/* For a wait that the caller is about to begin. */
struct weft__limit weft__limit_until(uint64_t when);

/* Into the list, and out of it: `limit` is not nudged any more. */
void weft__limit_begin(struct weft__limit *limit);
void weft__limit_end(struct weft__limit *limit);

/* By the waiter. -ECANCELED, -ETIMEDOUT, or 0: it may wait for *left more nanoseconds, and then has
 * to look again. *left WEFT_FOREVER: until it is nudged. */
int weft__limit_reached(const struct weft__limit *limit, uint64_t *left);

/* For a wait until `when` that can't begin, since that is past: -ECANCELED, or -ETIMEDOUT. */
int weft__limit_passed(uint64_t when);

/* The state of what waits. By any thread; the clock is not read. */
enum group_state weft__limit_look(const struct weft__limit *limit);

/* For reports, while the waiter stands still: does the wait end, whatever other threads do? NULL:
 * no. */
bool weft__limit_ends(const struct weft__limit *limit);

/* Nudges all that wait in the computation of `root`, which is not touched. By a thread that has
 * failed it, or has set a deadline. */
void weft__limit_nudge(const struct weft__group *root);

void weft__limits_forked(void); /* in a forked child: none waits */

#endif
