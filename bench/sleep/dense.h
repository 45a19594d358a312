/* SPDX-License-Identifier: MIT */
/* dense.h: increment-all and nbody-parreduce with a fork for every few nanoseconds of work, so that
 * what a fork costs shows. Their data, twins and results are those of the usual ones. */
#ifndef BENCH_SLEEP_DENSE_H
#define BENCH_SLEEP_DENSE_H

#include "../contest.h"

extern const struct contest dense_increment, dense_nbody;

#endif
