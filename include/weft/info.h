/* SPDX-License-Identifier: MIT */
/* weft/info.h: looking inside pools. Part of weft.h. */
#ifndef WEFT_INFO_H
#define WEFT_INFO_H

#include "base.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts as WEFT_POOL_INFO_INIT.
 *
 * All infos have their size first. An info of an older release is shorter: fields that it lacks are
 * not written. One of a newer release is longer: fields that the library does not know become zero.
 */
typedef struct weft_pool_info {
    size_t size; /* set by WEFT_POOL_INFO_INIT */
    unsigned workers;
    unsigned cpus;     /* in the affinity mask when the pool was made */
    unsigned idle;     /* workers awake, searching */
    unsigned sleeping; /* workers asleep */
    unsigned guests;   /* outside threads working in the pool now */
    size_t queued;     /* submitted tasks that no thread has started */
    const char *sleep; /* the protocol, as WEFT_SLEEP names it: "events" */
    const char *fork;  /* "lazy", "eager", or "eager (...)", with the reason why lazy is missing */
    int64_t quantum;   /* nanoseconds, or WEFT_NONE */
    unsigned blocked;  /* workers and guests blocked in weft_block_begin, mutexes and so on */
    unsigned spares;   /* threads that take the places of blocked ones now */
    unsigned threads;  /* of workers. 0: there are none, and the callers of weft_run() do all */
} weft_pool_info;

#define WEFT_POOL_INFO_INIT WEFT_SIZED_(weft_pool_info)

/* -EINVAL: no info, or it does not start as WEFT_POOL_INFO_INIT; -ENOMEM: no default pool. */
WEFT_API int weft_pool_get_info(weft_pool *pool, weft_pool_info *info);

/* What one worker has done so far. Starts as WEFT_WORKER_INFO_INIT. */
typedef struct weft_worker_info {
    size_t size;        /* set by WEFT_WORKER_INFO_INIT */
    uint64_t jobs;      /* run from a queue, not counting right sides run by merge's caller */
    uint64_t steals;    /* of these, taken from others */
    uint64_t injected;  /* of these, submitted from outside */
    uint64_t sleeps;    /* times it slept until a waker woke it */
    unsigned depth_max; /* the most jobs that waited below the one that ran */
    uint64_t cpu_ns;    /* CPU time of its thread, 0 if unknown */
} weft_worker_info;

#define WEFT_WORKER_INFO_INIT WEFT_SIZED_(weft_worker_info)

/* Errors as of weft_pool_get_info(); -EINVAL: no such worker. */
WEFT_API int weft_worker_get_info(weft_pool *pool, unsigned worker, weft_worker_info *info);

/* Writes what every thread of the pool does, one line each, and what it waits for: to find out why
 * a program stands still. The default pool is not made for that. */
WEFT_API void weft_pool_dump(weft_pool *pool, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
