/* SPDX-License-Identifier: MIT */
/* unordered.h: reductions without fixed blocks. */
#ifndef WEFT_PARALLEL_UNORDERED_H
#define WEFT_PARALLEL_UNORDERED_H

#include "parallel/pace.h"
#include "weft/parallel.h"

/* weft_reduce_unordered(). The cost of an element depends on `key`. */
void weft__reduce_unordered(weft *w, size_t begin, size_t end, const weft_reducer *reducer,
                            void *arg, void *result, weft__key *key);

#endif
