/* SPDX-License-Identifier: MIT */
/* fork.h: the owner's slow road for what is no fork. Fork and merge themselves are in
 * weft/inline.h. */
#ifndef WEFT_CORE_FORK_H
#define WEFT_CORE_FORK_H

#include "weft.h"

/* The guard is above w, on the lazy road. The owner answers a thief and learns of a failure, as a
 * fork would. True: the caller has to tell the pool of its work, because a worker sleeps that could
 * help. */
bool weft__look_up(weft *w);

#endif
