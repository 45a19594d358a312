/* SPDX-License-Identifier: MIT */
/* executor.h: who runs next, and where. */
#ifndef WEFT_ACTOR_EXECUTOR_H
#define WEFT_ACTOR_EXECUTOR_H

#include "actor/actor.h"

static inline bool weft__executor_is_idle(const struct weft__executor *executor)
{
    return !atomic_load_relaxed(&executor->inbox.posted); /* relaxed: a hint */
}

void weft__send(struct weft__executor *executor, struct weft__letter *letter,
                enum letter_kind kind);
void weft__fiber_wake(struct weft__fiber *fiber); /* by anybody */

/* By the fiber: back to the executor, until it runs again. */
void weft__fiber_switch_out(struct weft__fiber *fiber, enum fiber_why why);

bool weft__fiber_yield(weft *w); /* true: somebody else ran meanwhile */

/* Is there somebody else to run, or a reason to leave? */
bool weft__executor_should_turn(struct weft__executor *executor);

/* Its quantum is over. */
void weft__executor_quantum(struct weft__executor *executor);

void weft__executor_ready(struct weft__executor *executor, struct weft__fiber *fiber);

/* Somebody should drive it. */
void weft__executor_post(struct weft__executor *executor);

/* The driver's thread goes on with the fiber, and loses the executor. */
void weft__executor_detach(struct weft__executor *executor);

void weft__executor_execute(weft *w, struct weft__job *job); /* the job that drives it */

void weft__fiber_move(struct weft__fiber *fiber, struct weft__executor *to);

/* Tests: one fiber runs until it comes back; false: there was nothing to do. */
bool weft__executor_step(struct weft__executor *executor, struct weft__worker *me);

/* An executor that could do more: reserved for the actor, until it gets a delegation or a fiber;
 * NULL: none. `may`: asked about each, for delegations. NULL: for a whole actor, which may also go
 * where there is a good deal less to do than here. */
struct weft__executor *weft__executor_underused(struct weft__executor *me, struct weft_actor *actor,
                                                bool (*may)(struct weft_actor *,
                                                            struct weft__executor *));
void weft__executor_unreserve(struct weft__executor *executor, struct weft_actor *actor);

/* At the end of a quantum: moves a whole actor away, if there is somewhere; true: it did. */
bool weft__executor_move_one(struct weft__executor *executor);

struct weft__executor *weft__executor_for_new(struct weft_actor *actor);

#endif
