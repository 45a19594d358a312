/* SPDX-License-Identifier: MIT */
/* A read-write lock: readers and writers take turns. A reader that comes while a writer waits
 * stands in line; a writer that unlocks lets in all readers that stand there; and the last of these
 * the first writer. Everything is decided under the lock, and the waker makes the waiter the
 * holder. */
#include "core/misuse.h"
#include "os/fatal.h"
#include "os/memory.h"
#include "sync/held.h"
#include "sync/sync.h"

#include <errno.h>

static struct weft__rwlock *lock_of(weft_rwlock *lock, const char *function)
{
    if (!lock)
        weft__fatal("%s needs a read-write lock", function);
    return (struct weft__rwlock *)(void *)lock;
}

void weft_rwlock_init(weft_rwlock *lock, const char *name)
{
    *lock_of(lock, __func__) = (struct weft__rwlock){.sync.name = name};
}

static const char *title_of(const struct weft__rwlock *lock)
{
    return lock->sync.name ? lock->sync.name : "";
}

/* ---- Under the lock; so all is relaxed, and reports see it by Z1 ---- */

static bool has_writer(const struct weft__rwlock *lock)
{
    return atomic_load_relaxed(&lock->word) != MUTEX_FREE;
}

static bool take(struct weft__rwlock *lock, bool write, uintptr_t name)
{
    uint32_t readers = atomic_load_relaxed(&lock->readers);
    if (has_writer(lock) || (write ? readers > 0 : lock->writing.first != NULL))
        return false;
    if (write)
        atomic_store_relaxed(&lock->word, name);
    else
        atomic_store_relaxed(&lock->readers, readers + 1);
    return true;
}

/* Lets in those that can hold the lock now, and returns them. `turn`: it is the readers' turn. */
static struct weft__waiter *let_in(struct weft__rwlock *lock, bool turn)
{
    struct weft__waiter *waiter = lock->reading.first;
    uint32_t readers = atomic_load_relaxed(&lock->readers);
    if (has_writer(lock))
        return NULL;
    if (waiter && (turn || !lock->writing.first)) {
        lock->reading.first = NULL;
        for (struct weft__waiter *each = waiter; each; each = each->next)
            readers++;
        atomic_store_relaxed(&lock->readers, readers);
        weft__stats_holder(lock, MUTEX_FREE);
        return waiter;
    }
    if (readers > 0 || !(waiter = weft__line_pop(&lock->writing)))
        return NULL;
    atomic_store_relaxed(&lock->word, (uintptr_t)waiter->item);
    weft__stats_holder(lock, (uintptr_t)waiter->item);
    return waiter;
}

/* The last writer in line may have given up: those that read wait for nobody then. */
static struct weft__waiter *withdrawn(struct weft__sync *sync)
{
    return let_in((struct weft__rwlock *)sync, false);
}

/* True: the caller has written, and it is the readers' turn. */
static bool let_go(struct weft__rwlock *lock, uintptr_t name)
{
    uintptr_t writer = atomic_load_relaxed(&lock->word);
    uint32_t readers = atomic_load_relaxed(&lock->readers);
    if (writer == name)
        atomic_store_relaxed(&lock->word, MUTEX_FREE);
    else if (writer != MUTEX_FREE || readers == 0)
        weft__fatal("read-write lock \"%s\" is unlocked by a thread that does not hold it",
                    title_of(lock));
    else
        atomic_store_relaxed(&lock->readers, readers - 1);
    return writer == name;
}

static void unlock(struct weft__rwlock *lock, uintptr_t name)
{
    weft__lock_take(&lock->sync.lock);
    struct weft__waiter *waiters = let_in(lock, let_go(lock, name));
    weft__sync_rouse(waiters, 0);
    weft__lock_drop(&lock->sync.lock);
    weft__sync_let_go(waiters);
}

/* ---- What an actor holds ---- */

/* An actor that ends unlocks what it holds. Several actors may read, so that is not noted in the
 * lock. */
struct hold {
    struct weft__cleanup cleanup;
    struct weft__rwlock *lock;
    bool held;
};

static void end_hold(struct weft__cleanup *cleanup, weft *w)
{
    struct hold *hold = (struct hold *)cleanup;
    (void)w;
    if (hold->held) {
        struct weft__context *fiber = weft__fiber_here();
        weft__held_end(NULL, fiber);
        unlock(hold->lock, weft__held_name(NULL, fiber));
    }
    weft__free(hold);
}

/* NULL: the caller is no actor; or it ends already for lack of memory, and is not ended again. */
static struct hold *note(struct weft__rwlock *lock)
{
    struct weft__context *fiber = weft__fiber_here();
    struct hold *hold = fiber ? weft__alloc(sizeof *hold) : NULL;
    if (fiber && !hold)
        weft__hook_no_memory(fiber);
    if (!hold)
        return NULL;
    hold->lock = lock;
    hold->held = false;
    weft__cleanup_push(fiber->first, &hold->cleanup, end_hold);
    return hold;
}

static void forget(struct hold *hold)
{
    if (!hold)
        return;
    weft__cleanup_pop(weft__fiber_here()->first, &hold->cleanup);
    weft__free(hold);
}

static struct hold *find(const struct weft__rwlock *lock)
{
    struct weft__context *fiber = weft__fiber_here();
    struct weft__cleanup *cleanup = fiber ? fiber->cleanups : NULL;
    while (cleanup && (cleanup->run != end_hold || ((struct hold *)cleanup)->lock != lock))
        cleanup = cleanup->below;
    return (struct hold *)cleanup;
}

/* ---- Locking ---- */

/* No report knows of that, if the caller is no worker. */
static void expect_not_own(const struct weft__rwlock *lock, uintptr_t name)
{
    if (name & MUTEX_OUTSIDE && weft__owned_holder((const struct weft__owned *)lock) == name)
        weft__fatal("read-write lock \"%s\" is locked by the thread or actor that writes under it",
                    title_of(lock));
}

/* -EAGAIN: it would have to wait, and `waiter` is NULL. */
static int lock(struct weft__rwlock *lock, struct weft__worker *me, bool write,
                struct weft__waiter *waiter)
{
    uintptr_t name = weft__held_name(me, weft__held_fiber(me));
    weft__lock_take(&lock->sync.lock);
    weft__sync_used_by(&lock->sync, me);
    bool taken = take(lock, write, name);
    if (!taken && waiter) {
        if (!waiter->blocked.limit)
            expect_not_own(lock, name);
        waiter->worker = me;
        waiter->blocked.kind = write ? BLOCKED_WRITE : BLOCKED_READ;
        waiter->blocked.object = &lock->sync;
        waiter->withdrawn = withdrawn;
        waiter->item = (void *)name;
        return weft__sync_wait(&lock->sync, write ? &lock->writing : &lock->reading, waiter);
    }
    weft__lock_drop(&lock->sync.lock);
    return taken ? 0 : -EAGAIN;
}

static int lock_and_note(weft *w, weft_rwlock *public, bool write, struct weft__waiter *waiter,
                         const char *function)
{
    struct weft__rwlock *it = lock_of(public, function);
    struct weft__worker *me = weft__sync_caller(w);
    struct hold *hold = me ? NULL : note(it);
    int error = lock(it, me, write, waiter);
    if (error) {
        forget(hold);
        return error;
    }
    if (hold)
        hold->held = true;
    weft__held_begin(me, weft__held_fiber(me), w);
    return 0;
}

void weft_rwlock_lock_read(weft *w, weft_rwlock *lock)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__waiter waiter = {0};
    (void)lock_and_note(w, lock, false, &waiter, __func__);
}

void weft_rwlock_lock_write(weft *w, weft_rwlock *lock)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__waiter waiter = {0};
    (void)lock_and_note(w, lock, true, &waiter, __func__);
}

int weft_rwlock_lock_read_until(weft *w, weft_rwlock *lock, uint64_t when)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__waiter waiter = {0};
    weft__waiter_limit(&waiter, when);
    return lock_and_note(w, lock, false, &waiter, __func__);
}

int weft_rwlock_lock_write_until(weft *w, weft_rwlock *lock, uint64_t when)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__waiter waiter = {0};
    weft__waiter_limit(&waiter, when);
    return lock_and_note(w, lock, true, &waiter, __func__);
}

bool weft_rwlock_trylock_read(weft *w, weft_rwlock *lock)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    return lock_and_note(w, lock, false, NULL, __func__) == 0;
}

bool weft_rwlock_trylock_write(weft *w, weft_rwlock *lock)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    return lock_and_note(w, lock, true, NULL, __func__) == 0;
}

void weft_rwlock_unlock(weft *w, weft_rwlock *public)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__rwlock *lock = lock_of(public, __func__);
    struct weft__worker *me = weft__sync_caller(w);
    struct weft__context *fiber = weft__held_fiber(me);
    unlock(lock, weft__held_name(me, fiber));
    if (!me)
        forget(find(lock));
    weft__held_end(me, fiber);
}
