/* SPDX-License-Identifier: MIT */
/* resume.h: what has become of each harness, in a file, so that a long check can be stopped and go
 * on: those that are exhausted are not run again, the others go on where they gave up. */
#ifndef CHECK_RESUME_H
#define CHECK_RESUME_H

#include "explore.h"

enum standing { STANDING_NEW, STANDING_EXHAUSTED, STANDING_UNFINISHED, STANDING_WRONG };

struct progress {
    enum standing standing;
    uint64_t executions, known; /* of all runs */
    const char *position;       /* UNFINISHED: for explore_on(); NULL: from the beginning */
};

/* Reads the file, if it is there. What another program, or one with other options, has left is
 * forgotten. */
void resume_open(const char *path, const struct options *options);

/* A harness that nobody has seen is NEW. */
struct progress resume_get(const struct harness *harness);

/* Writes the file, if there is one; the old one stays until the new one is complete. */
void resume_set(const struct harness *harness, struct progress progress);

#endif
