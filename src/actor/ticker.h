/* SPDX-License-Identifier: MIT */
/* ticker.h: the clock that ends quanta, and wakes who waits for a time. */
#ifndef WEFT_ACTOR_TICKER_H
#define WEFT_ACTOR_TICKER_H

#include "actor/actor.h"

int weft__ticker_start(struct weft__actors *system);  /* 0 or a negative errno value */
void weft__ticker_busy(struct weft__actors *system);  /* one more executor has a driver */
void weft__ticker_hurry(struct weft__actors *system); /* a short quantum, if somebody is idle */
void weft__ticker_stop(struct weft__actors *system);
bool weft__ticker_at(struct weft__actors *system, uint64_t when, struct weft__fiber *fiber);

#endif
