/* SPDX-License-Identifier: MIT */
/* rescue.h: what happens at the end of a fiber's stack. fiber.h draws what lies there. */
#ifndef WEFT_ACTOR_RESCUE_H
#define WEFT_ACTOR_RESCUE_H

#include "actor/fiber.h"

/* From the handler of a fault at this address; false: it is not a fiber's. */
bool weft__fiber_rescue(const void *address, void *ucontext);

/* By the fiber: there is hardly any stack left. Does not return, unless it is unwound already. */
void weft__fiber_overflows(struct weft__fiber *fiber);

/* By the fiber, before a function of the library touches anything: it ends here if there is hardly
 * any stack left. */
static inline void weft__fiber_need_room(struct weft__fiber *fiber)
{
    const char *here = __builtin_frame_address(0);
    if (__builtin_expect((size_t)(fiber->top->stack - here) > FIBER_STACK - FIBER_ROOM, 0))
        weft__fiber_overflows(fiber);
}

#endif
