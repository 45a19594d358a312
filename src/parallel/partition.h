/* SPDX-License-Identifier: MIT */
/* partition.h: keys of an array, sorted by a part of their hash. Each partition can be worked on by
 * a thread alone. */
#ifndef WEFT_PARALLEL_PARTITION_H
#define WEFT_PARALLEL_PARTITION_H

#include "core/fiber.h"
#include "core/misuse.h"
#include "weft/hashmap.h"

#include <string.h>

enum { WEFT__PARTITIONS_LOG = 8, WEFT__PARTITIONS = 1 << WEFT__PARTITIONS_LOG };

static inline uint64_t weft__hash_fold(uint64_t hash, uint64_t word)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)(hash ^ word) * UINT64_C(0xd6e8feb86659fd93);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Of the bytes. Keys of one word are the usual ones. */
static inline uint64_t weft__bytes_hash(const void *key, size_t size)
{
    uint64_t word;
    if (size != sizeof word)
        return weft_hash(key, size);
    memcpy(&word, key, sizeof word);
    return weft__hash_fold(UINT64_C(0x2545f4914f6cdd1d), word);
}

/* Never 0. What the program's function returns is mixed: it may be a number that counts up. */
static inline uint64_t weft__key_hash(const weft_hashmap_kind *kind, const void *key)
{
    uint64_t hash = kind->hash ? kind->hash(key, kind->arg) : weft__bytes_hash(key, kind->key_size);
    hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
    return hash ? hash : 1;
}

static inline size_t weft__partition_of(uint64_t hash)
{
    return hash >> (64 - WEFT__PARTITIONS_LOG);
}

static inline bool weft__bytes_equal(const void *a, const void *b, size_t size)
{
    uint64_t one, other;
    if (size != sizeof one)
        return memcmp(a, b, size) == 0;
    memcpy(&one, a, sizeof one);
    memcpy(&other, b, sizeof other);
    return one == other;
}

static inline bool weft__keys_equal(const weft_hashmap_kind *kind, const void *a, const void *b)
{
    return kind->equal ? kind->equal(a, b, kind->arg) : weft__bytes_equal(a, b, kind->key_size);
}

/* Which key of the array, and its hash. */
struct weft__hashed {
    uint64_t hash;
    size_t index;
};

struct weft__partitioned {
    struct weft__cleanup cleanup;
    bool is_begun;                       /* the cleanup is pushed */
    struct weft__hashed *keys;           /* by partition; within one, in the order of the array */
    size_t starts[WEFT__PARTITIONS + 1]; /* where each partition begins in `keys` */
};

/* Of n keys. 0, -ENOMEM or -ECANCELED; weft__partitioned_free() in any case. */
int weft__partition(weft *w, const void *keys, size_t n, const weft_hashmap_kind *kind,
                    struct weft__partitioned *result);
void weft__partitioned_free(weft *w, struct weft__partitioned *partitioned);

#endif
