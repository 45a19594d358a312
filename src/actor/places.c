/* SPDX-License-Identifier: MIT */
#include "actor/places.h"

#include "actor/fiber.h"
#include "actor/post.h"
#include "os/memory.h"

static bool make_places(struct weft_actor *actor)
{
    struct weft__fiber *root = actor->root.fiber;
    unsigned here = weft__executor_of(root)->index;
    struct weft__place *places = weft__alloc(actor->system->executor_count * sizeof places[0]);
    if (!places)
        return false;
    atomic_store_relaxed(&places[here].fiber, root); /* relaxed: the delegation publishes it */
    places[here].served = 1;
    actor->cabal = 1;
    actor->places = places;
    return true;
}

bool weft__posse_may_join(struct weft_actor *actor, struct weft__executor *executor)
{
    weft__lock_take(&actor->posse_lock);
    bool may = actor->places || make_places(actor);
    if (may) {
        struct weft__place *place = &actor->places[executor->index];
        struct weft__fiber *fiber = atomic_load_acquire(&place->fiber); /* acquire A8 */
        may = place->served > 0 || actor->cabal < actor->cabal_max;
        /* relaxed, both: hints; the executor that gets the delegation decides. */
        if (fiber && (!atomic_load_relaxed(&fiber->merging) || atomic_load_relaxed(&fiber->woken)))
            may = false;
    }
    weft__lock_drop(&actor->posse_lock);
    return may;
}

bool weft__posse_join(struct weft_actor *actor, struct weft__executor *executor)
{
    weft__lock_take(&actor->posse_lock);
    struct weft__place *place = &actor->places[executor->index];
    bool joins = place->served > 0 || actor->cabal < actor->cabal_max;
    if (joins && place->served++ == 0)
        actor->cabal++;
    weft__lock_drop(&actor->posse_lock);
    return joins;
}

void weft__posse_leave(struct weft_actor *actor, struct weft__executor *executor)
{
    weft__lock_take(&actor->posse_lock);
    if (--actor->places[executor->index].served == 0)
        actor->cabal--;
    weft__lock_drop(&actor->posse_lock);
}

bool weft__actor_is_whole(struct weft__fiber *fiber)
{
    struct weft_actor *actor = fiber->actor;
    /* A fiber inside wait_a_moment() may be in its executor's ageing list, even if it can go on. A
     * delegate may run on top of the root when all others have answered. relaxed: own; a hint
     * otherwise. */
    if (!fiber->is_root || fiber->top != &actor->root || fiber->arrivals || fiber->waits_at ||
        atomic_load_relaxed(&actor->root.pending) > 0)
        return false;
    weft__lock_take(&actor->posse_lock);
    bool whole = !actor->places || actor->cabal == 1;
    for (unsigned i = 0; whole && actor->places && i < actor->system->executor_count; i++) {
        void *other = atomic_load_relaxed(&actor->places[i].fiber); /* relaxed: a hint */
        whole = !other || other == fiber;
    }
    weft__lock_drop(&actor->posse_lock);
    return whole;
}

void weft__posse_moves(struct weft_actor *actor, struct weft__executor *from,
                       struct weft__executor *to, struct weft__fiber *fiber)
{
    weft__lock_take(&actor->posse_lock);
    if (actor->places) {
        struct weft__place *old = &actor->places[from->index], *new = &actor->places[to->index];
        atomic_store_relaxed(&old->fiber, NULL);
        old->served--;
        atomic_store_release(&new->fiber, fiber); /* release A8 */
        new->served++;
    }
    weft__lock_drop(&actor->posse_lock);
}

void weft__posse_wake(struct weft_actor *actor)
{
    weft__lock_take(&actor->posse_lock);
    for (unsigned i = 0; actor->places && i < actor->system->executor_count; i++) {
        struct weft__fiber *fiber = atomic_load_acquire(&actor->places[i].fiber); /* acquire A8 */
        if (fiber)
            weft__fiber_wake(fiber);
    }
    weft__lock_drop(&actor->posse_lock);
}
