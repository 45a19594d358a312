/* SPDX-License-Identifier: MIT */
#include "words.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1024 };

/* The entry of a word, or the free one where it belongs. */
static struct words_entry *find(const struct words_table *table, const char *word, uint32_t size,
                                uint32_t hash)
{
    size_t i = hash & (table->room - 1);
    for (;; i = (i + 1) & (table->room - 1)) {
        struct words_entry *entry = &table->entries[i];
        if (!entry->word ||
            (entry->hash == hash && entry->size == size && memcmp(entry->word, word, size) == 0))
            return entry;
    }
}

static void grow(struct words_table *table)
{
    struct words_table larger = {.room = table->room ? 2 * table->room : FIRST_ROOM,
                                 .used = table->used};
    larger.entries = calloc(larger.room, sizeof *larger.entries);
    if (!larger.entries)
        abort();
    for (size_t i = 0; i < table->room; i++) {
        const struct words_entry *old = &table->entries[i];
        if (old->word)
            *find(&larger, old->word, old->size, old->hash) = *old;
    }
    free(table->entries);
    *table = larger;
}

static void add(struct words_table *table, const struct words_entry *word)
{
    if (2 * table->used >= table->room)
        grow(table);
    struct words_entry *entry = find(table, word->word, word->size, word->hash);
    uint64_t count = word->count;
    if (entry->word) {
        entry->count += count;
        return;
    }
    *entry = *word;
    table->used++;
}

void words_add(struct words_table *table, const char *begin, const char *end)
{
    for (const char *at = begin; at < end; at++) {
        const char *word = at;
        uint32_t hash = 2166136261u;
        while (at < end && *at != ' ' && *at != '\n')
            hash = (hash ^ (unsigned char)*at++) * 16777619u;
        if (at > word)
            add(table, &(struct words_entry){word, (uint32_t)(at - word), hash ^ hash >> 15, 1});
    }
}

void words_move(struct words_table *to, struct words_table *from)
{
    struct words_table smaller = from->used < to->used ? *from : *to;
    if (from->used >= to->used)
        *to = *from;
    for (size_t i = 0; i < smaller.room; i++)
        if (smaller.entries[i].word)
            add(to, &smaller.entries[i]);
    free(smaller.entries);
    *from = (struct words_table){NULL, 0, 0};
}

void words_free(struct words_table *table)
{
    free(table->entries);
    *table = (struct words_table){NULL, 0, 0};
}
