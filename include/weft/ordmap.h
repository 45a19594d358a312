/* SPDX-License-Identifier: MIT */
/* weft/ordmap.h: ordered maps that are never changed.
 *
 * An operation makes a new map, which shares what it can with the maps it was made of: entries are
 * in leaves of up to 64, and a map of a million keys and the same map with one more key differ by a
 * leaf and about fifteen nodes. So maps can be read by any number of threads, kept, and compared
 * with later ones, and a copy costs nothing. A function that takes a context runs in a job, and
 * splits as loops do; functions that it calls get a context as their first argument.
 *
 * Functions that make a map put it in *result, and the caller has to release it. They return 0; or
 * -ENOMEM, or -ECANCELED where the computation was cancelled meanwhile: then *result is NULL, the
 * maps that they were given are unchanged, and no memory is lost. -EINVAL: NULL instead of a map, a
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

/* Makes a map of n keys and their values, in arrays; `values` NULL: zeros. -EINVAL: as above, or a
 * key is not greater than the key before it. */
WEFT_API WEFT_MUST_USE int weft_ordmap_build(weft *w, const void *keys, const void *values,
                                             size_t n, const weft_ordmap_kind *kind,
                                             weft_ordmap **result);

WEFT_API WEFT_MUST_USE int weft_ordmap_copy(const weft_ordmap *map, weft_ordmap **result);
WEFT_API void weft_ordmap_release(weft_ordmap *map); /* may be NULL */

/* The map with this key, in place of an equal one if there is any; the map without it. `value`
 * NULL: zeros. */
WEFT_API WEFT_MUST_USE int weft_ordmap_insert(const weft_ordmap *map, const void *key,
                                              const void *value, weft_ordmap **result);
WEFT_API WEFT_MUST_USE int weft_ordmap_remove(const weft_ordmap *map, const void *key,
                                              weft_ordmap **result);

WEFT_API size_t weft_ordmap_size(const weft_ordmap *map);

/* The value of the key: an address, even if values have no size; NULL: the key is not there. */
WEFT_API const void *weft_ordmap_find(const weft_ordmap *map, const void *key);

/* The entry that `rank` keys are smaller than; the entries of the smallest and of the largest key;
 * false: there is none. weft_ordmap_rank() counts the keys that are smaller than this one. */
WEFT_API bool weft_ordmap_at(const weft_ordmap *map, size_t rank, weft_ordmap_entry *entry);
WEFT_API bool weft_ordmap_first(const weft_ordmap *map, weft_ordmap_entry *entry);
WEFT_API bool weft_ordmap_last(const weft_ordmap *map, weft_ordmap_entry *entry);
WEFT_API size_t weft_ordmap_rank(const weft_ordmap *map, const void *key);

/* Calls visit for the entries of rank begin to end - 1, in that order, until visit returns false;
 * returns false then. It needs no job. Called in the body of a weft_for(), it is a parallel loop.
 */
typedef bool weft_ordmap_visit_fn(const void *key, const void *value, void *arg);
WEFT_API bool weft_ordmap_walk(const weft_ordmap *map, size_t begin, size_t end,
                               weft_ordmap_visit_fn *visit, void *arg);

/* ---- All of its entries ------------------------------------------------------ */

/* A map of the same keys, with values of value_size bytes that fn makes. -EINVAL: too large. */
typedef void weft_ordmap_map_fn(weft *w, const void *key, const void *value, void *out, void *arg);
WEFT_API WEFT_MUST_USE int weft_ordmap_map(weft *w, const weft_ordmap *map, weft_ordmap_map_fn *fn,
                                           void *arg, weft_ordmap **result, size_t value_size);

/* A map of the entries for which keep is true. */
typedef bool weft_ordmap_keep_fn(weft *w, const void *key, const void *value, void *arg);
WEFT_API WEFT_MUST_USE int weft_ordmap_filter(weft *w, const weft_ordmap *map,
                                              weft_ordmap_keep_fn *keep, void *arg,
                                              weft_ordmap **result);

/* fn makes `size` bytes of each entry; `result`, as it is on entry, and all of them are combined in
 * the order of the keys. fn NULL: the values themselves are combined, and `size` is their size. The
 * result is the same, bit for bit, for any number of workers. Another map with the same keys and
 * values may give another result, if combine is not exactly associative. */
WEFT_API void weft_ordmap_reduce(weft *w, const weft_ordmap *map, weft_ordmap_map_fn *fn,
                                 weft_combine_fn *combine, void *arg, void *result, size_t size);

/* The same until `halt` is true. It is asked about `result` as it is on entry, and about the
 * combination of some neighbouring entries; entries that follow these are not combined. NULL:
 * never. Where it halts is the same for any number of workers. */
WEFT_API void weft_ordmap_reduce_until(weft *w, const weft_ordmap *map, weft_ordmap_map_fn *fn,
                                       weft_combine_fn *combine, weft_halt_fn *halt, void *arg,
                                       void *result, size_t size);

/* ---- Two maps ---------------------------------------------------------------- */

/* A map of the keys that are in a or b; in both; in a and not in b. If a key is in both, its value
 * is that of a, and combine, if not NULL, adds the value of b to it. Takes O(m log(n / m + 1))
 * steps for maps of m and n keys, where m is the smaller number. -EINVAL: the maps are not of one
 * kind; but where values of b are not copied, they may have another size. */
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
