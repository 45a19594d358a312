/* SPDX-License-Identifier: MIT */
/* faults.h: known bugs of others, and one of our own, put into the library one at a time
 * (WEFT__FAULT in its sources). Each has a harness that has to find it. */
#ifndef CHECK_FAULTS_H
#define CHECK_FAULTS_H

#include "explore.h"

/* A line for each. EXIT_FAILURE: one was not found by its harness, which is in one of the n
 * lists. */
int faults_all(const struct options *options, const struct harness *const *lists, unsigned n);

#endif
