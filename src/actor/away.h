/* SPDX-License-Identifier: MIT */
/* away.h: fibers between weft_block_begin() and weft_block_end(): they have a thread of their own.
 */
#ifndef WEFT_ACTOR_AWAY_H
#define WEFT_ACTOR_AWAY_H

#include "actor/actor.h"

void weft__away_begin(weft *w);
void weft__away_end(weft *w);

/* By a fiber that is unwound: if it is away, it goes back to its executor first. */
void weft__away_come_back(weft *w);

/* By the executor's driver: the fiber has switched out, and gets another thread. */
void weft__away_lend(struct weft__fiber *fiber);

#endif
