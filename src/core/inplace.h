/* SPDX-License-Identifier: MIT */
/* inplace.h: forks past the last slot of a context. They run in place: a fork is counted, and its
 * merge tells the caller to run the right side. context.h has `end`, where all of them are made.
 *
 * The slot of WEFT_FORK_IN has the arguments. There is one `end` for many forks, so the arguments
 * are kept elsewhere, last in, first out, and put back by the merge. If there is no memory for
 * them, the computation fails with -ENOMEM. They count as memory of an actor, which ends if it is
 * past its limit. Other forks need no memory. */
#ifndef WEFT_CORE_INPLACE_H
#define WEFT_CORE_INPLACE_H

#include "core/context.h"

/* The slow roads of fork and merge in `end`. The fork returns the slot before `end`, as the slow
 * road of fork does: so `end` is the inner context, too. */
weft *weft__fork_in_place(struct weft__context *context);
bool weft__merge_in_place(struct weft__context *context);

/* With the context. */
void weft__kept_free(struct weft__context *context);

#endif
