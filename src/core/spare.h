/* SPDX-License-Identifier: MIT */
/* spare.h: spares, threads that take the place of blocked workers. As many spares are at work as
 * workers are blocked, up to a limit. When a blocked worker comes back, a spare leaves as soon as
 * its job is over. Its thread is kept for a moment, then it ends. */
#ifndef WEFT_CORE_SPARE_H
#define WEFT_CORE_SPARE_H

#include "core/worker.h"
#include "os/lock.h"

struct weft__spare;

/* Part of a pool. */
struct weft__spares {
    struct weft__lock lock;  /* for everything here */
    unsigned most;           /* the limit */
    unsigned active;         /* how many are at work, without those that are leaving */
    bool closed;             /* no more are called */
    struct weft__spare *all; /* `most` of them */
};

int weft__spares_init(struct weft_pool *pool); /* 0 or -ENOMEM */

/* Ends their threads. Nothing is left to do in the pool. */
void weft__spares_stop(struct weft_pool *pool);
void weft__spares_free(struct weft_pool *pool);

/* Life of a spare's thread. */
void weft__spare_loop(struct weft__worker *worker);

/* Calls one more spare, if more workers are blocked than spares are at work. */
void weft__spare_call(struct weft_pool *pool);

unsigned weft__spares_active(struct weft_pool *pool);

/* Tells a spare to leave, if more spares are at work than workers are blocked. */
void weft__spare_dismiss(struct weft_pool *pool);

#endif
