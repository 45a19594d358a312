/* SPDX-License-Identifier: MIT */
/* drive.h: fibers run, one after the other, and come back. */
#ifndef WEFT_ACTOR_DRIVE_H
#define WEFT_ACTOR_DRIVE_H

#include "actor/actor.h"

void weft__executor_execute(weft *w, struct weft__job *job); /* the job that drives an executor */

/* Tests: one fiber runs until it comes back; false: there was nothing to do. */
bool weft__executor_step(struct weft__executor *executor, struct weft__worker *me);

/* ---- By the fiber that runs ---- */

/* Back to the executor, until it runs again. */
void weft__fiber_switch_out(struct weft__fiber *fiber, enum fiber_why why);

/* For anything but delegates: until it is woken, or shorter. */
void weft__fiber_suspend(struct weft__fiber *fiber);

/* Before it touches what is its executor's. */
void weft__fiber_expect_here(const struct weft__fiber *fiber);

bool weft__fiber_yield(weft *w); /* true: another fiber ran meanwhile */

/* A newcomer that waits here has its first turn now; the fiber goes on with its own turn after
 * that. Once in a turn, and in its first one only if it is alone. The worst case, that those that
 * were there keep a third of the executor, is argued in README.md, *Newcomers*. */
void weft__fiber_give_way(struct weft__fiber *fiber);

/* The driver's thread goes on with the fiber, and loses the executor. */
void weft__executor_detach(struct weft__executor *executor);

/* ---- By the driver ---- */

/* A fiber that can run goes on elsewhere. */
void weft__fiber_move(struct weft__fiber *fiber, struct weft__executor *to);

#endif
