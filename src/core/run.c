/* SPDX-License-Identifier: MIT */
#include "core/run.h"

#include "core/cancel.h"
#include "core/execute.h"
#include "core/fiber.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "core/search.h"
#include "core/task.h"
#include "os/trace.h"

#include <errno.h>

/* ---- Guests ---- */

static struct weft__worker *guest_enter(struct weft_pool *pool, const char *entry)
{
    struct weft__worker *guest = weft__guest_get(pool, WORKER_GUEST);
    if (!guest)
        return NULL;
    weft__census_enter(&pool->census);
    weft__block_let_report(pool);
    if (weft__caller_is_careful())
        weft__careful_begin(guest, guest->context->first);
    weft__worker_push(guest, entry);
    if (guest->host)
        guest->park = guest->host->park;
    weft__sleep_guest_entered(&pool->sleep);
    WEFT__TRACE(GUEST, 0, 0);
    return guest;
}

static void guest_leave(struct weft__worker *guest)
{
    weft__careful_end(guest);
    if (weft__pool_is_forked(guest->pool)) {
        weft__worker_remove(guest); /* the rest is the parent's */
        return;
    }
    WEFT__TRACE(GUEST_END, 0, 0);
    weft__worker_spill(guest);
    weft__sleep_guest_gone(&guest->pool->sleep);
    weft__pool_has_room(guest->pool);
    weft__worker_remove(guest);
    weft__worker_is_outside(guest);
    weft__census_leave(&guest->pool->census);
    weft__guest_put(guest);
}

/* ---- Run ---- */

struct run_job {
    struct weft__job job;
    struct weft__around around; /* the code that called weft_run() */
    int result;
};

static void execute_run(weft *w, struct weft__job *job)
{
    struct run_job *run = (struct run_job *)job;
    run->result = weft__call_in_new_group(w, job->fn, job->arg, &run->around);
}

void weft__execute_inside(struct weft__worker *me, struct weft__job *job)
{
    bool from_outside = me->kind == WORKER_CALLER && !me->frame;
    if (from_outside)
        weft__worker_caller_in(me);
    weft__execute(weft__context_top(me->context), job);
    if (from_outside)
        weft__worker_caller_out(me);
}

int weft__execute_as_guest(struct weft_pool *pool, struct weft__job *job, const char *entry)
{
    struct weft__worker *guest = guest_enter(pool, entry);
    if (!guest)
        return -ENOMEM;
    weft__execute(guest->context->first, job);
    guest_leave(guest);
    return 0;
}

static int run_by_worker(struct weft_pool *pool, weft_fn *fn, void *arg,
                         const struct weft__around *around)
{
    weft_task task;
    int error = weft__submit(pool, &task, fn, arg, true, around);
    return error ? error : weft_task_wait(&task);
}

/* `entered`: the caller has entered the pool already. */
static int run(struct weft_pool *pool, weft_fn *fn, void *arg, bool entered, const char *frame)
{
    if (weft__pool_is_forked(pool))
        return -ECHILD;
    struct weft__worker *me = weft__worker_current();
    struct run_job whole = {.job = {.fn = fn, .arg = arg, .execute = execute_run}};
    if (me)
        whole.around = weft__context_around(weft__context_now(me));
    whole.job.group = whole.around.group;
    if (me && me->fiber && me->pool == pool)
        return weft__call_in_new_group(whole.around.at, fn, arg, &whole.around);
    /* In another pool, an actor lets a worker run the job and waits, so that its own thread is
     * free; unless that pool has no threads of its own. */
    bool has_threads =
        !pool->threadless && (pool->config.workers > 1 || !(pool->config.flags & WEFT_USE_CALLER));
    if (me && me->fiber && has_threads)
        return run_by_worker(pool, fn, arg, &whole.around);
    me = weft__worker_in(pool);
    if (me) {
        weft__execute_inside(me, &whole.job);
        return whole.result;
    }
    if (pool->config.flags & WEFT_NO_GUESTS)
        return run_by_worker(pool, fn, arg, &whole.around);
    int error = entered ? 0 : weft__pool_enter(&pool);
    if (error)
        return error;
    error = weft__execute_as_guest(pool, &whole.job, frame);
    if (!entered)
        weft__pool_leave(pool);
    return error ? error : whole.result;
}

/* The library's own copy of what weft/inline.h puts in place. */
extern int weft_run(weft_pool *pool, weft_fn *fn, void *arg);

int weft_run_(weft_pool *pool, weft_fn *fn, void *arg, unsigned layout)
{
    weft__expect_layout(layout, "weft_run");
    const char *frame = __builtin_frame_address(0);
    weft__worker_check_abandoned(frame);
    if (!fn)
        return -EINVAL;
    if (pool)
        return run(pool, fn, arg, false, frame);
    int error = weft__pool_enter(&pool);
    if (error)
        return error;
    error = run(pool, fn, arg, true, frame);
    weft__pool_leave(pool);
    return error;
}
