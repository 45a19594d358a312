/* SPDX-License-Identifier: MIT */
/* report.h: tells the program which threads wait for what, when none of a pool can go on. */
#ifndef WEFT_CORE_REPORT_H
#define WEFT_CORE_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct weft_pool;

/* All threads of the pool rest, and stay so during the call. Looks for threads that wait for
 * each other, or for what no thread will do; calls the deadlock handler if there are any.
 * False: all may be woken from outside. Even so it calls the handler with WEFT_DEADLOCK_PLAIN, once
 * for each value of `marks`. */
bool weft__report_deadlock(struct weft_pool *pool, uint32_t marks);

/* To standard error, and to the file that WEFT_DEADLOCK_DOT names: where there is no handler. */
void weft__report_write(const char *report, const char *graph);

#endif
