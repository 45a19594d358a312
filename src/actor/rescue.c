/* SPDX-License-Identifier: MIT */
#include "actor/rescue.h"

#include "actor/fiber.h"
#include "actor/unwind.h"
#include "os/fatal.h"
#include "os/fault.h"

#include <sys/mman.h>

static bool open_down_to(struct weft__fiber *fiber, size_t offset)
{
    fiber->is_open = true;
    return mprotect((char *)fiber + offset, FIBER_STACK_BEGIN - offset, PROT_READ | PROT_WRITE) ==
           0;
}

/* On the fiber's own stack, below all its frames. `careful`: no delegate runs on top meanwhile, so
 * there is room for the unwinding and for deferred functions. */
static void unwind_here(void *arg)
{
    struct weft__fiber *fiber = arg;
    fiber->top->careful = true;
    weft__unwind(weft__first_free(fiber->top->base), OUTCOME_OVERFLOW);
}

void weft__fiber_overflows(struct weft__fiber *fiber)
{
    if (weft__is_unwinding(fiber->top))
        return; /* that is what the reserve is for */
    if (open_down_to(fiber, FIBER_RESERVE_BEGIN))
        unwind_here(fiber);
    weft__fatal("an actor has overflowed its stack, and there is no memory for its end");
}

/* The end of the fiber's frames: its delegates may still use what is in them. */
static char *end_of_frames(struct weft__fiber *fiber, char *sp)
{
    char *low = (char *)fiber + (fiber->is_open ? FIBER_SPARE_BEGIN : FIBER_STACK_BEGIN);
    return sp < low ? low : sp;
}

/* A delegate on top of others gets as much stack as if it were alone. */
static bool is_entitled(const struct weft__fiber *fiber, const char *address)
{
    return !fiber->is_open && address >= (const char *)fiber + FIBER_SPARE_BEGIN &&
           address >= fiber->top->stack - FIBER_STACK;
}

bool weft__fiber_rescue(const void *at, void *ucontext)
{
    const char *address = at;
    struct weft__fiber *fiber = (struct weft__fiber *)weft__fiber_here();
    if (!fiber || address < (char *)fiber + FIBER_GUARD_BEGIN ||
        address >= (char *)fiber + FIBER_STACK_BEGIN)
        return false;
    if (!fiber->top || weft__is_unwinding(fiber->top))
        return false;
    if (is_entitled(fiber, address))
        return open_down_to(fiber, FIBER_SPARE_BEGIN);
    const char *whose = weft__code_name(weft__fault_code(ucontext));
    if (whose)
        weft__fatal("an actor has overflowed its stack inside %s, which may hold a lock", whose);
    char *end = end_of_frames(fiber, weft__fault_stack(ucontext));
    return open_down_to(fiber, FIBER_RESERVE_BEGIN) &&
           weft__fault_divert(ucontext, end, unwind_here, fiber);
}
