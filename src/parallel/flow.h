/* SPDX-License-Identifier: MIT */
/* flow.h: tasks of a flow, and how one task waits for others.
 *
 * One thread, the spawner, makes the tasks. While it says which tasks a new one follows, these may
 * be running on other threads, or be over. So a task has a list of its followers, which the spawner
 * adds to, and which the thread that ends the task closes, once:
 *
 *   NULL -follow-> link -follow-> link, link -...-> CLOSED      `followers`
 *
 * Either the spawner finds the list closed, and the task is over; or the thread that closes the
 * list finds the link. `waits` counts what the follower waits for. The spawner holds WAITS_HELD of
 * it until it knows how many that are. The thread that brings it to 0 runs the follower. */
#ifndef WEFT_PARALLEL_FLOW_H
#define WEFT_PARALLEL_FLOW_H

#include "os/atomic.h"
#include "parallel/ready.h"

/* That `task` follows another one, or stands in a table. Written by the spawner. */
struct weft__flow_link {
    struct weft__flow_task *task;
    struct weft__flow_link *next; /* in the list of followers, of readers, or of free links */
    struct weft__flow_link *mine; /* the next one that belongs to the same task */
};

struct weft__flow_task {
    struct weft__ready ready; /* first: the item is the task */
    weft_fn *fn;
    void *arg;
    struct atomic_ptr followers;   /* struct weft__flow_link, or CLOSED; see above */
    struct atomic_u32 waits;       /* see above */
    uint32_t named;                /* how often the table names it. Spawner only, as are the next */
    bool over;                     /* the spawner knows that it is over */
    struct weft__flow_link *links; /* by which it follows others */
    struct weft__flow_task *next;  /* of those that are over, or free; by the thread that ends it,
                                      then by the spawner */
};

#define WAITS_HELD ((uint32_t)1 << 31)
#define FOLLOWERS_CLOSED ((void *)1)

/* By the spawner: makes the link one of the followers of `before`. False: that one is over, and
 * what it wrote is seen. */
static inline bool weft__flow_follow(struct weft__flow_task *before, struct weft__flow_link *link)
{
    void *followers = atomic_load_acquire(&before->followers); /* acquire FL1: what it wrote */
    if (followers == FOLLOWERS_CLOSED)
        return false;
    link->next = followers;
    /* acq_rel FL1: releases the link to the thread that closes the list. It fails only if the list
     * is closed by now, and acquires then, too. */
    return atomic_cas_acq_rel(&before->followers, &followers, link);
}

/* By the spawner, after it has added `count` links: true: the task waits for none of them. */
static inline bool weft__flow_release(struct weft__flow_task *task, uint32_t count)
{
    uint32_t held = WAITS_HELD - count;
    /* acq_rel FL2: the spawner sees what the tasks before did, if it runs or spawns this one;
     * otherwise the last of them sees what the spawner wrote. */
    return count == 0 || atomic_fetch_sub_acq_rel(&task->waits, held) == held;
}

/* By the thread that ends `task`: its followers, from now on all. */
static inline struct weft__flow_link *weft__flow_close(struct weft__flow_task *task)
{
    return atomic_exchange_acq_rel(&task->followers, FOLLOWERS_CLOSED); /* acq_rel FL1 */
}

/* By a thread that ends a task before this one. True: it was the last. */
static inline bool weft__flow_arrive(struct weft__flow_task *task)
{
    /* The last one needs no read-modify-write: acquire FL2, what all others did. Otherwise acq_rel
     * FL2, for the last one. */
    return atomic_load_acquire(&task->waits) == 1 || atomic_fetch_sub_acq_rel(&task->waits, 1) == 1;
}

#endif
