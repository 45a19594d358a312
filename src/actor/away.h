/* SPDX-License-Identifier: MIT */
/* away.h: actors between weft_block_begin() and weft_block_end(): they have a thread of their own.
 */
#ifndef WEFT_ACTOR_AWAY_H
#define WEFT_ACTOR_AWAY_H

#include "actor/actor.h"

void weft__away_begin(weft *w);
void weft__away_end(weft *w);

/* One that is unwound in between goes back to its executor first. */
void weft__away_come_back(weft *w);

/* By the executor's driver, which the fiber has left to get another thread. */
void weft__away_lend(struct weft__fiber *fiber);

#endif
