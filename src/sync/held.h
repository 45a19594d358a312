/* SPDX-License-Identifier: MIT */
/* held.h: how many locks a thread or an actor holds, and its name as their holder.
 *
 * While a thread holds a lock, its waits are careful: see worker.h. An actor takes no other work on
 * top, and is not ended by a kill. An outside thread still holds its locks when it comes into a
 * pool. In all functions, `me` is what weft__sync_caller() has returned,
 * and `fiber` what weft__held_fiber() has. */
#ifndef WEFT_SYNC_HELD_H
#define WEFT_SYNC_HELD_H

#include "core/fiber.h"
#include "core/object.h"
#include "core/worker.h"

/* The fiber of the actor that calls; NULL: a worker or an outside thread does. */
static inline struct weft__context *weft__held_fiber(const struct weft__worker *me)
{
    return me ? NULL : weft__fiber_here();
}

static inline void weft__held_begin(struct weft__worker *me, struct weft__context *fiber, weft *w)
{
    if (me) {
        weft__outermost(me)->held++;
        if (weft__careful_begin(me, w ? w : me->context->first))
            me->careful_by_lock = true;
    } else if (fiber) {
        fiber->mutexes++;
    } else {
        weft__note_held_outside(1);
    }
}

static inline void weft__held_end(struct weft__worker *me, struct weft__context *fiber)
{
    if (me) {
        if (--weft__outermost(me)->held == 0 && me->careful_by_lock) {
            me->careful_by_lock = false;
            weft__careful_end(me);
        }
    } else if (fiber) {
        fiber->mutexes--;
    } else {
        weft__note_held_outside(-1);
    }
}

static inline uintptr_t weft__held_name(const struct weft__worker *me,
                                        const struct weft__context *fiber)
{
    if (me)
        return (uintptr_t)me;
    return fiber ? weft__mutex_name_of_fiber(fiber) : weft__mutex_name(weft__thread_serial());
}

#endif
