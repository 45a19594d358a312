/* SPDX-License-Identifier: MIT */
#include "core/pile.h"

#include "core/context.h"
#include "core/pool.h"
#include "core/spawn.h"
#include "os/clock.h"
#include "os/memory.h"

#include <errno.h>

enum { CAPACITY = 64 };

int weft__pile_init(struct weft__pile *pile, struct weft__context *context)
{
    pile->ring = weft__scratch(CAPACITY * sizeof pile->ring[0]);
    if (!pile->ring)
        return -ENOMEM;
    pile->mask = CAPACITY - 1;
    pile->context = context;
    pile->base = 1; /* so that `end - 1` is never below zero */
    pile->room = pile->base + CAPACITY;
    /* relaxed, all: published when the worker is shared. */
    atomic_store_relaxed(&pile->end, pile->base);
    atomic_store_relaxed(&pile->first, pile->base);
    atomic_store_relaxed(&pile->floor, pile->base);
    return 0;
}

void weft__pile_destroy(struct weft__pile *pile)
{
    weft__free(pile->ring);
}

/* Under the lock: a ring twice as large. */
static bool enlarge(struct weft__pile *pile, uintptr_t first, uintptr_t end)
{
    size_t capacity = 2 * (pile->mask + 1);
    struct weft__piled *ring = weft__scratch(capacity * sizeof ring[0]);
    if (!ring)
        return false;
    for (uintptr_t i = first; i < end; i++)
        ring[i & (capacity - 1)] = pile->ring[i & pile->mask];
    weft__free(pile->ring);
    pile->ring = ring;
    pile->mask = capacity - 1;
    return true;
}

bool weft__pile_grow(struct weft__pile *pile)
{
    uintptr_t end = atomic_load_relaxed(&pile->end); /* relaxed, both: own; under the lock */
    weft__context_answer_and_lock(pile->context);
    uintptr_t first = atomic_load_relaxed(&pile->first);
    bool has_room = end - first <= pile->mask || enlarge(pile, first, end);
    if (has_room)
        pile->room = first + pile->mask + 1;
    weft__lock_drop(&pile->context->lock);
    return has_room;
}

uintptr_t weft__pile_find(const struct weft__pile *pile, const struct weft__group *group)
{
    uintptr_t i = atomic_load_relaxed(&pile->end); /* relaxed: own */
    while (i > pile->base)
        if (pile->ring[--i & pile->mask].group == group)
            return i;
    return 0;
}

bool weft__pile_dig(struct weft__pile *pile)
{
    if (weft__pile_size(pile) == 0)
        return false;
    pile->base = atomic_load_relaxed(&pile->end) - 1; /* relaxed: own */
    return true;
}

/* Under the lock: what the owner looks at, as it should be while no thief is at work. */
static void settle(struct weft__pile *pile, uintptr_t first)
{
    atomic_store_relaxed(&pile->floor, first); /* relaxed: read by the owner, its only writer but
                                                  for thieves, which have the lock */
    pile->room = first + pile->mask + 1;
}

bool weft__pile_settle(struct weft__pile *pile)
{
    weft__context_answer_and_lock(pile->context);
    uintptr_t first = atomic_load_relaxed(&pile->first); /* relaxed, all: under the lock */
    bool stolen = atomic_load_relaxed(&pile->end) < first;
    if (stolen)
        atomic_store_relaxed(&pile->end, first);
    settle(pile, first);
    weft__lock_drop(&pile->context->lock);
    return !stolen;
}

/* Under the lock: the jobs from `from` on, so many of them, are no longer on the pile. */
static void take_out(struct weft__pile *pile, uintptr_t from, uintptr_t count)
{
    uintptr_t first = atomic_load_relaxed(&pile->first), end = atomic_load_relaxed(&pile->end);
    if (from == first) {
        first += count;
        atomic_store_relaxed(&pile->first, first); /* relaxed, all: under the lock */
    } else {
        for (uintptr_t i = from + count; i < end; i++)
            pile->ring[(i - count) & pile->mask] = pile->ring[i & pile->mask];
        atomic_store_relaxed(&pile->end, end - count);
    }
    settle(pile, first);
}

bool weft__offer_is_due(struct weft__offers *offers)
{
    if (++offers->kept < offers->keeps)
        return false;
    uint64_t now = weft__clock_now();
    bool soon = now - offers->at < WEFT__SOON_NS;
    unsigned twice = 2 * offers->keeps < WEFT__KEPT_MOST ? 2 * offers->keeps : WEFT__KEPT_MOST;
    *offers = (struct weft__offers){.keeps = soon ? twice : 1, .at = now};
    return true;
}

void weft__pile_publish(struct weft__worker *me, uintptr_t from, uintptr_t most)
{
    struct weft__pile *pile = &me->pile;
    unsigned count = 0;
    /* acquire PL1: what thieves took is counted, so the job around it may end. relaxed: own. */
    if (atomic_load_acquire(&pile->first) >= atomic_load_relaxed(&pile->end))
        return;
    weft__context_answer_and_lock(pile->context);
    uintptr_t first = atomic_load_relaxed(&pile->first); /* relaxed, both: under the lock */
    uintptr_t end = atomic_load_relaxed(&pile->end);
    if (from < first)
        from = first;
    if (from < end && end - from > most)
        end = from + most;
    for (uintptr_t i = from; i < end; i++)
        weft__spawn_share(pile->ring[i & pile->mask].job);
    for (uintptr_t i = from; i < end; i++, count++)
        if (weft__deque_push(&me->deque, pile->ring[i & pile->mask].job))
            break;
    if (count)
        take_out(pile, from, count);
    weft__lock_drop(&pile->context->lock);
    if (count)
        weft__sleep_new_jobs(&me->pool->sleep, count, false);
}
