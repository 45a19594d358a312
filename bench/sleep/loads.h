/* SPDX-License-Identifier: MIT */
/* loads.h: what a pool does that has little to do. CPU time is what counts, the runtime's alone:
 * what the jobs themselves need is taken off. */
#ifndef BENCH_SLEEP_LOADS_H
#define BENCH_SLEEP_LOADS_H

#include "../contest.h"

extern const struct contest noop_load; /* an empty job every 10 ms, so many times */
extern const struct contest idle_load; /* nothing for so many ms, after all were awake */
extern const struct contest long_load; /* one job that computes for so many ms */

#endif
