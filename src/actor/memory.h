/* SPDX-License-Identifier: MIT */
/* memory.h: what actors allocate, and how it is handed over. README.md has the rules. */
#ifndef WEFT_ACTOR_MEMORY_H
#define WEFT_ACTOR_MEMORY_H

#include "actor/actor.h"

/* A delegate has returned: what it has allocated and deferred goes into the slot, for its victim.
 */
void weft__memory_hand_over(struct weft__member *member, struct weft__actor_slot *slot);

/* The victim merges the slot: memory and deferred functions become its own, and the delegate's peak
 * is counted. False: that is past the limit. `counts` false: a single thread would not have run the
 * right side, so nothing is counted. */
bool weft__memory_inherit(struct weft__member *victim, struct weft__actor_slot *slot, bool counts);

/* By the fiber, whose slots are all in use: counts bytes that the library has elsewhere. Does not
 * return if that is past the limit, unless the member is being unwound. */
void weft__memory_use(struct weft__fiber *fiber, size_t bytes);
void weft__memory_use_no_more(struct weft__fiber *fiber, size_t bytes);

/* Frees all memory of the member. */
void weft__memory_drop(struct weft__member *member);

#endif
