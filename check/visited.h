/* SPDX-License-Identifier: MIT */
/* visited.h: where executions have been. */
#ifndef CHECK_VISITED_H
#define CHECK_VISITED_H

#include "memory.h"

void visited_forget(void);

/* True: all that can follow has been tried, but for what the sleep set leaves out anyway. False: it
 * has not, and is noted as tried with this sleep set, which may become smaller. */
bool visited_before(struct digest digest, unsigned *asleep);

#endif
