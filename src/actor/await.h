/* SPDX-License-Identifier: MIT */
/* await.h: waiting for an actor: for its end, or for room in its mailbox. Threads outside, jobs and
 * actors wait in a line of the actor. With a limit they wait as for an event (../sync/sync.h).
 * Without a limit they wait for a latch, and a job helps others meanwhile. */
#ifndef WEFT_ACTOR_AWAIT_H
#define WEFT_ACTOR_AWAIT_H

#include "actor/actor.h"

/* Under the actor's lock; drops it, and waits in the line. Returns the result that the thread gave
 * that ended the wait; or -ETIMEDOUT, -ECANCELED, -ENOMEM. `item`: what a sender sends. `limit`:
 * until when; NULL: without a limit. `here`: the fiber that calls, or NULL. Does not return if the
 * caller is an actor that ends, unless it holds a mutex. The actor may be freed when this returns.
 */
int weft__actor_await(struct weft_actor *actor, struct weft__line *line, enum blocked_kind kind,
                      void *item, const uint64_t *limit, struct weft__fiber *here);

/* Under the actor's lock: ends the waits of those in line, with this result; or of the first one,
 * with 0. Returns those to be let go when the lock is dropped, or NULL. */
struct weft__waiter *weft__actor_rouse_all(struct weft__line *line, int result);
struct weft__waiter *weft__actor_rouse_first(struct weft__line *line);
void weft__actor_let_go(struct weft__waiter *waiters);

#endif
