/* SPDX-License-Identifier: MIT */
/* cancel.h: which threads are told that a computation fails: those that run a part of it, no
 * others.
 *
 * A thread that runs a part looks for itself when the part begins, and when it comes back to one
 * after a job of another computation. In between it forks and merges without looking; so a thread
 * that fails has to alert it: raise its guard. To be found, it leaves a bit in the computation's
 * root, once, and has the root in its context. Either the thread that fails finds both, or the
 * thread that begins finds that the computation has failed (J1).
 *
 *   begins:  a bit in root->takers; context->root = root   fence   root->alarms?
 *   fails:   root->alarms++                                fence   which threads have a bit, and
 * this root?
 */
#ifndef WEFT_CORE_CANCEL_H
#define WEFT_CORE_CANCEL_H

#include "core/worker.h"

/* Is the computation that runs in w cancelled? Noticing that a deadline has passed alerts all
 * threads that run a part of it. */
bool weft__is_cancelled_slow(weft *w);

/* The same, in place: asked often, and nearly always just a look at a count. */
static inline bool weft__is_cancelled(weft *w)
{
    return weft__group_alarm(weft__context_of(w)->group) && weft__is_cancelled_slow(w);
}

/* The same for a part that is about to begin in w. If there is a deadline, its forks look at it. */
bool weft__is_over_slow(weft *w);
static inline bool weft__is_over(weft *w)
{
    return weft__group_alarm(weft__context_of(w)->group) && weft__is_over_slow(w);
}

void weft__fail(weft *w, int code);

/* The bit of a worker whose context is on the lazy road. */
uint64_t weft__taker_of(const struct weft__worker *worker);

/* The context begins with a part of another computation than before: context->root is set. `fresh`:
 * no thread has run a part of it before. */
void weft__part_begin(struct weft__context *context, struct weft__group *root, bool fresh);

/* A job in the context is over, and what is below it goes on. `mixes`: that was part of another
 * computation. */
void weft__part_resume_slow(struct weft__context *context, bool mixes);
static inline void weft__part_resume(struct weft__context *context, bool mixes)
{
    if (mixes || weft__group_alarm(context->group))
        weft__part_resume_slow(context, mixes);
}

/* The next forks and merges of all that run a part of what runs in the context take the slow road:
 * its owner's and, in its pool, others'. */
void weft__alert_parts(struct weft__context *own);

/* The others', once it has failed. How many contexts there were. */
unsigned weft__alert_others(struct weft_pool *pool, const struct weft__group *root,
                            const struct weft__context *own);

/* Those of every thread in the pool, for what concerns all. */
void weft__alert_all(struct weft_pool *pool);

#endif
