/* SPDX-License-Identifier: MIT */
/* dump.h: the actors' part of weft_pool_dump(). */
#ifndef WEFT_ACTOR_DUMP_H
#define WEFT_ACTOR_DUMP_H

#include "actor/actor.h"

void weft__actors_dump(struct weft__actors *system, FILE *out);

#endif
