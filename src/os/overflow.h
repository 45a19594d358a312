/* SPDX-License-Identifier: MIT */
/* overflow.h: explains an access to a guard page before the process dies of it. */
#ifndef WEFT_OS_OVERFLOW_H
#define WEFT_OS_OVERFLOW_H

#include <stdbool.h>

/* Installs the process's SIGSEGV and SIGBUS handlers, once. `nested` returns how many jobs are on
 * this thread's stack. Other faults go to the handler that was installed before. */
typedef unsigned weft__nested(void);
void weft__overflow_watch(weft__nested *nested);

/* Makes the thread go on elsewhere after a fault at the address, once the handler returns. False:
 * it can't. */
typedef bool weft__rescue(const void *address, void *ucontext);
void weft__overflow_rescue_by(weft__rescue *by);

/* A stack for the handler, while an outside thread runs on the pool's stacks. NULL: the thread has
 * such a stack, or there is no memory. */
void *weft__overflow_lend(void);
void weft__overflow_take_back(void *lent);

/* On a worker's thread: an alternate stack for the handler, and where the guard page is. Without
 * memory for it the overflow is not explained. */
void weft__overflow_enter(unsigned worker);
void weft__overflow_leave(void);

/* The same on an outside thread, whose stack is from `low` to `high`. Done once, and valid until
 * the thread ends: so later visits cost no system call. An alternate stack that the thread has is
 * used. One that it gets later is not touched. */
void weft__overflow_visit(const char *low, const char *high);

#endif
