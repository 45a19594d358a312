/* SPDX-License-Identifier: MIT */
/* harnesses.h: what there is to check. Each list ends with a harness without a name. */
#ifndef CHECK_HARNESSES_H
#define CHECK_HARNESSES_H

#include "explore.h"
#include "weft.h"

extern const struct harness litmus_harnesses[], litmus_data_harnesses[], litmus_wait_harnesses[],
    deque_harnesses[], lock_harnesses[], latch_harnesses[], sleep_harnesses[], fork_harnesses[],
    spawn_harnesses[], mutex_harnesses[], event_harnesses[], channel_harnesses[], limit_harnesses[],
    alarm_harnesses[], rwlock_harnesses[], select_harnesses[], overtake_harnesses[],
    block_harnesses[], dead_harnesses[], spare_harnesses[], pool_harnesses[], actor_harnesses[],
    places_harnesses[], graph_harnesses[], fault_harnesses[], variant_harnesses[];

/* Where a thread may run is changed, or put back. */
void thread_moves(bool begins);

/* Is it one of these, by a part of its name? None: all are. */
bool wanted(const struct harness *harness, char **names);

#endif
