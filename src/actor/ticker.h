/* SPDX-License-Identifier: MIT */
/* ticker.h: the clock that ends quanta, and wakes who waits for a time. */
#ifndef WEFT_ACTOR_TICKER_H
#define WEFT_ACTOR_TICKER_H

#include "actor/actor.h"

int weft__ticker_start(struct weft__actors *system); /* 0 or a negative errno value */
void weft__ticker_busy(struct weft__actors *system); /* one more executor has a driver */
void weft__ticker_stop(struct weft__actors *system);

/* A short quantum, if somebody is idle. `has_begun`: the caller's own, just now; else it is the one
 * that began with the last tick. */
bool weft__ticker_hurry(struct weft__actors *system, bool has_begun);

/* By a fiber: it is woken then; false: no memory. It has one time at most, and takes it back before
 * it does anything else. */
bool weft__ticker_at(struct weft__actors *system, uint64_t when, struct weft__fiber *fiber);
void weft__ticker_forget(struct weft__actors *system, struct weft__fiber *fiber);

#endif
