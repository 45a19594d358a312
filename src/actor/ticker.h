/* SPDX-License-Identifier: MIT */
/* ticker.h: the clock that ends quanta, and wakes fibers that wait for a time. */
#ifndef WEFT_ACTOR_TICKER_H
#define WEFT_ACTOR_TICKER_H

#include "actor/actor.h"

int weft__ticker_start(struct weft__actors *system); /* 0 or a negative errno value */
void weft__ticker_busy(struct weft__actors *system); /* one more executor has a driver */
void weft__ticker_stop(struct weft__actors *system);

/* A short quantum, if an executor is idle. `has_begun`: the caller's own began just now; else the
 * last tick began it. */
bool weft__ticker_hurry(struct weft__actors *system, bool has_begun);

/* By a fiber: it is suspended, and woken at `when`, if not before. */
void weft__ticker_suspend(struct weft__fiber *fiber, uint64_t when);

#endif
