/* SPDX-License-Identifier: MIT */
/* steal.h: taking a right side that stands in a slot of the lazy road, and nowhere else. */
#ifndef WEFT_CORE_STEAL_H
#define WEFT_CORE_STEAL_H

#include "core/worker.h"

/* YOUNG: there is one that has not waited for a quantum yet, or another thief is at it. `found` is
 * written on GOT. `root`: of what is wanted; NULL: anything. */
enum steal_result weft__steal_slot(struct weft__worker *me, struct weft__context *context,
                                   const struct weft__group *root, struct weft__found *found);

/* The oldest right side that `me` has pending itself, to run it on top; false: none. */
bool weft__take_own(struct weft__worker *me, struct weft__found *found);

/* The news of every right side that another thread than its owner has run: wakes the owner. `of`:
 * the slot, of which this is the last touch. */
void weft__right_is_over(void *of);

#endif
