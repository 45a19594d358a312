/* SPDX-License-Identifier: MIT */
/* protocols.h: all sleep protocols in one match, and a table with a row for each of them. */
#ifndef BENCH_SLEEP_PROTOCOLS_H
#define BENCH_SLEEP_PROTOCOLS_H

#include "../match.h"

/* In the order of the rows. */
enum protocol {
    TICKLE,
    TICKLE_SEQCST,
    TICKLE_FLAG,
    TICKLE_SWAP,
    COUNTERS,
    COUNTERS_LOCAL,
    COUNTERS_BLOCKS,
    COUNTERS_ALL,
    COUNTERS_TWO,
    EVENTS,
    EVENTS_PLAIN,
    EVENTS_LATCH,
    PROTOCOLS,
};

enum road { LAZY, EAGER, ROADS };

enum weft_fork road_fork(enum road road);
const char *road_name(enum road road); /* "lazy", "eager" */

/* The twin, and for each protocol a pool like `config`, take turns. False, with a message.
 * match_close() has to follow in any case. */
bool protocols_run(struct match *match, const struct contest *contest, const struct bench_run *run,
                   const weft_config *config);

const struct contender *protocols_twin(const struct match *match);
const struct contender *protocols_get(const struct match *match, enum protocol protocol);

/* ---- A table ---- */

/* What a document says of a value; and what counts as met, the bounds included. */
struct said {
    const char *text; /* NULL: nothing */
    double low, high;
};

struct column {
    char head[24];
    unsigned workers;
    double values[PROTOCOLS];
    double wakes[PROTOCOLS]; /* how often a worker was woken, for each job */
    struct said said[PROTOCOLS];
    double events_by_tickle; /* CPU time; where that is claimed */
};

enum { COLUMNS_MAX = 5 };

struct table {
    const char *unit;
    unsigned count;
    struct column columns[COLUMNS_MAX];
};

/* Fills in the wake-ups of a column, for so many jobs in a run, and adds the results of all
 * contenders to the report, with the name of this benchmark; `plotted` is what is drawn of the
 * protocols; NULL: nothing. */
void protocols_report(struct match *match, struct column *column, double jobs, const char *bench,
                      enum report_panel panel, const double *plotted);

/* The values, each with what the document says, and a mark where that is not met; then the
 * wake-ups. */
void table_print(const struct table *table, const struct report *report);

#endif
