/* SPDX-License-Identifier: MIT */
/* Maps of single keys: a key's partition is that of its hash, and is locked meanwhile. */
#include "parallel/hashmap.h"

#include "os/memory.h"
#include "parallel/element.h"

#include <errno.h>

enum { PLACES_MIN = 8 };

/* ---- Hashes ---- */

uint64_t weft_hash(const void *bytes, size_t size)
{
    const char *from = bytes;
    uint64_t hash = weft__hash_fold(UINT64_C(0x2545f4914f6cdd1d), size), word;
    for (; size >= sizeof word; from += sizeof word, size -= sizeof word) {
        memcpy(&word, from, sizeof word);
        hash = weft__hash_fold(hash + UINT64_C(0x9e3779b97f4a7c15), word);
    }
    word = 0;
    if (size > 0)
        memcpy(&word, from, size);
    return weft__hash_fold(hash + UINT64_C(0x9e3779b97f4a7c15), word);
}

/* ---- Tables ---- */

/* Where the key is, or the free place where it would be. There is a free place. */
static size_t find_place(const weft_hashmap *map, const struct weft__table *table, uint64_t hash,
                         const void *key)
{
    size_t place = hash & table->mask;
    for (;; place = (place + 1) & table->mask) {
        const char *entry = weft__table_entry(map, table, place);
        uint64_t there = weft__entry_hash(entry);
        if (there == 0 || (there == hash && weft__keys_equal(&map->kind, entry + map->key_at, key)))
            return place;
    }
}

static size_t free_place(const weft_hashmap *map, const struct weft__table *table, uint64_t hash)
{
    size_t place = hash & table->mask;
    while (weft__entry_hash(weft__table_entry(map, table, place)))
        place = (place + 1) & table->mask;
    return place;
}

static bool resize(const weft_hashmap *map, struct weft__table *table, size_t places)
{
    size_t bytes;
    struct weft__table larger = {.mask = places - 1, .count = table->count};
    if (__builtin_mul_overflow(places, map->stride, &bytes) ||
        !(larger.entries = weft__alloc(bytes)))
        return false;
    for (size_t i = 0; table->entries && i <= table->mask; i++) {
        const char *entry = weft__table_entry(map, table, i);
        uint64_t hash = weft__entry_hash(entry);
        if (hash)
            memcpy(weft__table_entry(map, &larger, free_place(map, &larger, hash)), entry,
                   map->stride);
    }
    weft__table_free(table);
    *table = larger;
    return true;
}

/* No more than three in four places are taken. */
bool weft__table_make_room(const weft_hashmap *map, struct weft__table *table, size_t more)
{
    size_t places = table->entries ? table->mask + 1 : 0, wanted = places ? places : PLACES_MIN;
    while (wanted - wanted / 4 < table->count + more)
        wanted *= 2;
    return wanted == places || resize(map, table, wanted);
}

static void set_value(const weft_hashmap *map, char *entry, const void *value)
{
    if (value)
        weft__copy(entry + map->value_at, value, map->kind.value_size);
    else
        memset(entry + map->value_at, 0, map->kind.value_size);
}

/* NULL is a value of zeros: combine gets them from a table, which has them in a free place. */
static void combine_values(weft *w, const weft_hashmap *map, struct weft__table *table, char *entry,
                           const void *value)
{
    const weft_hashmap_kind *kind = &map->kind;
    if (!kind->combine) {
        set_value(map, entry, value);
        return;
    }
    if (!value) {
        size_t place = free_place(map, table, weft__entry_hash(entry));
        char *other = weft__table_entry(map, table, place);
        memset(other + map->value_at, 0, kind->value_size);
        value = other + map->value_at;
    }
    kind->combine(w, entry + map->value_at, value, kind->arg);
}

bool weft__table_put(weft *w, const weft_hashmap *map, struct weft__table *table, uint64_t hash,
                     const void *key, const void *value)
{
    if (!weft__table_make_room(map, table, 1))
        return false;
    char *entry = weft__table_entry(map, table, find_place(map, table, hash, key));
    if (weft__entry_hash(entry)) {
        combine_values(w, map, table, entry, value);
        return true;
    }
    memcpy(entry, &hash, sizeof hash);
    weft__copy(entry + map->key_at, key, map->kind.key_size);
    set_value(map, entry, value);
    table->count++;
    return true;
}

/* The entries that follow, up to a free place, move up: each as far as its hash lets it. */
static void take_out(const weft_hashmap *map, struct weft__table *table, size_t hole)
{
    for (size_t i = (hole + 1) & table->mask;; i = (i + 1) & table->mask) {
        char *entry = weft__table_entry(map, table, i);
        uint64_t hash = weft__entry_hash(entry);
        if (hash == 0)
            break;
        size_t from_home = (i - hash) & table->mask, from_hole = (i - hole) & table->mask;
        if (from_home < from_hole)
            continue;
        memcpy(weft__table_entry(map, table, hole), entry, map->stride);
        hole = i;
    }
    memset(weft__table_entry(map, table, hole), 0, sizeof(uint64_t));
    table->count--;
}

void weft__table_free(struct weft__table *table)
{
    weft__free(table->entries);
    *table = (struct weft__table){.entries = NULL};
}

/* ---- Maps ---- */

static size_t align(size_t at, size_t alignment)
{
    return (at + alignment - 1) & ~(alignment - 1);
}

/* Room for so many keys, by partition. */
static bool expect(weft_hashmap *map, size_t expected)
{
    size_t each = expected / WEFT__PARTITIONS;
    for (size_t i = 0; i < WEFT__PARTITIONS && each > 0; i++)
        if (!weft__table_make_room(map, &map->partitions[i].table, each + each / 8))
            return false;
    return true;
}

int weft_hashmap_create(weft_hashmap **map, const weft_hashmap_kind *kind, size_t expected)
{
    const size_t most = SIZE_MAX / 8;
    if (!map)
        return -EINVAL;
    *map = NULL;
    if (!kind || kind->key_size == 0 || kind->key_size > most || kind->value_size > most)
        return -EINVAL;
    if (expected > most)
        return -ENOMEM;
    weft_hashmap *made = weft__alloc(sizeof *made);
    if (!made)
        return -ENOMEM;
    size_t value_alignment = kind->value_size ? weft__alignment(kind->value_size) : 1;
    made->kind = *kind;
    made->key_at = align(sizeof(uint64_t), weft__alignment(kind->key_size));
    made->value_at = align(made->key_at + kind->key_size, value_alignment);
    size_t widest = made->key_at > sizeof(uint64_t) || value_alignment > sizeof(uint64_t)
                        ? _Alignof(max_align_t)
                        : sizeof(uint64_t);
    made->stride = align(made->value_at + kind->value_size, widest);
    if (!expect(made, expected)) {
        weft_hashmap_destroy(made);
        return -ENOMEM;
    }
    *map = made;
    return 0;
}

void weft_hashmap_destroy(weft_hashmap *map)
{
    if (!map)
        return;
    for (size_t i = 0; i < WEFT__PARTITIONS; i++)
        weft__table_free(&map->partitions[i].table);
    weft__free(map);
}

int weft_hashmap_put(weft *w, weft_hashmap *map, const void *key, const void *value)
{
    if (!map || !key)
        return -EINVAL;
    uint64_t hash = weft__key_hash(&map->kind, key);
    struct weft__partition *partition = &map->partitions[weft__partition_of(hash)];
    struct weft__held held;
    bool put;
    weft__partition_lock(w, partition, &held);
    WEFT__MUST_RETURN(weft__callee_threw,
                      put = weft__table_put(w, map, &partition->table, hash, key, value));
    weft__partition_unlock(w, &held);
    return put ? 0 : -ENOMEM;
}

/* NULL: not there. */
static char *find_entry(const weft_hashmap *map, const struct weft__table *table, uint64_t hash,
                        const void *key)
{
    if (!table->entries)
        return NULL;
    char *entry = weft__table_entry(map, table, find_place(map, table, hash, key));
    return weft__entry_hash(entry) ? entry : NULL;
}

bool weft_hashmap_get(weft_hashmap *map, const void *key, void *value)
{
    if (!map || !key)
        return false;
    uint64_t hash = weft__key_hash(&map->kind, key);
    struct weft__partition *partition = &map->partitions[weft__partition_of(hash)];
    weft__lock_take(&partition->lock);
    const char *entry = find_entry(map, &partition->table, hash, key);
    if (entry && value)
        weft__copy(value, entry + map->value_at, map->kind.value_size);
    weft__lock_drop(&partition->lock);
    return entry;
}

void *weft_hashmap_find(const weft_hashmap *map, const void *key)
{
    if (!map || !key)
        return NULL;
    uint64_t hash = weft__key_hash(&map->kind, key);
    char *entry = find_entry(map, &map->partitions[weft__partition_of(hash)].table, hash, key);
    return entry ? entry + map->value_at : NULL;
}

bool weft_hashmap_remove(weft_hashmap *map, const void *key)
{
    if (!map || !key)
        return false;
    uint64_t hash = weft__key_hash(&map->kind, key);
    struct weft__partition *partition = &map->partitions[weft__partition_of(hash)];
    struct weft__table *table = &partition->table;
    weft__lock_take(&partition->lock);
    const char *entry = find_entry(map, table, hash, key);
    if (entry)
        take_out(map, table, (size_t)(entry - table->entries) / map->stride);
    weft__lock_drop(&partition->lock);
    return entry;
}

size_t weft_hashmap_size(weft_hashmap *map)
{
    size_t size = 0;
    for (size_t i = 0; map && i < WEFT__PARTITIONS; i++) {
        weft__lock_take(&map->partitions[i].lock);
        size += map->partitions[i].table.count;
        weft__lock_drop(&map->partitions[i].lock);
    }
    return size;
}
