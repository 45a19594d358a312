/* SPDX-License-Identifier: MIT */
/* copies.h: independent copies of the sequential program at the same time, each pinned to a CPU
 * of its own and with data of its own. That is what the machine can give to so many workers:
 * less than so many times one where they share memory, caches or a core. */
#ifndef BENCH_COPIES_H
#define BENCH_COPIES_H

#include "kernel.h"
#include "turn.h"

#include <stdbool.h>

/* False, with a message, if threads are short or two copies disagree. */
bool copies_turn(const struct kernel *kernel, void **data, unsigned count, struct turn *turn);

#endif
