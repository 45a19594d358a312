/* SPDX-License-Identifier: MIT */
#include "sync/mutex.h"

#include "core/fiber.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "core/wait.h"
#include "os/fatal.h"
#include "os/trace.h"
#include "sync/held.h"

#include <errno.h>

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

static const char *title_of(const struct weft__mutex *mutex)
{
    return mutex->sync.name ? mutex->sync.name : "";
}

/* ---- The mutexes that a thread holds ---- */

/* The list of the mutexes that the caller holds; NULL: it is an outside thread, which has none. */
static struct weft__mutex **list_of(struct weft__worker *me, struct weft__context *fiber)
{
    if (me)
        return &weft__outermost(me)->held_mutexes;
    return fiber ? &fiber->held_mutexes : NULL;
}

static void note(struct weft__mutex *mutex, struct weft__worker *me, struct weft__context *fiber,
                 weft *w)
{
    struct weft__mutex **list = list_of(me, fiber);
    if (list) {
        mutex->next_held = *list;
        *list = mutex;
    }
    weft__held_begin(me, fiber, w);
}

static void forget(struct weft__mutex *mutex, struct weft__worker *me, struct weft__context *fiber)
{
    struct weft__mutex **link = list_of(me, fiber);
    while (link && *link && *link != mutex)
        link = &(*link)->next_held;
    if (link && *link)
        *link = mutex->next_held;
    weft__held_end(me, fiber);
}

/* A job further down on this thread's stack holds the mutex, and can't go on before the job on top.
 */
static bool is_own(const struct weft__mutex *mutex, struct weft__worker *me)
{
    const struct weft__mutex *held = me ? weft__outermost(me)->held_mutexes : NULL;
    while (held && held != mutex)
        held = held->next_held;
    return held != NULL;
}

/* ---- Taking ---- */

static uintptr_t holder_in(uintptr_t word)
{
    return word & ~(uintptr_t)MUTEX_FLAGS;
}

static uintptr_t holder_of(const struct weft__mutex *mutex)
{
    return weft__owned_holder((const struct weft__owned *)mutex);
}

/* Takes it also past an heir, unless it is kept for the heir. */
static bool take(struct weft__mutex *mutex, uintptr_t name)
{
    uintptr_t word = atomic_load_relaxed(&mutex->word); /* relaxed: the exchange decides */
    while (word == MUTEX_FREE || word == MUTEX_HEIR)
        if (atomic_cas_acquire(&mutex->word, &word, name | word)) { /* acquire W3 */
            if (word == MUTEX_FREE)
                return true;
            mutex->passed++;
            weft__stats_holder(mutex, name); /* others wait for it */
            return true;
        }
    return false;
}

/* The usual case: no thread holds it or waits for it. */
static bool take_free(struct weft__mutex *mutex, uintptr_t name)
{
    uintptr_t word = MUTEX_FREE;
    return atomic_cas_acquire(&mutex->word, &word, name); /* acquire W3 */
}

static bool spin(struct weft__mutex *mutex, struct weft__worker *me, uintptr_t name)
{
    if (is_own(mutex, me))
        return false; /* a deadlock, which weft__sync_wait() finds */
    bool taken = false;
    WEFT__TRACE(SPIN, (uintptr_t)mutex, 0);
    for (int i = 0; i < WEFT__MUTEX_SPINS && !(taken = take(mutex, name)); i++)
        weft__relax();
    WEFT__TRACE(SPIN_END, (uintptr_t)mutex, taken);
    return taken;
}

/* ---- Standing in line: under the lock ---- */

/* False: the caller has to wait. The holder sees LINE when it unlocks; or there is an heir, which
 * sets LINE. */
static bool take_or_queue(struct weft__mutex *mutex, uintptr_t name)
{
    uintptr_t word;
    do {
        if (take(mutex, name))
            return true;
        word = atomic_load_relaxed(&mutex->word); /* relaxed, both: flags are the lock's */
    } while (!(word & MUTEX_FLAGS) &&
             (word == MUTEX_FREE || !atomic_cas_relaxed(&mutex->word, &word, word | MUTEX_LINE)));
    return false;
}

/* By the heir. False: another thread has passed it. That thread will wake the heir again; or, if
 * the heir `leaves`, the next in line. */
static bool inherit_or_queue(struct weft__mutex *mutex, uintptr_t name, bool leaves)
{
    uintptr_t word = atomic_load_relaxed(&mutex->word), next; /* relaxed: the exchange decides */
    do {
        uintptr_t holder = holder_in(word);
        bool waiters = (holder != MUTEX_FREE && !leaves) || mutex->line.first;
        next = (holder ? holder : name) | (waiters ? MUTEX_LINE : 0);
    } while (!atomic_cas_acquire(&mutex->word, &word, next)); /* acquire W3, if it was free */
    if (holder_in(word) != MUTEX_FREE)
        return false;
    mutex->passed = 0; /* the next in line was not the first before, so it was not passed */
    if (mutex->line.first)
        weft__stats_holder(mutex, name);
    return true;
}

/* The heir has just been woken. It spins for a while, as other threads do, until the mutex is free.
 */
static void spin_as_heir(const struct weft__mutex *mutex)
{
    WEFT__TRACE(SPIN, (uintptr_t)mutex, 0);
    for (int i = 0; i < WEFT__MUTEX_SPINS && holder_of(mutex) != MUTEX_FREE; i++)
        weft__relax();
    WEFT__TRACE(SPIN_END, (uintptr_t)mutex, 0);
}

/* A waiter has left the line. If it was the last, the flag goes. The holder that unlocks has no
 * waiter to wake then, and may find that out only under the lock. */
static struct weft__waiter *line_withdrawn(struct weft__sync *sync)
{
    struct weft__mutex *mutex = (struct weft__mutex *)sync;
    uintptr_t word = atomic_load_relaxed(&mutex->word); /* relaxed, both: flags are the lock's */
    while (!mutex->line.first && word & MUTEX_LINE &&
           !atomic_cas_relaxed(&mutex->word, &word, word & ~(uintptr_t)MUTEX_LINE))
        ;
    return NULL;
}

/* The waiter was let go: it is the heir. 0: it has the mutex. -EAGAIN: it has to stand in line
 * again, and has the lock. Or it has reached its limit, and leaves. */
static int come_as_heir(struct weft__mutex *mutex, const struct weft__waiter *waiter,
                        uintptr_t name)
{
    uint64_t left;
    spin_as_heir(mutex);
    int reason = waiter->blocked.limit ? weft__limit_reached(&waiter->limit, &left) : 0;
    weft__lock_take(&mutex->sync.lock);
    bool taken = inherit_or_queue(mutex, name, reason != 0);
    if (!taken && !reason)
        return -EAGAIN;
    weft__lock_drop(&mutex->sync.lock);
    return taken ? 0 : reason;
}

static int wait(struct weft__mutex *mutex, struct weft__waiter *waiter, uintptr_t name)
{
    waiter->blocked.kind = BLOCKED_MUTEX;
    waiter->blocked.object = &mutex->sync;
    waiter->withdrawn = line_withdrawn;
    if (!waiter->blocked.limit && weft__mutex_is_of_fiber(name) &&
        holder_of(mutex) == name) /* no report knows it */
        weft__fatal(
            "weft_mutex_lock: mutex \"%s\" is held by the actor that locks it, or by one that "
            "was ended with it",
            title_of(mutex));
    weft__lock_take(&mutex->sync.lock);
    if (take_or_queue(mutex, name)) {
        weft__lock_drop(&mutex->sync.lock);
        return 0;
    }
    for (;; waiter->vain++) {
        int result = weft__sync_wait(&mutex->sync, &mutex->line, waiter);
        if (result == 0)
            result = come_as_heir(mutex, waiter, name);
        if (result != -EAGAIN)
            return result;
    }
}

void weft_mutex_lock(weft *w, weft_mutex *public)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__mutex *mutex = mutex_of(public, __func__);
    struct weft__worker *me = weft__sync_caller(w);
    struct weft__context *fiber = weft__held_fiber(me);
    uintptr_t name = weft__held_name(me, fiber);
    if (!take_free(mutex, name) && !spin(mutex, me, name)) {
        struct weft__waiter waiter = {.worker = me};
        (void)wait(mutex, &waiter, name);
    }
    note(mutex, me, fiber, w);
}

int weft_mutex_lock_until(weft *w, weft_mutex *public, uint64_t when)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__mutex *mutex = mutex_of(public, __func__);
    struct weft__worker *me = weft__sync_caller(w);
    struct weft__context *fiber = weft__held_fiber(me);
    uintptr_t name = weft__held_name(me, fiber);
    if (!take_free(mutex, name) && !spin(mutex, me, name)) {
        struct weft__waiter waiter = {.worker = me};
        weft__waiter_limit(&waiter, when);
        int error = wait(mutex, &waiter, name);
        if (error)
            return error;
    }
    note(mutex, me, fiber, w);
    return 0;
}

bool weft_mutex_trylock(weft *w, weft_mutex *public)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__mutex *mutex = mutex_of(public, __func__);
    struct weft__worker *me = weft__sync_caller(w);
    struct weft__context *fiber = weft__held_fiber(me);
    if (!take(mutex, weft__held_name(me, fiber)))
        return false;
    note(mutex, me, fiber, w);
    return true;
}

/* ---- Unlocking ---- */

/* A waiter is in line, or the heir was passed too often. False: the waiter has left the line. */
static bool hand_on(struct weft__mutex *mutex)
{
    struct weft__waiter *heir = NULL;
    weft__lock_take(&mutex->sync.lock);
    uintptr_t word = atomic_load_relaxed(&mutex->word); /* relaxed: flags are the lock's */
    bool keep = mutex->passed >= WEFT__MUTEX_PASSES;
    if (!(word & (MUTEX_LINE | MUTEX_HEIR))) {
        weft__lock_drop(&mutex->sync.lock);
        return false;
    }
    if (word & MUTEX_LINE) {
        heir = weft__line_pop(&mutex->line);
        keep |= heir->vain >= WEFT__MUTEX_VAIN;
        /* Before the mutex is free: else a report could say that no thread holds it. */
        weft__sync_rouse(heir, 0);
    }
    /* release W3. The mutex is not freed before the heir has had it, which needs the lock. */
    atomic_store_release(&mutex->word, keep ? MUTEX_HEIR | MUTEX_KEPT : MUTEX_HEIR);
    weft__lock_drop(&mutex->sync.lock);
    weft__sync_let_go(heir);
    return true;
}

static void unlock(struct weft__mutex *mutex)
{
    uintptr_t word;
    do {
        word = atomic_load_relaxed(&mutex->word); /* relaxed: its own name */
        while (!(word & MUTEX_LINE) && (!(word & MUTEX_HEIR) || mutex->passed < WEFT__MUTEX_PASSES))
            if (atomic_cas_release(&mutex->word, &word, word & MUTEX_HEIR)) /* release W3 */
                return; /* that was the last touch: the next holder may free the mutex */
    } while (!hand_on(mutex));
}

void weft_mutex_unlock(weft *w, weft_mutex *public)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    struct weft__mutex *mutex = mutex_of(public, __func__);
    struct weft__worker *me = weft__sync_caller(w);
    struct weft__context *fiber = weft__held_fiber(me);
    uintptr_t word = atomic_load_relaxed(&mutex->word); /* relaxed: its own name */
    if (holder_in(word) != weft__held_name(me, fiber))
        weft__fatal("mutex \"%s\" is unlocked by a thread that does not hold it", title_of(mutex));
    forget(mutex, me, fiber);
    unlock(mutex);
}

void weft__mutex_unlock_all(struct weft__context *fiber, unsigned but)
{
    while (fiber->mutexes > but) {
        struct weft__mutex *mutex = fiber->held_mutexes;
        forget(mutex, NULL, fiber);
        unlock(mutex);
    }
}
