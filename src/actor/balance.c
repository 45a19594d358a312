/* SPDX-License-Identifier: MIT */
#include "actor/balance.h"

#include "actor/drive.h"
#include "actor/executor.h"
#include "actor/fiber.h"
#include "actor/info.h"
#include "actor/load.h"
#include "actor/places.h"
#include "actor/post.h"

static uint64_t next_random(struct weft__executor *me)
{
    me->random ^= me->random << 13;
    me->random ^= me->random >> 7;
    me->random ^= me->random << 17;
    return me->random;
}

static bool could_do_more(const struct weft__executor *executor)
{
    return weft__executor_is_idle(executor) || weft__load_is_low(&executor->load);
}

/* By two actors: after a move it still has no more to do than `me`, so nothing is sent back. */
static bool has_less_to_do(const struct weft__executor *executor, const struct weft__executor *me)
{
    return could_do_more(executor) ||
           weft__load_average(&executor->load) + 2 * LOAD_ONE <= weft__load_average(&me->load);
}

struct weft__executor *
weft__balance_find_underused(struct weft__executor *me, struct weft_actor *actor,
                             bool (*may)(struct weft_actor *, struct weft__executor *))
{
    struct weft__actors *system = me->system;
    unsigned n = system->executor_count, start = (unsigned)(next_random(me) % n);
    for (unsigned i = 0; i < n; i++) {
        struct weft__executor *other = &system->executors[(start + i) % n];
        void *unreserved = NULL;
        if (other == me || atomic_load_relaxed(&other->reserved) || /* relaxed: a hint */
            !(may ? could_do_more(other) && may(actor, other) : has_less_to_do(other, me)))
            continue;
        /* relaxed: it publishes nothing. */
        if (atomic_cas_relaxed(&other->reserved, &unreserved, actor))
            return other;
    }
    return NULL;
}

void weft__balance_unreserve(struct weft__executor *executor, struct weft_actor *actor)
{
    void *reserved = actor;
    (void)atomic_cas_relaxed(&executor->reserved, &reserved, NULL); /* relaxed: as above */
}

static bool is_pinned(const struct weft_actor *actor)
{
    return atomic_load_relaxed(&actor->pin) >= 0; /* relaxed: a request */
}

/* An actor in the queue that can be moved: one that has not run, or else one that no other executor
 * serves. */
bool weft__balance_move_one(struct weft__executor *executor)
{
    struct weft__executor *to;
    struct weft_actor *fresh =
        executor->fresh ? WEFT__LETTER_OWNER(executor->fresh, struct weft_actor, letter) : NULL;
    if (fresh && !is_pinned(fresh)) {
        if (!(to = weft__balance_find_underused(executor, fresh, NULL)))
            return false;
        executor->fresh = fresh->letter.next;
        executor->runnable--;
        weft__count_up(&fresh->counts->moves);
        weft__executor_start(to, fresh);
        return true;
    }
    for (struct weft__fiber **link = &executor->ready.first; *link; link = &(*link)->next) {
        struct weft__fiber *fiber = *link;
        if (is_pinned(fiber->actor) || !weft__actor_is_whole(fiber))
            continue;
        if (!(to = weft__balance_find_underused(executor, fiber->actor, NULL)))
            return false;
        *link = fiber->next;
        if (!*link)
            executor->ready.end = link;
        executor->runnable--;
        weft__fiber_move(fiber, to);
        return true;
    }
    return false;
}

/* An idle executor. If there is none, the less busy of two: the next in order, and the caller's
 * own; for a caller outside, the one after. */
struct weft__executor *weft__balance_place_new(struct weft_actor *actor)
{
    struct weft__actors *system = actor->system;
    int pin = atomic_load_relaxed(&actor->pin); /* relaxed: a request */
    if (pin >= 0)
        return &system->executors[pin];
    struct weft__context *here = weft__fiber_here();
    struct weft__executor *own = here && here->worker->pool == system->pool
                                     ? weft__executor_of((struct weft__fiber *)here)
                                     : NULL;
    unsigned n = system->executor_count;
    unsigned start = atomic_fetch_add_relaxed(&system->next, 1) % n; /* relaxed: any will do */
    if (n == 1)
        return &system->executors[0];
    for (unsigned i = 0; i < n; i++)
        if (weft__executor_is_idle(&system->executors[(start + i) % n]))
            return &system->executors[(start + i) % n];
    struct weft__executor *one = &system->executors[start], *two = own;
    if (!two)
        two = &system->executors[(start + 1) % n];
    return weft__load_runnable(&one->load) < weft__load_runnable(&two->load) ? one : two;
}
