/* SPDX-License-Identifier: MIT */
/* weft/sync.h: mutexes, events and channels that a pool knows of.
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
 * waits for its receiver. */
typedef struct weft_channel {
    WEFT_ALIGNAS(8) unsigned char opaque[128];
} weft_channel;

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

/* ---- Outside ----------------------------------------------------------------- */

/* Says that threads outside the pool use the object, too: a job that waits for it may be woken by
 * one of them, and is not reported. The object learns it by itself when such a thread uses it; call
 * this before, if jobs may wait earlier than that. */
WEFT_API void weft_event_from_outside(weft_event *event);
WEFT_API void weft_channel_from_outside(weft_channel *channel);

#ifdef __cplusplus
}
#endif

#endif
