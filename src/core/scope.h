/* SPDX-License-Identifier: MIT */
/* scope.h: spawned jobs, as the rest of the core sees them. */
#ifndef WEFT_CORE_SCOPE_H
#define WEFT_CORE_SCOPE_H

#include "core/job.h"

/* A job on a deque is a spawned job or a fork. */
bool weft__job_is_spawn(const struct weft__job *job);

/* The node of a spawned job that was taken from a deque: it can stand in a queue. */
struct weft__node *weft__spawn_node(struct weft__job *job);

#endif
