/* SPDX-License-Identifier: MIT */
/* help.h: which fork of a job wakes a sleeping worker. The pool is not told of a lazy fork; so a
 * job that begins while workers sleep, or goes on, raises its own guard, and one of its next forks
 * takes the slow road and wakes a worker. struct weft__help is in context.h. */
#ifndef WEFT_CORE_HELP_H
#define WEFT_CORE_HELP_H

#include "core/worker.h"

enum {
    WEFT__LITTLE_NS = 100000, /* how long little work takes */
    WEFT__LOOK_TURN = 4,      /* of shallow forks every fourth reads the clock, because that stops
                                 the CPU's reading ahead */
};

/* A job that starts or goes on looks for sleeping workers that could help it. */
void weft__expect_help(struct weft__worker *me);

/* The owner, while workers sleep: the next fork wakes one of them. */
void weft__context_expect(struct weft__context *context);

/* On the slow road: does the fork at w wake a worker? */
bool weft__help_is_due_now(struct weft__context *context, weft *w);
static inline bool weft__help_is_due(struct weft__context *context, weft *w)
{
    struct weft__help *help = &context->help;
    if (!help->wanted || (help->little && ++help->forks % WEFT__LOOK_TURN))
        return false;
    return weft__help_is_due_now(context, w);
}

/* Has the pool not been told yet that the job on top forks? Then its next fork must not be
 * quiet. */
static inline bool weft__context_is_untold(const struct weft__context *context)
{
    return context->help.wanted && context->help.started == 0;
}

/* The owner: what runs now has gone on for longer than little work does. If jobs of its kind
 * have been over quickly so far, the next fork wakes a worker all the same. */
void weft__context_is_long(struct weft__context *context);

#endif
