/* SPDX-License-Identifier: MIT */
/* system.h: all actors of a pool: made with the first, ended with the pool. */
#ifndef WEFT_ACTOR_SYSTEM_H
#define WEFT_ACTOR_SYSTEM_H

#include "actor/actor.h"

int weft__actors_make(struct weft__actors **system, struct weft_pool *pool,
                      const weft_actors_config *config, bool simulated);
void weft__actors_free(struct weft__actors *system);

/* The pool's, made if need be; NULL config: the default. NULL, or they were made before with
 * another config: *error. */
struct weft__actors *weft__actors_of(struct weft_pool *pool, const weft_actors_config *config,
                                     int *error);

#endif
