/* SPDX-License-Identifier: MIT */
/* group.h: what fails and is cancelled together: a scope, a run, a task. Groups nest; one
 * is cancelled if it, or any group around it, has failed or passed its deadline.
 *
 * Finding that out means walking outwards, so there is a short cut: `weft__alarms` counts
 * the groups of the whole process that have failed or carry a deadline. While it is zero,
 * which is nearly always, nobody walks. */
#ifndef WEFT_CORE_GROUP_H
#define WEFT_CORE_GROUP_H

#include "core/atomic.h"

struct weft__group {
    struct weft__group *parent;              /* outlives this one; written before it is shared */
    struct weft__group *root;                /* the outermost one: what the whole computation has in
                                                common, in whatever pool; as `parent` */
    struct atomic_u64 deadline;              /* 0: none. Written by the owner */
    struct atomic_i32 error;                 /* 0: fine. Written once, by the first to fail */
    void (*left)(struct weft__group *group); /* an actor was unwound past it; NULL: never mind */
};

extern struct atomic_u32 weft__alarms;

void weft__group_begin(struct weft__group *group, struct weft__group *parent);
int weft__group_end(struct weft__group *group);             /* its error, or -ECANCELED, or 0 */
bool weft__group_fail(struct weft__group *group, int code); /* true: the first to do so */
void weft__group_set_deadline(struct weft__group *group, uint64_t when);

static inline bool weft__group_alarm(void)
{
    /* relaxed: cancellation is a request; being seen a moment later is fine. */
    return atomic_load_relaxed(&weft__alarms) != 0;
}

/* In a forked child: the groups of other threads are not there any more. `group`: the innermost of
 * this thread's, or NULL. */
void weft__group_forked(const struct weft__group *group);

/* Is it cancelled? *noticed: and this call was the first to notice a deadline. */
bool weft__group_walk(struct weft__group *group, bool *noticed);

#endif
