/* SPDX-License-Identifier: MIT */
/* overflow.h: who runs into a guard page is told what it was before the process dies. */
#ifndef WEFT_OS_OVERFLOW_H
#define WEFT_OS_OVERFLOW_H

#include <stdbool.h>

/* Installs the process's SIGSEGV and SIGBUS handlers, once. `explain` knows of other guard
 * pages: a line for the address, or NULL; `nested` how many jobs are on this thread's stack. Other
 * faults go to whatever handled them before. */
typedef const char *weft__explain(const void *address);
typedef unsigned weft__nested(void);
void weft__overflow_watch(weft__explain *explain, weft__nested *nested);

/* Knows a way out of a fault at the address, which is taken when the handler returns; or returns
 * false. */
typedef bool weft__rescue(const void *address, void *ucontext);
void weft__overflow_rescue_by(weft__rescue *by);

/* A stack for the handler while a thread that is not the pool's own is on stacks that are. NULL:
 * it has one, or there is no memory. */
void *weft__overflow_lend(void);
void weft__overflow_take_back(void *lent);

/* On a worker's thread: an alternate stack for the handler, and where the guard is.
 * Without memory for it the thread simply dies unexplained. */
void weft__overflow_enter(unsigned worker);
void weft__overflow_leave(void);

/* The same on a thread that is not the pool's own, and has the stack from `low` to `high`: once,
 * until the thread ends, so that coming and going costs no system call. An alternate stack that the
 * thread has is used, and one that it gets later is left alone. */
void weft__overflow_visit(const char *low, const char *high);

#endif
