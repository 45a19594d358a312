/* SPDX-License-Identifier: MIT */
/* protocols.h: all sleep protocols in one ring, and a table with a row for each of them. */
#ifndef BENCH_SLEEP_PROTOCOLS_H
#define BENCH_SLEEP_PROTOCOLS_H

#include "../ring.h"

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
    EVENTS,
    PROTOCOLS,
};

/* The twin, and for each protocol a pool like `config`, take turns. False, with a message.
 * ring_close() has to follow in any case. */
bool protocols_run(struct ring *ring, const struct contest *contest, const struct bench_run *run,
                   const weft_config *config);

const struct contender *protocols_twin(const struct ring *ring);
const struct contender *protocols_get(const struct ring *ring, enum protocol protocol);

/* Adds the results of all contenders to the report, with the name of this benchmark; `plotted`
 * is what is drawn of the protocols. */
void protocols_report(struct ring *ring, const char *bench, enum report_panel panel,
                      const double plotted[PROTOCOLS]);

/* ---- A table ---- */

struct column {
    char head[24];
    unsigned workers;
    double values[PROTOCOLS];
    const char *published[PROTOCOLS]; /* what somebody else measured, or NULL */
    double events_by_tickle;          /* CPU time; where that is claimed */
};

enum { COLUMNS_MAX = 4 };

struct table {
    const char *unit;
    unsigned count;
    struct column columns[COLUMNS_MAX];
};

void table_print(const struct table *table, const struct report *report);

#endif
