/* SPDX-License-Identifier: MIT */
/* steal.h: taking what stands nowhere but in a slot of the lazy road, or on a pile. */
#ifndef WEFT_CORE_STEAL_H
#define WEFT_CORE_STEAL_H

#include "core/worker.h"

/* Takes the oldest right side of the context. YOUNG: it has not waited for a quantum yet, or
 * another thread has the lock. `found` is written on GOT. `root`: of the computation that the thief
 * wants; NULL: any. */
enum steal_result weft__steal_slot(struct weft__worker *me, struct weft__context *context,
                                   const struct weft__group *root, struct weft__found *found);

/* The same for the jobs on the pile of the victim, which is on the lazy road. A thief without a job
 * takes several: the others are on its deque then. */
enum steal_result weft__steal_piled(struct weft__worker *me, struct weft__worker *victim,
                                    const struct weft__group *root, struct weft__found *found);

/* Takes the oldest pending right side of `me` itself, to run it on top. False: there is none. */
bool weft__take_own(struct weft__worker *me, struct weft__found *found);

/* Runs a right side that was taken, and leaves the news for its owner. `slot`: of the fork. */
void weft__right_run(weft *w, const struct weft__job *job, struct weft__slot *slot);

#endif
