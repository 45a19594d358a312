/* SPDX-License-Identifier: MIT */
#include "core/habit.h"

enum { ENOUGH = 2 };

static uintptr_t kind_of(weft_fn *job, weft_fn *right)
{
    return (uintptr_t)job * 31 ^ (uintptr_t)right;
}

static unsigned place_of(const struct weft__habits *habits, uintptr_t kind)
{
    uint64_t hash = (uint64_t)kind * UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)((hash >> 32) % (sizeof habits->known / sizeof habits->known[0]));
}

bool weft__habit_is_brief(struct weft__habits *habits, weft_fn *job, weft_fn *right)
{
    uintptr_t kind = kind_of(job, right);
    unsigned i = place_of(habits, kind);
    return atomic_load_relaxed(&habits->known[i].kind) == kind &&
           atomic_load_relaxed(&habits->known[i].brief) >= ENOUGH;
}

void weft__habit_learn(struct weft__habits *habits, weft_fn *job, weft_fn *right, bool brief)
{
    uintptr_t kind = kind_of(job, right);
    unsigned i = place_of(habits, kind);
    uint32_t runs = 0;
    if (brief && atomic_load_relaxed(&habits->known[i].kind) == kind)
        runs = atomic_load_relaxed(&habits->known[i].brief);
    if (brief && runs < ENOUGH)
        runs++;
    atomic_store_relaxed(&habits->known[i].kind, kind);
    atomic_store_relaxed(&habits->known[i].brief, runs);
}
