/* SPDX-License-Identifier: MIT */
/* columns.h: a trace in as many columns as a picture has: how much of each column a thread spent
 * with what. It has a fixed size for each thread, however long the trace is.
 *
 * What it costs: two readings of the trace, 80 KB for each row, and the names of spans. */
#ifndef TRACE_COLUMNS_H
#define TRACE_COLUMNS_H

#include "summary.h"

enum {
    COLUMNS_MOST = 1000,
    COLUMNS_ROWS = 100, /* threads that have one; guests first, then by their names */
    COLUMNS_FUNCTIONS = 5,
    COLUMNS_STEALS = 30, /* those whose jobs took longest */
};

/* What a picture tells apart: jobs by their functions, and the other activities. */
enum shade {
    SHADE_NOTHING,
    SHADE_FUNCTION, /* the one with the most work, and COLUMNS_FUNCTIONS - 1 more */
    SHADE_ACTORS = SHADE_FUNCTION + COLUMNS_FUNCTIONS,
    SHADE_JOBS, /* of other functions */
    SHADE_BLOCKED,
    SHADE_WAITING,
    SHADE_SEARCHING,
    SHADE_ASLEEP,
    SHADES
};

struct column {
    float shares[SHADES]; /* of 1 */
    /* The outermost span that has most of the column. */
    const char *span; /* in `names`; NULL: none */
    uint32_t size;
    float share;
};

struct column_row {
    unsigned thread;
    double all[SHADES]; /* columns */
    struct column columns[COLUMNS_MOST];
};

struct column_steal {
    uint64_t ns, took; /* took: the job */
    unsigned from, to; /* rows */
};

struct columns {
    struct summary *summary; /* with its functions sorted */
    uint64_t ns;             /* the whole */
    struct column_row *rows;
    unsigned count;
    unsigned functions; /* that have a shade of their own */
    bool spans;         /* there are some */
    struct table names; /* of spans; the texts are copies */
    double all[SHADES];
    double busy[COLUMNS_MOST]; /* threads, on average */
    uint64_t stolen;           /* jobs, between two rows */
    struct column_steal steals[COLUMNS_STEALS];
    unsigned steal_count;
};

struct columns *columns_make(struct trace *trace); /* NULL: no memory */
void columns_free(struct columns *columns);

#endif
