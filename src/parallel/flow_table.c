/* SPDX-License-Identifier: MIT */
#include "parallel/flow_table.h"

#include "os/memory.h"

enum { ROOM_MIN = 64 };

/* The entry of the address, or the free one where it belongs. Entries with the same place stand in
 * the next places, and at least a quarter of all is free. The upper bits of the product are those
 * that depend on all bits of the address. */
static struct weft__flow_entry *place_of(const struct weft__flow_table *table, const void *address)
{
    uint64_t hash = (uint64_t)(uintptr_t)address * 0x9e3779b97f4a7c15u;
    for (size_t place = (size_t)(hash >> 32) * table->room >> 32;; place++) {
        struct weft__flow_entry *entry = &table->entries[place & (table->room - 1)];
        if (entry->address == address || !entry->address)
            return entry;
    }
}

struct weft__flow_entry *weft__flow_table_at(struct weft__flow_table *table, const void *address)
{
    struct weft__flow_entry *entry = place_of(table, address);
    if (!entry->address) {
        entry->address = address;
        table->used++;
    }
    return entry;
}

const struct weft__flow_entry *weft__flow_table_find(const struct weft__flow_table *table,
                                                     const void *address)
{
    if (table->used == 0)
        return NULL;
    const struct weft__flow_entry *entry = place_of(table, address);
    return entry->address ? entry : NULL;
}

/* So large that half of it is filled before it has to be made anew. */
static size_t room_for(size_t count)
{
    size_t room = ROOM_MIN;
    while (room < SIZE_MAX / 8 && room / 4 < count)
        room *= 2;
    return room;
}

bool weft__flow_table_reserve(struct weft__flow_table *table, size_t n, weft__forget_fn *forget,
                              void *arg)
{
    if (n <= table->room && table->used + n <= table->room - table->room / 4)
        return true;
    if (n > SIZE_MAX / 16 / sizeof(struct weft__flow_entry))
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
