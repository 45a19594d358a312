/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <stdlib.h>

/* ---- Spread ---- */

static unsigned bucket_of(uint64_t value)
{
    if (value < 8)
        return (unsigned)value;
    unsigned power = 63 - (unsigned)__builtin_clzll(value);
    return (power - 2) * 8 + (unsigned)(value >> (power - 3)) % 8;
}

static uint64_t bucket_begin(unsigned bucket)
{
    return bucket < 8 ? bucket : (uint64_t)(8 + bucket % 8) << (bucket / 8 - 1);
}

void spread_add(struct spread *spread, uint64_t value)
{
    spread->count++;
    spread->total += value;
    spread->most = value > spread->most ? value : spread->most;
    spread->buckets[bucket_of(value)]++;
}

uint64_t spread_median(const struct spread *spread)
{
    uint64_t seen = 0;
    for (unsigned i = 0; i < SPREAD_BUCKETS; i++) {
        seen += spread->buckets[i];
        if (2 * seen > spread->count) {
            uint64_t middle = bucket_begin(i) + (bucket_begin(i + 1) - bucket_begin(i)) / 2;
            return middle < spread->most ? middle : spread->most;
        }
    }
    return 0;
}

uint64_t spread_reached(const struct spread *spread, uint64_t count)
{
    uint64_t seen = 0;
    for (unsigned i = bucket_of(UINT64_MAX); i > 0; i--) {
        seen += spread->buckets[i];
        if (seen > count)
            return i < bucket_of(UINT64_MAX) ? bucket_begin(i + 1) : UINT64_MAX;
    }
    return seen + spread->buckets[0] > count ? 1 : 0;
}

/* ---- Rows ---- */

static struct row *find(struct row *rows, size_t room, uint64_t key)
{
    size_t i = (key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % room;
    while (rows[i].used && rows[i].key != key)
        i = (i + 1) % room;
    return &rows[i];
}

static bool grow(struct table *table)
{
    size_t room = table->room ? 2 * table->room : 64;
    struct row *rows = room <= 2 * TABLE_ROWS_MOST ? calloc(room, sizeof *rows) : NULL;
    if (!rows)
        return false;
    for (size_t i = 0; i < table->room; i++)
        if (table->rows[i].used)
            *find(rows, room, table->rows[i].key) = table->rows[i];
    free(table->rows);
    table->rows = rows;
    table->room = room;
    return true;
}

struct row *table_row(struct table *table, uint64_t key)
{
    if (table->room > 0) {
        struct row *row = find(table->rows, table->room, key);
        if (row->used)
            return row;
    }
    if (2 * table->count >= table->room && !grow(table))
        return &table->others;
    struct row *row = find(table->rows, table->room, key);
    *row = (struct row){.key = key, .used = true};
    table->count++;
    return row;
}

uint64_t table_key(const char *text, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

void row_add(struct row *row, uint64_t value, unsigned thread)
{
    row->many |= row->count > 0 && row->thread != thread;
    row->thread = thread;
    row->count++;
    row->total += value;
    row->most = value > row->most ? value : row->most;
}

static int compare(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->used != b->used)
        return a->used ? -1 : 1;
    if (a->total != b->total)
        return a->total > b->total ? -1 : 1;
    return a->count > b->count ? -1 : a->count < b->count;
}

size_t table_sort(struct table *table)
{
    if (table->room > 0)
        qsort(table->rows, table->room, sizeof *table->rows, compare);
    return table->count;
}
