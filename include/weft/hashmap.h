/* SPDX-License-Identifier: MIT */
/* weft/hashmap.h: hash tables that many threads fill, and joins of tables.
 *
 * A map is made of partitions, each with a table and a lock of its own. Single keys are put by any
 * number of threads at the same time; whole arrays are put in parallel without a lock for each key.
 * Keys and values have fixed sizes and are copied byte by byte. They are aligned to the largest
 * power of two that divides their size, up to what malloc() aligns to. A value may have no size: a
 * set. If keys or values are pointers, what they point to belongs to the program.
 *
 * Functions that return an int return 0; -ENOMEM: what was put before is there, and a function that
 * puts many keys may have put some of them; -ECANCELED, in functions that take many keys: the
 * computation was cancelled meanwhile, likewise; -EINVAL: NULL instead of a map, a key, a function
 * or an array. */
#ifndef WEFT_HASHMAP_H
#define WEFT_HASHMAP_H

#include "parallel.h" /* weft_combine_fn */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_hashmap weft_hashmap;

/* `hash` and `equal` are called by several threads at the same time. Keys that are equal have the
 * same hash; keys that are not should have different ones, in whichever bits. */
typedef struct weft_hashmap_kind {
    size_t key_size, value_size;
    uint64_t (*hash)(const void *key, void *arg);           /* NULL: of the bytes */
    bool (*equal)(const void *a, const void *b, void *arg); /* NULL: the same bytes */
    /* Adds the second value of a key to the first. NULL: the second replaces it. It must not use
     * the map, fork or wait: a part of the map is locked. */
    weft_combine_fn *combine;
    void *arg; /* for all three */
} weft_hashmap_kind;

/* With room for so many keys, if they spread evenly. -EINVAL: no key size, or too large. */
WEFT_API WEFT_MUST_USE int weft_hashmap_create(weft_hashmap **map, const weft_hashmap_kind *kind,
                                               size_t expected);
WEFT_API void weft_hashmap_destroy(weft_hashmap *map); /* may be NULL */

/* A hash of some bytes, for hash functions of the program. */
WEFT_API uint64_t weft_hash(const void *bytes, size_t size);

/* ---- One key ----------------------------------------------------------------- */

/* Puts a key and its value; if the key is there already, the values are combined. `value` NULL:
 * zeros. At any time, by any thread. `w` is passed to `combine`, and may be NULL outside jobs. */
WEFT_API WEFT_MUST_USE int weft_hashmap_put(weft *w, weft_hashmap *map, const void *key,
                                            const void *value);

/* Copies the value of the key to *value, if that is not NULL. False: the key is not there. At any
 * time, by any thread. */
WEFT_API bool weft_hashmap_get(weft_hashmap *map, const void *key, void *value);

/* The value of the key in the map: an address, even if values have no size; NULL: the key is not
 * there. Without a lock: no thread changes the map before the caller has used the value. */
WEFT_API void *weft_hashmap_find(const weft_hashmap *map, const void *key);

/* Takes the key out; false: it was not there. At any time, by any thread. */
WEFT_API bool weft_hashmap_remove(weft_hashmap *map, const void *key);

WEFT_API size_t weft_hashmap_size(weft_hashmap *map);

/* ---- Many keys --------------------------------------------------------------- */

/* Puts n keys and their values, in arrays; `values` NULL: zeros. The values of one key are combined
 * in the order of the arrays, whatever the number of workers: group-by. */
WEFT_API WEFT_MUST_USE int weft_hashmap_put_all(weft *w, weft_hashmap *map, const void *keys,
                                                const void *values, size_t n);

/* Moves all keys of `from` to `into`; values of a key that is in both are combined, that of `into`
 * first. `from` is empty then. Both are of the same kind; no thread uses `from` meanwhile. If it
 * ends early, by -ENOMEM, -ECANCELED, or because its actor ends in `combine`, each entry of `from`
 * was either moved, or is still there: another merge moves the rest. An entry whose `combine` has
 * begun and did not return is gone from `from`; the value in `into` is as `combine` has left it. */
WEFT_API WEFT_MUST_USE int weft_hashmap_merge(weft *w, weft_hashmap *into, weft_hashmap *from);

/* Calls fn for each key, in any order; it may write the value. No thread changes the map meanwhile.
 */
typedef void weft_hashmap_fn(weft *w, const void *key, void *value, void *arg);
WEFT_API void weft_hashmap_for(weft *w, weft_hashmap *map, weft_hashmap_fn *fn, void *arg);

/* ---- Joins ------------------------------------------------------------------- */

/* Calls fn for each pair of equal keys, a[i] and b[j], in any order: an equi-join of two tables.
 * Both may have the same key several times. `kind` says how keys are hashed and compared; its value
 * size and `combine` are not used. */
typedef void weft_pair_fn(weft *w, size_t i, size_t j, void *arg);
WEFT_API WEFT_MUST_USE int weft_equijoin(weft *w, const void *a, size_t a_n, const void *b,
                                         size_t b_n, const weft_hashmap_kind *kind,
                                         weft_pair_fn *fn, void *arg);

#ifdef __cplusplus
}
#endif

#endif
