/* SPDX-License-Identifier: MIT */
/* sleep.h: the parts of the benchmark. False, with a message. */
#ifndef BENCH_SLEEP_SLEEP_H
#define BENCH_SLEEP_SLEEP_H

#include "../bench.h"

/* What the protocols cost those who fork. */
bool sleep_overheads(const struct bench_run *run);

/* How much CPU time pools need that have little to do. */
bool sleep_usage(const struct bench_run *run);

/* What searching longer before sleep costs and saves. */
bool sleep_spins(const struct bench_run *run);

#endif
