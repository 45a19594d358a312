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
 * a part fails the parent.
 *
 * A part may also fail its fork alone (weft_right_failed_(), for exceptions of C++). That cancels
 * the left side: all that runs in the slots above the fork's, up to its merge, and the groups that
 * were made there. So a group knows the slots that its parent had in use when it was made: the
 * forks there are the ones on whose left side it is.
 *
 *   slots of a context:   base  ...  fork  ...  at
 *                         ^ where the parent    ^ where this group was made: a scope was opened,
 *                           begins there          or the right side of this fork was taken
 *
 * They are in use as long as the group exists, because forks and groups nest. */
#ifndef WEFT_CORE_GROUP_H
#define WEFT_CORE_GROUP_H

#include "os/atomic.h"

#include <weft.h>

struct weft__group {
    struct weft__group *parent; /* outlives this one; written before this one is shared */
    weft *base, *at;            /* not of the root: the slots of the parent, from `base` on, below
                                   `at`; or NULL: not known. Written before this one is shared */
    struct weft__group *root;   /* the outermost group: the same for the whole computation, in all
                                   pools; written before this one is shared */
    struct atomic_u64 deadline; /* 0: none. Written by the owner */
    struct atomic_i32 error;    /* 0: fine. Written once, by the first thread that fails */
    struct atomic_u32 alarms;   /* root only: how many groups have failed, plus how many have a
                                   deadline, plus how many forks are given up, plus how many
                                   have a right side that failed alone */
    union {
        struct atomic_u64
            takers; /* root: a bit for each thread that has run a part; see cancel.c */
        const struct atomic_bool *given_up; /* others: of a part, has its owner given up the fork?
                                               It lies in the slot of the fork. NULL: no part */
    };
    void (*abandon)(struct weft__group *group); /* called when an actor is unwound past the group;
                                                   NULL: nothing to do */
};

/* Where a group is made: inside another one, and which slots that has there. */
struct weft__around {
    struct weft__group *group; /* NULL: in none */
    weft *base, *at;
};

void weft__group_begin(struct weft__group *group, struct weft__group *parent); /* slots: unknown */
void weft__group_begin_in(struct weft__group *group, const struct weft__around *around);
void weft__part_of(struct weft__group *part, const struct weft__around *around,
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

/* Is there a fork from `base` on and below `at` whose right side has failed alone? The slots are in
 * use. */
bool weft__any_right_failed(const weft *base, const weft *at);

/* Something has failed, which is written where a walk finds it. */
void weft__group_alarm_add(struct weft__group *root);

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
