/* SPDX-License-Identifier: MIT */
/* sleeping.h: for harnesses of the sleep protocols: workers that are no more than a parking place
 * and a mailbox, where they look for jobs, and what wakes them. */
#ifndef CHECK_SLEEPING_H
#define CHECK_SLEEPING_H

#include "core/deque.h"
#include "core/queue.h"
#include "harnesses.h"
#include "sleep/crowd.h"
#include "sleep/sleep.h"

enum { WORKERS = 2 };

static struct weft__sleep sleep_module;
static struct weft__queue injector, mailbox[WORKERS];
static struct weft__deque deque; /* of somebody at work */
static struct weft__park park[WORKERS];
static struct weft__latch latch[WORKERS];
static struct weft__node node[2];
static struct weft__job spawned;
static int data;

/* `places`: so many workers there may be. */
static inline void make_workers(enum weft_sleep protocol, unsigned workers, unsigned places,
                                unsigned jec_bits)
{
    MODEL_ASSERT(weft__sleep_init(&sleep_module, protocol, workers, places, 0, jec_bits) == 0);
    MODEL_ASSERT(weft__deque_init(&deque, 4) == 0);
    deque.flagged = protocol == WEFT_SLEEP_TICKLE_FLAG;
    for (unsigned i = 0; i < WORKERS; i++) {
        park[i].cpu = (struct atomic_i32){-1};
        if (i < workers)
            weft__sleep_place(&sleep_module, i, &park[i]);
    }
}

/* ---- Where a worker looks ---- */

static inline bool mail_waits(void *mail)
{
    return weft__queue_length(mail) > 0;
}

static inline bool last_look(void *mail)
{
    return mail_waits(mail) || weft__queue_length(&injector) > 0;
}

static inline struct weft__job *look(unsigned i)
{
    struct weft__node *found = weft__queue_pop(&mailbox[i]);
    if (!found)
        found = weft__queue_pop(&injector);
    if (found)
        return &found->job;
    struct weft__job *job = NULL;
    return weft__deque_steal(&deque, &job) == STEAL_GOT ? job : NULL;
}

/* ---- What wakes it ---- */

static inline void inject_node(unsigned i)
{
    data = 1;
    weft__queue_push(&injector, &node[i]);
    weft__sleep_new_jobs(&sleep_module, 1, false);
}

static inline void inject(void)
{
    inject_node(0);
}

static inline void inject_another(void)
{
    inject_node(1);
}

/* Before either is taken, `data` is there. */
static inline void inject_two(void)
{
    inject();
    weft__queue_push(&injector, &node[1]);
    weft__sleep_new_jobs(&sleep_module, 1, false);
}

static inline void spawn(void)
{
    data = 1;
    MODEL_ASSERT(weft__deque_push(&deque, &spawned) == 0);
    weft__sleep_new_jobs(&sleep_module, 1, false);
}

/* As weft__publish_eagerly(): nothing stands between the push and the look for sleepers. Its owner
 * goes on with the left side, for ever. */
static inline void fork_one(void)
{
    data = 1;
    MODEL_ASSERT(weft__deque_push(&deque, &spawned) == 0);
    (void)weft__sleep_new_fork(&sleep_module, true);
}

static inline void send_mail(void)
{
    data = 1;
    weft__queue_push(&mailbox[0], &node[0]);
    atomic_fence_seq_cst(); /* as core/broadcast.c */
    weft__park_wake(&park[0]);
    if (park[0].crowd)
        weft__crowd_tickle(park[0].crowd);
}

#endif
