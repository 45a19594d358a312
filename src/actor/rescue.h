/* SPDX-License-Identifier: MIT */
/* rescue.h: what happens at the end of a fiber's stack. fiber.h draws the parts of a block. */
#ifndef WEFT_ACTOR_RESCUE_H
#define WEFT_ACTOR_RESCUE_H

#include "actor/fiber.h"

/* By the fault handler, for a fault at this address; false: it is not the end of a fiber's stack,
 * or there is no way out. */
bool weft__fiber_rescue(const void *address, void *ucontext);

/* By the fiber: its stack is nearly used up. Returns only if the member is being unwound already.
 */
void weft__fiber_overflows(struct weft__fiber *fiber);

/* By the fiber, before a function of the library touches anything: ends the topmost member if its
 * stack is nearly used up. */
static inline void weft__fiber_need_room(struct weft__fiber *fiber)
{
    const char *here = __builtin_frame_address(0);
    if (__builtin_expect((size_t)(fiber->top->stack - here) > FIBER_STACK - FIBER_ROOM, 0))
        weft__fiber_overflows(fiber);
}

#endif
