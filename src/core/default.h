/* SPDX-License-Identifier: MIT */
/* default.h: the pool that is used where a program names none.
 *
 * A thread that uses it knows its address, and may come to it when another thread has destroyed it.
 * So its memory is never freed, only used for the next default pool: there, too, `pending` says
 * whether a thread may come in, and nothing else is looked at before. */
#ifndef WEFT_CORE_DEFAULT_H
#define WEFT_CORE_DEFAULT_H

struct weft_pool;

/* weft__pool_enter() for the default pool, if there is one; NULL: none. */
struct weft_pool *weft__pool_enter_default(void);

/* The pool is being destroyed: the next thread that asks for the default pool gets another
 * one. */
void weft__default_forget(struct weft_pool *pool);

/* Keeps the memory of one that is gone. */
void weft__default_release(struct weft_pool *pool);

/* In a forked child: locks may be held by threads that are not here, and the parent's default pool
 * has no workers. What it occupied is left alone. */
void weft__default_forked(void);

#endif
