/* SPDX-License-Identifier: MIT */
/* thin.h: the intervals of a trace, no more of them than a page can show.
 *
 * If there are more than THIN_MOST, those that are as long as `shortest` are kept; at most
 * THIN_LONG are. The others, which are shorter, become runs: neighbours inside the same interval
 * that begin in the same bucket of time. What is inside a short interval is counted in its run, and
 * has none of its own. An interval is no shorter than what is inside it, so that what is kept has a
 * kept one around it.
 *
 * How many there are: a run ends with a bucket, or where a kept interval begins or ends. So there
 * are at most THIN_BUCKETS + threads + 2 * THIN_LONG runs, and with those that are kept less than
 * THIN_MOST. Worst case: all are about equally long. Then none is kept, and each thread has its
 * share of THIN_BUCKETS runs. */
#ifndef TRACE_THIN_H
#define TRACE_THIN_H

#include "table.h"

enum { THIN_MOST = 250000, THIN_LONG = 50000, THIN_BUCKETS = 90000, THIN_THREADS = 1000 };

struct interval {
    uint64_t begin, ns;
    uint64_t self;      /* without what is inside; of a run: how much of the time it fills */
    unsigned thread;    /* below THIN_THREADS */
    unsigned lane;      /* how many are around it */
    unsigned label;     /* of a run: of most of its time; 0: there is none */
    int from;           /* thread that it was stolen from, or -1 */
    uint64_t intervals; /* 1, or how many became this run, with those inside them */
};

enum { RUN_LABELS = 4 };

/* Short intervals that were not put into the list yet. Zero: there are none. */
struct run {
    struct interval whole; /* with one interval: that one */
    struct {
        unsigned label;
        uint64_t ns;
    } labels[RUN_LABELS]; /* those that came first */
};

struct thin {
    struct interval *list;
    size_t count, room;
    uint64_t missing;  /* there was no memory for them */
    struct spread all; /* of all lengths, before anything is kept */
    uint64_t shortest; /* 0: all are kept */
    uint64_t bucket;
    uint64_t merged; /* intervals in runs */
};

/* Both steps see the same intervals. First: */
void thin_measure(struct thin *thin, uint64_t ns);
void thin_decide(struct thin *thin, unsigned threads, uint64_t whole);
/* Then each, when it is over. `inside`: what is in the interval itself; `around`: the run of the
 * interval around it, which began at `since`. */
void thin_add(struct thin *thin, const struct interval *one, struct run *inside, struct run *around,
              uint64_t since);
void thin_flush(struct thin *thin, struct run *run);
/* By thread, lane and begin. */
void thin_sort(struct thin *thin);

#endif
