/* SPDX-License-Identifier: MIT */
/* run.h: weft_run(), and how a thread becomes a guest of a pool for one job. */
#ifndef WEFT_CORE_RUN_H
#define WEFT_CORE_RUN_H

#include "core/worker.h"

/* Runs a job on a thread that is the worker `me` already. */
void weft__execute_inside(struct weft__worker *me, struct weft__job *job);

/* Runs a job on a thread that becomes a guest for it. `entry`: the frame of the public function
 * that the thread has called. -ENOMEM: the job was not run. */
int weft__execute_as_guest(struct weft_pool *pool, struct weft__job *job, const char *entry);

#endif
