/* SPDX-License-Identifier: MIT */
/* mutex.h: what others need of a weft_mutex; its states are in core/object.h. */
#ifndef WEFT_SYNC_MUTEX_H
#define WEFT_SYNC_MUTEX_H

#include "sync/sync.h"

/* How often others that came later may take it before the one that has waited longest; and how
 * often that one may be woken and find it taken. */
#ifndef WEFT__MUTEX_PASSES
#define WEFT__MUTEX_PASSES 1000
#define WEFT__MUTEX_VAIN 2
#endif

/* An actor ends: those that it has locked last, but for so many. */
void weft__mutex_unlock_all(struct weft__context *fiber, unsigned but);

#endif
