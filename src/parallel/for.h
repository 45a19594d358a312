/* SPDX-License-Identifier: MIT */
/* for.h: the loop that the others are made of. */
#ifndef WEFT_PARALLEL_FOR_H
#define WEFT_PARALLEL_FOR_H

#include "parallel/pace.h"
#include "weft/parallel.h"

/* What all parts of a loop share. */
struct weft__loop {
    weft_range_fn *body;
    void *arg;
    weft__key *key; /* what an element costs depends on this function */
    size_t min;     /* elements in a call of the body */
    bool backwards; /* the last elements first */
    bool (*is_over)(size_t begin, size_t end, void *arg); /* is this part not needed any more?
                                                             NULL: every part is needed */
};

/* Not empty. */
void weft__for(weft *w, size_t begin, size_t end, const struct weft__loop *loop);

/* The same for one that is short, as far as anybody knows, and plain: no direction, no end before
 * the end, any number of elements in a call. */
void weft__for_short(weft *w, size_t begin, size_t end, weft_range_fn *body, void *arg,
                     weft__key *key);

/* A loop from 0 to n whose elements cost what the key does. */
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
