/* SPDX-License-Identifier: MIT */
/* summary.h: reads a trace once, from its beginning to its end, and keeps the numbers that a person
 * wants to see. What it needs depends on the number of threads, not on that of the events.
 *
 * "Active" is the time in which a job was open on any thread. Shares are of that time: a program
 * that does something else before and after is not blamed for it.
 *
 * The critical path of this run is the longest chain of busy and blocked time in which
 *   - a stolen job comes after what its owner had done when it was stolen,
 *   - a task comes after what its submitter had done,
 *   - a job that a thread runs while it waits comes after what that thread did before the wait, and
 *     what follows the wait does not come after that job, unless the wait was for it, too,
 *   - what follows a wait, or a merge or the end of a scope that did not have to wait, comes after
 *     all jobs that it was for: the stolen right side, the children of the scope, the task,
 *   - if these are not known, what follows a wait comes after what the waker had done, or else
 * after the job that ended last,
 *   - what follows a block comes after what the waker had done; if the waker is not known or runs
 *     no job, the blocked time itself is a part of the chain.
 * A fork that nobody stole is not in the trace. So this path is as long as the pieces in which the
 * work was shared this time. */
#ifndef TRACE_SUMMARY_H
#define TRACE_SUMMARY_H

#include "stack.h"
#include "table.h"

enum {
    SUMMARY_BINS = 960,  /* of the time, for the bar */
    SUMMARY_LEVELS = 65, /* numbers of busy threads, the last one: more */
    SUMMARY_LONGEST = 6,
    SUMMARY_ENDED = 4096, /* wholes of which a job has ended, for those that wait */
    SUMMARY_TASKS = 16384,
};

/* One thread. */
struct strand {
    struct stack stack;
    uint64_t since, since_active; /* of its activity */
    uint64_t time[ACTIVITIES];    /* of the active time */
    uint64_t jobs, steals, wakes;
    bool is_worker, is_guest;
    struct path path;
    uint64_t last_job; /* when one ended here */
    bool stole;        /* the next job is a stolen one */
    bool has_origin;   /* after this comes the next job, and not after what the thread did before */
    struct path origin;
    uint64_t end_b;  /* of the record that ends something now */
    uint64_t search; /* when it began to search, and how long it has slept since */
    uint64_t slept;
    bool woken, woken_outside; /* since its innermost wait or block began */
    unsigned waker;
    struct path woken_path;
};

/* A wait or a block that took long. */
struct longest {
    uint64_t ns; /* without the jobs that the thread ran meanwhile */
    uint64_t begin;
    unsigned thread;
    uint64_t function; /* of the job that waited; 0: none */
    const char *text;
    uint32_t size;
    double busy;    /* threads that were busy meanwhile, on average */
    int ender;      /* thread, or -1 */
    uint64_t ended; /* the function of the job whose end was waited for, or 0 */
    bool outside;   /* a thread outside has ended it */
};

/* The job of a whole that ended last, and the longest path of all that have ended. */
struct ended {
    uint64_t whole, ns, function;
    unsigned thread;
    struct path path;
};

struct submitted {
    uint64_t task, ns;
    struct path path;
};

struct summary {
    struct trace *trace;
    struct strand *strands;
    unsigned threads, workers, guests;
    uint64_t events;

    uint64_t now;    /* up to here */
    unsigned busy;   /* threads, now */
    unsigned in_job; /* threads that have a job open, now */
    unsigned most_busy;
    uint64_t area;   /* busy time of all threads: the work */
    uint64_t active; /* see above */
    uint64_t alone;  /* active time in which one thread was busy, and none waited or was blocked */
    uint64_t levels[SUMMARY_LEVELS]; /* active time, by the number of busy threads */
    double bins[SUMMARY_BINS];       /* busy time */
    uint64_t first_job, last_job;

    struct path path;
    struct spread stolen;  /* busy time of stolen jobs */
    struct spread finding; /* time to find each: searched, and not slept */
    struct spread queued;  /* from SUBMIT to TASK */
    uint64_t submitted, publishes, cancels, spares;
    uint64_t moves, delegations, given_back, limits; /* of actors */
    struct table functions, objects, spans, marks, actors;
    struct longest waits[SUMMARY_LONGEST], blocks[SUMMARY_LONGEST];
    struct longest lonely; /* the longest wait for a job while hardly any thread was busy */
    struct spread
        late; /* from the end of a job to the end of the wait for it, if nothing else ran */
    struct ended ended[SUMMARY_ENDED];
    struct ended last_ended[2]; /* on two different threads, the last one first */
    struct submitted tasks[SUMMARY_TASKS];
};

struct summary *summary_make(struct trace *trace); /* NULL: no memory */
void summary_free(struct summary *summary);

#endif
