/* SPDX-License-Identifier: MIT */
/* scope.h: children that were spawned, as the rest of the library meets them. */
#ifndef WEFT_CORE_SCOPE_H
#define WEFT_CORE_SCOPE_H

#include "core/job.h"

/* A spawned job, taken from a deque, as something that can stand in a queue. What stands on a
 * deque is that, or a fork. */
bool weft__job_is_spawn(const struct weft__job *job);
struct weft__node *weft__spawn_node(struct weft__job *job);

#endif
