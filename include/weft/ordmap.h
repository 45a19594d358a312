/* SPDX-License-Identifier: MIT */
/* weft/ordmap.h: ordered maps that are never changed.
 *
 * An operation makes a new map, which shares with those it was made of what they have in common:
 * a map of a million keys and the same map with one more differ by about twenty nodes. So maps
 * can be read by any number of threads, kept, and compared with what came later, and a copy costs
 * nothing. What takes a context runs in a job, and splits as loops do; its functions get a context,
 * too, first of all.
 *
 * Functions that make a map put it in *result, and it is the caller's to release. They return 0;
 * or -ENOMEM, or -ECANCELED where the computation was cancelled meanwhile: then *result is NULL,
 * what they were given is as it was, and nothing is left behind. -EINVAL: NULL instead of a map, a
 * key, a function, or a place for the result. Reductions fail as weft/parallel.h says. */
#ifndef WEFT_ORDMAP_H
#define WEFT_ORDMAP_H

#include "parallel.h" /* weft_compare_fn */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_ordmap weft_ordmap;

/* Keys and values are copied, byte by byte. They are aligned to the largest power of two that
 * divides their size, up to what malloc() aligns to. Values may have no size: a set. */
typedef struct weft_ordmap_kind {
    size_t key_size, value_size;
    weft_compare_fn *compare; /* of two keys */
    void *arg;                /* for it */
} weft_ordmap_kind;

/* A key and its value in a map; valid as long as that map is. */
typedef struct weft_ordmap_entry {
    const void *key, *value;
} weft_ordmap_entry;

/* ---- One map ----------------------------------------------------------------- */

/* -EINVAL: no key size, no comparison, or too large. */
WEFT_API WEFT_MUST_USE int weft_ordmap_empty(const weft_ordmap_kind *kind, weft_ordmap **result);

/* Of n keys and their values, in arrays; `values` NULL: zeros. -EINVAL: as above, or a key is not
 * greater than the one before it. */
WEFT_API WEFT_MUST_USE int weft_ordmap_build(weft *w, const void *keys, const void *values,
                                             size_t n, const weft_ordmap_kind *kind,
                                             weft_ordmap **result);

WEFT_API WEFT_MUST_USE int weft_ordmap_copy(const weft_ordmap *map, weft_ordmap **result);
WEFT_API void weft_ordmap_release(weft_ordmap *map); /* may be NULL */

/* With this key, in place of an equal one if there is any; without it. `value` NULL: zeros. */
WEFT_API WEFT_MUST_USE int weft_ordmap_insert(const weft_ordmap *map, const void *key,
                                              const void *value, weft_ordmap **result);
WEFT_API WEFT_MUST_USE int weft_ordmap_remove(const weft_ordmap *map, const void *key,
                                              weft_ordmap **result);

WEFT_API size_t weft_ordmap_size(const weft_ordmap *map);

/* The value, which may have no size but has an address; NULL: there is none. */
WEFT_API const void *weft_ordmap_find(const weft_ordmap *map, const void *key);

/* The entry with so many smaller keys, the one with the smallest and the largest; false: there is
 * none. How many keys are smaller than this one. */
WEFT_API bool weft_ordmap_at(const weft_ordmap *map, size_t rank, weft_ordmap_entry *entry);
WEFT_API bool weft_ordmap_first(const weft_ordmap *map, weft_ordmap_entry *entry);
WEFT_API bool weft_ordmap_last(const weft_ordmap *map, weft_ordmap_entry *entry);
WEFT_API size_t weft_ordmap_rank(const weft_ordmap *map, const void *key);

/* Calls visit for the entries of rank begin to end - 1, in that order, until it returns false;
 * false if it did. Neither needs a job; in the body of a weft_for(), it is a parallel loop. */
typedef bool weft_ordmap_visit_fn(const void *key, const void *value, void *arg);
WEFT_API bool weft_ordmap_walk(const weft_ordmap *map, size_t begin, size_t end,
                               weft_ordmap_visit_fn *visit, void *arg);

/* ---- All of its entries ------------------------------------------------------ */

/* The same keys, and of each value what fn makes of it, in value_size bytes. -EINVAL: too large. */
typedef void weft_ordmap_map_fn(weft *w, const void *key, const void *value, void *out, void *arg);
WEFT_API WEFT_MUST_USE int weft_ordmap_map(weft *w, const weft_ordmap *map, weft_ordmap_map_fn *fn,
                                           void *arg, weft_ordmap **result, size_t value_size);

/* Those for which keep is true. */
typedef bool weft_ordmap_keep_fn(weft *w, const void *key, const void *value, void *arg);
WEFT_API WEFT_MUST_USE int weft_ordmap_filter(weft *w, const weft_ordmap *map,
                                              weft_ordmap_keep_fn *keep, void *arg,
                                              weft_ordmap **result);

/* `result` is, on entry, what comes before the first entry; it, and what fn makes of all entries,
 * in `size` bytes, are combined in the keys' order. fn NULL: the values themselves, whose size it
 * is. The result is the same, bit for bit, for any number of workers; not for another map with the
 * same keys and values, where combine is not exactly associative. */
WEFT_API void weft_ordmap_reduce(weft *w, const weft_ordmap *map, weft_ordmap_map_fn *fn,
                                 weft_combine_fn *combine, void *arg, void *result, size_t size);

/* The same until `halt` is true: it is asked about `result` as it is on entry, and about the
 * combination of some neighbouring entries, and what follows these is left out. NULL: never. Where
 * it halts is the same for any number of workers. */
WEFT_API void weft_ordmap_reduce_until(weft *w, const weft_ordmap *map, weft_ordmap_map_fn *fn,
                                       weft_combine_fn *combine, weft_halt_fn *halt, void *arg,
                                       void *result, size_t size);

/* ---- Two maps ---------------------------------------------------------------- */

/* Keys that are in a or b; in both; in a and not in b. Where a key is in both, its value is that
 * of a, and combine, if not NULL, adds that of b to it. Takes O(m log(n / m + 1)) steps for maps of
 * m and n keys, where m is the smaller. -EINVAL: the maps are not of one kind; but where values
 * of b are not copied, they may have another size. */
WEFT_API WEFT_MUST_USE int weft_ordmap_union(weft *w, const weft_ordmap *a, const weft_ordmap *b,
                                             weft_combine_fn *combine, void *arg,
                                             weft_ordmap **result);
WEFT_API WEFT_MUST_USE int weft_ordmap_intersection(weft *w, const weft_ordmap *a,
                                                    const weft_ordmap *b, weft_combine_fn *combine,
                                                    void *arg, weft_ordmap **result);
WEFT_API WEFT_MUST_USE int weft_ordmap_difference(weft *w, const weft_ordmap *a,
                                                  const weft_ordmap *b, weft_ordmap **result);

#ifdef __cplusplus
}
#endif

#endif
