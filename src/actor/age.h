/* SPDX-License-Identifier: MIT */
/* age.h: which right sides have been pending for a whole quantum, and what their member used when
 * they were forked.
 *
 * A fork notes neither: it costs what it costs in any context. Both are noted later, when somebody
 * looks: at the end of a quantum, and before what a member uses changes. Since all that changes it
 * comes by here first, what it uses then is what it used when the slots were forked that nobody has
 * looked at yet. A slot that was looked at is stamped: by the address of a function that is never
 * called, in place of the slot's own. A fork or a merge there overwrites it. */
#ifndef WEFT_ACTOR_AGE_H
#define WEFT_ACTOR_AGE_H

#include "actor/actor.h"

/* Never called: its address in a slot says that the slot is stamped. */
void weft__stamped(weft *w, void *arg);

/* All that is pending below `first_free` is so at the beginning of this quantum of its executor. */
void weft__age_stamp(struct weft__fiber *fiber, weft *first_free, uint32_t quantum);

/* The same in the middle of a quantum, before what the topmost member uses changes. */
void weft__age_stamp_early(struct weft__fiber *fiber, weft *first_free);

/* The fiber comes from another executor, or was away: all of it is pending from this quantum on. */
void weft__age_anew(struct weft__fiber *fiber, uint32_t quantum);

/* Is the slot old enough? `end`: where its member's slots end. */
bool weft__age_is_enough(struct weft__fiber *fiber, weft *w, weft *end);

/* The most basal member on the fiber that has something to steal; NULL: none. *its_end: where its
 * slots end. */
struct weft__member *weft__age_victim(struct weft__fiber *fiber, weft *first_free, weft **its_end);

/* Is anything left on the fiber that could be stolen once it is older? */
bool weft__age_has_more(struct weft__fiber *fiber, weft *first_free);

#endif
