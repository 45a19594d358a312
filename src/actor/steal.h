/* SPDX-License-Identifier: MIT */
/* steal.h: which right side is stolen from a fiber, by the fiber itself: at the end of a quantum,
 * to send it to another executor; and while it waits for delegates, to run it on top. */
#ifndef WEFT_ACTOR_STEAL_H
#define WEFT_ACTOR_STEAL_H

#include "actor/actor.h"

/* True: nothing may run on top of the fiber, because it may want a mutex that the fiber holds, or
 * that the fiber's topmost member works for the holder of. */
bool weft__steal_is_careful(const struct weft__fiber *fiber);

/* May a right side of this lineage start on top of the fiber? Then the fiber's use never passes the
 * limit, and its stack is enough: see README.md. */
bool weft__steal_fits(const struct weft__fiber *fiber, size_t lineage);

/* At the end of a quantum in which the fiber has waited, or after which all its right sides are too
 * young. If it has right sides, and an executor is idle, the next quantum is short. Four times at
 * most, until the fiber has given a right side away. */
void weft__steal_later(struct weft__fiber *fiber, weft *first_free);

/* At the end of a full quantum: sends a right side to another executor, if it can. Returns a second
 * one that the fiber has to run itself (strict), or NULL. */
struct weft__actor_slot *weft__steal_at_quantum(struct weft__fiber *fiber, weft *first_free);

/* By a fiber that waits for delegates, when a delegate or a quantum has ended. Returns a right side
 * that the fiber runs on top of itself, or NULL. */
struct weft__actor_slot *weft__steal_seamlessly(struct weft__fiber *fiber, weft *first_free);

/* By the driver: could a fiber that waits for delegates run a right side of its own now? */
bool weft__steal_is_possible(struct weft__fiber *fiber);

#endif
