/* SPDX-License-Identifier: MIT */
/* Stealing from the slots of the lazy road. A thief
 *
 *   1. locks the context against other thieves and the owner's slow roads,
 *   2. sets `wanted` in the oldest slot, and raises the guard, so that the owner takes a slow road
 *      at its next fork, or when it merges that slot; there the owner sets `answered` and waits for
 *      the lock;
 *   3. waits a moment for that answer; if none comes, has every thread execute a barrier;
 *   4. reads the slot. Either the owner has cleared it, and the thief sees that; or the owner's
 *      merge will find it wanted, and wait for the lock. Then the thief can take the slot.
 *   5. sets the guard just above the stolen slots, and unlocks. A stolen slot stays wanted.
 *
 * Why step 4 is right (B1): the owner's merge clears the slot (W), then reads `wanted` (R). The
 * thief sets `wanted`, then has every thread execute a barrier. If the owner's R came before that
 * barrier, so did its W, and the thief sees the slot cleared. If R comes after it, R finds the slot
 * wanted. The answer does the same and costs less: the owner wrote it on the slow road, with
 * release, after all it wrote before, and waits for the lock.
 *
 * Age. A right side younger than a quantum is left alone, and its age must cost the owner nothing.
 * So a thief marks it: it replaces `fn` in the slot, which the owner never reads, by a mark, and
 * notes the time. Merging and forking overwrite the mark. If the mark is still there a quantum
 * later, the same right side has waited all that time. */
#include "core/steal.h"

#include "core/cancel.h"
#include "core/execute.h"
#include "core/pool.h"
#include "core/search.h"
#include "core/spawn.h"
#include "os/clock.h"
#include "os/membarrier.h"

/* How often a thief looks for the answer before it uses the barrier. */
#ifndef WEFT__ANSWER_SPINS
#define WEFT__ANSWER_SPINS 50
#endif

/* Wakes the owner. Last touch of the slot. */
static void right_is_over(void *of)
{
    struct weft__slot *slot = of;
    /* Read before the latch is set: the owner may be a guest, which may leave then. */
    struct weft__park *owner = weft__worker_of((weft *)slot)->park;
    weft__latch_set_for(&slot->latch, owner);
}

void weft__right_run(weft *w, const struct weft__job *job, struct weft__slot *slot)
{
    struct weft__group part;
    const struct weft__around around = {job->group, slot->base, (weft *)slot};
    weft__part_of(&part, &around, &slot->given_up);
    weft__call(w, job->fn, job->arg, &part);
    weft__worker_of(w)->news = (struct weft__news){right_is_over, slot};
}

static void execute_stolen(weft *w, struct weft__job *job)
{
    const struct weft__found *found =
        (struct weft__found *)((char *)job - offsetof(struct weft__found, right));
    weft__right_run(w, job, weft__slot_of(found->slot));
}

/* Under the lock. `sign`: `wanted` of the slot, or `floor` of the pile, that the thief will take
 * from. True: the owner is on a slow road, or will be before it takes anything back there. False:
 * the owner has not answered, and the process forbids membarrier by now. A blocked owner needs no
 * barrier: when it goes on, it passes a fence before it merges (B3). */
static bool stop_owner(struct weft__context *context, struct atomic_uptr *sign)
{
    /* relaxed, all: the answer or the barrier orders them. An answer that another thief got says
     * nothing about this slot, so it is cleared first (bug 30). */
    atomic_store_relaxed(&context->answered, false);
    atomic_store_relaxed(sign, UINTPTR_MAX);
    atomic_store_relaxed(&context->guard, UINTPTR_MAX);
    for (int i = WEFT__ANSWER_SPINS; i > 0; i--) {
        if (atomic_load_acquire(&context->answered)) /* acquire B1 */
            return true;
        weft__relax();
    }
    if (weft__membarrier()) /* fence B1: in every thread; partner: each look at the guard */
        return true;
    atomic_fence_seq_cst(); /* fence B3: `wanted` is set before `away` is read */
    return atomic_load_acquire(&context->away); /* acquire B3: the slots as the owner left them */
}

static bool is_ripe(struct weft__context *context, weft_fn *fn, uint64_t now)
{
    if (context->quantum == 0 || atomic_load_relaxed(&context->away)) /* relaxed: a hint */
        return true;
    return fn == weft__slot_marked &&
           now - atomic_load_relaxed(&context->marked_at) >= context->quantum;
}

/* Under the lock: the right side in the oldest slot, for `me` to run. */
static void take(struct weft__worker *me, struct weft__context *context, struct weft__slot *slot,
                 weft_fn *fn, struct weft__found *found)
{
    slot->base = weft__slot_base(slot);
    *found =
        (struct weft__found){.job = &found->right, .from = context->worker, .slot = (weft *)slot};
    found->right = (struct weft__job){
        .fn = weft__context_unmark(context, fn),
        .arg = atomic_load_relaxed(&slot->arg), /* relaxed: acquired with fn */
        .group = weft__slot_of(slot->base)->group,
        .execute = execute_stolen,
    };
    /* relaxed: the owner finds the slot stolen under the lock. */
    atomic_store_relaxed(&slot->latch.state, LATCH_UNSET);
    atomic_store_release(&slot->thief, me); /* release T1 */
    atomic_store_relaxed(&context->oldest, slot + 1);
    context->robbed = true;
}

/* Can the oldest slot be part of that computation? A hint, so that no owner is stopped for
 * nothing. */
static bool may_be_part_of(struct weft__context *context, const struct weft__group *root)
{
    return !root || atomic_load_relaxed(&context->root) == root ||
           atomic_load_relaxed(&context->mixed) > 0; /* relaxed, both: a hint */
}

enum steal_result weft__steal_slot(struct weft__worker *me, struct weft__context *context,
                                   const struct weft__group *root, struct weft__found *found)
{
    struct weft__slot *slot = atomic_load_relaxed(&context->oldest);
    /* relaxed, before the lock is taken: hints. */
    weft_fn *fn = atomic_load_relaxed(&slot->fn);
    if (!fn)
        return STEAL_EMPTY;
    if (!may_be_part_of(context, root)) {
        me->saw_foreign = true;
        return STEAL_EMPTY;
    }
    uint64_t now = context->quantum ? weft__clock_now() : 0;
    if (fn == weft__slot_marked && !is_ripe(context, fn, now))
        return STEAL_YOUNG;
    if (!weft__lock_try(&context->lock))
        return STEAL_YOUNG;
    slot = atomic_load_relaxed(&context->oldest);
    fn = atomic_load_relaxed(&slot->fn);
    /* The last slot can't be stolen: there is none after it to be the oldest. */
    if (!fn || !is_ripe(context, fn, now) || (weft *)slot == context->last) {
        weft__context_mark(context, slot, now);
        weft__lock_drop(&context->lock);
        return STEAL_YOUNG;
    }
    bool stopped = stop_owner(context, &slot->wanted);
    fn = atomic_load_acquire(&slot->fn); /* acquire B2: what the owner forked */
    bool taken = stopped && fn && is_ripe(context, fn, now) &&
                 weft__may_take(me, root, weft__slot_of(weft__slot_base(slot))->group->root);
    if (taken) {
        take(me, context, slot, fn, found);
        if (context->quantum) /* the next slot ages while the thief is busy */
            weft__context_mark(context, slot + 1, now);
    } else {
        /* If the thief has read the slot's group, the slot stays wanted: so the merge takes the
         * lock after that read. */
        weft__slot_want(slot, context->raised || (stopped && fn));
    }
    weft__context_set_guard(context);
    weft__lock_drop(&context->lock);
    if (!stopped)
        weft__alert_all(me->pool); /* from now on, every fork is on the eager road */
    return taken ? STEAL_GOT : STEAL_EMPTY;
}

/* ---- Spawned jobs on a pile ---- */

/* Is the oldest job a quantum old? If not, its age is noted. The owner may have run that job
 * meanwhile, and pushed another one in its place: then a younger job is taken, once in a
 * quantum. */
static bool is_old(struct weft__pile *pile, const struct weft__context *context, uintptr_t first)
{
    if (context->quantum == 0)
        return true;
    uint64_t now = weft__clock_now();
    if (atomic_load_relaxed(&pile->marked) == first) /* relaxed, all: hints */
        return now - atomic_load_relaxed(&pile->marked_at) >= context->quantum;
    atomic_store_relaxed(&pile->marked_at, now);
    atomic_store_relaxed(&pile->marked, first);
    return false;
}

/* Under the lock, the owner stopped. A thief that has nothing else to do takes half of the jobs,
 * since each visit costs a barrier: it runs the oldest, and the others go on its own deque, where
 * all find them. Returns how many it took. */
static uintptr_t take_piled(struct weft__worker *me, const struct weft__worker *victim,
                            uintptr_t first, uintptr_t end)
{
    enum { MOST = 64 };
    const struct weft__pile *pile = &victim->pile;
    struct weft__group *root = pile->ring[first & pile->mask].group->root;
    /* What belongs to the holder of a lock stays with it: the thief may come to wait for that lock,
     * with the jobs on its deque. relaxed: the owner is stopped. */
    bool one = me->frame || atomic_load_relaxed(&victim->careful_at);
    uintptr_t count = 1, most = one ? 1 : (end - first + 1) / 2;
    weft__spawn_share(pile->ring[first & pile->mask].job);
    for (; count < most && count < MOST; count++) {
        struct weft__piled *piled = &pile->ring[(first + count) & pile->mask];
        if (piled->group->root != root)
            break;
        weft__spawn_share(piled->job);
        if (weft__deque_push(&me->deque, piled->job))
            break; /* no memory: it stays, counted */
    }
    return count;
}

enum steal_result weft__steal_piled(struct weft__worker *me, struct weft__worker *victim,
                                    const struct weft__group *root, struct weft__found *found)
{
    struct weft__pile *pile = &victim->pile;
    struct weft__context *context = victim->context;
    if (weft__pile_size(pile) == 0)
        return STEAL_EMPTY;
    if (!may_be_part_of(context, root)) {
        me->saw_foreign = true;
        return STEAL_EMPTY;
    }
    /* relaxed: a hint. */
    if (!is_old(pile, context, atomic_load_relaxed(&pile->first)) ||
        !weft__lock_try(&context->lock))
        return STEAL_YOUNG;
    bool stopped = stop_owner(context, &pile->floor);
    uintptr_t first = atomic_load_relaxed(&pile->first); /* relaxed: under the lock */
    uintptr_t end = atomic_load_acquire(&pile->end);     /* acquire P1: the jobs */
    bool taken = stopped && first < end &&
                 weft__may_take(me, root, pile->ring[first & pile->mask].group->root);
    if (taken) {
        *found = (struct weft__found){.job = pile->ring[first & pile->mask].job, .from = victim};
        /* release PL1: the jobs are counted in their scopes. The owner finds them stolen under the
         * lock: `floor` stays up until it does. */
        atomic_store_release(&pile->first, first + take_piled(me, victim, first, end));
        context->robbed = true;
    }
    weft__context_set_guard(context);
    weft__lock_drop(&context->lock);
    if (!stopped)
        weft__alert_all(me->pool); /* from now on, every spawned job goes on the deque */
    return taken ? STEAL_GOT : STEAL_EMPTY;
}

/* The owner takes the slot as a thief does, but there is no other thread to stop. */
bool weft__take_own(struct weft__worker *me, struct weft__found *found)
{
    struct weft__context *context = me->context;
    if (context->eager || !weft__context_has_pending(context))
        return false;
    weft__context_answer_and_lock(context);
    struct weft__slot *slot = atomic_load_relaxed(&context->oldest); /* relaxed: under the lock */
    weft_fn *fn = atomic_load_relaxed(&slot->fn);
    bool taken = fn && (weft *)slot != context->last;
    if (taken) {
        weft__slot_want(slot, true);
        take(me, context, slot, fn, found);
        weft__context_set_guard(context);
    }
    weft__lock_drop(&context->lock);
    return taken;
}
