/* SPDX-License-Identifier: MIT */
/* execution.h: one execution of a harness: how far it is, what it has used of its bounds, and how
 * it ended. */
#ifndef CHECK_EXECUTION_H
#define CHECK_EXECUTION_H

#include "explore.h"

enum ending { GOES_ON, OVER, FAILED, STUCK, ENDLESS, KNOWN };

struct execution {
    const struct harness *harness;
    const struct options *options;
    unsigned running; /* the thread that runs; 0: none */
    unsigned threads; /* so many have started: 1 to this */
    unsigned steps;
    unsigned asleep; /* the sleep set, threads as bits */
    unsigned preemptions, stale, spurious, failures, impatience, time_outs; /* so many there were */
    uint64_t passed;                                                        /* ns */
    uint64_t chosen[THREADS_MAX]; /* a digest of what was chosen for each, which no event shows */
    enum ending ending;
    char why[600]; /* it failed; else "" */
};

extern struct execution now;

/* From now on, it is this harness that is executed. */
void execution_of(const struct harness *harness, const struct options *options);

/* Makes the memory of executions, if it is not there. */
void execution_prepare(void);

/* From setup to finish, with the choices of the trail. */
void execution_run(void);

struct rules execution_rules(void); /* of the memory */

#endif
