/* SPDX-License-Identifier: MIT */
/* gather.h: reductions with one accumulator for each thread. */
#ifndef WEFT_PARALLEL_GATHER_H
#define WEFT_PARALLEL_GATHER_H

#include "parallel/pace.h"
#include "weft/parallel.h"

/* weft_reduce_unordered() for accumulators that own something. The cost of an element depends on
 * `key`. */
void weft__gather(weft *w, size_t begin, size_t end, const weft_reducer *reducer, void *arg,
                  void *result, weft__key *key);

#endif
