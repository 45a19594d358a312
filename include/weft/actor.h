/* SPDX-License-Identifier: MIT */
/* weft/actor.h: many parallel computations that share a pool fairly.
 *
 * An actor is an independent computation: it may fork freely, gets its fair share of the
 * workers by turns, is served by at most `cabal_max` of them at once, may use at most `memory`
 * bytes, and fails alone. Blocking (for a message, a weft_mutex, a channel, an
 * event, a time) suspends the actor, not the worker.
 *
 *     static int request(weft *w, void *arg)
 *     {
 *         struct page *page = weft_alloc(w, sizeof *page);
 *         render(w, page);                  // forks, weft_for, ...
 *         return 0;
 *     }
 *
 *     weft_actor *actor;
 *     int error = weft_actor_create(&actor, NULL, request, arg, NULL);
 *     if (error)
 *         return error;
 *     weft_actor_run(actor);
 *     int reason = weft_actor_wait(NULL, actor);
 *     weft_actor_release(actor);
 *
 * weft_run() in another pool, and weft_submit() with weft_task_wait(), are waits as well: nothing
 * is run by the actor itself. weft_run() in its own pool is a call. Between weft_block_begin() and
 * weft_block_end() the thread is the actor's own: it may fork and poll there, but not wait for
 * anything of weft's, and only the actor itself may end it; its executor goes on with a thread that
 * is called in (see weft_config.spares).
 *
 * A worker of the pool that runs actors is called an executor here. An actor may go on on another
 * one whenever it forks, merges, polls or blocks: no address of a thread-local variable stays
 * right across these.
 *
 * Functions that can fail return 0 or a negative errno value. */
#ifndef WEFT_ACTOR_H
#define WEFT_ACTOR_H

#include "../weft.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_actor weft_actor;
typedef int weft_actor_fn(weft *w, void *arg);

/* How the work of an actor is spread. What an actor forks is given to other executors only if it
 * has been pending for a whole turn, and only at the end of one. */
enum weft_steal {
    WEFT_STEAL_DEFAULT,
    WEFT_STEAL_STRICT, /* who was stolen from waits until all of it is done: what it had given
                          away sees it at rest */
    WEFT_STEAL_LIVE,   /* the default: it goes on, and waits where it needs the result */
};

/* Starts as WEFT_ACTOR_CONFIG_INIT; zero means the default everywhere.
 *
 * `drop` and `supervisor` are called in this order before anybody learns that the actor is over: by
 * a worker, between two actors, or, if it had not started, by the thread that kills it, releases it
 * or destroys its pool. They may make, run and kill actors and send without waiting; they must not
 * wait: actors of the same executor don't run meanwhile. */
typedef struct weft_actor_config {
    size_t size;        /* set by WEFT_ACTOR_CONFIG_INIT */
    const char *name;   /* for people; copied, 31 characters; default "actor" */
    size_t memory;      /* bytes that it may use, its stack of WEFT_ACTOR_STACK and its mailbox
                           included, as if one executor did everything; default 64 MiB */
    unsigned cabal_max; /* executors at once; default: all */
    unsigned share;     /* turns in a row, 1 to 100; default 1 */
    enum weft_steal steal;
    int pin;        /* stay on executor pin - 1; default: on any */
    size_t mailbox; /* messages that wait for it at most; default 16, those above are counted as
                       8 bytes of `memory` each, whether they come or not */
    void (*drop)(void *message, void *data);                  /* gets what it did not receive */
    void (*supervisor)(weft_actor *, int reason, void *data); /* called once, when it is over */
    void *data;
} weft_actor_config;

#define WEFT_ACTOR_CONFIG_INIT WEFT_SIZED_(weft_actor_config)

#define WEFT_ACTOR_STACK ((size_t)4 << 20)

/* NULL pool: the default one. The actor does nothing until it is run, or gets its first message.
 * -EINVAL: a value out of range, or a config that does not start as WEFT_ACTOR_CONFIG_INIT;
 * -ENOTSUP: a field this release does not have; -ENOMEM; -ESHUTDOWN: the pool is being destroyed;
 * -ECHILD as weft_run(). */
WEFT_API WEFT_MUST_USE WEFT_INLINE_ int weft_actor_create(weft_actor **actor, weft_pool *pool,
                                                          weft_actor_fn *fn, void *arg,
                                                          const weft_actor_config *config);

/* See weft/inline.h. */
WEFT_API WEFT_MUST_USE int weft_actor_create_(weft_actor **actor, weft_pool *pool,
                                              weft_actor_fn *fn, void *arg,
                                              const weft_actor_config *config, unsigned layout);
#if defined __GNUC__
WEFT_ENTRY_ weft_actor_create(weft_actor **actor, weft_pool *pool, weft_actor_fn *fn, void *arg,
                              const weft_actor_config *config)
{
    return weft_actor_create_(actor, pool, fn, arg, config, WEFT_LAYOUT_);
}
#endif

/* Once is enough: -EALREADY. */
WEFT_API int weft_actor_run(weft_actor *actor);

/* Waits for its end and returns the reason: 0, what its function returned or failed with (see
 * weft_fail()), -ENOMEM (past its limit, or no stack for it), -EOVERFLOW (past its stack) or
 * -ECANCELED (killed). -EDEADLK: the caller is that actor. `w`: the caller's context, or NULL. */
WEFT_API int weft_actor_wait(weft *w, weft_actor *actor);
WEFT_API bool weft_actor_done(const weft_actor *actor);

/* The caller needs it no more: it goes on, and is freed when it is over. Once: a second time is a
 * broken rule. */
WEFT_API void weft_actor_release(weft_actor *actor);

/* One that has not started never will; others end, as if by longjmp, at their next fork, merge,
 * poll, yield or wait, and every wait of theirs ends: for a message, a time, a mutex, an event, a
 * channel, a task, another actor, room in a mailbox. What has to be done then is deferred: see
 * weft_defer(). One that holds a mutex ends when it has unlocked it, or where it waits for another
 * one; until then its waits say -ECANCELED, or just return, and weft_cancelled() is true.
 * -ECANCELED is the reason. What it waits for has to be there until it is over. Nothing of an actor
 * is freed before all that it had given to other executors has come back. One that is over is left
 * alone; so it can be killed as long as somebody has the handle. */
WEFT_API void weft_actor_kill(weft_actor *actor);

/* From its next turn on it stays on this executor; WEFT_NONE: on any. What it forks may be given to
 * others all the same. -EINVAL: no such executor. */
WEFT_API int weft_actor_pin(weft_actor *actor, int executor);

WEFT_API weft_actor *weft_actor_self(weft *w); /* NULL: w is not an actor's */

/* ---- Messages ---------------------------------------------------------------- */

/* Puts a message into the actor's mailbox; if that is full, the first waits until it is not and
 * the second says -EAGAIN: what waits never harms the receiver. -EPIPE: the actor is over; the
 * message is still the caller's. -EDEADLK: it is the caller's own, and full. `w`: the caller's
 * context, or NULL in a thread outside. */
WEFT_API WEFT_MUST_USE int weft_actor_send(weft *w, weft_actor *actor, void *message);
WEFT_API WEFT_MUST_USE int weft_actor_try_send(weft *w, weft_actor *actor, void *message);

/* The oldest message of the actor that w belongs to, for any part of it that asks, a right side as
 * well as the actor itself, wherever that runs: each message is received once. The first waits for
 * one, the second says -EAGAIN. -EPERM: w is not an actor's. -ECANCELED: it was
 * killed, and holds a mutex. */
WEFT_API WEFT_MUST_USE int weft_receive(weft *w, void **message);
WEFT_API WEFT_MUST_USE int weft_try_receive(weft *w, void **message);

/* Does nothing until weft_now() passes `when`. Outside an actor the thread sleeps. */
WEFT_API void weft_sleep_until(weft *w, uint64_t when);

/* ---- Memory ------------------------------------------------------------------ */

/* Memory of the actor: it is there until the actor is over, or released, whoever allocates it. What
 * a right side allocates is memory of the one that forked it from the merge on, at no cost. Aligned
 * for any type. Never NULL: an actor past its limit ends with -ENOMEM, and it does so, or does not,
 * on any number of executors: what counts is what would be in use if one of them did everything,
 * one after the other. NULL outside actors, and in a function that runs because its actor is past
 * its limit (see weft_defer()). The second is the first, under an older name. */
WEFT_API void *weft_alloc(weft *w, size_t bytes);
WEFT_API void *weft_alloc_result(weft *w, size_t bytes);

/* What was allocated since the mark is free again: by the caller, and by right sides that it forked
 * and merged since. Marks nest as scopes do: one that was made before a fork is released after the
 * merge, by the same code; and an outer one frees what inner ones would have. */
typedef struct weft_mark {
    WEFT_ALIGNAS(8) unsigned char opaque[48];
} weft_mark;

WEFT_API WEFT_MUST_USE weft_mark weft_alloc_mark(weft *w);
WEFT_API void weft_alloc_release(weft *w, weft_mark mark);

/* fn(w, arg) is called when the actor ends, however it does: by return, by a kill, past its limit
 * or past its stack. The last one comes first, each once. What a right side has deferred is called
 * when that ends with the actor; if it returns, it is the forker's from the merge on. The frames of
 * all that was running are still there then, so arg may point to them. The functions must not wait.
 * weft_undefer() takes back the last one that is the same: -ENOENT: there is none that the caller,
 * or what it forked and merged, has deferred. -EPERM: not in an actor; -ENOMEM: it is not deferred.
 */
WEFT_API WEFT_MUST_USE int weft_defer(weft *w, weft_fn *fn, void *arg);
WEFT_API int weft_undefer(weft *w, weft_fn *fn, void *arg);

/* ---- Looking up -------------------------------------------------------------- */

/* For loops that neither fork nor block for long. One comparison, unless the turn is over. */
WEFT_API void weft_poll_slow_(weft *w);
#if defined __GNUC__
static inline void weft_poll(weft *w)
{
    if (WEFT_IS_CALLED_(w))
        weft_poll_slow_(w);
}
#else
#define weft_poll weft_poll_slow_
#endif

/* ---- Looking inside ---------------------------------------------------------- */

enum weft_actor_state {
    WEFT_ACTOR_NEW,
    WEFT_ACTOR_RUNNABLE,
    WEFT_ACTOR_RUNNING,
    WEFT_ACTOR_WAITING, /* for a message, a lock, work that it gave away ... */
    WEFT_ACTOR_OVER,
};

/* Starts as WEFT_ACTOR_INFO_INIT. */
typedef struct weft_actor_info {
    size_t size; /* set by WEFT_ACTOR_INFO_INIT */
    char name[32];
    enum weft_actor_state state;
    int executor;        /* where it is, or was last; WEFT_NONE: nowhere yet */
    uint64_t turns;      /* that it has used, on all executors */
    uint64_t steals;     /* right sides taken from it */
    uint64_t delegates;  /* of these, run on other executors */
    uint64_t given_back; /* right sides that came back before they had begun, for lack of a place */
    uint64_t moves;      /* to other executors */
    uint64_t run_ns;     /* how long it ran, by the ticks of the clock that ends turns, */
    uint64_t runnable_ns; /* and how long it could have, but did not */
    unsigned executors;   /* that serve it now */
    size_t messages;      /* in its mailbox */
    size_t memory;        /* bytes of the blocks that it has, on all executors; a little more than
                             what it asked for, which is what is limited; */
    size_t memory_peak;   /* what a single executor would have used at most, in bytes asked for, */
    size_t memory_limit;  /* and what is allowed, stack and mailbox included */
} weft_actor_info;

#define WEFT_ACTOR_INFO_INIT WEFT_SIZED_(weft_actor_info)

/* -EINVAL: no actor, no info, or it does not start as WEFT_ACTOR_INFO_INIT. */
WEFT_API int weft_actor_get_info(weft_actor *actor, weft_actor_info *info);

/* Calls fn for each actor of the pool that is not over, holding a lock: fn must not call
 * functions of this header. Returns how many there were. */
WEFT_API size_t weft_actor_each(weft_pool *pool,
                                void (*fn)(weft_actor *, const weft_actor_info *, void *),
                                void *data);

/* ---- The whole --------------------------------------------------------------- */

/* What all actors of a pool share. Starts as WEFT_ACTORS_CONFIG_INIT. */
typedef struct weft_actors_config {
    size_t size;        /* set by WEFT_ACTORS_CONFIG_INIT */
    uint64_t turn;      /* nanoseconds; default 1,000,000, or WEFT_ACTOR_TURN_US */
    unsigned executors; /* default: as many as the pool has workers */
    unsigned counted;   /* a turn is so many forks, merges and polls; 0: it is a time */
    uint64_t seed;      /* for what is left to chance; default: a constant */
} weft_actors_config;

#define WEFT_ACTORS_CONFIG_INIT WEFT_SIZED_(weft_actors_config)

/* Before the first actor is created: later it is -EBUSY. -EINVAL: no config, or a value out of
 * range; -ENOTSUP: a field this release does not have. */
WEFT_API WEFT_MUST_USE int weft_actors_setup(weft_pool *pool, const weft_actors_config *config);

#ifdef __cplusplus
}
#endif

#endif
