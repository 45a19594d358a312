/* SPDX-License-Identifier: MIT */
#include "core/spare.h"

#include "core/guest.h"
#include "core/pool.h"
#include "core/search.h"
#include "core/threads.h"
#include "core/wait.h"
#include "os/futex.h"
#include "os/memory.h"
#include "os/trace.h"

#include <errno.h>

enum { KEPT_NS = 100000000 };

enum spare_state {
    SPARE_NONE,    /* it has no thread, or its thread is about to end */
    SPARE_KEPT,    /* its thread waits to be called again */
    SPARE_ACTIVE,  /* it works */
    SPARE_LEAVING, /* it works, and was told to leave */
};

struct weft__spare {
    struct atomic_u32 state; /* written under the lock; its thread waits on it while KEPT */
    struct weft__worker *worker;
    pthread_t thread; /* if `joinable` */
    bool joinable;
};

int weft__spares_init(struct weft_pool *pool)
{
    struct weft__spares *spares = &pool->spares;
    spares->most = pool->config.spares > 0 ? (unsigned)pool->config.spares : 0;
    if (spares->most == 0)
        return 0;
    spares->all = weft__alloc(spares->most * sizeof spares->all[0]);
    return spares->all ? 0 : -ENOMEM;
}

void weft__spares_free(struct weft_pool *pool)
{
    weft__free(pool->spares.all);
}

/* All functions below are called under the lock, unless they say otherwise. relaxed, every access
 * to `state`: the lock orders them. */

static enum spare_state state_of(struct weft__spare *spare)
{
    return (enum spare_state)atomic_load_relaxed(&spare->state);
}

static void state_is(struct weft__spare *spare, enum spare_state state)
{
    atomic_store_relaxed(&spare->state, state);
}

static struct weft__spare *find(struct weft__spares *spares, enum spare_state state)
{
    for (unsigned i = 0; i < spares->most; i++)
        if (state_of(&spares->all[i]) == state)
            return &spares->all[i];
    return NULL;
}

static bool is_short(struct weft_pool *pool)
{
    struct weft__spares *spares = &pool->spares;
    return !spares->closed && spares->active < spares->most &&
           spares->active < atomic_load_relaxed(&pool->blocking.count);
}

/* The spare counts as present from now on, so that no deadlock is reported until it runs. */
static void activate(struct weft_pool *pool, struct weft__spare *spare)
{
    atomic_store_relaxed(&spare->worker->stop.core.state, LATCH_UNSET);
    state_is(spare, SPARE_ACTIVE);
    pool->spares.active++;
    weft__census_enter(&pool->census);
    weft__sleep_present(&pool->sleep);
}

/* ---- The thread ---- */

/* The functions here are called without the lock. */

/* False: the spare is needed again already, and stays. Otherwise it is KEPT before it is taken off
 * the census, so that it can be called again at once: a thread that then finds all others at rest,
 * which may be this one, may have to call it. */
static bool leave(struct weft_pool *pool, struct weft__spare *spare)
{
    struct weft__spares *spares = &pool->spares;
    weft__lock_take(&spares->lock);
    bool stays = is_short(pool);
    if (stays) {
        atomic_store_relaxed(&spare->worker->stop.core.state, LATCH_UNSET);
        spares->active++;
    }
    state_is(spare, stays ? SPARE_ACTIVE : spares->closed ? SPARE_NONE : SPARE_KEPT);
    weft__lock_drop(&spares->lock);
    if (stays)
        return false;
    weft__sleep_absent(&pool->sleep);
    weft__pool_has_room(pool);
    weft__census_leave(&pool->census);
    return true;
}

/* True: it was called again. */
static bool wait_for_call(struct weft_pool *pool, struct weft__spare *spare)
{
    struct weft__spares *spares = &pool->spares;
    weft__futex_wait_for(&spare->state, SPARE_KEPT, KEPT_NS);
    weft__lock_take(&spares->lock);
    /* LEAVING: it was called, and dismissed again already. It counts as present, and has to
     * leave. */
    bool again = state_of(spare) == SPARE_ACTIVE || state_of(spare) == SPARE_LEAVING;
    if (!again)
        state_is(spare, SPARE_NONE);
    if (!again && spare->joinable && !spares->closed) {
        /* Otherwise it would be joined when the pool ends, which may be never. */
        pthread_detach(spare->thread);
        spare->joinable = false;
        spare->worker->counted = true;
        atomic_fetch_add_relaxed(&pool->threads, 1); /* relaxed: the lock, which stop takes */
    }
    weft__lock_drop(&spares->lock);
    return again;
}

static struct weft__spare *spare_of(const struct weft__worker *worker)
{
    struct weft__spare *spare = worker->pool->spares.all;
    while (spare->worker != worker)
        spare++;
    return spare;
}

void weft__spare_loop(struct weft__worker *worker)
{
    struct weft_pool *pool = worker->pool;
    weft__lock_take(&pool->spares.lock); /* spare->worker is written under the lock */
    struct weft__spare *spare = spare_of(worker);
    weft__lock_drop(&pool->spares.lock);
    do {
        weft__block_let_report(pool);
        weft__worker_serve(worker);
        weft__worker_spill(worker);
        weft__worker_is_outside(worker);
    } while (!leave(pool, spare) || wait_for_call(pool, spare));
}

/* ---- Called and dismissed ---- */

static void make(struct weft_pool *pool)
{
    struct weft__spares *spares = &pool->spares;
    struct weft__spare *spare = find(spares, SPARE_NONE);
    if (!spare)
        return; /* the spares that are leaving are still busy */
    spare->worker = weft__guest_get(pool, WORKER_SPARE);
    if (!spare->worker)
        return;
    unsigned place = pool->config.workers + (unsigned)(spare - spares->all);
    spare->worker->home = pool->homes.ids[place % pool->homes.count];
    weft__sleep_place(&pool->sleep, place, spare->worker->park);
    activate(pool, spare);
    if (weft__worker_start(pool, spare->worker)) {
        weft__sleep_absent(&pool->sleep);
        weft__census_withdraw(&pool->census);
        spares->active--;
        state_is(spare, SPARE_NONE);
        weft__guest_put(spare->worker);
        return;
    }
    spare->thread = spare->worker->thread;
    spare->joinable = !pool->config.spawn_thread;
}

void weft__spare_call(struct weft_pool *pool)
{
    struct weft__spares *spares = &pool->spares;
    if (spares->most == 0)
        return;
    weft__lock_take(&spares->lock);
    struct weft__spare *kept = NULL;
    if (is_short(pool)) {
        WEFT__TRACE(SPARE, 0, 0);
        kept = find(spares, SPARE_KEPT);
        if (kept)
            activate(pool, kept);
        else
            make(pool);
    }
    weft__lock_drop(&spares->lock);
    if (kept)
        weft__futex_wake(&kept->state, 1);
}

void weft__spare_dismiss(struct weft_pool *pool)
{
    struct weft__spares *spares = &pool->spares;
    if (spares->most == 0)
        return;
    weft__lock_take(&spares->lock);
    if (spares->active > atomic_load_relaxed(&pool->blocking.count)) {
        struct weft__spare *spare = find(spares, SPARE_ACTIVE);
        state_is(spare, SPARE_LEAVING);
        spares->active--;
        weft__spin_latch_set(&spare->worker->stop);
    }
    weft__lock_drop(&spares->lock);
}

void weft__spares_stop(struct weft_pool *pool)
{
    struct weft__spares *spares = &pool->spares;
    weft__lock_take(&spares->lock);
    spares->closed = true;
    struct weft__spare *spare;
    while ((spare = find(spares, SPARE_KEPT))) {
        state_is(spare, SPARE_NONE);
        weft__futex_wake(&spare->state, 1);
    }
    weft__lock_drop(&spares->lock);
    for (unsigned i = 0; i < spares->most; i++)
        if (spares->all[i].joinable)
            pthread_join(spares->all[i].thread, NULL);
}

unsigned weft__spares_active(struct weft_pool *pool)
{
    weft__lock_take(&pool->spares.lock);
    unsigned active = pool->spares.active;
    weft__lock_drop(&pool->spares.lock);
    return active;
}
