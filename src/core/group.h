/* SPDX-License-Identifier: MIT */
/* group.h: what fails and is cancelled together: a scope, a run, a task. Groups nest; one
 * is cancelled if it, or any group around it, has failed or passed its deadline.
 *
 * To find that out, a thread walks outwards. There is a short cut: the outermost group, the root,
 * counts the groups of its computation that have failed or have a deadline. While that count is
 * zero, which is nearly always, no thread walks. Threads that run another computation never do.
 *
 * A right side that a thread has taken is a group, too: a part. It is cancelled alone if its owner
 * gives up the fork (weft_fork_cancel()). In all other ways it belongs to its parent: what fails in
 * a part fails the parent. */
#ifndef WEFT_CORE_GROUP_H
#define WEFT_CORE_GROUP_H

#include "os/atomic.h"

struct weft__group {
    struct weft__group *parent; /* outlives this one; written before this one is shared */
    struct weft__group *root;   /* the outermost group: the same for the whole computation, in all
                                   pools; written before this one is shared */
    struct atomic_u64 deadline; /* 0: none. Written by the owner */
    struct atomic_i32 error;    /* 0: fine. Written once, by the first thread that fails */
    struct atomic_u32 alarms;   /* root only: how many groups have failed, plus how many have a
                                   deadline, plus how many forks are given up */
    union {
        struct atomic_u64
            takers; /* root: a bit for each thread that has run a part; see cancel.c */
        const struct atomic_bool *given_up; /* others: of a part, has its owner given up the fork?
                                               It lies in the slot of the fork. NULL: no part */
    };
    void (*abandon)(struct weft__group *group); /* called when an actor is unwound past the group;
                                                   NULL: nothing to do */
};

void weft__group_begin(struct weft__group *group, struct weft__group *parent);
void weft__part_of(struct weft__group *part, struct weft__group *parent,
                   const struct atomic_bool *given_up);
int weft__group_end(struct weft__group *group);             /* its error, or -ECANCELED, or 0 */
bool weft__group_fail(struct weft__group *group, int code); /* true: this was the first failure */
bool weft__group_mark(struct weft__group *group, int code); /* the same, but wakes none that wait
                                                               with a limit: weft__limit_nudge() */
void weft__group_set_deadline(struct weft__group *group, uint64_t when);

/* The owner of a fork in the group gives it up; and the fork is merged. */
void weft__group_give_up(struct weft__group *group, struct atomic_bool *given_up);
void weft__group_take_up(struct weft__group *group, struct atomic_bool *given_up);

static inline bool weft__group_is_part(const struct weft__group *group)
{
    return group->root != group && group->given_up;
}

/* The group that a failure in `group` fails. */
static inline struct weft__group *weft__group_whole(struct weft__group *group)
{
    while (weft__group_is_part(group))
        group = group->parent;
    return group;
}

/* The first deadline of it and the groups around it; WEFT_FOREVER: there is none. */
uint64_t weft__group_deadline(const struct weft__group *group);

/* Has a group of its computation failed, or a deadline? NULL: no. */
static inline bool weft__group_alarm(const struct weft__group *group)
{
    /* relaxed: cancellation is a request; being seen a moment later is fine. */
    return group && atomic_load_relaxed(&group->root->alarms) != 0;
}

enum group_state {
    GROUP_FINE,
    GROUP_TIMED, /* it, or a group around it, has a deadline that is not known to have passed */
    GROUP_CANCELLED,
};

/* The state of the group. *noticed becomes true if this call is the first to notice that a deadline
 * has passed. If `noticed` is NULL, the clock is not read: a deadline means GROUP_TIMED. */
enum group_state weft__group_walk(struct weft__group *group, bool *noticed);

/* The same; nearly always it reads just the count. */
static inline enum group_state weft__group_look(struct weft__group *group, bool *noticed)
{
    return weft__group_alarm(group) ? weft__group_walk(group, noticed) : GROUP_FINE;
}

#endif
