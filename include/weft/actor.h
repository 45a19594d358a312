/* SPDX-License-Identifier: MIT */
/* weft/actor.h: many parallel computations that share a pool fairly.
 *
 * An actor is an independent computation: it may fork freely, gets its fair share of the
 * workers by turns, is served by at most `cabal_max` of them at once, may use at most `memory`
 * bytes, and fails alone. A wait (for a message, a weft_mutex, a channel, an event, a time)
 * suspends the actor, not the worker.
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
 * An executor is a queue of actors that can run; one worker at a time drives it. An actor may go on
 * on another executor or thread whenever it forks, merges, polls or waits: no address of a
 * thread-local variable is valid after that.
 *
 * weft_run() in another pool, and weft_submit() with weft_task_wait(), are waits as well: a worker
 * runs the job. weft_run() in its own pool is a call. Between weft_block_begin() and
 * weft_block_end() the actor has a thread of its own, and another thread drives the executor (see
 * weft_config.spares). There the actor may fork and poll, but must not wait in any function of
 * weft, and only the actor itself may call weft_block_end().
 *
 * Functions that can fail return 0 or a negative errno value. */
#ifndef WEFT_ACTOR_H
#define WEFT_ACTOR_H

#include "../weft.h"

#ifdef __cplusplus
#pragma GCC diagnostic push /* casts of C */
#pragma GCC diagnostic ignored "-Wold-style-cast"
extern "C" {
#endif

typedef struct weft_actor weft_actor;
typedef int weft_actor_fn(weft *w, void *arg);

/* How the work of an actor is spread. A right side is given to another executor only if it has been
 * pending for a whole turn, and only at the end of a turn. A turn is a millisecond, or 30
 * microseconds while an executor is idle (weft_actors_config.turn). */
enum weft_steal {
    WEFT_STEAL_DEFAULT,
    WEFT_STEAL_STRICT, /* code that has given right sides away waits until all of them are done;
                          so they see its memory at rest */
    WEFT_STEAL_LIVE,   /* the default: it goes on, and waits where it merges the right side */
};

/* Starts as WEFT_ACTOR_CONFIG_INIT; zero means the default everywhere.
 *
 * `drop` and `supervisor` are called in this order, before weft_actor_wait() returns and
 * weft_actor_done() is true. A worker calls them, between two actors; or, if the actor was not
 * started, the thread that kills it, releases it or destroys its pool. They may make, run and kill
 * actors and send without waiting. They must not wait: actors of the same executor don't run
 * meanwhile. */
typedef struct weft_actor_config {
    size_t size;        /* set by WEFT_ACTOR_CONFIG_INIT */
    const char *name;   /* for people; copied, 31 characters; default "actor" */
    size_t memory;      /* bytes that it may use, its stack of WEFT_ACTOR_STACK and its mailbox
                           included, as if one executor did everything; default 64 MiB. Forks by
                           WEFT_FORK_IN beyond some 7500 that are pending take 48 bytes each */
    unsigned cabal_max; /* executors at once; default: all */
    unsigned share;     /* turns in a row, 1 to 100; default 1 */
    enum weft_steal steal;
    int pin;        /* stay on executor pin - 1; default, or WEFT_NONE: on any */
    size_t mailbox; /* messages that wait for it at most; default 16, those above are counted as
                       8 bytes of `memory` each, whether they come or not */
    void (*drop)(void *message, void *data); /* gets each message that it did not receive */
    void (*supervisor)(weft_actor *, int reason, void *data); /* called once, when it is over */
    void *data;
} weft_actor_config;

#define WEFT_ACTOR_CONFIG_INIT WEFT_SIZED_(weft_actor_config)

#define WEFT_ACTOR_STACK ((size_t)4 << 20)

/* NULL pool: the default one. The actor does nothing until it is run, or gets its first message.
 * -EINVAL: a value out of range, or a config that does not start as WEFT_ACTOR_CONFIG_INIT;
 * -ENOTSUP: a field this release does not have; -ENOMEM; -ESHUTDOWN: the pool is being destroyed;
 * -ECHILD as weft_run(); -EAGAIN: the default pool has no threads (see weft_pool_default()). */
WEFT_API WEFT_MUST_USE WEFT_INLINE_ int weft_actor_create(weft_actor **actor, weft_pool *pool,
                                                          weft_actor_fn *fn, void *arg,
                                                          const weft_actor_config *config);

/* See weft/inline.h. */
WEFT_API WEFT_MUST_USE int weft_actor_create_(weft_actor **actor, weft_pool *pool,
                                              weft_actor_fn *fn, void *arg,
                                              const weft_actor_config *config, unsigned layout);
#if defined __GNUC__
WEFT_ENTRY_ weft_actor_create(weft_actor **actor_, weft_pool *pool_, weft_actor_fn *fn_, void *arg_,
                              const weft_actor_config *config_)
{
    return weft_actor_create_(actor_, pool_, fn_, arg_, config_, WEFT_LAYOUT_);
}
#endif

/* Starts the actor. It has its first turn soon, even if its executor is busy: the actor that runs
 * there gives way at its next fork, merge or poll. -EALREADY: it was started or killed before. */
WEFT_API int weft_actor_run(weft_actor *actor);

/* Waits for its end and returns the reason: 0, what its function returned or failed with (see
 * weft_fail()), -ENOMEM (past its limit, or no stack for it), -EOVERFLOW (past its stack) or
 * -ECANCELED (killed, or never started). -EDEADLK: the caller is that actor. `w`: the caller's
 * context, or NULL. */
WEFT_API int weft_actor_wait(weft *w, weft_actor *actor);

/* The same, but no longer than until weft_now() passes `when`: then -ETIMEDOUT. -ECANCELED, too:
 * the caller's computation, or one around it, is cancelled (see weft/sync.h). An actor may end with
 * the same reasons: weft_actor_done() tells whether it is over. While a job waits here, a spare
 * worker takes its place. */
WEFT_API WEFT_MUST_USE int weft_actor_wait_until(weft *w, weft_actor *actor, uint64_t when);
WEFT_API bool weft_actor_done(const weft_actor *actor);

/* The caller needs the handle no more. The actor goes on, and is freed when it is over; if it was
 * not started, it is over at once. To release it twice is a broken rule. */
WEFT_API void weft_actor_release(weft_actor *actor);

/* An actor that has not started never will. Others end, as if by longjmp, at their next fork,
 * merge, poll, yield or wait, with the reason -ECANCELED. Every wait ends: for a message, a time, a
 * mutex, an event, a channel, a task, another actor, room in a mailbox. weft_defer() says how an
 * actor cleans up. An actor that holds a mutex ends when it has unlocked it, or where it waits for
 * another mutex. Until then its waits return -ECANCELED, or just return, and weft_cancelled() is
 * true. What an actor waits for must not be freed before the actor is over. Nothing of an actor is
 * freed before all right sides that it gave to other executors have ended. To kill an actor that is
 * over does nothing: it may be killed as long as the handle is not released. */
WEFT_API void weft_actor_kill(weft_actor *actor);

/* From its next turn on it stays on this executor; WEFT_NONE: on any. What it forks may still be
 * given to other executors. -EINVAL: no such executor. */
WEFT_API int weft_actor_pin(weft_actor *actor, int executor);

WEFT_API weft_actor *weft_actor_self(weft *w); /* NULL: w belongs to no actor */

/* ---- Messages ---------------------------------------------------------------- */

/* Puts a message into the actor's mailbox. If the mailbox is full, weft_actor_send() waits until
 * there is room, and weft_actor_try_send() returns -EAGAIN. -EPIPE: the actor is over; the message
 * is still the caller's. -EDEADLK: the caller is that actor, and its mailbox is full. -ECANCELED:
 * the caller was killed while it waited, and holds a mutex. `w`: the caller's context, or NULL in a
 * thread outside. weft_actor_send_until() waits until weft_now() passes `when`, and returns
 * -ETIMEDOUT then, or -ECANCELED if its computation, or one around it, is cancelled (see
 * weft/sync.h); the message is still the caller's. While a job waits there, a spare worker takes
 * its place. */
WEFT_API WEFT_MUST_USE int weft_actor_send(weft *w, weft_actor *actor, void *message);
WEFT_API WEFT_MUST_USE int weft_actor_send_until(weft *w, weft_actor *actor, void *message,
                                                 uint64_t when);
WEFT_API WEFT_MUST_USE int weft_actor_try_send(weft *w, weft_actor *actor, void *message);

/* Takes the oldest message of the actor that w belongs to. Any part of the actor may call it, a
 * right side as well as the actor itself, wherever it runs. Each message is received once. If there
 * is none, weft_receive() waits, and weft_try_receive() returns -EAGAIN; weft_receive_until() waits
 * until weft_now() passes `when`, and returns -ETIMEDOUT then, or -ECANCELED if its computation, or
 * one around it, is cancelled (see weft/sync.h). -EPERM: w belongs to no actor. -ECANCELED: the
 * actor was killed, and holds a mutex. */
WEFT_API WEFT_MUST_USE int weft_receive(weft *w, void **message);
WEFT_API WEFT_MUST_USE int weft_receive_until(weft *w, void **message, uint64_t when);
WEFT_API WEFT_MUST_USE int weft_try_receive(weft *w, void **message);

/* Waits until weft_now() passes `when`. Outside an actor the thread sleeps. */
WEFT_API void weft_sleep_until(weft *w, uint64_t when);

/* ---- Memory ------------------------------------------------------------------ */

/* Memory of the actor, aligned for any type. It is freed by weft_alloc_release(), or when the actor
 * is over. From the merge on, what a right side has allocated belongs to the code that forked it,
 * at no cost. Never NULL: an actor past its limit ends with -ENOMEM. Whether it does is the same on
 * any number of executors: the bytes count that would be in use if one executor did everything, one
 * after the other. NULL outside actors, and in a deferred function that runs because its actor is
 * past its limit (see weft_defer()). weft_alloc_result() is an older name of weft_alloc(). */
WEFT_API void *weft_alloc(weft *w, size_t bytes);
WEFT_API void *weft_alloc_result(weft *w, size_t bytes);

/* weft_alloc_release() frees what was allocated since the mark: by the caller, and by right sides
 * that it forked and merged since. Marks nest as scopes do: a mark that was made before a fork is
 * released after the merge, by the same code; and an outer mark frees what inner marks would have
 * freed. */
typedef struct weft_mark {
    WEFT_ALIGNAS(8) unsigned char opaque[48];
} weft_mark;

WEFT_API WEFT_MUST_USE weft_mark weft_alloc_mark(weft *w);
WEFT_API void weft_alloc_release(weft *w, weft_mark mark);

/* fn(w, arg) is called when the actor ends, in any way: by return, by a kill, past its limit or
 * past its stack. Each function is called once, the last deferred first. If a right side is ended
 * with the actor, what it has deferred is called then. If it returns, what it has deferred belongs
 * to the code that forked it, from the merge on. arg may point into frames of the code that was
 * running: they are still there. The functions must not wait. weft_undefer() takes back the last
 * one with the same fn and arg. -ENOENT: neither the caller nor what it forked and merged has
 * deferred it. -EPERM: not in an actor; -ENOMEM: it is not deferred. */
WEFT_API WEFT_MUST_USE int weft_defer(weft *w, weft_fn *fn, void *arg);
WEFT_API int weft_undefer(weft *w, weft_fn *fn, void *arg);

/* ---- Polling ----------------------------------------------------------------- */

/* For loops that neither fork nor wait for a long time. One comparison, unless the turn is over. */
WEFT_API void weft_poll_slow_(weft *w);
#if defined __GNUC__
WEFT_API inline void weft_poll(weft *w_)
{
    if (WEFT_IS_CALLED_(w_))
        weft_poll_slow_(w_);
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
    int executor;         /* where it is, or was last; WEFT_NONE: nowhere yet */
    uint64_t turns;       /* turns that ended while it ran, on all executors */
    uint64_t steals;      /* right sides taken from it */
    uint64_t delegates;   /* of these, sent to other executors */
    uint64_t given_back;  /* of the steals, those that came back before they had begun */
    uint64_t moves;       /* how often the whole actor was moved to another executor */
    uint64_t run_ns;      /* how long it ran, by the ticks of the clock that ends turns */
    uint64_t runnable_ns; /* how long it could have run, but did not, by the same clock */
    unsigned executors;   /* that serve it now */
    size_t messages;      /* in its mailbox */
    size_t memory;        /* bytes of the blocks that it has, on all executors; a little more than
                             it asked for */
    size_t memory_peak;   /* the most bytes that it would have asked for on a single executor */
    size_t memory_limit;  /* bytes that it may ask for, and its stack and mailbox */
} weft_actor_info;

#define WEFT_ACTOR_INFO_INIT WEFT_SIZED_(weft_actor_info)

/* -EINVAL: no actor, no info, or it does not start as WEFT_ACTOR_INFO_INIT. */
WEFT_API int weft_actor_get_info(weft_actor *actor, weft_actor_info *info);

/* Calls fn for each actor of the pool that is not over, with a lock held: fn must not call
 * functions of this header. Returns the number of actors. */
WEFT_API size_t weft_actor_each(weft_pool *pool,
                                void (*fn)(weft_actor *, const weft_actor_info *, void *),
                                void *data);

/* ---- The whole --------------------------------------------------------------- */

/* What all actors of a pool share. Starts as WEFT_ACTORS_CONFIG_INIT. */
typedef struct weft_actors_config {
    size_t size;        /* set by WEFT_ACTORS_CONFIG_INIT */
    uint64_t turn;      /* nanoseconds, 30,000 at most while an executor is idle; default
                           WEFT_ACTOR_TURN_US, else 1,000,000 */
    unsigned executors; /* default: as many as the pool has workers */
    unsigned counted;   /* forks, merges and polls in a turn, for tests; 0: a turn is a time */
    uint64_t seed;      /* for random choices; default: a constant */
} weft_actors_config;

#define WEFT_ACTORS_CONFIG_INIT WEFT_SIZED_(weft_actors_config)

/* Before the first actor is created: later it is -EBUSY. -EINVAL: no config, or a value out of
 * range; -ENOTSUP: a field this release does not have. */
WEFT_API WEFT_MUST_USE int weft_actors_setup(weft_pool *pool, const weft_actors_config *config);

#ifdef __cplusplus
}
#pragma GCC diagnostic pop
#endif

#endif
