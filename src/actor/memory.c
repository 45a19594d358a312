/* SPDX-License-Identifier: MIT */
/* Counted memory. What a member uses is what its code has asked for and not released, and what its
 * right sides used when they were merged. It does not depend on where the right sides ran. */
#include "actor/memory.h"

#include "actor/age.h"
#include "actor/fiber.h"
#include "actor/rescue.h"
#include "actor/unwind.h"
#include "core/misuse.h"
#include "os/fatal.h"

/* ---- For infos ---- */

static void count_blocks(struct weft_actor *actor, size_t more, size_t less)
{
    atomic_fetch_add_relaxed(&actor->counts->memory, more - less); /* relaxed: statistics */
}

/* The peak of the actor itself is that of a run on a single thread. */
static void note_peak(const struct weft__member *member, size_t peak)
{
    if (!member->victim) /* relaxed: statistics */
        atomic_store_relaxed(&member->fiber->actor->counts->memory_peak, peak);
}

/* ---- From delegate to victim ---- */

void weft__memory_hand_over(struct weft__member *member, struct weft__actor_slot *slot)
{
    struct weft__fiber *fiber = member->fiber;
    size_t used = member->arena.account.used;
    fiber->used -= used;
    if (used > 0)
        atomic_fetch_add_relaxed(&fiber->actor->unmerged, used); /* relaxed: a count */
    slot->chunks = weft__arena_hand_over(&member->arena);
    slot->deferred = weft__cleanups_hand_over(member);
}

bool weft__memory_inherit(struct weft__member *victim, struct weft__actor_slot *slot, bool counts)
{
    struct weft__fiber *fiber = victim->fiber;
    struct weft__account *mine = &victim->arena.account;
    weft__cleanups_adopt(fiber, slot->deferred);
    if (!slot->chunks)
        return true;
    struct weft__account its = slot->chunks->account;
    weft__arena_adopt(&victim->arena, slot->chunks);
    if (its.used > 0)
        atomic_fetch_sub_relaxed(&fiber->actor->unmerged, its.used); /* relaxed: as above */
    if (!counts)
        return true;
    if (its.peak > fiber->actor->limit - victim->lineage - mine->used)
        return false;
    if (mine->used + its.peak > mine->peak)
        note_peak(victim, mine->peak = mine->used + its.peak);
    mine->used += its.used;
    fiber->used += its.used;
    return true;
}

void weft__memory_drop(struct weft__member *member)
{
    struct weft__fiber *fiber = member->fiber;
    if (!member->arena.newest)
        return;
    fiber->used -= member->arena.account.used;
    count_blocks(fiber->actor, 0, member->arena.account.total);
    weft__arena_drop(&member->arena);
}

/* ---- Allocating ---- */

static size_t allowed(const struct weft__member *member)
{
    return member->fiber->actor->limit - member->lineage - member->arena.account.used;
}

static bool grow(struct weft__member *member, size_t bytes)
{
    size_t size = weft__arena_next(&member->arena, bytes, allowed(member));
    if (!weft__arena_grow(&member->arena, size))
        return false;
    count_blocks(member->fiber->actor, size, 0);
    return true;
}

static void *take(struct weft__member *member, size_t bytes)
{
    if (bytes > allowed(member))
        return NULL;
    void *p = weft__arena_take(&member->arena, bytes);
    if (p)
        return p;
    return grow(member, bytes) ? weft__arena_take(&member->arena, bytes) : NULL;
}

void *weft_alloc(weft *w, size_t bytes)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    if (!w || !weft__is_fiber(w))
        return NULL;
    struct weft__fiber *fiber = weft__fiber_of(w);
    struct weft__member *member = fiber->top;
    size_t peak = member->arena.account.peak;
    weft *first_free = weft__first_free(w);
    weft__fiber_need_room(fiber);
    bytes = weft__arena_round(bytes);
    weft__age_stamp_early(fiber, first_free);
    void *p = take(member, bytes);
    if (!p) {
        if (!weft__is_unwinding(member))
            weft__unwind(first_free, OUTCOME_NO_MEMORY);
        return NULL; /* a deferred function that runs because the member is past its limit */
    }
    fiber->used += bytes;
    if (member->arena.account.peak > peak)
        note_peak(member, member->arena.account.peak);
    return p;
}

/* There is a chunk as soon as anything is counted: the account is handed over in a chunk. */
void weft__memory_use(struct weft__fiber *fiber, size_t bytes)
{
    struct weft__member *member = fiber->top;
    struct weft__account *account = &member->arena.account;
    bytes = weft__arena_round(bytes);
    weft__age_stamp_early(fiber, fiber->context.end);
    bool fits = bytes <= allowed(member) && (member->arena.newest || grow(member, bytes));
    if (!fits && !weft__is_unwinding(member))
        weft__unwind(fiber->context.end, OUTCOME_NO_MEMORY);
    fiber->used += bytes;
    account->used += bytes;
    if (account->used > account->peak)
        note_peak(member, account->peak = account->used);
}

void weft__memory_use_no_more(struct weft__fiber *fiber, size_t bytes)
{
    bytes = weft__arena_round(bytes);
    weft__age_stamp_early(fiber, fiber->context.end);
    fiber->used -= bytes;
    fiber->top->arena.account.used -= bytes;
}

void *weft_alloc_result(weft *w, size_t bytes)
{
    return weft_alloc(w, bytes);
}

/* ---- Marks ---- */

/* What a weft_mark contains. */
struct mark {
    struct weft__arena_mark arena;
    struct weft__member *member; /* NULL: not in an actor */
    weft *place;
};

_Static_assert(sizeof(struct mark) <= sizeof(weft_mark), "weft_mark is too small");

/* Its first free slot; of forks that ran in place, how many there were. Compared, not followed. */
static weft *place_of(weft *w)
{
    return (weft *)((uintptr_t)weft__first_free(w) + weft__context_of(w)->in_place);
}

weft_mark weft_alloc_mark(weft *w)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    weft_mark public = {{0}};
    struct mark *mark = (struct mark *)(void *)&public;
    if (!w || !weft__is_fiber(w))
        return public;
    struct weft__member *member = weft__fiber_of(w)->top;
    *mark = (struct mark){weft__arena_mark(&member->arena), member, place_of(w)};
    return public;
}

void weft_alloc_release(weft *w, weft_mark public)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    const struct mark *mark = (const struct mark *)(const void *)&public;
    if (!w || !weft__is_fiber(w))
        return;
    struct weft__fiber *fiber = weft__fiber_of(w);
    struct weft__member *member = fiber->top;
    if (mark->member != member || mark->place != place_of(w))
        weft__fatal("weft_alloc_release: the mark was made on another side of a fork, or what was "
                    "forked since is not merged");
    if (mark->arena.used > member->arena.account.used)
        weft__fatal("weft_alloc_release: an older mark was released before");
    weft__age_stamp_early(fiber, weft__first_free(w));
    fiber->used -= member->arena.account.used - mark->arena.used;
    count_blocks(fiber->actor, 0, weft__arena_release(&member->arena, mark->arena));
}
