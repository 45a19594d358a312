/* SPDX-License-Identifier: MIT */
/* faults.h: known bugs of others, and one of our own, put into the library one at a time. Each has
 * a harness that has to find it. One that is an order, or something left out, is a mutant; for each
 * of the others there is a program like this one, with the patch of bugs/ in the library. */
#ifndef CHECK_FAULTS_H
#define CHECK_FAULTS_H

#include "explore.h"

/* Which bug is in this program, by its number; 0: none. */
extern const unsigned fault_inside;

/* A line for each bug, or for the one in this program. EXIT_FAILURE: one was not found by its
 * harness, which is in one of the n lists. The programs with bugs get the arguments of this one. */
int faults_all(const struct options *options, const struct harness *const *lists, unsigned n,
               char **argv);

#endif
