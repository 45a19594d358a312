/* SPDX-License-Identifier: MIT */
/* default.h: the pool that is used where a program names none.
 *
 * A thread that knows its address may try to enter it after another thread has destroyed it. So its
 * memory is never freed, only used again for the next default pool. In both cases `pending` says
 * whether a thread may enter, and a thread reads nothing else before. */
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
