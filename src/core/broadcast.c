/* SPDX-License-Identifier: MIT */
/* Broadcasts: a job for every worker, through its mailbox. */
#include "core/execute.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "core/wait.h"
#include "os/memory.h"

#include <errno.h>

struct broadcast {
    struct weft__count_latch latch; /* counts the workers that have not run it yet */
    struct weft__group group;
    struct weft__node nodes[]; /* one per worker */
};

static struct broadcast *broadcast_of(struct weft__job *job)
{
    return (struct broadcast *)((char *)job->group - offsetof(struct broadcast, group));
}

static void one_is_over(void *all)
{
    weft__count_latch_down(&((struct broadcast *)all)->latch); /* last touch */
}

static void execute_waited(weft *w, struct weft__job *job)
{
    struct broadcast *all = broadcast_of(job);
    weft__call(w, job->fn, job->arg, &all->group);
    weft__worker_of(w)->news = (struct weft__news){one_is_over, all};
}

static void execute_detached(weft *w, struct weft__job *job)
{
    struct broadcast *all = broadcast_of(job);
    struct weft_pool *pool = weft__worker_of(w)->pool;
    weft__call(w, job->fn, job->arg, &all->group);
    /* acq_rel C1: the other workers are done with `all` before it is freed. */
    if (atomic_fetch_sub_acq_rel(&all->latch.count, 1) != 1)
        return;
    weft__group_end(&all->group);
    weft__free(all);
    weft__pool_leave(pool);
}

static struct broadcast *broadcast_make(struct weft_pool *pool, struct weft__park *owner)
{
    unsigned n = pool->config.workers;
    struct broadcast *all = weft__alloc(sizeof *all + n * sizeof all->nodes[0]);
    if (!all)
        return NULL;
    weft__group_begin(&all->group, NULL);
    weft__count_latch_init(&all->latch, owner, n);
    return all;
}

static void send_to_all(struct weft_pool *pool, struct broadcast *all, weft_fn *fn, void *arg,
                        void (*execute)(weft *, struct weft__job *))
{
    for (unsigned i = 0; i < pool->config.workers; i++) {
        all->nodes[i].job = (struct weft__job){fn, arg, &all->group, execute};
        weft__queue_push(&pool->workers[i]->mailbox, &all->nodes[i]);
    }
    /* fence F1: the mail is there before the parking places are looked at; partner: the
     * sleepers' last look comes after they are DROWSY. */
    atomic_fence_seq_cst();
    for (unsigned i = 0; i < pool->config.workers; i++)
        weft__park_wake(pool->workers[i]->park);
    if (pool->sleep.crowd)
        weft__crowd_tickle(pool->sleep.crowd);
}

/* The library's own copies of what weft/inline.h puts in place. */
extern int weft_broadcast(weft_pool *pool, weft_fn *fn, void *arg);
extern int weft_broadcast_detached(weft_pool *pool, weft_fn *fn, void *arg);

int weft_broadcast_(weft_pool *pool, weft_fn *fn, void *arg, unsigned layout)
{
    weft__expect_layout(layout, "weft_broadcast");
    weft__worker_check_abandoned(__builtin_frame_address(0));
    if (!fn)
        return -EINVAL;
    int error = weft__pool_enter_threads(&pool);
    if (error)
        return error;
    error = -ENOMEM;
    struct weft__park *park = weft__thread_park();
    struct broadcast *all = park ? broadcast_make(pool, park) : NULL;
    if (all) {
        send_to_all(pool, all, fn, arg, execute_waited);
        weft__wait_anywhere(&all->latch.spin,
                            (struct weft__awaited){.what = "waits for a broadcast",
                                                   .elsewhere = weft__is_elsewhere(pool)});
        error = weft__group_end(&all->group);
    }
    weft__free(all);
    if (park)
        weft__thread_unpark(park);
    weft__pool_leave(pool);
    return error;
}

int weft_broadcast_detached_(weft_pool *pool, weft_fn *fn, void *arg, unsigned layout)
{
    weft__expect_layout(layout, "weft_broadcast_detached");
    weft__worker_check_abandoned(__builtin_frame_address(0));
    if (!fn)
        return -EINVAL;
    int error = weft__pool_enter_threads(&pool);
    if (error)
        return error;
    struct broadcast *all = broadcast_make(pool, NULL);
    if (!all) {
        weft__pool_leave(pool);
        return -ENOMEM;
    }
    weft__pool_hold(pool); /* for the jobs: the last one to end leaves the pool */
    send_to_all(pool, all, fn, arg, execute_detached);
    weft__pool_leave(pool);
    return 0;
}
