/* SPDX-License-Identifier: MIT */
#include "parallel/flow_table.h"

#include "os/memory.h"

enum { ROOM_MIN = 64 };

/* Entries with the same place stand in the next free places. At least a quarter of them is free. */
struct weft__flow_entry *weft__flow_table_at(struct weft__flow_table *table, const void *address)
{
    uint64_t hash = (uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15u;
    size_t place = (size_t)(hash >> 32 ^ hash >> 17);
    for (;; place++) {
        struct weft__flow_entry *entry = &table->entries[place & (table->room - 1)];
        if (entry->address == address)
            return entry;
        if (entry->address)
            continue;
        entry->address = address;
        table->used++;
        return entry;
    }
}

static size_t room_for(size_t count)
{
    size_t room = ROOM_MIN;
    while (room < SIZE_MAX / 4 && room / 2 < count)
        room *= 2;
    return room;
}

bool weft__flow_table_reserve(struct weft__flow_table *table, size_t n, weft__forget_fn *forget,
                              void *arg)
{
    if (n <= table->room && table->used + n <= table->room - table->room / 4)
        return true;
    if (n > SIZE_MAX / 4 / sizeof(struct weft__flow_entry))
        return false;
    size_t left = 0;
    for (size_t i = 0; i < table->room; i++)
        left += table->entries[i].address && !forget(&table->entries[i], arg);
    struct weft__flow_table larger = {.room = room_for(left + n)};
    larger.entries = weft__alloc(larger.room * sizeof larger.entries[0]);
    if (!larger.entries)
        return false;
    for (size_t i = 0; i < table->room; i++) {
        const struct weft__flow_entry *entry = &table->entries[i];
        if (entry->address && (entry->writer || entry->readers))
            *weft__flow_table_at(&larger, entry->address) = *entry;
    }
    weft__flow_table_free(table);
    *table = larger;
    return true;
}

void weft__flow_table_free(struct weft__flow_table *table)
{
    weft__free(table->entries);
    *table = (struct weft__flow_table){0};
}
