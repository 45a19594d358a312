/* SPDX-License-Identifier: MIT */
/* weft/sync.h: mutexes, events, channels and so on that a pool knows of.
 *
 * A job may block in one of these, as it may between weft_block_begin() and weft_block_end(). While
 * it does, a spare worker takes its place. If no thread in the pool can go on, that is reported,
 * with what each thread waits for (weft_config.deadlock).
 *
 * All functions that take a context can be called by outside threads, too, with NULL.
 *
 * Functions whose names end in _until wait until weft_now() passes `when` at the latest, and also
 * end when the caller's computation, or one around it, has failed, was cancelled or has passed its
 * deadline. They return 0: the caller has what it wanted; -ETIMEDOUT; or -ECANCELED. What can be
 * had without waiting is had, however late it is. WEFT_FOREVER: there is no time limit. A wait that
 * ends by itself is no deadlock, and is not reported. */
#ifndef WEFT_SYNC_H
#define WEFT_SYNC_H

#include "../weft.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Mutex ------------------------------------------------------------------- */

/* Starts as zeros or by init. Waiters are woken one after the other, in the order in which they
 * came. A running thread may take the mutex before a waiter, but not for ever: the first waiter is
 * passed at most 1000 times, and is woken and finds it taken at most twice; then the mutex is given
 * to it. So the nth in line waits for at most 1001 n critical sections of others.
 *
 * While a job holds a mutex and waits, its thread runs only children of the scope that it waits
 * for: other jobs might want the same mutex. The same holds for a thread that locked one before it
 * came into the pool. */
typedef struct weft_mutex {
    WEFT_ALIGNAS(8) unsigned char opaque[64];
} weft_mutex;

/* clang-format off */
#define WEFT_MUTEX_INIT {{0}}
/* clang-format on */

WEFT_API void weft_mutex_init(weft_mutex *mutex, const char *name); /* for reports; or NULL */
WEFT_API void weft_mutex_lock(weft *w, weft_mutex *mutex);
WEFT_API WEFT_MUST_USE int weft_mutex_lock_until(weft *w, weft_mutex *mutex, uint64_t when);
WEFT_API WEFT_MUST_USE bool
weft_mutex_trylock(weft *w, weft_mutex *mutex);              /* true: the caller holds it now */
WEFT_API void weft_mutex_unlock(weft *w, weft_mutex *mutex); /* by the job that locked it */

/* ---- Read-write lock --------------------------------------------------------- */

/* Held by one writer, or by any number of readers. Starts as zeros or by init. Nobody starves: a
 * reader that has to wait is let in after the next writer at the latest, and a writer after those
 * writers that came before it, with one round of readers before each. So a reader must not lock it
 * again to read: if a writer waits, both wait for ever. What is said above of jobs that hold a
 * mutex goes for readers and writers. */
typedef struct weft_rwlock {
    WEFT_ALIGNAS(8) unsigned char opaque[96];
} weft_rwlock;

/* clang-format off */
#define WEFT_RWLOCK_INIT {{0}}
/* clang-format on */

WEFT_API void weft_rwlock_init(weft_rwlock *lock, const char *name);
WEFT_API void weft_rwlock_lock_read(weft *w, weft_rwlock *lock);
WEFT_API void weft_rwlock_lock_write(weft *w, weft_rwlock *lock);
WEFT_API WEFT_MUST_USE int weft_rwlock_lock_read_until(weft *w, weft_rwlock *lock, uint64_t when);
WEFT_API WEFT_MUST_USE int weft_rwlock_lock_write_until(weft *w, weft_rwlock *lock, uint64_t when);
WEFT_API WEFT_MUST_USE bool weft_rwlock_trylock_read(weft *w, weft_rwlock *lock);
WEFT_API WEFT_MUST_USE bool weft_rwlock_trylock_write(weft *w, weft_rwlock *lock);
WEFT_API void weft_rwlock_unlock(weft *w, weft_rwlock *lock); /* by the job that locked it */

/* ---- Semaphore --------------------------------------------------------------- */

/* A number of units. Starts as zeros, without a unit, or by init. Any thread may release units,
 * also one that has acquired none. Those that wait get them in the order in which they came. */
typedef struct weft_semaphore {
    WEFT_ALIGNAS(8) unsigned char opaque[64];
} weft_semaphore;

/* clang-format off */
#define WEFT_SEMAPHORE_INIT {{0}}
/* clang-format on */

WEFT_API void weft_semaphore_init(weft_semaphore *semaphore, const char *name, size_t count);
WEFT_API void weft_semaphore_acquire(weft *w, weft_semaphore *semaphore); /* one unit */
WEFT_API WEFT_MUST_USE int weft_semaphore_acquire_until(weft *w, weft_semaphore *semaphore,
                                                        uint64_t when);
WEFT_API WEFT_MUST_USE bool weft_semaphore_try_acquire(weft *w, weft_semaphore *semaphore);
WEFT_API void weft_semaphore_release(weft *w, weft_semaphore *semaphore, size_t n); /* n units */

/* ---- Condition --------------------------------------------------------------- */

/* For threads that wait until what a mutex protects has changed. Starts as zeros or by init. */
typedef struct weft_condition {
    WEFT_ALIGNAS(8) unsigned char opaque[64];
} weft_condition;

/* clang-format off */
#define WEFT_CONDITION_INIT {{0}}
/* clang-format on */

WEFT_API void weft_condition_init(weft_condition *condition, const char *name);

/* The caller holds the mutex. It is unlocked while the caller waits, and locked again before the
 * call returns, whatever it returns. A wait ends by a signal, and not for no reason; but another
 * thread may have the mutex first, so programs test in a loop what they wait for. */
WEFT_API void weft_condition_wait(weft *w, weft_condition *condition, weft_mutex *mutex);
WEFT_API WEFT_MUST_USE int weft_condition_wait_until(weft *w, weft_condition *condition,
                                                     weft_mutex *mutex, uint64_t when);
WEFT_API void weft_condition_signal(weft *w, weft_condition *condition);    /* the first in line */
WEFT_API void weft_condition_broadcast(weft *w, weft_condition *condition); /* all in line */

/* ---- Barrier ----------------------------------------------------------------- */

/* `count` threads or jobs wait for each other. Then it begins anew. A pool has to have as many
 * threads and spares (weft_config.spares) as jobs wait. */
typedef struct weft_barrier {
    WEFT_ALIGNAS(8) unsigned char opaque[64];
} weft_barrier;

WEFT_API void weft_barrier_init(weft_barrier *barrier, const char *name, unsigned count);

/* True in the one that came last. A caller whose limit is reached is not counted. */
WEFT_API bool weft_barrier_wait(weft *w, weft_barrier *barrier);
WEFT_API WEFT_MUST_USE int weft_barrier_wait_until(weft *w, weft_barrier *barrier, uint64_t when);

/* ---- Once -------------------------------------------------------------------- */

/* Something to be done once. Starts as zeros or by init. */
typedef struct weft_once {
    WEFT_ALIGNAS(8) unsigned char opaque[64];
} weft_once;

/* clang-format off */
#define WEFT_ONCE_INIT {{0}}
/* clang-format on */

WEFT_API void weft_once_init(weft_once *once, const char *name);

/* Calls fn(w, arg), or waits until the thread that does so has returned from it. All that it did is
 * visible then. `when`: for waiting. If an actor ends in fn, past its memory or its stack, the next
 * caller calls it. fn must not wait for what calls the same once. */
WEFT_API void weft_once_call(weft *w, weft_once *once, weft_fn *fn, void *arg);
WEFT_API WEFT_MUST_USE int weft_once_call_until(weft *w, weft_once *once, weft_fn *fn, void *arg,
                                                uint64_t when);
WEFT_API bool weft_once_is_done(const weft_once *once);

/* ---- Event ------------------------------------------------------------------- */

/* Something that has happened or not. Starts as zeros, not set, or by init. */
typedef struct weft_event {
    WEFT_ALIGNAS(8) unsigned char opaque[64];
} weft_event;

/* clang-format off */
#define WEFT_EVENT_INIT {{0}}
/* clang-format on */

WEFT_API void weft_event_init(weft_event *event, const char *name);
WEFT_API void weft_event_wait(weft *w, weft_event *event); /* until it is set */
WEFT_API WEFT_MUST_USE int weft_event_wait_until(weft *w, weft_event *event, uint64_t when);
WEFT_API void weft_event_set(weft *w, weft_event *event); /* all waiters go on */
WEFT_API void weft_event_reset(weft *w, weft_event *event);
WEFT_API bool weft_event_is_set(const weft_event *event);

/* ---- Channel ----------------------------------------------------------------- */

/* Items of one size, first in, first out, at most `capacity` of them waiting; 0: a sender
 * waits for its receiver; WEFT_UNLIMITED: a sender never waits, and gets -ENOMEM if there is no
 * memory for its item. */
typedef struct weft_channel {
    WEFT_ALIGNAS(8) unsigned char opaque[128];
} weft_channel;

#define WEFT_UNLIMITED SIZE_MAX

/* -EINVAL: no item size, or too large; -ENOMEM. */
WEFT_API WEFT_MUST_USE int weft_channel_init(weft_channel *channel, const char *name,
                                             size_t item_size, size_t capacity);
WEFT_API void weft_channel_destroy(weft_channel *channel); /* when no thread uses it any more */

/* Both copy one item. -EINVAL: no channel or no item, or the channel is destroyed. -EPIPE: it is
 * closed; for receivers: closed, and all that was sent has been received. The try kinds return
 * -EAGAIN instead of waiting. */
WEFT_API WEFT_MUST_USE int weft_channel_send(weft *w, weft_channel *channel, const void *item);
WEFT_API WEFT_MUST_USE int weft_channel_receive(weft *w, weft_channel *channel, void *item);
WEFT_API WEFT_MUST_USE int weft_channel_try_send(weft *w, weft_channel *channel, const void *item);
WEFT_API WEFT_MUST_USE int weft_channel_try_receive(weft *w, weft_channel *channel, void *item);

WEFT_API WEFT_MUST_USE int weft_channel_send_until(weft *w, weft_channel *channel, const void *item,
                                                   uint64_t when);
WEFT_API WEFT_MUST_USE int weft_channel_receive_until(weft *w, weft_channel *channel, void *item,
                                                      uint64_t when);

/* Sends fail from now on; senders that wait get -EPIPE. To close it again does nothing. */
WEFT_API void weft_channel_close(weft *w, weft_channel *channel);

/* One of several things that weft_select() may do. */
typedef struct weft_case {
    weft_channel *channel; /* NULL: this case is left out */
    bool send;             /* or receive */
    void *item;            /* what is sent, or where to put what is received */
    int result;            /* of the case that was chosen: 0, -EPIPE or -ENOMEM */
    WEFT_ALIGNAS(8) unsigned char opaque[192]; /* the library's, during the call */
} weft_case;

/* Sends or receives in one of n cases: the first that can, and if there are several, any of them,
 * so that none is always passed over. Waits until `when`, as functions with _until do; 0: it does
 * not wait. A closed channel is ready: that case has the result -EPIPE. The same channel may be in
 * several cases. Returns the number of the case; or -EINVAL: no case has a channel, or one has no
 * item, or its channel is destroyed; -ETIMEDOUT; -ECANCELED. For a few channels: it takes the locks
 * of all. */
WEFT_API WEFT_MUST_USE int weft_select(weft *w, weft_case *cases, size_t n, uint64_t when);

/* ---- Outside ----------------------------------------------------------------- */

/* Says that threads outside the pool use the object, too: a job that waits for it may be woken by
 * one of them, and is not reported. The object learns it by itself when such a thread uses it; call
 * this before, if jobs may wait earlier than that. */
WEFT_API void weft_event_from_outside(weft_event *event);
WEFT_API void weft_channel_from_outside(weft_channel *channel);
WEFT_API void weft_semaphore_from_outside(weft_semaphore *semaphore);
WEFT_API void weft_condition_from_outside(weft_condition *condition);
WEFT_API void weft_barrier_from_outside(weft_barrier *barrier);

#ifdef __cplusplus
}
#endif

#endif
