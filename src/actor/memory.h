/* SPDX-License-Identifier: MIT */
/* memory.h: what actors allocate, and what becomes of that. README.md has the rules. */
#ifndef WEFT_ACTOR_MEMORY_H
#define WEFT_ACTOR_MEMORY_H

#include "actor/actor.h"

/* A delegate has returned: what it has allocated and deferred stays in the slot, for its victim. */
void weft__memory_hand_over(struct weft__member *member, struct weft__actor_slot *slot);

/* Its victim merges it, and counts what it had at most; false: that is past the limit. `counts`:
 * false if a single thread would not have run it. */
bool weft__memory_inherit(struct weft__member *victim, struct weft__actor_slot *slot, bool counts);

/* All of it is freed. */
void weft__memory_drop(struct weft__member *member);

#endif
