/* SPDX-License-Identifier: MIT */
/* system.h: all actors of a pool. Made with the first actor, freed with the pool. */
#ifndef WEFT_ACTOR_SYSTEM_H
#define WEFT_ACTOR_SYSTEM_H

#include "actor/actor.h"

int weft__actors_make(struct weft__actors **system, struct weft_pool *pool,
                      const weft_actors_config *config, bool simulated);
void weft__actors_free(struct weft__actors *system);

/* The pool's system; it is made if there is none. NULL config: the default. *error: why NULL is
 * returned; or -EBUSY, if there is a config, and the system was made before. */
struct weft__actors *weft__actors_of(struct weft_pool *pool, const weft_actors_config *config,
                                     int *error);

#endif
