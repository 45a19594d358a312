/* SPDX-License-Identifier: MIT */
#include "core/loopfork.h"

#include "core/publish.h"

/* On the deque, a thief finds the right side without waiting for a quantum, and without a barrier.
 * If an older fork is pending, thieves should take that first; then this is a fork like others. */
weft *weft__fork_openly(weft *w, weft_fn *right, void *arg)
{
    struct weft__context *context = weft__context_of(w);
    struct weft__slot *slot = weft__slot_of(w);
    weft *in = weft_fork(w, right, arg);
    if (context->eager || slot->execute)
        return in; /* it is on the deque already */
    weft__context_answer_and_lock(context);
    if (atomic_load_relaxed(&context->oldest) == slot) { /* relaxed: under the lock */
        weft__publish(context, slot);
        weft__context_set_guard(context);
    }
    weft__lock_drop(&context->lock);
    return in;
}
