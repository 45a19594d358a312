/* SPDX-License-Identifier: MIT */
/* Maps of whole arrays. The keys are sorted by their partition; then each partition is filled by
 * one thread. */
#include "parallel/hashmap.h"

#include "core/cancel.h"

#include <errno.h>
#include <string.h>

/* What one loop over the partitions needs. */
struct job {
    weft_hashmap *map, *from;
    const char *keys, *values;
    struct weft__partitioned partitioned;
    weft_hashmap_fn *fn;
    void *arg;
    struct atomic_bool no_memory; /* relaxed everywhere: the end of the loop orders it */
};

static int outcome(weft *w, struct job *job)
{
    if (atomic_load_relaxed(&job->no_memory))
        return -ENOMEM;
    return weft_cancelled(w) ? -ECANCELED : 0;
}

/* ---- Arrays ---- */

enum {
    BATCH = 1 << 20, /* keys that are sorted at a time: the rest of memory is for the map */
    AHEAD = 8,       /* keys that are fetched before they are needed */
};

/* The keys of a partition lie all over the array. */
static void fetch(const struct job *job, size_t i)
{
    const weft_hashmap_kind *kind = &job->map->kind;
    size_t at = job->partitioned.keys[i].index;
    __builtin_prefetch(job->keys + at * kind->key_size);
    if (job->values)
        __builtin_prefetch(job->values + at * kind->value_size);
}

static void fill(weft *w, struct job *job, size_t p)
{
    struct weft__partition *partition = &job->map->partitions[p];
    const struct weft__hashed *keys = job->partitioned.keys;
    const weft_hashmap_kind *kind = &job->map->kind;
    bool put = true;
    struct weft__held held;
    weft__partition_lock(w, partition, &held);
    size_t end = job->partitioned.starts[p + 1];
    for (size_t i = job->partitioned.starts[p]; put && i < end; i++) {
        size_t at = keys[i].index;
        if (end - i > AHEAD)
            fetch(job, i + AHEAD);
        put = weft__table_put(w, job->map, &partition->table, keys[i].hash,
                              job->keys + at * kind->key_size,
                              job->values ? job->values + at * kind->value_size : NULL);
    }
    weft__partition_unlock(w, &held);
    if (!put)
        atomic_store_relaxed(&job->no_memory, true);
}

static void fill_some(weft *w, size_t begin, size_t end, void *arg)
{
    for (size_t p = begin; p < end; p++)
        fill(w, arg, p);
}

static int put_batch(weft *w, weft_hashmap *map, const char *keys, const char *values, size_t n)
{
    struct job job = {.map = map, .keys = keys, .values = values};
    int error = weft__partition(w, keys, n, &map->kind, &job.partitioned);
    if (!error) {
        weft_for(w, 0, WEFT__PARTITIONS, fill_some, &job);
        error = outcome(w, &job);
    }
    weft__partitioned_free(w, &job.partitioned);
    return error;
}

int weft_hashmap_put_all(weft *w, weft_hashmap *map, const void *keys, const void *values, size_t n)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!map || (!keys && n > 0))
        return -EINVAL;
    const char *key = keys, *value = values;
    int error = 0;
    while (n > 0 && !error) {
        size_t some = n < BATCH ? n : BATCH;
        error = put_batch(w, map, key, value, some);
        key += some * map->kind.key_size;
        if (value)
            value += some * map->kind.value_size;
        n -= some;
    }
    return error;
}

/* ---- Two maps ---- */

/* Backwards from a free place: then each entry is the last before a free place, and can be taken
 * out without moving others. It is taken out before `combine` is called, where an actor may end: so
 * what was moved, or combined, is not in both tables. */
static void move_entries(weft *w, const weft_hashmap *map, struct weft__table *into,
                         struct weft__table *from)
{
    size_t free = 0;
    while (weft__entry_hash(weft__table_entry(map, from, free)))
        free++;
    for (size_t i = 1; i <= from->mask; i++) {
        char *entry = weft__table_entry(map, from, (free - i) & from->mask);
        uint64_t hash = weft__entry_hash(entry);
        if (!hash)
            continue;
        memset(entry, 0, sizeof hash);
        from->count--;
        weft__table_put(w, map, into, hash, entry + map->key_at, entry + map->value_at);
    }
}

/* An empty table takes the other one as it is. Otherwise memory is asked for first, for all. */
static bool move_table(weft *w, const weft_hashmap *map, struct weft__table *into,
                       struct weft__table *from)
{
    if (into->count == 0) {
        struct weft__table empty = *into;
        *into = *from;
        *from = empty;
        return true;
    }
    if (!weft__table_make_room(map, into, from->count + 1))
        return false;
    if (from->count > 0)
        move_entries(w, map, into, from);
    weft__table_free(from);
    return true;
}

static void move_some(weft *w, size_t begin, size_t end, void *arg)
{
    struct job *job = arg;
    for (size_t p = begin; p < end; p++) {
        struct weft__partition *into = &job->map->partitions[p];
        struct weft__held held;
        weft__partition_lock(w, into, &held);
        bool moved = move_table(w, job->map, &into->table, &job->from->partitions[p].table);
        weft__partition_unlock(w, &held);
        if (!moved)
            atomic_store_relaxed(&job->no_memory, true);
    }
}

static bool same_kind(const weft_hashmap_kind *a, const weft_hashmap_kind *b)
{
    return a->key_size == b->key_size && a->value_size == b->value_size && a->hash == b->hash &&
           a->equal == b->equal;
}

int weft_hashmap_merge(weft *w, weft_hashmap *into, weft_hashmap *from)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!into || !from || into == from || !same_kind(&into->kind, &from->kind))
        return -EINVAL;
    struct job job = {.map = into, .from = from};
    weft_for(w, 0, WEFT__PARTITIONS, move_some, &job);
    return outcome(w, &job);
}

/* ---- All entries ---- */

static void visit_some(weft *w, size_t begin, size_t end, void *arg)
{
    struct job *job = arg;
    for (size_t p = begin; p < end; p++) {
        const struct weft__table *table = &job->map->partitions[p].table;
        for (size_t i = 0; table->entries && i <= table->mask; i++) {
            char *entry = weft__table_entry(job->map, table, i);
            if (weft__is_cancelled(w))
                return;
            if (weft__entry_hash(entry))
                job->fn(w, entry + job->map->key_at, entry + job->map->value_at, job->arg);
        }
    }
}

void weft_hashmap_for(weft *w, weft_hashmap *map, weft_hashmap_fn *fn, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(map, "a map");
    WEFT__NEEDS(fn, "a function");
    struct job job = {.map = map, .fn = fn, .arg = arg};
    weft_for(w, 0, WEFT__PARTITIONS, visit_some, &job);
}
