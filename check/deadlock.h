/* SPDX-License-Identifier: MIT */
/* deadlock.h: for harnesses of the look for deadlocks: what workers wait for, and what a report is.
 */
#ifndef CHECK_DEADLOCK_H
#define CHECK_DEADLOCK_H

#include "blocking.h"
#include "sleep/latch.h"
#include "weft/sync.h"

static weft_mutex mutex, other_mutex;
static weft_event event, other_event;
static struct weft__latch begun, gate[2]; /* what the pool does not know */

static inline void true_report(weft_pool *reported, const char *text, const char *graph, void *arg)
{
    model_done();
}

static inline void prepare(unsigned workers, int spares, weft_deadlock_fn *deadlock)
{
    weft_mutex_init(&mutex, "mutex");
    weft_mutex_init(&other_mutex, "other mutex");
    weft_event_init(&event, "event");
    weft_event_init(&other_event, "other event");
    begun = gate[0] = gate[1] = (struct weft__latch){0};
    make_pool(workers, spares, deadlock);
}

/* A worker that has nothing to do. */
static inline void sleep_only(void)
{
    be_worker(0);
    serve(0);
}

/* The same for one that takes no jobs. */
static inline void sleep_simply(void)
{
    be_worker(0);
    sleep_until_stopped(0);
}

/* A job on the deque of worker i that sets the event. */
static inline void set_in_job(weft *w, struct weft__job *unused)
{
    weft_event_set(w, &event);
}

static inline void post(unsigned i)
{
    static struct weft__job job;
    job = (struct weft__job){.execute = set_in_job};
    MODEL_ASSERT(weft__post_spawn(pool->workers[i], &job) == 0);
}

#endif
