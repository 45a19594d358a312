/* SPDX-License-Identifier: MIT */
/* deadlock.h: actors that wait for each other: for their ends, or for room in their mailboxes.
 *
 * Each actor says whom it waits for, before it waits, and that it does not any more. That nobody
 * but they can end this is found out where it matters: when their pool is destroyed. It says who
 * they are then, as of threads that wait for each other, and ends them. */
#ifndef WEFT_ACTOR_DEADLOCK_H
#define WEFT_ACTOR_DEADLOCK_H

#include "actor/actor.h"

/* By an actor's own code, or anybody else, which is not noted: it waits for `whom`; NULL: for
 * nobody any more. */
void weft__deadlock_waits(struct weft_actor *whom);

/* Tells the pool's deadlock handler, or writes, who waits for each other in a circle. */
void weft__deadlock_report(struct weft__actors *system);

#endif
