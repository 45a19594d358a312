/* SPDX-License-Identifier: MIT */
/* report.h: what comes out: a table for the reader, or JSON lines for programs. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "samples.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The picture has several, for what is drawn is not the same everywhere. */
enum report_panel {
    REPORT_TIMES,     /* time / the sequential twin's, or of CPU time where that matters */
    REPORT_OVERHEADS, /* time / that of another contender */
    REPORT_USAGE,     /* CPU time, percent of a core */
    REPORT_PANELS,
};

struct result {
    const char *bench, *peer; /* `peer`: the contender, weft included */
    unsigned workers;
    struct summary seconds;
    double ns_per_op, cpu; /* of the medians */
    uint64_t checksum;
    double times_twin; /* time for the same work / the sequential twin's; 0: has none */
    double plotted;    /* what is drawn; 0: nothing */
    double steals;     /* negative: not counted */
    enum report_panel panel;
    bool measured; /* something that is no time: */
    double value;
};

struct report {
    bool json;
    bool judge; /* say what values should be */
    size_t count, room;
    struct result *results; /* all so far, for the plot */
};

enum report_bound { REPORT_AT_MOST, REPORT_AT_LEAST, REPORT_BELOW };

void report_free(struct report *report);

/* These write something in a table only. */
void report_title(const struct report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void report_head(const struct report *report, const char *operation);
void report_claim(const struct report *report, const char *what, double value,
                  enum report_bound bound, double limit); /* limit 0: just the value */

/* One contender of a contest. */
void report_row(struct report *report, const struct result *result);

/* One line with its name, the median in microseconds and the spread. */
void report_sample(struct report *report, const struct result *result);

/* Stores a result, and writes it if it is JSON that is wanted. */
void report_add(struct report *report, const struct result *result);

#endif
