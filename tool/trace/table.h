/* SPDX-License-Identifier: MIT */
/* table.h: rows found by a key, and how values are spread. Both have a fixed size at most: a trace
 * may have any number of functions, and values. */
#ifndef TRACE_TABLE_H
#define TRACE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Spread ---- */

enum { SPREAD_BUCKETS = 64 * 8 };

struct spread {
    uint64_t count, total, most;
    uint64_t buckets[SPREAD_BUCKETS]; /* eight for each power of two */
};

void spread_add(struct spread *spread, uint64_t value);
uint64_t spread_median(const struct spread *spread); /* within an eighth */
/* A value that at most `count` values reach, the least one within an eighth. */
uint64_t spread_reached(const struct spread *spread, uint64_t count);

/* ---- Rows ---- */

enum { TABLE_ROWS_MOST = 4096 };

/* A row: a function, an object, a name or an actor. */
struct row {
    uint64_t key;
    bool used;
    bool many;        /* threads */
    unsigned thread;  /* the last one */
    unsigned number;  /* for who numbers the rows */
    uint64_t a;       /* an address */
    const char *text; /* as in an event, or NULL */
    uint32_t size;
    uint64_t count, total, most;
    uint64_t stolen;           /* of a function: how many were */
    uint64_t outside;          /* of an object: time that a thread outside has ended */
    int64_t least, last, high; /* of a mark */
};

struct table {
    struct row *rows;
    size_t room, count;
    struct row others; /* all that came when the table was full */
};

/* The row with this key, a new one perhaps. */
struct row *table_row(struct table *table, uint64_t key);
uint64_t table_key(const char *text, size_t size);
void row_add(struct row *row, uint64_t value, unsigned thread);

/* The rows, those with the largest total first. They can't be found by key any more. */
size_t table_sort(struct table *table);

#endif
