/* SPDX-License-Identifier: MIT */
/* report.h: tells the program which threads wait for what, when no thread of a pool can go on. */
#ifndef WEFT_CORE_REPORT_H
#define WEFT_CORE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct weft_pool;

/* All threads of the pool rest, and stay so during the call. Looks for threads that wait for each
 * other, or for something that no thread will do. True: there are some; the deadlock handler was
 * called. False: every wait may be ended from outside; with WEFT_DEADLOCK_PLAIN the handler is
 * called all the same, once for each value of `marks`. */
bool weft__report_deadlock(struct weft_pool *pool, uint32_t marks);

/* Without a handler: writes the report to standard error, and the graph to the file that
 * WEFT_DEADLOCK_DOT names. */
void weft__report_write(const char *report, const char *graph);

#endif
