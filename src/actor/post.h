/* SPDX-License-Identifier: MIT */
/* post.h: what any thread may do to an executor or a fiber: send a letter, start an actor, wake a
 * fiber. */
#ifndef WEFT_ACTOR_POST_H
#define WEFT_ACTOR_POST_H

#include "actor/actor.h"

void weft__send(struct weft__executor *executor, struct weft__letter *letter,
                enum letter_kind kind);
void weft__fiber_wake(struct weft__fiber *fiber);

/* The actor will run there for the first time. If a fiber runs there, it gives way (drive.h). */
void weft__executor_start(struct weft__executor *executor, struct weft_actor *actor);

/* Finds a driver for it, though there is no letter. */
void weft__executor_post(struct weft__executor *executor);

/* By its driver, or by the thread that posted it: any worker of the pool drives it from now on. */
void weft__executor_hand_over(struct weft__executor *executor);

#endif
