/* SPDX-License-Identifier: MIT */
/* weft/vector.h: an array that many threads append to.
 *
 * Items are copied in and stay where they are: their addresses do not change, and an index is never
 * given twice. Nothing is taken out, but all at once. None of these functions needs a job, but
 * weft_vector_for() and weft_vector_copy().
 *
 * An item may be read by the thread that appended it, and by others once that thread has told them:
 * by a merge, the end of a loop or of a scope, a mutex, a channel. weft_vector_size() alone tells
 * nothing: another thread may be about to copy the items that it counts. */
#ifndef WEFT_VECTOR_H
#define WEFT_VECTOR_H

#include "../weft.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_vector weft_vector;

/* Items are aligned to the largest power of two that divides their size, up to what malloc() aligns
 * to. -EINVAL: no size, or too large; -ENOMEM. */
WEFT_API WEFT_MUST_USE int weft_vector_create(weft_vector **vector, size_t item_size);
WEFT_API void weft_vector_destroy(weft_vector *vector); /* may be NULL */

/* Appends copies of n items, one after the other, and stores the index of the first in *first, if
 * that is not NULL. `items` NULL: zeros. Any number of threads may append at the same time.
 * -EINVAL: no vector; -ENOMEM: nothing was appended. */
WEFT_API WEFT_MUST_USE int weft_vector_append(weft_vector *vector, const void *items, size_t n,
                                              size_t *first);

WEFT_API size_t weft_vector_size(const weft_vector *vector);

/* The item, which stays there. `i` is below the size. */
WEFT_API void *weft_vector_at(const weft_vector *vector, size_t i);

/* Forgets all items, and keeps the memory. No other thread uses the vector meanwhile. */
WEFT_API void weft_vector_clear(weft_vector *vector);

/* Calls body for stretches of items that are neighbours in memory, as weft_for(): n items from
 * index `first` on. No thread appends meanwhile. */
typedef void weft_vector_fn(weft *w, void *items, size_t first, size_t n, void *arg);
WEFT_API void weft_vector_for(weft *w, weft_vector *vector, weft_vector_fn *body, void *arg);

/* Copies all items to `out`, which has room for weft_vector_size() of them. No thread appends
 * meanwhile. */
WEFT_API void weft_vector_copy(weft *w, const weft_vector *vector, void *out);

#ifdef __cplusplus
}
#endif

#endif
