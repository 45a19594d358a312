/* SPDX-License-Identifier: MIT */
#include "sync/mutex.h"

#include "core/fatal.h"
#include "core/fiber.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "core/wait.h"

#ifndef WEFT__MUTEX_SPINS
#define WEFT__MUTEX_SPINS 100 /* sections are often short */
#endif

static struct weft__mutex *mutex_of(weft_mutex *mutex, const char *function)
{
    if (!mutex)
        weft__fatal("%s needs a mutex", function);
    return (struct weft__mutex *)(void *)mutex;
}

void weft_mutex_init(weft_mutex *mutex, const char *name)
{
    *mutex_of(mutex, __func__) = (struct weft__mutex){.sync.name = name};
}

/* An actor takes no other work on top while it holds one. */
static void note_of_fiber(int change)
{
    struct weft__context *fiber = weft__fiber_here();
    if (fiber)
        fiber->mutexes += (unsigned)change;
}

/* The thread's list of those it holds makes its waits careful; see worker.h. */
static void note(struct weft__mutex *mutex, struct weft__worker *me, weft *w)
{
    if (!me) {
        note_of_fiber(1);
        return;
    }
    struct weft__worker *root = weft__root_of(me);
    mutex->next_held = root->held;
    root->held = mutex;
    if (weft__careful_begin(me, w ? w : me->context->first))
        me->careful_by_lock = true;
}

static void forget(struct weft__mutex *mutex, struct weft__worker *me)
{
    struct weft__worker *root = weft__root_of(me);
    struct weft__mutex **link = &root->held;
    while (*link && *link != mutex)
        link = &(*link)->next_held;
    if (*link)
        *link = mutex->next_held;
    if (!root->held && me->careful_by_lock) {
        me->careful_by_lock = false;
        weft__careful_end(me);
    }
}

/* Under the lock. */
static bool take(struct weft__mutex *mutex, struct weft__worker *me)
{
    weft__sync_used_by(&mutex->sync, me);
    if (atomic_load_relaxed(&mutex->held)) /* relaxed, as its writes: the lock */
        return false;
    atomic_store_relaxed(&mutex->held, true);
    atomic_store_relaxed(&mutex->holder, me);
    if (!me)
        mutex->fiber = weft__fiber_here();
    return true;
}

static bool try(struct weft__mutex *mutex, struct weft__worker *me)
{
    weft__lock_take(&mutex->sync.lock);
    bool taken = take(mutex, me);
    weft__lock_drop(&mutex->sync.lock);
    return taken;
}

static bool is_own(struct weft__mutex *mutex, struct weft__worker *me)
{
    weft__lock_take(&mutex->sync.lock);
    /* Some job below on this thread's stack holds it, and can't go on before this one does. */
    struct weft__worker *holder = weft__mutex_holder(mutex);
    bool own = atomic_load_relaxed(&mutex->held) && me && holder &&
               weft__root_of(holder) == weft__root_of(me);
    weft__lock_drop(&mutex->sync.lock);
    return own;
}

static bool spin(struct weft__mutex *mutex, struct weft__worker *me)
{
    if (is_own(mutex, me))
        return false; /* a deadlock: straight to where it is found */
    for (int i = 0; i < WEFT__MUTEX_SPINS; i++) {
        weft__relax();
        if (!atomic_load_relaxed(&mutex->held) && try(mutex, me)) /* relaxed: a hint */
            return true;
    }
    return false;
}

/* Under the lock: by the one that calls, or the actor that does? Of threads outside nobody knows.
 */
static bool holds(struct weft__mutex *mutex, struct weft__worker *me)
{
    return atomic_load_relaxed(&mutex->held) &&
           weft__mutex_holder(mutex) == me && /* relaxed: lock */
           (me || mutex->fiber == weft__fiber_here());
}

static const char *name_of(const struct weft__mutex *mutex)
{
    return mutex->sync.name ? mutex->sync.name : "";
}

/* Stands in line; unlock hands the mutex over. */
static void wait(struct weft__mutex *mutex, struct weft__worker *me)
{
    weft__lock_take(&mutex->sync.lock);
    if (take(mutex, me)) {
        weft__lock_drop(&mutex->sync.lock);
        return;
    }
    if (!me && weft__fiber_here() && holds(mutex, NULL)) /* no report knows of actors */
        weft__fatal(
            "weft_mutex_lock: mutex \"%s\" is held by the actor that locks it, or by one that "
            "was ended with it",
            name_of(mutex));
    struct weft__waiter waiter = {
        .worker = me,
        .blocked = {BLOCKED_MUTEX, &mutex->sync},
    };
    weft__sync_wait(&mutex->sync, &mutex->line, &waiter);
}

void weft_mutex_lock(weft *w, weft_mutex *public)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__mutex *mutex = mutex_of(public, __func__);
    struct weft__worker *me = weft__sync_caller(w);
    if (!try(mutex, me) && !spin(mutex, me))
        wait(mutex, me);
    note(mutex, me, w);
}

bool weft_mutex_trylock(weft *w, weft_mutex *public)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__mutex *mutex = mutex_of(public, __func__);
    struct weft__worker *me = weft__sync_caller(w);
    if (!try(mutex, me))
        return false;
    note(mutex, me, w);
    return true;
}

void weft_mutex_unlock(weft *w, weft_mutex *public)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__mutex *mutex = mutex_of(public, __func__);
    struct weft__worker *me = weft__sync_caller(w);
    weft__lock_take(&mutex->sync.lock);
    if (!holds(mutex, me))
        weft__fatal("mutex \"%s\" is unlocked by a thread that does not hold it", name_of(mutex));
    if (me)
        forget(mutex, me);
    else
        note_of_fiber(-1);
    struct weft__waiter *next = weft__line_pop(&mutex->line);
    /* Before it is the holder: a report would say that it waits for what it holds. */
    weft__sync_rouse(next, 0);
    atomic_store_relaxed(&mutex->holder, next ? next->worker : NULL);
    if (next && !next->worker)
        mutex->fiber = next->fiber;
    if (!next)
        atomic_store_relaxed(&mutex->held, false);
    weft__lock_drop(&mutex->sync.lock);
    weft__sync_let_go(next);
}
