/* SPDX-License-Identifier: MIT */
/* quantum.h: what a fiber does when it looks up: at a fork, a merge or a poll that finds the guard
 * raised. All of it is done by the thread that drives the fiber, on the fiber's own stack: so
 * nothing is ever stolen from code that runs, and slots need no lock. */
#ifndef WEFT_ACTOR_QUANTUM_H
#define WEFT_ACTOR_QUANTUM_H

#include "actor/actor.h"

/* Ends the quantum if it is over, and the member if it has to. True: what is pending need not be
 * done. `first_free`: the first free slot. */
bool weft__quantum_poll(struct weft__fiber *fiber, weft *first_free);

bool weft__quantum_is_cancelled(struct weft__fiber *fiber);

void weft__actor_fork(weft *w);
void weft__actor_poll(weft *w);

#endif
