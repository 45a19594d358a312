/* SPDX-License-Identifier: MIT */
/* mutex.h: what others need of a weft_mutex; its states are in core/object.h. */
#ifndef WEFT_SYNC_MUTEX_H
#define WEFT_SYNC_MUTEX_H

#include "sync/sync.h"

/* How often threads that came later may take the mutex before the first in line; and how often the
 * first in line may be woken and find it taken. */
#ifndef WEFT__MUTEX_PASSES
#define WEFT__MUTEX_PASSES 1000
#define WEFT__MUTEX_VAIN 2
#endif

/* An actor ends: unlocks the mutexes that it has locked last, until `but` are held. */
void weft__mutex_unlock_all(struct weft__context *fiber, unsigned but);

#endif
