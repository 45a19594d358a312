/* SPDX-License-Identifier: MIT */
/* loopfork.h: forks of loops, which know how long their parts take. */
#ifndef WEFT_CORE_LOOPFORK_H
#define WEFT_CORE_LOOPFORK_H

#include "core/help.h"
#include "os/membarrier.h"

/* A fork that thieves may take at once, for right sides that are known to take long. Costs about as
 * much as a fork on the eager road. */
weft *weft__fork_openly(weft *w, weft_fn *right, void *arg);

/* A fork that wakes no worker: for right sides that are likely to be over before a worker could
 * come. A worker that is awake, or the look-out, may take it all the same. This fork does not look
 * at the guard: a raised guard is left to the next ordinary fork. So the code that forks quietly
 * asks before each part whether its computation has failed. */
static inline weft *weft__fork_quietly(weft *w, weft_fn *right, void *arg)
{
    struct weft__context *context = weft__context_of(w);
    if (context->eager || weft__context_is_untold(context) || w == context->end ||
        weft__membarrier_is_gone())
        return weft_fork(w, right, arg);
    struct weft__slot *slot = weft__slot_of(w);
    atomic_store_relaxed(&slot->arg, arg);         /* relaxed: released with fn */
    atomic_store_untold_release(&slot->fn, right); /* release B2 */
    return w + 1;
}

#endif
