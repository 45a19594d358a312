/* SPDX-License-Identifier: MIT */
/* timeline.h: what a page shows of a trace: intervals, arrows, stacks, marks, and how many threads
 * did what over time. The trace is read twice: first to see how much there is, then to keep some of
 * it.
 *
 * How much memory it needs: 48 bytes for each of THIN_MOST intervals at most, some megabytes for
 * the rest, and some kilobytes for each thread. Sums are of all events; what is left out is
 * counted.
 *
 * Arrows: all, if there are TIMELINE_ARROWS or less; else the first of its kind to each thread in
 * each of equal parts of the time. Worst case: parts are so long that most arrows are missing,
 * though they would not lie on each other. Marks: the least and the greatest value in each of
 * TIMELINE_POINTS parts of the time, of the first TIMELINE_MARKS names. */
#ifndef TRACE_TIMELINE_H
#define TRACE_TIMELINE_H

#include "arrows.h"
#include "flame.h"
#include "labels.h"
#include "thin.h"

enum { TIMELINE_ARROWS = 60000, TIMELINE_MARKS = 32, TIMELINE_POINTS = 500, TIMELINE_BINS = 1000 };

struct mark_series {
    uint64_t key;
    const char *text;
    uint32_t size;
    uint64_t count;
    struct {
        uint64_t count;
        int64_t least, high, last;
    } points[TIMELINE_POINTS];
};

/* A frame that is open. */
struct open {
    uint64_t begin;  /* of the frame; of a search: of its part since the last sleep */
    uint64_t inside; /* how long intervals inside it were */
    unsigned label;
    unsigned lane;
    unsigned node;  /* of the tree of stacks */
    int from;       /* thread that it was stolen from, or -1 */
    bool is_part;   /* of the wait around it, which is what is shown */
    struct run run; /* of what is inside it */
};

struct lane_thread {
    struct stack stack;
    struct open *opens; /* as many as the stack has frames */
    unsigned room;
    struct run run; /* of what has nothing around it */
    uint64_t since;
    int stolen_from;                  /* by the job that comes next; -1: it is not stolen */
    uint64_t arrow_part[ARROW_KINDS]; /* of the time, plus 1: it has an arrow */
};

struct timeline {
    struct trace *trace;
    bool measures; /* the first time */
    unsigned rows; /* threads that have intervals: THIN_THREADS at most */
    uint64_t whole;
    struct lane_thread *threads;
    struct labels labels;
    struct flame flame;
    struct thin thin;

    struct arrows arrows;
    struct arrow *kept;
    size_t kept_count, kept_room;
    uint64_t arrow_counts[ARROW_KINDS];
    uint64_t arrow_part; /* 0: all are kept */

    struct mark_series *marks[TIMELINE_MARKS];
    unsigned mark_count;
    uint64_t marks_missing;
    float bins[TIMELINE_BINS][ACTIVITIES]; /* threads */
};

struct timeline *timeline_make(struct trace *trace); /* NULL: no memory */
void timeline_free(struct timeline *timeline);

#endif
