/* SPDX-License-Identifier: MIT */
/* weft/info.h: looking inside pools. Part of weft.h. */
#ifndef WEFT_INFO_H
#define WEFT_INFO_H

#include "base.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_pool_info {
    unsigned workers;
    unsigned cpus;     /* in the affinity mask when the pool was made */
    unsigned idle;     /* workers awake, searching */
    unsigned sleeping; /* workers asleep */
    unsigned guests;   /* outside threads working in the pool now */
    size_t queued;     /* submitted tasks nobody has started */
    const char *sleep; /* the protocol, as WEFT_SLEEP names it: "events" */
    const char *fork;  /* "lazy", "eager", or "eager (...)" and why lazy can't be had */
    uint64_t quantum;  /* nanoseconds; 0: none */
    unsigned blocked;  /* workers and guests blocked in weft_block_begin, mutexes and so on */
    unsigned spares;   /* threads that stand in for them now */
} weft_pool_info;

/* All zero: there is no default pool. */
WEFT_API void weft_pool_get_info(weft_pool *pool, weft_pool_info *info);

/* What one worker has done so far. */
typedef struct weft_worker_info {
    uint64_t jobs;      /* run from a queue, not counting right sides run by merge's caller */
    uint64_t steals;    /* of these, taken from others */
    uint64_t injected;  /* of these, submitted from outside */
    uint64_t sleeps;    /* times it slept until somebody woke it */
    unsigned depth_max; /* of jobs run while another one waited */
    uint64_t cpu_ns;    /* CPU time of its thread, 0 if unknown */
} weft_worker_info;

/* -EINVAL: no such worker; -ENOMEM: no default pool. */
WEFT_API WEFT_MUST_USE int weft_worker_get_info(weft_pool *pool, unsigned worker,
                                                weft_worker_info *info);

/* Writes what every thread of the pool does, one line each, and what it waits for: for finding out
 * why something does not move. NULL: the default pool, if there is one. */
WEFT_API void weft_pool_dump(weft_pool *pool, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
