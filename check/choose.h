/* SPDX-License-Identifier: MIT */
/* choose.h: what a machine decides by its timing, other than who goes on. Each is one of n, the
 * first if nothing speaks against it; what is unusual is bounded. */
#ifndef CHECK_CHOOSE_H
#define CHECK_CHOOSE_H

#include <stdbool.h>

unsigned choose_any(unsigned n);
unsigned choose_stale(unsigned n); /* all but the first are old values */
bool choose_spurious(void);        /* a wake-up without a reason */
bool choose_failure(void);         /* an allocation, or a thread, fails */
bool choose_impatience(void);      /* a thread that could let others go first goes on */

#endif
