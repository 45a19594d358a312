/* SPDX-License-Identifier: MIT */
/* flow_table.h: which tasks of a flow have read and written an address. A hash table of addresses
 * that grows, and then forgets the addresses of tasks that are over. Used by the spawner only. */
#ifndef WEFT_PARALLEL_FLOW_TABLE_H
#define WEFT_PARALLEL_FLOW_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct weft__flow_task;
struct weft__flow_link;

struct weft__flow_entry {
    const void *address;             /* NULL: free */
    struct weft__flow_task *writer;  /* the last task that writes; or NULL */
    struct weft__flow_link *readers; /* the tasks that read since */
    uint32_t readers_n;
    uint32_t crowded_at; /* with so many readers, it is time to forget those that are over */
};

struct weft__flow_table {
    struct weft__flow_entry *entries;
    size_t room, used; /* room is a power of two, or 0 */
};

/* Forgets what is over. True: nothing is left in the entry. */
typedef bool weft__forget_fn(struct weft__flow_entry *entry, void *arg);

/* Room for n more addresses. If there is none, entries are forgotten first. False: no memory. */
bool weft__flow_table_reserve(struct weft__flow_table *table, size_t n, weft__forget_fn *forget,
                              void *arg);

/* The entry of the address, which is made if there is none: reserve before. */
struct weft__flow_entry *weft__flow_table_at(struct weft__flow_table *table, const void *address);

void weft__flow_table_free(struct weft__flow_table *table);

#endif
