/* SPDX-License-Identifier: MIT */
/* consistency.h: does RC11 allow an execution? What memory.c does is coherent by itself; that
 * sequentially consistent operations have one order (psc acyclic) is looked at here, in the end. */
#ifndef CHECK_CONSISTENCY_H
#define CHECK_CONSISTENCY_H

#include "memory.h"

bool consistency_holds(struct rules rules);

#endif
