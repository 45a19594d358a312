/* SPDX-License-Identifier: MIT */
/* hashmap.h: the tables of a hash map. */
#ifndef WEFT_PARALLEL_HASHMAP_H
#define WEFT_PARALLEL_HASHMAP_H

#include "core/fiber.h"
#include "os/lock.h"
#include "parallel/partition.h"

/* Open addressing: an entry is its hash, its key and its value; a hash of 0: no entry. A key stands
 * in the first free place from that of its hash on. */
struct weft__table {
    char *entries; /* NULL: none, and no room */
    size_t mask;   /* places - 1, and that is a power of two */
    size_t count;
};

struct weft__partition {
    WEFT__ALIGNED struct weft__lock lock; /* of the table */
    struct weft__table table;
};

struct weft_hashmap {
    weft_hashmap_kind kind;
    size_t key_at, value_at, stride; /* in an entry */
    struct weft__partition partitions[WEFT__PARTITIONS];
};

/* A partition is locked. If an actor ends in `combine`, past its memory or its stack, it is
 * unlocked, too. */
struct weft__held {
    struct weft__cleanup cleanup;
    struct weft__partition *partition;
};

static inline void weft__held_drop(struct weft__cleanup *of, weft *w)
{
    (void)w;
    weft__lock_drop(&((struct weft__held *)of)->partition->lock);
}

static inline void weft__partition_lock(weft *w, struct weft__partition *partition,
                                        struct weft__held *held)
{
    weft__lock_take(&partition->lock);
    held->partition = partition;
    if (w)
        weft__cleanup_push(w, &held->cleanup, weft__held_drop);
}

static inline void weft__partition_unlock(weft *w, struct weft__held *held)
{
    if (w)
        weft__cleanup_pop(w, &held->cleanup);
    weft__lock_drop(&held->partition->lock);
}

static inline char *weft__table_entry(const weft_hashmap *map, const struct weft__table *table,
                                      size_t place)
{
    return table->entries + place * map->stride;
}

static inline uint64_t weft__entry_hash(const char *entry)
{
    return *(const uint64_t *)(const void *)entry;
}

/* Under the lock of the partition, or by the only thread that uses it. `value` NULL: zeros. False:
 * no memory, and the table is as before. */
bool weft__table_put(weft *w, const weft_hashmap *map, struct weft__table *table, uint64_t hash,
                     const void *key, const void *value);

/* For so many keys that are not there yet. False as above. */
bool weft__table_make_room(const weft_hashmap *map, struct weft__table *table, size_t more);

void weft__table_free(struct weft__table *table);

#endif
