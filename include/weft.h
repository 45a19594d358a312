/* SPDX-License-Identifier: MIT */
/* weft.h: fork-join parallelism for C.
 *
 * A pool has worker threads. weft_run() makes the calling thread a guest of the pool
 * and runs a job. The job forks, and idle workers take what was forked. Every function
 * that runs inside a pool gets its context, `weft *w`, and passes it on.
 *
 *     typedef struct weft weft;                    the context: passed along, never stored
 *     typedef struct weft_pool weft_pool;
 *     typedef void weft_fn(weft *w, void *arg);
 *
 * This header has fork-join and pools. Loops, sorting, locks, actors and so on have headers of
 * their own, and weft/all.h has all of them.
 *
 * Functions that can fail return 0 or a negative errno value; weft_strerror() says what it means.
 * A NULL pool means the default pool, in every function that takes a pool but
 * weft_pool_destroy(): there it is -EINVAL, so that code that cleans up does not destroy the
 * default pool by mistake. A broken rule ends the process, with one line on standard error that
 * says which rule: weft_mistakes(7) has a list.
 */
#ifndef WEFT_H
#define WEFT_H

#include "weft/base.h"
#include "weft/config.h" /* weft_config, and what stands in it */
#include "weft/info.h"   /* weft_pool_get_info(), weft_worker_get_info(), weft_pool_dump() */

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 2
#define WEFT_VERSION_PATCH 0
/* As one number, to be compared: 200 is 0.2.0. */
#define WEFT_VERSION (WEFT_VERSION_MAJOR * 10000 + WEFT_VERSION_MINOR * 100 + WEFT_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is linked: "0.2.0", and as WEFT_VERSION. */
WEFT_API const char *weft_version(void);
WEFT_API unsigned weft_version_number(void);

/* For bindings to other languages: sizeof and _Alignof of a type of the public headers, by its
 * name, such as "weft_task". 0: there is no such type, or programs only use pointers to it. */
WEFT_API size_t weft_sizeof(const char *type);
WEFT_API size_t weft_alignof(const char *type);

/* What a value means that a function of the library returned. For other values: strerror(3),
 * whatever the sign. */
WEFT_API const char *weft_strerror(int error);

/* ---- Pools ------------------------------------------------------------------- */

/* -EINVAL: a value out of range, or a config that does not start as WEFT_CONFIG_INIT; -ENOTSUP: a
 * field this release does not have; -EBUSY: WEFT_USE_CALLER on a thread that is in a pool already;
 * -ENOMEM; or the error of starting a thread. On failure nothing remains. */
WEFT_API WEFT_MUST_USE int weft_pool_create(weft_pool **pool, const weft_config *config);

/* Finishes everything that was submitted, stops timers (weft/timer.h), kills actors that are not
 * over (weft/actor.h), then joins the workers. -EDEADLK: called from inside a job of this pool;
 * -EPERM: made with WEFT_USE_CALLER by another thread; -ESHUTDOWN: another thread is destroying it
 * already; -ECHILD: as weft_run().
 */
WEFT_API int weft_pool_destroy(weft_pool *pool);

/* The default pool is made on first use, with default values; NULL if that fails. It may be
 * destroyed like any other, also while other threads use it as NULL: a use that has begun is
 * finished, the next use makes a new pool. A forked child gets a default pool of its own. If the
 * system does not let the process have enough threads, it has fewer workers; without any thread,
 * those who call weft_run() do all the work (weft_pool_info.threads is 0), and what needs a worker
 * returns -EAGAIN at once: weft_submit(), weft_spawn_detached(), weft_broadcast(), timers and
 * actors. */
WEFT_API weft_pool *weft_pool_default(void);

WEFT_API unsigned weft_pool_workers(const weft_pool *pool); /* 0: there is no default pool */

/* Runs fn(w, arg) and returns what it failed with, or 0.
 * The caller becomes a guest of the pool and runs the job itself while workers help. A guest takes
 * the place of a worker: no more threads compute than the pool has workers, or guests if these are
 * more. (A worker that is in the middle of a job when a guest comes ends that job first.)
 * While a guest waits, it runs parts of its own job only (see WEFT_GUESTS_HELP). A worker of the
 * same pool runs the job directly.
 * -EINVAL: no function; -ESHUTDOWN: the pool is being destroyed; -ENOMEM; -ECHILD: this
 * process was forked after the pool was made. */
WEFT_API WEFT_MUST_USE WEFT_INLINE_ int weft_run(weft_pool *pool, weft_fn *fn, void *arg);

/* A task is memory of the caller and must stay where it is until weft_task_wait() has
 * returned. Its contents belong to the library. */
typedef struct weft_task {
    WEFT_ALIGNAS(8) unsigned char opaque[192];
} weft_task;

/* Queues fn(w, arg) for any worker. Errors as of weft_run(); -EBUSY: this task is pending. */
WEFT_API WEFT_MUST_USE WEFT_INLINE_ int weft_submit(weft_pool *pool, weft_task *task, weft_fn *fn,
                                                    void *arg);

/* Waits until the task is over and returns what it failed with, or 0. A caller that
 * comes before any worker runs the task itself (unless WEFT_NO_GUESTS); a worker runs
 * other jobs meanwhile. Any number of outside threads may wait, and one job: a second
 * job gets -EBUSY. From a job, wait only for tasks that the job itself submitted. -EINVAL: a task
 * that is zero, and was never submitted; -EDEADLK: the caller is part of the task. */
WEFT_API WEFT_MUST_USE int weft_task_wait(weft_task *task);

WEFT_API bool weft_task_done(const weft_task *task);

/* An eventfd that becomes readable when the task is over, for poll, epoll, libuv and
 * io_uring. It belongs to the task: weft_task_wait() closes it. Or a negative errno. */
WEFT_API WEFT_MUST_USE int weft_task_fd(weft_task *task);

/* Runs fn(w, arg) once on each worker. weft_broadcast() returns when all calls are over,
 * weft_broadcast_detached() at once. Inside fn, weft_worker_index() tells which worker it is. */
WEFT_API WEFT_MUST_USE WEFT_INLINE_ int weft_broadcast(weft_pool *pool, weft_fn *fn, void *arg);
WEFT_API WEFT_MUST_USE WEFT_INLINE_ int weft_broadcast_detached(weft_pool *pool, weft_fn *fn,
                                                                void *arg);

/* ---- Fork and join ----------------------------------------------------------- */

/* The primitive. The left side runs in the context that fork returns; merge, fork's
 * mirror, is called with fork's own `w`:
 *
 *     weft *in = weft_fork(w, right_fn, &right);
 *     left = compute(in, ...);
 *     if (!weft_merge(w))
 *         right.result = compute(w, ...);
 *
 * weft_merge() returns true if the right side is done, false if no thread took it and the
 * caller should run it now, in w. Once the computation has failed or was cancelled, a
 * right side that has not started is skipped: merge returns true, and the right side has
 * written nothing. */
WEFT_API WEFT_INLINE_ weft *weft_fork(weft *w, weft_fn *right, void *arg);
WEFT_API WEFT_MUST_USE WEFT_INLINE_ bool weft_merge(weft *w);

/* In place of weft_merge(), if the right side is not wanted any more. A right side that no thread
 * has begun is never run. One that a thread has begun is cancelled, and waited for: there, and in
 * all that it has forked, weft_cancelled() is true. The computation around goes on. */
WEFT_API void weft_fork_cancel(weft *w);

/* The way back: the context that was given to the weft_fork() that returned `w`. For any number of
 * forks in a row, merged in reverse. 32,000 pending forks of a thread, and 7,500 of an actor, can
 * be taken by others; those beyond run in place.
 *
 *     for (size_t i = 0; i < n; i++)
 *         w = weft_fork(w, child, &children[i]);
 *     for (size_t i = n; i-- > 0;) {
 *         w = weft_outer(w);
 *         if (!weft_merge(w))
 *             child(w, &children[i]);
 *     } */
WEFT_API WEFT_MUST_USE WEFT_INLINE_ weft *weft_outer(weft *w);

/* Runs left(w', l) and right(w'', r), perhaps at the same time; returns when both are over.
 * The left side always runs. C++ has a weft_join() of its own, through which exceptions pass, and
 * guards: see weft/guards.hpp. */
#ifndef WEFT_THROWS_
WEFT_API WEFT_INLINE_ void weft_join(weft *w, weft_fn *left, void *l, weft_fn *right, void *r);
#endif

/* Typed forks. WEFT_FORKABLE makes a function that takes a context and arguments of any
 * types forkable: its result type, its name, its arguments as members `a->...`, and the call.
 * WEFT_FORK declares a fork of it and its left side's context, and WEFT_MERGE is its result:
 *
 *     long fib(weft *w, long n);
 *     WEFT_FORKABLE(long, fib, long n;, fib(w, a->n))
 *
 *     WEFT_FORK(w, fib, right, n - 2);
 *     long left = fib(right_in, n - 1);
 *     return left + WEFT_MERGE(w, fib, right);
 *
 * WEFT_FORK_IN(w, function, arguments...) forks it with the arguments in the context itself, 32
 * bytes at most, and is the inner context. WEFT_MERGE_IN(w, function), with the outer context, is
 * its result, which was left there, too. Both are expressions, for any number of children:
 *
 *     for (int i = 0; i < n; i++)
 *         w = WEFT_FORK_IN(w, search, board, i);
 *     for (int i = 0; i < n; i++) {
 *         w = weft_outer(w);
 *         found += WEFT_MERGE_IN(w, search);
 *     }
 *
 * Where WEFT_DEBUG is 1, as it is in unoptimised programs, wrong forks and merges are found at
 * once, and the message names the line. */

/* ---- Scopes ------------------------------------------------------------------ */

/* A scope waits for any number of children. It lives in the frame of the job that opens
 * it; children, and children of children, may spawn into it until it is closed. */
typedef struct weft_scope {
    WEFT_ALIGNAS(8) unsigned char opaque[192];
} weft_scope;

WEFT_API void weft_scope_open(weft *w, weft_scope *scope);

/* Cancels the scope with -ETIMEDOUT once weft_now() passes `when`. Call it after open. */
WEFT_API void weft_scope_deadline(weft_scope *scope, uint64_t when);

/* At most `width` children of the scope run at a time, the one that runs in weft_scope_close()
 * among them; 0: any number. Call it after open, before the first spawn. Children begin first in,
 * first out, whatever spawned them; one that waits or blocks keeps its place. If it is 1, they run
 * one after the other, and each sees what the ones before it did. What a child forks, or spawns
 * into other scopes, is not limited. */
WEFT_API void weft_scope_width(weft_scope *scope, unsigned width);

/* Runs fn(w, arg) sometime before the scope closes. A worker runs its own spawned jobs
 * last in, first out; the _fifo kind first in, first out. -EINVAL, -ENOMEM, or -ECHILD in a
 * forked child: not spawned. To spawn into a closed scope is a broken rule. */
WEFT_API WEFT_MUST_USE int weft_spawn(weft *w, weft_scope *scope, weft_fn *fn, void *arg);
WEFT_API WEFT_MUST_USE int weft_spawn_fifo(weft *w, weft_scope *scope, weft_fn *fn, void *arg);

/* The same as weft_spawn(), for arguments that the child alone owns. _copy: the child gets a
 * pointer to a copy of the `size` bytes at `arg`, aligned as by malloc(), which is there until the
 * child returns; up to 48 bytes need no memory of their own. If the child is skipped because the
 * scope was cancelled, drop(w, arg) is called in its place, once, with the same pointer; in _copy,
 * `drop` may be NULL. It runs where the child would have run: in any worker or guest, before the
 * scope closes (of an actor: in the actor itself, at the close, or when the actor ends). It may
 * free, close and unlock what the child was given; it must not spawn, fork, wait or fail. If
 * these functions fail, neither is called. */
WEFT_API WEFT_MUST_USE int weft_spawn_copy(weft *w, weft_scope *scope, weft_fn *fn, const void *arg,
                                           size_t size, weft_fn *drop);
WEFT_API WEFT_MUST_USE int weft_spawn_drop(weft *w, weft_scope *scope, weft_fn *fn, void *arg,
                                           weft_fn *drop);

/* Only weft_pool_destroy() waits for it. */
WEFT_API WEFT_MUST_USE int weft_spawn_detached(weft *w, weft_fn *fn, void *arg);

/* Waits for all children; returns the first failure, -ETIMEDOUT, -ECANCELED or 0. Called with
 * the context that opened the scope. */
WEFT_API WEFT_MUST_USE int weft_scope_close(weft *w, weft_scope *scope);

/* ---- Failure and cancellation ------------------------------------------------ */

/* The job has failed with `code`, not 0, usually a negative errno value. The first
 * failure in a scope, a run or a task cancels the rest of it: children that have not
 * started never will, and weft_cancelled() is true in children that run. weft_scope_close(),
 * weft_run() or weft_task_wait() returns the code; computations around it do not fail. */
WEFT_API void weft_fail(weft *w, int code);

/* Has this computation, or one around it, failed or passed its deadline? For long loops. */
WEFT_API bool weft_cancelled(weft *w);

/* ---- Where am I -------------------------------------------------------------- */

WEFT_API weft *weft_here(void); /* NULL outside a worker or guest */
WEFT_API weft_pool *weft_pool_of(weft *w);

/* Workers have 0 to weft_pool_workers() - 1; guests and spares have the smallest free numbers
 * from there on, so k of them at once stay below weft_pool_workers() + k. */
WEFT_API unsigned weft_worker_index(weft *w);

/* Runs one other job, if there is any; true if it did. */
WEFT_API bool weft_yield(weft *w);

/* Does this worker have forks or spawned jobs that no thread has taken yet? */
WEFT_API bool weft_has_pending(weft *w);

WEFT_API uint64_t weft_now(void); /* monotonic, in nanoseconds */

/* ---- Blocking code ----------------------------------------------------------- */

/* Around code that blocks: reads, writes, other libraries' locks. A spare worker takes the place of
 * the blocked thread. May be nested. weft does not know what ends the wait, so this alone is never
 * reported as a deadlock, unless the pool has a deadlock handler of its own. If a job of the same
 * pool ends the wait, that job should call weft_block_end(w), with the w of the blocked job and in
 * its place, before it ends the wait; if it ends several waits, for all of them before the first.
 * `w` is NULL in a thread outside. */
WEFT_API void weft_block_begin(weft *w);
WEFT_API void weft_block_end(weft *w);

#ifdef __cplusplus
}
#endif

#include "weft/inline.h" /* how a fork is made, for compilers */

#ifdef __cplusplus
#include "weft/guards.hpp" /* weft::fork_guard, weft::scope_guard */
#endif

#endif
