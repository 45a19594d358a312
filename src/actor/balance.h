/* SPDX-License-Identifier: MIT */
/* balance.h: which executor gets a new actor, a whole actor that waits for its quantum, or a stolen
 * right side. All of it is a guess from outside: the executor that gets the letter decides. */
#ifndef WEFT_ACTOR_BALANCE_H
#define WEFT_ACTOR_BALANCE_H

#include "actor/actor.h"

/* Finds an executor that is underused, and reserves it for the actor until a letter has come there;
 * NULL: none. For a delegation, `may` is asked about each. `may` NULL: for a whole actor, which may
 * also go to an executor that has less to do than `me` by two actors. */
struct weft__executor *
weft__balance_find_underused(struct weft__executor *me, struct weft_actor *actor,
                             bool (*may)(struct weft_actor *, struct weft__executor *));
void weft__balance_unreserve(struct weft__executor *executor, struct weft_actor *actor);

/* At the end of a quantum: moves a whole actor to another executor; false: no actor or no executor
 * was found. */
bool weft__balance_move_one(struct weft__executor *executor);

struct weft__executor *weft__balance_place_new(struct weft_actor *actor);

#endif
