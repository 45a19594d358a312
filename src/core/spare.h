/* SPDX-License-Identifier: MIT */
/* spare.h: threads that take the place of blocked workers. There are as many at work as
 * workers are blocked, up to a limit; each leaves when one of these comes back, as soon as it
 * has ended its job. It is kept for a moment, then its thread ends. */
#ifndef WEFT_CORE_SPARE_H
#define WEFT_CORE_SPARE_H

#include "core/worker.h"
#include "os/lock.h"

struct weft__spare;

/* A pool's. */
struct weft__spares {
    struct weft__lock lock; /* everything here */
    unsigned most, active;
    bool closed;
    struct weft__spare *all; /* `most` of them */
};

int weft__spares_init(struct weft_pool *pool); /* 0 or -ENOMEM */

/* Ends their threads: nothing is left to do in the pool. */
void weft__spares_stop(struct weft_pool *pool);
void weft__spares_free(struct weft_pool *pool);

/* Life of a spare's thread. */
void weft__spare_loop(struct weft__worker *worker);

/* One more, if workers are blocked that nobody stands in for. */
void weft__spare_call(struct weft_pool *pool);

unsigned weft__spares_active(struct weft_pool *pool);

/* One leaves, if there are more than blocked workers. */
void weft__spare_dismiss(struct weft_pool *pool);

#endif
