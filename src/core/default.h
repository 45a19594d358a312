/* SPDX-License-Identifier: MIT */
/* default.h: the pool that is used where a program names none.
 *
 * A thread that knows its address may try to enter it after another thread has destroyed it. So its
 * memory is never freed, only used again for the next default pool. In both cases `pending` says
 * whether a thread may enter, and a thread reads nothing else before.
 *
 * If the system lets it have fewer threads than it should have, it has fewer workers. Without any
 * thread it has one worker, which never comes: guests do all the work of weft_run(), as they would
 * beside busy workers. What only a worker can do, for callers that do not wait or for all workers,
 * is refused with -EAGAIN: submitted tasks, detached jobs, broadcasts, timers, actors. */
#ifndef WEFT_CORE_DEFAULT_H
#define WEFT_CORE_DEFAULT_H

struct weft_pool;

/* weft__pool_enter() for the default pool, if there is one; NULL: none. */
struct weft_pool *weft__pool_enter_default(void);

/* The pool is being destroyed: the next thread that asks for the default pool gets another
 * one. */
void weft__default_forget(struct weft_pool *pool);

/* Keeps the memory of a default pool that was destroyed. */
void weft__default_release(struct weft_pool *pool);

/* In a forked child: locks may be held by threads that do not exist there, and the parent's default
 * pool has no workers. Its memory is not used again. */
void weft__default_forked(void);

#endif
