/* SPDX-License-Identifier: MIT */
/* for.h: the loop that other loops are made of. */
#ifndef WEFT_PARALLEL_FOR_H
#define WEFT_PARALLEL_FOR_H

#include "parallel/pace.h"
#include "weft/parallel.h"

/* What all parts of a loop share. */
struct weft__loop {
    weft_range_fn *body;
    void *arg;
    weft__key *key; /* the function on which the cost of an element depends */
    size_t min;     /* the least number of elements in a call of the body; 0 or 1: any */
    bool backwards; /* the last elements come first */
    /* Is this part not needed any more? NULL: every part is needed. */
    bool (*is_over)(size_t begin, size_t end, void *arg);
};

/* Runs the loop over a range that is not empty. */
void weft__for(weft *w, size_t begin, size_t end, const struct weft__loop *loop);

/* The same for a loop that weft__pace_is_short() takes to be short, without `min`, `backwards` and
 * `is_over`. */
void weft__for_short(weft *w, size_t begin, size_t end, weft_range_fn *body, void *arg,
                     weft__key *key);

/* A loop from 0 to n. The cost of an element depends on `key`. */
static inline void weft__for_keyed(weft *w, size_t n, weft_range_fn *body, void *arg,
                                   weft__key *key)
{
    if (n == 0)
        return;
    if (weft__pace_is_short(w, n, key))
        weft__for_short(w, 0, n, body, arg, key);
    else
        weft__for(w, 0, n, &(struct weft__loop){.body = body, .arg = arg, .key = key});
}

#endif
