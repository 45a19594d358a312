/* SPDX-License-Identifier: MIT */
/* reasons.h: what is known of mutants that survive. */
#ifndef CHECK_REASONS_H
#define CHECK_REASONS_H

#include "mutate.h"

/* The harness that kills it if nothing is bounded; NULL: none is known. */
const char *stubborn_killer_of(const struct mutant *mutant);

/* Why a stronger order is kept although no harness needs it; NULL: no reason is known. */
const char *reason_for(const struct mutant *mutant);

/* It was killed: is there a reason all the same? */
bool reason_is_stale(const struct mutant *mutant);

/* Is each reason true of one place in the sources? EXIT_FAILURE: not all are. */
int reasons_check(void);

/* Prints the reasons that are for no mutant that was tried: how many. */
unsigned reasons_stale(void);

#endif
