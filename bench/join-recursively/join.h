/* SPDX-License-Identifier: MIT */
/* join-recursively: an array split in halves down to single elements, which are incremented;
 * many times over. */
#ifndef BENCH_JOIN_H
#define BENCH_JOIN_H

#include <stddef.h>
#include <stdint.h>

enum { JOIN_TIMES = 20 };

struct join {
    size_t count;
    uint64_t *elements;
};

#endif
