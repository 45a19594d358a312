/* SPDX-License-Identifier: MIT */
#include "bag.h"

#include "root.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- While there is work ---- */

static void set_live(struct weft__bag_run *run, bool is_live)
{
    pthread_mutex_lock(&run->lock);
    run->is_live = is_live;
    if (is_live && run->lifeline.is_over)
        weft_task_cancel(&run->task);
    pthread_mutex_unlock(&run->lock);
}

/* In a task, so that a failure of another rank can cancel it. */
static int run_task(weft *w, struct weft__bag_run *run)
{
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    options.deadline = weft__mpi_deadline(run->when);
    run->error = 0;
    int error =
        weft_submit_with(w ? weft_pool_of(w) : NULL, &run->task, weft__bag_work, run, &options);
    if (error)
        return error;
    set_live(run, true);
    if (w)
        error = weft_task_wait_until(&run->task, WEFT_FOREVER);
    bool is_cancelled = error && !weft_task_done(&run->task);
    if (is_cancelled)
        weft_task_cancel(&run->task);
    int result = weft_task_wait(&run->task);
    set_live(run, false);
    return is_cancelled ? error : result ? result : run->error;
}

/* ---- From beginning to end ---- */

enum next { WORK, WAIT, OVER };

/* What the caller does next. An event that was set before this is not waited for again. */
static enum next next_of(struct weft__bag_run *run)
{
    pthread_mutex_lock(&run->lock);
    enum next next = WAIT;
    if (run->lifeline.is_over)
        next = OVER;
    else if (!run->lifeline.has_failed && (run->mine || run->arrived))
        next = WORK;
    else
        weft_event_reset(NULL, &run->changed);
    pthread_mutex_unlock(&run->lock);
    return next;
}

static void fail(weft *w, struct weft__bag_run *run, int error)
{
    pthread_mutex_lock(&run->lock);
    weft__lifeline_fail(&run->lifeline, error);
    pthread_mutex_unlock(&run->lock);
    weft__bag_flush(w, run);
}

static void work(weft *w, struct weft__bag_run *run)
{
    int error = run_task(w, run);
    if (error)
        fail(w, run, error);
}

/* A rank that has failed waits for the end, whatever happens. */
static void wait(weft *w, struct weft__bag_run *run)
{
    int error = 0;
    weft__mpi_wait_begins();
    if (run->lifeline.has_failed)
        weft_event_wait(w, &run->changed);
    else
        error = weft_event_wait_until(w, &run->changed, run->when);
    weft__mpi_wait_ends();
    if (error)
        fail(w, run, error);
}

/* ---- The end ---- */

/* Until is_so(run), which some message makes true. */
static void wait_until(weft *w, struct weft__bag_run *run, bool (*is_so)(struct weft__bag_run *))
{
    for (;;) {
        pthread_mutex_lock(&run->lock);
        bool is_so_now = is_so(run);
        if (!is_so_now)
            weft_event_reset(NULL, &run->changed);
        pthread_mutex_unlock(&run->lock);
        if (is_so_now)
            return;
        weft__mpi_wait_begins();
        weft_event_wait(w, &run->changed);
        weft__mpi_wait_ends();
    }
}

struct collective {
    struct weft__bag_run *run;
    const void *mine;
    void *all;
    MPI_Request request;
};

static int begin_count(void *arg)
{
    struct collective *c = arg;
    return MPI_Ireduce_scatter_block(c->run->sent, &c->run->expected, 1, MPI_UINT64_T, MPI_SUM,
                                     c->run->ranks->comm, &c->request);
}

static void complete(weft *w, weft_mpi_fn *fn, struct collective *c, size_t bytes)
{
    if (weft__mpi_do(w, fn, c) != MPI_SUCCESS)
        weft__mpi_die("the end of weft_mpi_bag_run can't be agreed on");
    weft__mpi_finish(w, 1, &c->request, bytes);
}

static bool has_all(struct weft__bag_run *run)
{
    return run->received == run->expected;
}

static bool has_quit(struct weft__bag_run *run)
{
    return run->has_quit && run->posted == 0 && run->incoming == 0;
}

static void drop_arrived(struct weft__bag_run *run)
{
    while (run->arrived) {
        struct weft__parcel *parcel = run->arrived;
        run->arrived = parcel->next;
        free(parcel);
    }
}

/* All ranks have heard of the end, and send nothing more. Each learns how many messages were sent
 * to it, and receives those that are still on their way; then the communicator is as it was. */
static void drain(weft *w, struct weft__bag_run *run)
{
    struct collective c = {.run = run};
    complete(w, begin_count, &c, 0);
    wait_until(w, run, has_all);
    weft__mpi_do(w, weft__bag_quit, run);
    wait_until(w, run, has_quit);
    drop_arrived(run);
}

static int begin_gather(void *arg)
{
    struct collective *c = arg;
    int size = (int)c->run->kind->result_size;
    return MPI_Iallgather(c->mine, size, MPI_BYTE, c->all, size, MPI_BYTE, c->run->ranks->comm,
                          &c->request);
}

/* Every rank combines the results of all, in the same order. `all` has room for them. */
static void gather(weft *w, struct weft__bag_run *run, void *result, char *all)
{
    size_t size = run->kind->result_size;
    struct collective c = {.run = run, .mine = result, .all = all};
    complete(w, begin_gather, &c, (size_t)run->ranks->size * size);
    memcpy(result, all, size);
    for (int i = 1; i < run->ranks->size; i++)
        run->kind->combine(w, result, all + (size_t)i * size, run->arg);
}

static int finish(weft *w, struct weft__bag_run *run, void *result, char *all)
{
    drain(w, run);
    int error = run->lifeline.code;
    void *yield = !error && run->kind->result_size > 0 ? result : NULL;
    if (yield)
        memset(yield, 0, run->kind->result_size);
    weft__bag_drop_parts(w, run, yield);
    if (yield)
        gather(w, run, yield, all);
    return error;
}

/* ---- The call ---- */

static void begin(weft *w, struct weft__bag_run *run)
{
    int rank = run->ranks->rank;
    run->tag = weft__mpi_next_tag(w, run->ranks);
    run->last_out = &run->out;
    run->random = (weft_now() ^ (uint64_t)rank << 48) | 1;
    pthread_mutex_init(&run->lock, NULL);
    weft_event_init(&run->changed, "weft_mpi_bag_run");
    weft_event_from_outside(&run->changed);
    run->lifeline.me = rank;
    run->lifeline.ranks = run->ranks->size;
    run->lifeline.tries_most = WEFT__BAG_TRIES;
    run->lifeline.send = weft__bag_post;
    run->lifeline.context = run;
    weft__lifeline_begin(&run->lifeline, run->mine);
}

static int run_on(weft *w, struct weft__bag_run *run, void *result, char *all)
{
    if (!w)
        weft_pool_default(); /* its threads are there when work comes */
    begin(w, run);
    weft__mpi_do(w, weft__bag_listen, run);
    enum next next;
    while ((next = next_of(run)) != OVER)
        if (next == WORK)
            work(w, run);
        else
            wait(w, run);
    int error = finish(w, run, result, all);
    pthread_mutex_destroy(&run->lock);
    return error;
}

/* Memory for the whole call, so that no rank is without in the middle of it. */
static int run_with_memory(weft *w, struct weft__bag_run *run, void *result)
{
    size_t ranks = (size_t)run->ranks->size;
    run->sent = calloc(ranks, sizeof *run->sent);
    run->lifeline.thieves = calloc(ranks, sizeof *run->lifeline.thieves);
    char *all = malloc(ranks * run->kind->result_size + 1);
    int error = -ENOMEM;
    if (run->sent && run->lifeline.thieves && all)
        error = run_on(w, run, result, all);
    free(run->sent);
    free(run->lifeline.thieves);
    free(all);
    return error;
}

static bool is_complete(const weft_mpi_bag *kind, const void *result)
{
    bool has_result = kind && kind->result_size > 0;
    return kind && kind->size > 0 && kind->process && kind->split && kind->merge && kind->pack &&
           kind->unpack && kind->result_size <= INT_MAX &&
           (!has_result || (result && kind->combine));
}

int weft_mpi_bag_run_until(weft *w, MPI_Comm comm, const weft_mpi_bag *kind, void *mine, void *arg,
                           void *result, uint64_t when)
{
    if (!is_complete(kind, result))
        return -EINVAL;
    struct weft__bag_run run = {.kind = kind, .arg = arg, .mine = mine, .when = when};
    int error = weft__mpi_enter(w, comm, &run.ranks);
    if (error)
        return error;
    error = run_with_memory(w, &run, result);
    weft__mpi_leave(run.ranks);
    return error;
}

int weft_mpi_bag_run(weft *w, MPI_Comm comm, const weft_mpi_bag *kind, void *mine, void *arg,
                     void *result)
{
    return weft_mpi_bag_run_until(w, comm, kind, mine, arg, result, WEFT_FOREVER);
}
