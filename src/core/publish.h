/* SPDX-License-Identifier: MIT */
/* publish.h: right sides on the owner's deque: every one on the eager road; on the lazy road those
 * whose fork wakes a worker, and those of loops that take long. A thief finds them there at once,
 * and needs no barrier. All by the owner. */
#ifndef WEFT_CORE_PUBLISH_H
#define WEFT_CORE_PUBLISH_H

#include "core/worker.h"

/* On the eager road: and tells the pool. If there is no memory, the slot is not published. */
void weft__publish_eagerly(struct weft__context *context, struct weft__slot *slot);

/* On the lazy road, both under the lock. The slot is the oldest one that is pending; if it is the
 * last of its context, or there is no memory, it stays where it is. */
void weft__publish(struct weft__context *context, struct weft__slot *slot);
void weft__unpublish(struct weft__context *context,
                     struct weft__slot *slot); /* or after its merge */

/* Takes the right side of w back from the deque; false: it was stolen. Jobs above it, spawned by
 * the left side, are run on the way, as they would be if the deque were a stack, or left to others.
 */
bool weft__take_back(struct weft__worker *me, weft *w);

#endif
