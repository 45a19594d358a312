/* SPDX-License-Identifier: MIT */
/* executor.h: whose turn it is next.
 *
 * An executor is driven by one thread at a time: a job in the pool's injector, which stands there,
 * or runs, as long as `posted` is true. Everything it keeps is its driver's, also while the driver
 * is on the stack of a fiber; other threads send letters (post.h). */
#ifndef WEFT_ACTOR_EXECUTOR_H
#define WEFT_ACTOR_EXECUTOR_H

#include "actor/actor.h"

static inline bool weft__executor_is_idle(const struct weft__executor *executor)
{
    return !atomic_load_relaxed(&executor->inbox.posted); /* relaxed: a hint */
}

/* Where in line a fiber stands that can run. */
enum ready_place {
    READY_NEXT,  /* first of those that wait their turn */
    READY_WOKEN, /* before all of these, until the quantum ends */
    READY_LAST,
};

void weft__executor_ready(struct weft__executor *executor, struct weft__fiber *fiber,
                          enum ready_place place);

/* All that has come is in line from now on. */
void weft__executor_read_letters(struct weft__executor *executor);

/* Whose turn it is; NULL: nothing can run. */
struct weft__fiber *weft__executor_next(struct weft__executor *executor);

/* Is there another fiber to run, or a reason for the driver to leave? */
bool weft__executor_should_switch(struct weft__executor *executor);

/* Does the driver's thread have other things to do in the pool? */
bool weft__executor_thread_is_wanted(const struct weft__executor *executor);

/* Its quantum is over. */
void weft__executor_quantum(struct weft__executor *executor);

#endif
