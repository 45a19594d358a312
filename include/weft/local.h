/* SPDX-License-Identifier: MIT */
/* weft/local.h: a value for each thread of a pool, beyond one loop.
 *
 * Buffers that are used again and again, random generators, counts of what was done: what a
 * weft_state is for one loop, a weft_local is for any number of jobs of one pool.
 *
 *     static const weft_state kind = {sizeof(struct counts), NULL, NULL};
 *     weft_local_init(&local, &kind, NULL);
 *     ...
 *     struct counts *counts = weft_local_get(w, &local);    // in any job; NULL: no memory
 *     counts->seen++;
 *     ...
 *     weft_local_visit(NULL, &local, add_up, &sum);         // when no job uses it any more
 *     weft_local_destroy(NULL, &local);
 *
 * The rule: the value is yours until the next call that may run other jobs, or move you. Those are
 * weft_merge() and weft_join(), loops and all that splits by itself, weft_scope_close(),
 * weft_yield(), every wait, and weft_run(); in an actor weft_fork() and weft_poll(), too. Until
 * then no other job reads or writes it. Afterwards another job may have used the value on the same
 * thread, on top of the job that waited: it is shared, and not kept for anybody. And an actor may
 * be on another thread: it has lost the value, and the old pointer is another thread's. So don't
 * keep the pointer: call weft_local_get() again, it is cheap. */
#ifndef WEFT_LOCAL_H
#define WEFT_LOCAL_H

#include "parallel.h" /* weft_state */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_local {
    WEFT_ALIGNAS(8) unsigned char opaque[296];
} weft_local;

/* Values are `kind->size` bytes of zeros, for which `make` is called when a thread gets one for the
 * first time. There is one for each worker, guest and spare; a guest that comes when another has
 * left gets the value of that one. So there are as many as threads were in the pool at a time, at
 * most. `kind` is copied. The pool is that of the first job that gets a value; a job of another
 * pool aborts. */
WEFT_API void weft_local_init(weft_local *local, const weft_state *kind, void *arg);

/* The value of the calling thread. NULL: there was no memory for it, and the computation has failed
 * with -ENOMEM. */
WEFT_API void *weft_local_get(weft *w, weft_local *local);

/* Calls `visit` for one value after the other; `w` is passed on, and is NULL outside jobs. No job
 * may use the values meanwhile, and what jobs did with them must be over: they were merged, or
 * waited for. */
typedef void weft_local_fn(weft *w, void *value, void *arg);
WEFT_API void weft_local_visit(weft *w, weft_local *local, weft_local_fn *visit, void *arg);

/* Calls `drop` for each value, in the same way, and frees it. The object is as after init. */
WEFT_API void weft_local_destroy(weft *w, weft_local *local);

#ifdef __cplusplus
}
#endif

#endif
