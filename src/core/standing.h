/* SPDX-License-Identifier: MIT */
/* standing.h: what a thread of a pool waits for, as deadlock reports and weft_pool_dump() tell it.
 * It is noted in one step, while what it leads to is there, and written in another, when no lock is
 * held any more. */
#ifndef WEFT_CORE_STANDING_H
#define WEFT_CORE_STANDING_H

#include "core/block.h"

#include <stdio.h>

struct weft__mutex;

/* A thread of a pool, or nobody. */
struct weft__who {
    bool known;
    enum worker_kind kind;
    unsigned index;
};

struct weft__standing {
    struct weft__who who;

    bool blocked; /* then: in what, */
    enum blocked_kind kind;
    const void *object;      /* an address, for those without a name */
    char name[64];           /* or empty */
    uintptr_t holder_name;   /* of a mutex; MUTEX_FREE: it is handed over just now */
    struct weft__who holder; /* if it is of the pool */
    bool holder_is_itself;
    bool holder_waits; /* outside, for a task of the pool */

    const char *awaits; /* else what it waits for, in words; or NULL, */
    struct weft__who thief;
    struct weft__who children[8]; /* and who runs children of its scope */
    unsigned child_count;
};

/* Tries for about a millisecond: for those who look, and must not wait for one that a debugger has
 * stopped. */
bool weft__lock_try_long(struct weft__lock *lock);

const char *weft__kind_of(const struct weft__worker *worker);
struct weft__who weft__who(const struct weft__worker *worker); /* or NULL: nobody */

/* A thread that is blocked, and stays so meanwhile: by what. If it is a mutex, each thread of the
 * pool is shown to weft__standing_holder(). */
void weft__standing_blocked(struct weft__standing *standing, const struct weft__worker *worker);
void weft__standing_holder(struct weft__standing *standing, const struct weft__worker *other);

/* Is this the name of the thread, as a worker or, for a guest, from before it came in? Names are
 * compared, and no more: a worker of another pool may be gone. */
bool weft__is_holder(const struct weft__worker *worker, uintptr_t name);

void weft__standing_child(struct weft__standing *standing, const struct weft__worker *child);

/* Does it run a child of the scope, or something that a child forked or spawned? It rests. */
bool weft__runs_child(const struct weft__worker *worker, const struct weft__group *scope);

/* "wants to receive from channel" and the like. */
const char *weft__blocked_words(enum blocked_kind kind);

const char *weft__object_words(enum blocked_kind kind); /* "channel" */

/* NAME is the address if it has none. */
void weft__put_object(FILE *out, enum blocked_kind kind, const struct weft__sync *object);
void weft__put_who(FILE *out, const char *before, const struct weft__who *who);
void weft__put_function(FILE *out, weft_fn *fn);
void weft__put_standing(FILE *out, const struct weft__standing *standing);

#endif
