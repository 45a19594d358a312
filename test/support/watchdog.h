/* SPDX-License-Identifier: MIT */
/* watchdog.h: ends a test that stands still, and shows what its pools were doing. */
#ifndef TEST_WATCHDOG_H
#define TEST_WATCHDOG_H

#include "weft.h"

/* From now on, watchdog_kick() has to be called at least every 20 s (60 s under a sanitizer) of
 * what the process could have done: of CPU time on each CPU, or of time in which all its threads
 * sleep. A busy machine does not count. Otherwise all known pools are dumped on standard error, and
 * the test aborts. */
void watchdog_start(void);

void watchdog_kick(void); /* something moved; cheap, from any thread */

void watchdog_know(weft_pool *pool);
void watchdog_forget(weft_pool *pool); /* after its destruction, which may hang too */

#endif
