/* SPDX-License-Identifier: MIT */
/* guest.h: workers that come and go: outside threads inside weft_run(), and spares. They have
 * the smallest free numbers above the workers'. */
#ifndef WEFT_CORE_GUEST_H
#define WEFT_CORE_GUEST_H

#include "core/worker.h"

struct weft__worker *weft__guest_get(struct weft_pool *pool, enum worker_kind kind); /* or NULL */
void weft__guest_put(struct weft__worker *guest);

#endif
