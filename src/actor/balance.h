/* SPDX-License-Identifier: MIT */
/* balance.h: which executor gets a new actor, a whole one that waits for its turn, or a stolen
 * right side. All of it is a guess from outside: the executor that gets the letter decides. */
#ifndef WEFT_ACTOR_BALANCE_H
#define WEFT_ACTOR_BALANCE_H

#include "actor/actor.h"

/* An executor that could do more: reserved for the actor, until it gets a delegation or a fiber;
 * NULL: none. `may`: asked about each, for delegations. NULL: for a whole actor, which may also go
 * where there is a good deal less to do than here. */
struct weft__executor *
weft__balance_find_underused(struct weft__executor *me, struct weft_actor *actor,
                             bool (*may)(struct weft_actor *, struct weft__executor *));
void weft__balance_unreserve(struct weft__executor *executor, struct weft_actor *actor);

/* At the end of a quantum: moves a whole actor away, if there is somewhere; true: it did. */
bool weft__balance_move_one(struct weft__executor *executor);

struct weft__executor *weft__balance_place_new(struct weft_actor *actor);

#endif
