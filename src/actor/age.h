/* SPDX-License-Identifier: MIT */
/* age.h: which right sides have been pending for a whole quantum, and what their member used when
 * they were forked.
 *
 * A fork notes neither: it costs what it costs in any context. The fiber notes both later, in a
 * stamp: at the end of a quantum, and before the use of its topmost member changes. So between a
 * fork and the stamp the use has not changed, and the stamp has the use at the fork. In a stamped
 * slot, the function is replaced by the address of one that is never called. A fork or a merge
 * there overwrites the stamp. */
#ifndef WEFT_ACTOR_AGE_H
#define WEFT_ACTOR_AGE_H

#include "actor/actor.h"

/* Never called: its address in a slot says that the slot is stamped. */
void weft__stamped(weft *w, void *arg);

/* Stamps all slots below `first_free` that have no stamp: they were pending when this quantum of
 * the executor began. */
void weft__age_stamp(struct weft__fiber *fiber, weft *first_free, uint32_t quantum);

/* The same in the middle of a quantum, before the use of the topmost member changes: the slots
 * count from the next quantum on. */
void weft__age_stamp_early(struct weft__fiber *fiber, weft *first_free);

/* The fiber comes from another executor, or was away: all its slots count from this quantum on. */
void weft__age_anew(struct weft__fiber *fiber, uint32_t quantum);

/* Is the slot old enough? `end`: where its member's slots end. */
bool weft__age_is_enough(struct weft__fiber *fiber, weft *w, weft *end);

/* The most basal member on the fiber that has something to steal; NULL: none. *its_end: where its
 * slots end. */
struct weft__member *weft__age_victim(struct weft__fiber *fiber, weft *first_free, weft **its_end);

/* Does the fiber have a right side that could be stolen, now or when it is older? */
bool weft__age_has_more(struct weft__fiber *fiber, weft *first_free);

#endif
