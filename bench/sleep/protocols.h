/* SPDX-License-Identifier: MIT */
/* protocols.h: all sleep protocols in one ring, and a table with a row for each of them. */
#ifndef BENCH_SLEEP_PROTOCOLS_H
#define BENCH_SLEEP_PROTOCOLS_H

#include "../ring.h"

/* As they stand in a table. */
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

/* The twin and a pool like `config` for each protocol take turns. False, with a message.
 * ring_close() has to follow in any case. */
bool protocols_run(struct ring *ring, const struct contest *contest, const struct bench_run *run,
                   const weft_config *config);

struct contender *protocols_twin(struct ring *ring);
struct contender *protocols_get(struct ring *ring, enum protocol protocol);

/* ---- A table ---- */

struct column {
    char head[24];
    double values[PROTOCOLS];
    const char *published[PROTOCOLS]; /* what somebody else measured, or NULL */
};

enum { COLUMNS_MAX = 4 };

struct table {
    const char *unit;
    bool published; /* there is room for it */
    unsigned count;
    struct column columns[COLUMNS_MAX];
};

/* A result for each contender of the ring, called `bench`, and drawn in a panel with the
 * column's values, each times `scale` and more by `offset`. */
void table_print(const struct table *table, const struct report *report);

#endif
