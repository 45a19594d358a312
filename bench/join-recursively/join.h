/* SPDX-License-Identifier: MIT */
/* join-recursively: an array split in halves down to single elements, which are incremented;
 * many times over. */
#ifndef BENCH_JOIN_H
#define BENCH_JOIN_H

#include "../numbers.h"

enum { JOIN_TIMES = 20 };

#endif
