/* SPDX-License-Identifier: MIT */
/* harnesses.h: what there is to check. Each list ends with a harness without a name. */
#ifndef CHECK_HARNESSES_H
#define CHECK_HARNESSES_H

#include "explore.h"
#include "weft.h"

extern const struct harness litmus_harnesses[], deque_harnesses[], lock_harnesses[],
    latch_harnesses[], sleep_harnesses[], pool_harnesses[];

struct mutant;

/* Why a stronger order is kept although no harness needs it; NULL: no reason is known. */
const char *reason_for(const struct mutant *mutant);

#endif
