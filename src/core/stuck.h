/* SPDX-License-Identifier: MIT */
/* stuck.h: which thread waits for which, and which threads can't go on. Every thread of the pool
 * rests, so what it left in its worker can be read: what blocks it, the mutexes it holds, the jobs
 * on its stack, the wait it sleeps in.
 *
 * A thread is *alive* if something outside the pool may set it going, or if it waits for a thread
 * that is alive. A deadlock is a blocked thread that is not alive. */
#ifndef WEFT_CORE_STUCK_H
#define WEFT_CORE_STUCK_H

#include "core/worker.h"

/* Does it sleep until another thread has done something for it? */
bool weft__waits(const struct weft__worker *worker);

/* The worker that took the right side which this one waits for; NULL: it is not such a wait. */
struct weft__worker *weft__thief_of(const struct weft__worker *worker);

/* Does the worker wait for a scope, and does the other worker run a child of it? */
bool weft__waits_for_child(const struct weft__worker *worker, const struct weft__worker *other);

struct weft__owned;

/* What another thread holds, and the worker waits for; NULL: it does not wait for such a thing. */
const struct weft__owned *weft__owned_wanted(const struct weft__worker *worker);

/* The worker that holds it; NULL: none of the pool's. */
struct weft__worker *weft__holder_in(struct weft_pool *pool, const struct weft__owned *owned);

/* Is it held by a thread outside that waits for a task of the pool? Then it does nothing else
 * before the task is over. */
bool weft__holder_waits_outside(struct weft_pool *pool, const struct weft__owned *owned);

/* Notes in each worker whether it is alive. */
void weft__find_alive(struct weft_pool *pool);

/* After that: is a worker stuck? */
bool weft__anybody_stuck(struct weft_pool *pool);

#endif
