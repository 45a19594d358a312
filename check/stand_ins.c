/* SPDX-License-Identifier: MIT */
/* In place of those files of src/actor that are not checked: what executor.c, delegate.c and
 * places.c call, and no harness comes to or needs. The rest is in harness_places.c. */
#include "actor/age.h"
#include "actor/away.h"
#include "actor/fiber.h"
#include "actor/life.h"
#include "actor/memory.h"
#include "actor/merge.h"
#include "actor/quantum.h"
#include "actor/rescue.h"
#include "actor/steal.h"
#include "actor/ticker.h"
#include "actor/unwind.h"
#include "os/overflow.h"

/* ---- Not come to ---- */

void weft__actor_over_unrun(struct weft_actor *unrun, int reason)
{
    model_fail("an actor was not run");
}

void weft__merge_await(struct weft__fiber *fiber, struct weft__actor_slot *awaited, weft *top)
{
    model_fail("a delegate waits");
}

void weft__away_lend(struct weft__fiber *fiber)
{
    model_fail("a fiber is away");
}

void weft__fiber_overflows(struct weft__fiber *fiber)
{
    model_fail("a stack overflows");
}

/* ---- Does nothing ---- */

bool weft__steal_is_possible(struct weft__fiber *fiber)
{
    return false;
}

void weft__memory_drop(struct weft__member *member)
{
}

void weft__actor_close(struct weft_actor *closed)
{
}

void weft__actor_poll(weft *w)
{
}

void weft__age_anew(struct weft__fiber *fiber, uint32_t quantum)
{
}

void weft__check_ending(struct weft__fiber *fiber, bool at_once)
{
}

void weft__quantum_uncall(struct weft__fiber *fiber, weft *w)
{
    atomic_store_relaxed(&weft__slot_of(w)->wanted, 0);
}

struct weft__exceptions weft__exceptions_get(void)
{
    return (struct weft__exceptions){0};
}

void weft__cleanups_run(struct weft__member *member, weft *w)
{
}

void *weft__overflow_lend(void)
{
    return NULL;
}

void weft__overflow_take_back(void *lent)
{
}

bool weft__ticker_hurry(struct weft__actors *system, bool has_begun)
{
    return false;
}
