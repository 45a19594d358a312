/* SPDX-License-Identifier: MIT */
/* group.h: what fails and is cancelled together: a scope, a run, a task. Groups nest; one
 * is cancelled if it, or any group around it, has failed or passed its deadline.
 *
 * Finding that out means walking outwards, so there is a short cut: the outermost group, the
 * root, counts those of its computation that have failed or carry a deadline. While that is zero,
 * which is nearly always, nobody walks; and who runs something else never does. */
#ifndef WEFT_CORE_GROUP_H
#define WEFT_CORE_GROUP_H

#include "os/atomic.h"

struct weft__group {
    struct weft__group *parent; /* outlives this one; written before it is shared */
    struct weft__group *root;   /* the outermost one: what the whole computation has in
                                   common, in whatever pool; as `parent` */
    struct atomic_u64 deadline; /* 0: none. Written by the owner */
    struct atomic_i32 error;    /* 0: fine. Written once, by the first to fail */
    struct atomic_u32 alarms;   /* of the root: groups that have failed, and deadlines */
    struct atomic_u64 takers;   /* of the root: who has run parts of it; see cancel.c */
    void (*abandon)(
        struct weft__group *group); /* an actor is unwound past it; NULL: nothing to do */
};

void weft__group_begin(struct weft__group *group, struct weft__group *parent);
int weft__group_end(struct weft__group *group);             /* its error, or -ECANCELED, or 0 */
bool weft__group_fail(struct weft__group *group, int code); /* true: the first to do so */
void weft__group_set_deadline(struct weft__group *group, uint64_t when);

/* Is anything wrong in its computation, or may be? NULL: nothing is. */
static inline bool weft__group_alarm(const struct weft__group *group)
{
    /* relaxed: cancellation is a request; being seen a moment later is fine. */
    return group && atomic_load_relaxed(&group->root->alarms) != 0;
}

enum group_state {
    GROUP_FINE,
    GROUP_TIMED, /* it, or one around it, has a deadline that has not passed */
    GROUP_CANCELLED,
};

/* How is it? *noticed: and this call was the first to notice a deadline. If `noticed` is NULL, the
 * clock is not looked at: GROUP_TIMED if there is a deadline. */
enum group_state weft__group_walk(struct weft__group *group, bool *noticed);

/* The same, and nearly always just a look at the count. */
static inline enum group_state weft__group_look(struct weft__group *group, bool *noticed)
{
    return weft__group_alarm(group) ? weft__group_walk(group, noticed) : GROUP_FINE;
}

#endif
