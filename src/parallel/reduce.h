/* SPDX-License-Identifier: MIT */
/* reduce.h: what all kinds of reduction share. */
#ifndef WEFT_PARALLEL_REDUCE_H
#define WEFT_PARALLEL_REDUCE_H

#include "core/misuse.h"
#include "parallel/pace.h"
#include "weft/parallel.h"

#include <string.h>

static inline void weft__reducer_begin(const weft_reducer *reducer, void *accumulator)
{
    static const uint64_t zeros;
    const void *identity = reducer->identity;
    if (reducer->size == sizeof zeros) /* the usual size, without a call */
        memcpy(accumulator, identity ? identity : &zeros, sizeof zeros);
    else if (identity)
        memcpy(accumulator, identity, reducer->size);
    else
        memset(accumulator, 0, reducer->size);
}

/* An accumulator begins. */
static inline void weft__reducer_make(weft *w, const weft_reducer *reducer, void *accumulator,
                                      void *arg)
{
    weft__reducer_begin(reducer, accumulator);
    if (reducer->make)
        reducer->make(w, accumulator, arg);
}

/* Do its accumulators own something? */
static inline bool weft__reducer_owns(const weft_reducer *reducer)
{
    return reducer->make || reducer->drop || reducer->move;
}

static inline void weft__expect_reducer(const weft_reducer *reducer, const void *result,
                                        const char *function)
{
    if (!reducer)
        weft__lacks(function, "a reducer", "reducer");
    if (!reducer->fold || (!reducer->combine && !reducer->move))
        weft__lacks(function, "a function for each", reducer->fold ? "combine" : "fold");
    if (!result)
        weft__lacks(function, "a place for the result", "result");
}

/* weft_reduce(). The cost of an element depends on `key`. */
void weft__reduce(weft *w, size_t begin, size_t end, const weft_reducer *reducer, void *arg,
                  void *result, weft__key *key);

#endif
