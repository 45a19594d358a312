/* SPDX-License-Identifier: MIT */
/* help.h: which fork of a job wakes a sleeping worker. The pool is not told of a lazy fork. So a
 * job that begins, or goes on after a wait, while workers sleep raises its own guard; one of its
 * next forks takes the slow road and wakes a worker. struct weft__help is in context.h. */
#ifndef WEFT_CORE_HELP_H
#define WEFT_CORE_HELP_H

#include "core/worker.h"

enum {
    WEFT__LITTLE_NS = 100000, /* how long little work takes */
    WEFT__LOOK_TURN = 4,      /* one shallow fork in so many reads the clock; more would cost too
                                 much, as the CPU can't execute ahead of that */
};

/* A job that begins looks for sleeping workers that could help it. */
void weft__expect_help(struct weft__worker *me);

/* A job that goes on after it has waited, or was blocked, does that again: workers that helped it
 * may sleep by now, and the look-out on which it relied may be off duty. The thread counts as
 * working before: see EnterFence. */
void weft__expect_help_again(struct weft__worker *me);

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

/* Is the first fork of the job on top, which tells the pool, still to come? Then that fork must not
 * be quiet. */
static inline bool weft__context_is_untold(const struct weft__context *context)
{
    return context->help.wanted && context->help.started == 0;
}

/* By the owner: the job on top runs for longer than little work takes. The next fork wakes a
 * worker, even if jobs of its kind have been brief so far. */
void weft__context_is_long(struct weft__context *context);

#endif
