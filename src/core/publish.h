/* SPDX-License-Identifier: MIT */
/* publish.h: right sides on the owner's deque. On the eager road, that is every right side. On the
 * lazy road it is the right side of a fork that wakes a worker, and right sides of loops that take
 * long. A thief finds them there at once, and needs no barrier. All functions are the owner's. */
#ifndef WEFT_CORE_PUBLISH_H
#define WEFT_CORE_PUBLISH_H

#include "core/worker.h"

/* On the eager road. Tells the pool, too. If there is no memory, the slot is not published. */
void weft__publish_eagerly(struct weft__context *context, struct weft__slot *slot);

/* On the lazy road, under the lock. The slot is the oldest one that is pending. It is not published
 * if it is the last slot of its context, or if there is no memory. */
void weft__publish(struct weft__context *context, struct weft__slot *slot);

/* Undoes that after the merge, or if the push failed. Under the lock. */
void weft__unpublish(struct weft__context *context, struct weft__slot *slot);

/* Takes the right side of w back from the deque. False: it was stolen. Jobs that the left side has
 * spawned lie on the deque after it: they are run first, or moved to the injector. */
bool weft__take_back(struct weft__worker *me, weft *w);

#endif
