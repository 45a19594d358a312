/* SPDX-License-Identifier: MIT */
/* fork.h: taking a right side from the lazy road; what the worker needs of fork.c. */
#ifndef WEFT_CORE_FORK_H
#define WEFT_CORE_FORK_H

#include "core/worker.h"

/* YOUNG: there is one that has not waited for a quantum yet, or somebody else is at it. On
 * GOT the job is good until `me` steals the next. */
enum steal_result weft__steal_slot(struct weft__worker *me, struct weft__context *context,
                                   struct weft__job **job);

/* The oldest right side that `me` has pending itself, to run it on top; NULL: none. */
struct weft__job *weft__take_own(struct weft__worker *me);

/* The owner, while others sleep: the next fork wakes one of them. */
void weft__context_expect(struct weft__context *context);

/* A fork that wakes nobody: for what is likely to be over before anybody could come. Whoever is
 * awake may take it all the same. */
weft *weft__fork_quietly(weft *w, weft_fn *right, void *arg);

/* A fork that whoever looks for work may take at once, for what is known to take long. Costs about
 * as much as on the eager road. */
weft *weft__fork_openly(weft *w, weft_fn *right, void *arg);

/* The owner: what runs now has gone on for longer than little work does. If jobs of its kind
 * have been over quickly so far, the next fork wakes somebody all the same. */
void weft__context_is_long(struct weft__context *context);

/* How long little work takes. */
enum { WEFT__LITTLE_NS = 100000 };

#endif
