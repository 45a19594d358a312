/* SPDX-License-Identifier: MIT */
/* standing.h: what a thread of a pool waits for, in the words of deadlock reports and
 * weft_pool_dump(). It is noted in one step, while the objects are known to exist, and written in a
 * second step, when no lock is held any more. */
#ifndef WEFT_CORE_STANDING_H
#define WEFT_CORE_STANDING_H

#include "core/block.h"

#include <stdio.h>

struct weft__owned;

/* A thread of a pool. */
struct weft__who {
    bool known; /* false: none */
    enum worker_kind kind;
    unsigned index;
};

struct weft__standing {
    struct weft__who who;

    /* If it is blocked. */
    bool blocked;
    enum blocked_kind kind;
    const void *object;      /* its address, for an object without a name */
    char name[64];           /* the object's, or empty */
    unsigned more;           /* how many other channels it waits for, in weft_select() */
    bool owned;              /* another thread, or the thread itself, holds it */
    unsigned readers;        /* of a read-write lock: how many hold it */
    uintptr_t holder_name;   /* MUTEX_FREE: it is handed over just now */
    struct weft__who holder; /* if a thread of the pool holds it */
    bool holder_is_itself;   /* the thread itself holds it */
    bool limited;            /* the wait ends by itself */
    bool holder_waits;       /* the holder waits outside, for a task of the pool */

    /* If it waits for a latch. */
    const char *awaits;           /* static words, or NULL */
    struct weft__who thief;       /* of the right side that it waits for */
    struct weft__who children[8]; /* the threads that run children of its scope: the first few */
    unsigned child_count;         /* how many such threads there are */
};

/* Tries for about a millisecond. Dumps must not wait for a thread that a debugger has stopped. */
bool weft__lock_try_long(struct weft__lock *lock);

const char *weft__kind_of(const struct weft__worker *worker);
struct weft__who weft__who(const struct weft__worker *worker); /* of NULL: none */

/* Notes what blocks the worker, which stays blocked during the call. The caller then passes each
 * thread of the pool to weft__standing_holder(). */
void weft__standing_blocked(struct weft__standing *standing, const struct weft__worker *worker);
void weft__standing_holder(struct weft__standing *standing, const struct weft__worker *other);

/* Is `name` the worker's name as a holder? A guest also has the name that its thread had outside.
 * Names are compared and not followed: a worker of another pool may be gone. */
bool weft__is_holder(const struct weft__worker *worker, uintptr_t name);

/* What another thread has to let go of, so that the wait ends. NULL: it is no such wait, or no
 * thread is known to hold it. */
const struct weft__owned *weft__blocked_by(const struct weft__blocked *blocked);

/* Can one thread hold what this is for? */
static inline bool weft__blocked_is_owned(enum blocked_kind kind)
{
    return kind == BLOCKED_MUTEX || kind == BLOCKED_READ || kind == BLOCKED_WRITE ||
           kind == BLOCKED_ONCE;
}

/* The object, as the statistics page names it. */
static inline uint64_t weft__blocked_shown(const struct weft__blocked *blocked)
{
    return (uintptr_t)blocked->object +
           (weft__blocked_is_owned(blocked->kind) ? WEFT_STATS_OWNED : 0);
}

void weft__standing_child(struct weft__standing *standing, const struct weft__worker *child);

/* Does the worker, which rests, run a child of the scope, or a job that a child has forked or
 * spawned? */
bool weft__runs_child(const struct weft__worker *worker, const struct weft__group *scope);

/* "wants to receive from channel" and the like. */
extern const char *const weft__blocked_kinds[];
static inline const char *weft__blocked_words(enum blocked_kind kind)
{
    return weft__blocked_kinds[kind];
}

const char *weft__object_words(enum blocked_kind kind); /* "channel" */

/* "mutex 'NAME'", or the address if it has no name. */
void weft__put_object(FILE *out, enum blocked_kind kind, const struct weft__sync *object);
void weft__put_who(FILE *out, const char *before, const struct weft__who *who);
void weft__put_function(FILE *out, weft_fn *fn);
void weft__put_standing(FILE *out, const struct weft__standing *standing);

#endif
