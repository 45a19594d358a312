/* SPDX-License-Identifier: MIT */
/* executor.h: which fiber runs next.
 *
 * An executor is driven by one thread at a time. It is a job of the pool: as long as `posted` is
 * true, it is in the injector, or a thread drives it. Only the driver uses its queues, also while
 * the driver is on the stack of a fiber; other threads send letters (post.h). */
#ifndef WEFT_ACTOR_EXECUTOR_H
#define WEFT_ACTOR_EXECUTOR_H

#include "actor/actor.h"

static inline bool weft__executor_is_idle(const struct weft__executor *executor)
{
    return !atomic_load_relaxed(&executor->inbox.posted); /* relaxed: a hint */
}

/* Where in line a fiber stands that can run. */
enum ready_place {
    READY_NEXT,  /* at the front of the queue */
    READY_WOKEN, /* before the whole queue, until the quantum ends */
    READY_LAST,  /* at the end of the queue */
};

void weft__executor_ready(struct weft__executor *executor, struct weft__fiber *fiber,
                          enum ready_place place);

/* Reads all letters: fibers and actors that have come are put in line. */
void weft__executor_read_letters(struct weft__executor *executor);

/* Takes the fiber that runs next out of the line; NULL: none can run. */
struct weft__fiber *weft__executor_next(struct weft__executor *executor);

/* Is there another fiber to run, or a reason for the driver to leave? */
bool weft__executor_should_switch(struct weft__executor *executor);

/* Does the driver's thread have other jobs in the pool? */
bool weft__executor_thread_is_wanted(const struct weft__executor *executor);

/* Ends its quantum, and begins the next. */
void weft__executor_quantum(struct weft__executor *executor);

#endif
