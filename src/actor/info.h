/* SPDX-License-Identifier: MIT */
/* info.h: what any thread may ask about an actor. */
#ifndef WEFT_ACTOR_INFO_H
#define WEFT_ACTOR_INFO_H

#include "actor/actor.h"

bool weft__actor_is_running(struct weft_actor *actor); /* under its lock; a hint */

size_t weft__actor_limit(const struct weft_actor *actor); /* as infos tell it, in bytes */

#endif
