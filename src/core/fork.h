/* SPDX-License-Identifier: MIT */
/* fork.h: taking a right side from the lazy road; what the worker needs of fork.c. */
#ifndef WEFT_CORE_FORK_H
#define WEFT_CORE_FORK_H

#include "core/worker.h"
#include "os/membarrier.h"

/* YOUNG: there is one that has not waited for a quantum yet, or another thief is at it. `found` is
 * written on GOT. `root`: of what is wanted; NULL: anything. */
enum steal_result weft__steal_slot(struct weft__worker *me, struct weft__context *context,
                                   const struct weft__group *root, struct weft__found *found);

/* The oldest right side that `me` has pending itself, to run it on top; false: none. */
bool weft__take_own(struct weft__worker *me, struct weft__found *found);

/* What is forked in w, whatever thieves have put in its place. */
weft_fn *weft__right_of(weft *w);

/* The owner, while others sleep: the next fork wakes one of them. */
void weft__context_expect(struct weft__context *context);

/* A fork that whoever looks for work may take at once, for what is known to take long. Costs about
 * as much as on the eager road. */
weft *weft__fork_openly(weft *w, weft_fn *right, void *arg);

/* Has nobody been told yet that the job on top forks? Then its next fork must not be quiet. */
static inline bool weft__context_is_untold(const struct weft__context *context)
{
    return context->help.wanted && context->help.started == 0;
}

/* A fork that wakes nobody: for what is likely to be over before anybody could come. Whoever is
 * awake, or looks out, may take it all the same. A guard that is raised for another reason than
 * sleepers stays so for the next fork. Who has failed meanwhile is noticed by the code that forks
 * like this: it asks before each part. */
static inline weft *weft__fork_quietly(weft *w, weft_fn *right, void *arg)
{
    struct weft__context *context = weft__context_of(w);
    if (context->eager || weft__context_is_untold(context) || weft__membarrier_is_gone())
        return weft_fork(w, right, arg);
    struct weft__slot *slot = weft__slot_of(w);
    atomic_store_relaxed(&slot->arg, arg);         /* relaxed: released with fn */
    atomic_store_untold_release(&slot->fn, right); /* release B2 */
    return w + 1;
}

/* The owner: what runs now has gone on for longer than little work does. If jobs of its kind
 * have been over quickly so far, the next fork wakes somebody all the same. */
void weft__context_is_long(struct weft__context *context);

/* How long little work takes. */
enum { WEFT__LITTLE_NS = 100000 };

#endif
