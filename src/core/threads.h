/* SPDX-License-Identifier: MIT */
/* threads.h: the threads of a pool: its workers' and its spares'. */
#ifndef WEFT_CORE_THREADS_H
#define WEFT_CORE_THREADS_H

#include "core/worker.h"

/* Starts the thread of one worker. 0 or a negative errno. */
int weft__worker_start(struct weft_pool *pool, struct weft__worker *worker);

/* Starts the threads of all workers; with WEFT_USE_CALLER, the calling thread is the first of them.
 * 0 or a negative errno: then the threads that were started have ended, and *started is their
 * number. */
int weft__threads_start(struct weft_pool *pool, unsigned *started);

/* Ends the threads of the workers and the spares, and waits for that. */
void weft__threads_stop(struct weft_pool *pool);

#endif
