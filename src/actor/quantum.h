/* SPDX-License-Identifier: MIT */
/* quantum.h: what a fiber does at a fork, a merge or a weft_poll() that finds the guard raised: it
 * polls. All of it is done by the driver's thread, on the fiber's own stack. So nothing is ever
 * stolen from code that runs, and slots need no lock. */
#ifndef WEFT_ACTOR_QUANTUM_H
#define WEFT_ACTOR_QUANTUM_H

#include "actor/actor.h"

/* Ends the quantum if it is over, and the topmost member if it has to end. True: the computation is
 * cancelled, and pending right sides need not be run. */
bool weft__quantum_poll(struct weft__fiber *fiber, weft *first_free);

bool weft__quantum_is_cancelled(struct weft__fiber *fiber);

/* The slot is not wanted any more. */
void weft__quantum_uncall(struct weft__fiber *fiber, weft *w);

void weft__actor_fork(weft *w);
void weft__actor_poll(weft *w);

#endif
