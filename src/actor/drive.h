/* SPDX-License-Identifier: MIT */
/* drive.h: the driver of an executor runs fibers, one after the other. */
#ifndef WEFT_ACTOR_DRIVE_H
#define WEFT_ACTOR_DRIVE_H

#include "actor/actor.h"

void weft__executor_execute(weft *w, struct weft__job *job); /* the job that drives an executor */

/* For tests: runs one fiber until it switches out; false: there was nothing to do. */
bool weft__executor_step(struct weft__executor *executor, struct weft__worker *me);

/* ---- By the fiber that runs ---- */

/* Switches to the driver; returns when the fiber runs again. */
void weft__fiber_switch_out(struct weft__fiber *fiber, enum fiber_why why);

/* Waits for anything but delegates: until it is woken, or less; the caller looks again. */
void weft__fiber_suspend(struct weft__fiber *fiber);

/* Ends the process if the fiber is away: then it must not wait. */
void weft__fiber_expect_here(const struct weft__fiber *fiber);

bool weft__fiber_yield(weft *w); /* true: another fiber ran meanwhile */

/* A newcomer that waits here has its first quantum now; the fiber goes on after that. The fiber
 * does so once before its quanta are used up, and as a newcomer itself only if the queue is empty.
 * README.md, *Newcomers*, shows that the other fibers keep at least a third of the executor. */
void weft__fiber_give_way(struct weft__fiber *fiber);

/* The driver's thread stays with the fiber, and another thread drives the executor. */
void weft__executor_detach(struct weft__executor *executor);

/* ---- By the driver ---- */

/* A fiber that can run goes on on another executor. */
void weft__fiber_move(struct weft__fiber *fiber, struct weft__executor *to);

#endif
