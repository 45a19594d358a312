/* SPDX-License-Identifier: MIT */
#include "core/fiber.h"

struct atomic_u32 weft__fiber_wakers;

void weft__fiber_set_for(struct weft__latch *latch, struct weft__park *owner)
{
    struct weft__context *fiber = owner->sleeper;     /* before the last touch */
    atomic_fetch_add_relaxed(&weft__fiber_wakers, 1); /* relaxed: the latch publishes it (L1) */
    if (weft__latch_set(latch))
        weft__hook_wake(fiber);
    atomic_fetch_sub_acq_rel(&weft__fiber_wakers, 1); /* release A9 */
}
