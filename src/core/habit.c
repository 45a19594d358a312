/* SPDX-License-Identifier: MIT */
#include "core/habit.h"

enum { ENOUGH = 2 };

static unsigned place_of(const struct weft__habits *habits, weft_fn *fn)
{
    uint64_t hash = (uint64_t)(uintptr_t)fn * UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)((hash >> 32) % (sizeof habits->known / sizeof habits->known[0]));
}

bool weft__habit_is_brief(struct weft__habits *habits, weft_fn *fn)
{
    unsigned i = place_of(habits, fn);
    return atomic_load_relaxed(&habits->known[i].fn) == fn &&
           atomic_load_relaxed(&habits->known[i].brief) >= ENOUGH;
}

void weft__habit_learn(struct weft__habits *habits, weft_fn *fn, bool brief)
{
    unsigned i = place_of(habits, fn);
    uint32_t runs = 0;
    if (brief && atomic_load_relaxed(&habits->known[i].fn) == fn)
        runs = atomic_load_relaxed(&habits->known[i].brief);
    if (brief && runs < ENOUGH)
        runs++;
    atomic_store_relaxed(&habits->known[i].fn, fn);
    atomic_store_relaxed(&habits->known[i].brief, runs);
}
