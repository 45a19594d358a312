/* SPDX-License-Identifier: MIT */
/* merge.h: a victim merges a stolen slot, and waits until it is answered. */
#ifndef WEFT_ACTOR_MERGE_H
#define WEFT_ACTOR_MERGE_H

#include "actor/actor.h"

bool weft__actor_merge(weft *w, bool give_up);

/* The topmost member waits until this slot is answered; NULL: until all are. Meanwhile delegates
 * may run on top of it, from the slot `first_free` on. */
void weft__merge_await(struct weft__fiber *fiber, struct weft__actor_slot *awaited,
                       weft *first_free);

#endif
