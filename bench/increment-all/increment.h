/* SPDX-License-Identifier: MIT */
/* increment-all: a pass over a large array, many times over. What memory gives. */
#ifndef BENCH_INCREMENT_H
#define BENCH_INCREMENT_H

#include "../numbers.h"

enum {
    INCREMENT_TIMES = 20,
    INCREMENT_LEAF = 4096, /* elements that are not split any more, where that has to be said */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Once for all contenders: it takes twice as long where it happens to lie across two cache lines.
 */
void increment_range(uint64_t *elements, size_t count);

#ifdef __cplusplus
}
#endif

#endif
