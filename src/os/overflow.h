/* SPDX-License-Identifier: MIT */
/* overflow.h: a worker that runs into its guard page says so before it dies. */
#ifndef WEFT_OS_OVERFLOW_H
#define WEFT_OS_OVERFLOW_H

/* Installs the process's SIGSEGV and SIGBUS handlers, once. Faults that are no stack
 * overflow of a worker go to whatever handled them before. */
void weft__overflow_watch(void);

/* On a worker's thread: an alternate stack for the handler, and where the guard is.
 * Without memory for it the thread simply dies unexplained. */
void weft__overflow_enter(unsigned worker);
void weft__overflow_leave(void);

#endif
