/* SPDX-License-Identifier: MIT */
/* explore.h: all executions of a harness, one after the other. */
#ifndef CHECK_EXPLORE_H
#define CHECK_EXPLORE_H

#include "model.h"

#define HARNESS_THREADS 3

struct harness {
    const char *name;
    const char *what;
    void (*setup)(void);                   /* before the threads, with plain operations */
    void (*thread[HARNESS_THREADS])(void); /* NULL: there are no more */
    void (*finish)(void);                  /* after them; may be NULL */
    bool fails;                            /* it is known to: finding that is success */
    unsigned stale; /* how many times loads read something else than the newest store, and stores
                       land earlier than last; 0: as the options say */
};

struct options {
    int preemptions;     /* at most so many; -1: any number */
    int stale;           /* the same for old values; -1: any number */
    int spurious;        /* and for wake-ups without a reason */
    uint64_t executions; /* gives up after so many; 0: never */
    bool verbose;
    const char *trail; /* the one to run again, or NULL */
};

enum verdict { VERDICT_FINE, VERDICT_FAILED, VERDICT_GAVE_UP };

struct outcome {
    enum verdict verdict;
    uint64_t executions;
    uint64_t forbidden; /* failed, but RC11 does not allow them */
    uint64_t livelocks; /* ended because they would not */
    char why[300];
    char trail[2000];
};

struct outcome explore(const struct harness *harness, const struct options *options);

/* Prints the failing execution again, one column for each thread. */
void explore_show(const struct harness *harness, const struct options *options, const char *trail);

/* One of n, the first if nothing speaks against it. Called by memory.c. */
unsigned explore_choose(unsigned n);

/* One of n, of which all but the first are old values: bounded. */
unsigned explore_choose_stale(unsigned n);

#endif
