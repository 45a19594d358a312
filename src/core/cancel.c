/* SPDX-License-Identifier: MIT */
#include "core/cancel.h"

#include "core/guest.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "os/membarrier.h"

#include <errno.h>

/* ---- Which threads run a part ---- */

/* The bits of root->takers. A bit stays when its thread has gone on to another computation: so a
 * thread writes it once for each computation, and a thread that fails looks at the contexts,
 * too. */
enum { TAKER_WORKERS = 62 };                  /* bit i: worker i, i + 62, i + 124, ... */
#define TAKER_GUESTS ((uint64_t)1 << 62)      /* a guest or a spare */
#define TAKER_FIRST_GUEST ((uint64_t)1 << 63) /* a guest or a spare that began the computation */

uint64_t weft__taker_of(const struct weft__worker *worker)
{
    bool guest = worker->index >= worker->pool->config.workers;
    return guest ? TAKER_GUESTS : (uint64_t)1 << worker->index % TAKER_WORKERS;
}

/* Contexts of the eager road have no bit: every merge looks for a failure there. Neither have
 * contexts of actors, which are told by src/actor. */
void weft__part_begin(struct weft__context *context, struct weft__group *root, bool fresh)
{
    uint64_t mine = context->taker;
    /* relaxed, all: a fence follows. A fresh computation needs none: another thread that fails in
     * it has taken its part from here, and has acquired this with it; and a thread that has no part
     * in it has every thread execute one, in weft__cancel(). */
    if (fresh) {
        atomic_store_relaxed(&root->takers, mine == TAKER_GUESTS ? TAKER_FIRST_GUEST : mine);
        atomic_fence_compiler(); /* the barrier of weft__cancel() does the rest */
        return;
    }
    if (mine == 0)
        return;
    if (!(atomic_load_relaxed(&root->takers) & mine))
        atomic_fetch_or_relaxed(&root->takers, mine);
    atomic_fence_seq_cst(); /* fence J1; partner: weft__alert_others() */
}

void weft__part_resume_slow(struct weft__context *context, bool mixes)
{
    if (mixes && context->taker)
        atomic_fence_seq_cst(); /* fence J1: context->root was set again; partner: the same */
    if (weft__context_look(context, NULL) != GROUP_FINE)
        weft__context_alert(context);
}

/* ---- Alerting them ---- */

typedef void alert_fn(struct weft__context *context);

static unsigned alert_one(const struct weft__worker *worker, const struct weft__group *root,
                          const struct weft__context *own, alert_fn *alert)
{
    struct weft__context *context = worker->context;
    if (context == own || atomic_load_relaxed(&context->root) != root) /* relaxed: after J1 */
        return 0;
    alert(context);
    return 1;
}

/* May a guest other than the caller run a part? If only the guest that began the computation has a
 * bit, and the caller is a guest, then the caller is that guest. */
static bool guests_take_part(uint64_t takers, const struct weft__context *own)
{
    bool is_first = own && own->taker == TAKER_GUESTS;
    return takers & TAKER_GUESTS || (takers & TAKER_FIRST_GUEST && !is_first);
}

static unsigned alert_each(struct weft_pool *pool, const struct weft__group *root,
                           const struct weft__context *own, alert_fn *alert)
{
    unsigned count = 0, workers = pool->config.workers;
    uint64_t takers = atomic_load_relaxed(&root->takers); /* relaxed: after J1 */
    for (uint64_t bits = takers % TAKER_GUESTS; bits; bits &= bits - 1)
        for (unsigned i = (unsigned)__builtin_ctzll(bits); i < workers; i += TAKER_WORKERS)
            count += alert_one(pool->workers[i], root, own, alert);
    if (!guests_take_part(takers, own))
        return count;
    struct weft__walk walk = {.pool = pool, .at = pool->workers[workers - 1]};
    struct weft__worker *guest;
    while ((guest = weft__walk_next(&walk)))
        count += alert_one(guest, root, own, alert);
    return count;
}

/* A thread that runs another computation now need not be alerted: it looks when it comes back. */
unsigned weft__alert_others(struct weft_pool *pool, const struct weft__group *root,
                            const struct weft__context *own)
{
    /* In a forked child the other threads do not exist, and their locks may be held for ever. */
    if (pool->config.fork != WEFT_FORK_LAZY || weft__pool_is_forked(pool))
        return 0;
    /* fence J1: the failure was counted; partners: weft__part_begin(), weft__part_resume(). */
    atomic_fence_seq_cst();
    unsigned count = alert_each(pool, root, own, weft__context_raise_guard);
    if (count == 0)
        return 0;
    (void)weft__membarrier(); /* without it, some threads learn of the failure later */
    alert_each(pool, root, own, weft__context_want_pending);
    return count;
}

void weft__alert_parts(struct weft__context *own)
{
    weft__context_alert(own);
    weft__alert_others(own->worker->pool, own->group->root, own);
}

void weft__cancel(struct weft_pool *pool, struct weft__group *group)
{
    if (!weft__group_fail(group, -ECANCELED))
        return;
    if (pool->config.fork == WEFT_FORK_LAZY && !weft__pool_is_forked(pool))
        (void)weft__membarrier(); /* J1 of the thread that begins it. Without it: as above */
    weft__alert_others(pool, group->root, NULL);
}

void weft__alert_all(struct weft_pool *pool)
{
    if (weft__pool_is_forked(pool))
        return; /* as above */
    struct weft__worker *worker;
    struct weft__walk first = {.pool = pool}, second = {.pool = pool};
    while ((worker = weft__walk_next(&first)))
        weft__context_raise_guard(worker->context);
    if (pool->config.fork == WEFT_FORK_LAZY)
        (void)weft__membarrier(); /* as above */
    while ((worker = weft__walk_next(&second)))
        weft__context_want_pending(worker->context);
}

/* ---- Failing, and looking ---- */

void weft__fail(weft *w, int code)
{
    struct weft__context *context = weft__context_of(w);
    if (weft__group_fail(weft__group_whole(context->group), code))
        weft__alert_parts(context);
}

/* The lock of the context keeps the flags and the last of them together. The failure is counted
 * after it can be seen, as in weft__group_mark(). */
static void fork_fails(weft *fork)
{
    struct weft__context *context = weft__context_of(fork);
    weft__context_lock(context);
    atomic_store_relaxed(&weft__slot_of(fork)->failed, true); /* relaxed, all: as in group.c */
    if ((weft *)atomic_load_relaxed(&context->failed) < fork)
        atomic_store_relaxed(&context->failed, fork);
    weft__lock_drop(&context->lock);
}

/* What is told to threads of the computation is the same as if a group had failed. Those that are
 * not on the left side of the fork look, and find nothing. */
void weft_right_failed_(weft *w)
{
    WEFT__EXPECT_OWN(w);
    struct weft__context *own = weft__context_of(w);
    struct weft__group *part = own->group;
    if (!weft__group_is_part(part) || !part->at)
        return; /* the left side is over, or is that of an actor */
    if (weft__is_cancelled(w))
        return; /* so is the left side, or it is over */
    fork_fails(part->at);
    weft__group_alarm_add(part->root);
    weft__alert_others(own->worker->pool, part->root, own);
}

void weft__right_failed_end(struct weft__context *context, struct weft__slot *slot)
{
    weft__context_lock(context);
    atomic_store_relaxed(&slot->failed, false);
    if (atomic_load_relaxed(&context->failed) == slot) {
        weft *last = (weft *)slot;
        while (last-- > context->first && !atomic_load_relaxed(&weft__slot_of(last)->failed))
            ;
        atomic_store_relaxed(&context->failed, last < context->first ? NULL : last);
    }
    weft__lock_drop(&context->lock);
    atomic_fetch_sub_relaxed(&context->group->root->alarms, 1);
}

static enum group_state look(struct weft__context *context)
{
    bool noticed = false;
    enum group_state state = weft__context_look(context, &noticed);
    if (noticed)
        weft__alert_parts(context);
    else if (state == GROUP_CANCELLED) /* perhaps by a group in another pool */
        weft__context_alert(context);
    return state;
}

bool weft__is_cancelled_slow(weft *w)
{
    return look(weft__context_of(w)) == GROUP_CANCELLED;
}

bool weft__is_over_slow(weft *w)
{
    struct weft__context *context = weft__context_of(w);
    enum group_state state = look(context);
    if (state == GROUP_TIMED)
        weft__context_raise_guard(context);
    return state == GROUP_CANCELLED;
}
