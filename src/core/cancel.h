/* SPDX-License-Identifier: MIT */
/* cancel.h: tells a failure to the threads that run a part of the computation, and to no others.
 *
 * A thread that runs a part looks for a failure when the part begins, and when it comes back to
 * the part after a job of another computation. In between it forks and merges without looking. So
 * the thread that fails has to alert it: it raises its guard. To be found, a thread that begins a
 * part leaves a bit in the computation's root, once, and writes the root into its context. Either
 * the thread that fails finds both, or the thread that begins finds the failure (J1).
 *
 *   begins:  a bit in root->takers; context->root = root   fence   read root->alarms
 *   fails:   root->alarms++                                fence   read the bits and the contexts
 */
#ifndef WEFT_CORE_CANCEL_H
#define WEFT_CORE_CANCEL_H

#include "core/worker.h"

/* The state of what runs on top of the context. *noticed: see weft__group_walk(). By its owner. */
static inline enum group_state weft__context_look(struct weft__context *context, bool *noticed)
{
    if (!weft__group_alarm(context->group))
        return GROUP_FINE;
    if (weft__any_right_failed(context->base, context->end))
        return GROUP_CANCELLED;
    return weft__group_walk(context->group, noticed);
}

/* Is the computation that runs in w cancelled? The first call that notices that a deadline has
 * passed alerts all threads that run a part of it. */
bool weft__is_cancelled_slow(weft *w);

/* The same, in place: asked often, and nearly always just a look at a count. */
static inline bool weft__is_cancelled(weft *w)
{
    return weft__group_alarm(weft__context_of(w)->group) && weft__is_cancelled_slow(w);
}

/* The same for a part that is about to begin in w. If there is a deadline, the guard is raised, so
 * that the part's forks look at it. */
bool weft__is_over_slow(weft *w);
static inline bool weft__is_over(weft *w)
{
    return weft__group_alarm(weft__context_of(w)->group) && weft__is_over_slow(w);
}

void weft__fail(weft *w, int code);

/* The owner of the context has merged a fork whose right side has failed alone. */
void weft__right_failed_end(struct weft__context *context, struct weft__slot *slot);

/* The bit of a worker whose context is on the lazy road. */
uint64_t weft__taker_of(const struct weft__worker *worker);

/* The context begins a part of another computation than before; context->root is set already.
 * `fresh`: no thread has run a part of that computation before. */
void weft__part_begin(struct weft__context *context, struct weft__group *root, bool fresh);

/* A job in the context is over, and the job below it goes on. `mixes`: the two are parts of
 * different computations. */
void weft__part_resume_slow(struct weft__context *context, bool mixes);
static inline void weft__part_resume(struct weft__context *context, bool mixes)
{
    if (mixes || weft__group_alarm(context->group))
        weft__part_resume_slow(context, mixes);
}

/* Alerts every thread of the pool that runs a part of the computation on top of `own`, the owner of
 * `own` included: its next fork, and its merges, take the slow road. */
void weft__alert_parts(struct weft__context *own);

/* The same without `own`, after the computation of `root` has failed. Returns how many contexts
 * were alerted. */
unsigned weft__alert_others(struct weft_pool *pool, const struct weft__group *root,
                            const struct weft__context *own);

/* Cancels a computation that runs in the pool, or is about to: by any thread, also by one that has
 * no part in it. The group, which is its own root, and the pool exist during the call. */
void weft__cancel(struct weft_pool *pool, struct weft__group *group);

/* Alerts every thread in the pool. */
void weft__alert_all(struct weft_pool *pool);

#endif
