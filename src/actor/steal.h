/* SPDX-License-Identifier: MIT */
/* steal.h: what is stolen from a fiber, by its own thread: at the end of a quantum, to be sent to
 * another executor, and while it waits for delegates, to be run on top of it. */
#ifndef WEFT_ACTOR_STEAL_H
#define WEFT_ACTOR_STEAL_H

#include "actor/actor.h"

/* What would run on top of it may want a mutex that it holds, or that it helps the holder of. */
bool weft__steal_is_careful(const struct weft__fiber *fiber);

/* Would a right side, of such a lineage, fit on top of what is on the fiber already? Then what the
 * fiber uses never passes the limit, and its stack is enough: see README.md. */
bool weft__steal_fits(const struct weft__fiber *fiber, size_t lineage);

/* At the end of a quantum after which nothing is stolen, because the fiber has waited in it, or
 * what it has is too young: if an executor is idle, and it has something, the next quantum is
 * short. Four times at most, until it has given something. */
void weft__steal_later(struct weft__fiber *fiber, weft *first_free);

/* At the end of a full quantum. Returns what its own fiber has to run, or NULL. */
struct weft__actor_slot *weft__steal_at_quantum(struct weft__fiber *fiber, weft *first_free);

/* When a delegate has ended, or a quantum, and what is below it waits. */
struct weft__actor_slot *weft__steal_seamlessly(struct weft__fiber *fiber, weft *first_free);

/* By the executor: a fiber that waits has slots that are old enough by now. */
bool weft__steal_is_possible(struct weft__fiber *fiber);

#endif
