/* SPDX-License-Identifier: MIT */
/* waits.h: what a thread or an actor waits for, in words, and who has it. Addresses of the other
 * process are compared, never followed. */
#ifndef TOP_WAITS_H
#define TOP_WAITS_H

#include "page.h"
#include "sample.h"

/* "worker", "guest" and so on. */
const char *waits_kind(const struct weft_stats_worker *worker);

/* "worker 0", and of which pool, if there are several. */
void waits_title(const struct snap *snap, const struct weft_stats_worker *worker,
                 char out[SAMPLE_WHO]);

/* "": it does not wait. Returns who has it: a place in `workers`, or in `actors` plus the number of
 * workers; -1: it is not known, or nobody. */
int waits_of_worker(const struct snap *snap, const struct weft_stats_worker *worker,
                    char out[SAMPLE_WORDS]);
int waits_of_actor(const struct snap *snap, const struct weft_stats_actor *actor,
                   char out[SAMPLE_WORDS]);

#endif
