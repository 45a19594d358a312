/* SPDX-License-Identifier: MIT */
#include "loop.h"

#include "look.h"
#include "root.h"

#include <errno.h>

/* The engine's thread cancels a task, and its owner ends it. Held for moments. */
static pthread_mutex_t tasks = PTHREAD_MUTEX_INITIALIZER;

/* ---- Messages ---- */

struct saying {
    struct weft__mpi_loop *loop;
    int64_t numbers[4];
};

/* Rank 0 hears itself at once. But its BYE may be the last message that the root gets, and ends the
 * root's receive. */
static int tell_root(void *arg)
{
    struct saying *saying = arg;
    struct weft__mpi_loop *loop = saying->loop;
    if (loop->root && saying->numbers[0] != WEFT__MPI_BYE)
        weft__mpi_root_hear(loop->root, 0, saying->numbers);
    else
        weft__mpi_post(loop->ranks, 0, loop->tag + WEFT__MPI_TO_ROOT, saying->numbers);
    return MPI_SUCCESS;
}

static void say(weft *w, struct weft__mpi_loop *loop, int64_t kind, int64_t value)
{
    struct saying saying = {loop, {kind, value}};
    weft__mpi_do(w, tell_root, &saying);
}

struct question {
    struct saying ask;
    int lane;
    int64_t part[4];
    MPI_Request requests[2];
};

static int begin_question(void *arg)
{
    struct question *q = arg;
    struct weft__mpi_loop *loop = q->ask.loop;
    MPI_Comm comm = loop->ranks->comm;
    int result = MPI_Irecv(q->part, 4, MPI_INT64_T, 0, loop->tag + WEFT__MPI_GRANT + q->lane, comm,
                           &q->requests[0]);
    if (result == MPI_SUCCESS)
        result = MPI_Isend(q->ask.numbers, 4, MPI_INT64_T, 0, loop->tag + WEFT__MPI_TO_ROOT, comm,
                           &q->requests[1]);
    return result;
}

/* False: no more. Rank 0 always answers, so the lane waits whatever happens. */
static bool ask(weft *w, struct weft__mpi_loop *loop, int lane, size_t *begin, size_t *end)
{
    struct question q = {{loop, {WEFT__MPI_ASK, (int64_t)loop->least, lane}}, lane, {0}, {0}};
    if (loop->root) {
        weft__mpi_root_take(loop->root, loop->least, q.part);
    } else {
        if (weft__mpi_do(w, begin_question, &q) != MPI_SUCCESS)
            weft__mpi_die("a loop can't ask for its next part");
        weft__mpi_finish(w, 2, q.requests, 0);
    }
    *begin = (size_t)q.part[0];
    *end = (size_t)q.part[1];
    return *begin < *end;
}

/* ---- Lanes ---- */

struct lane {
    struct weft__mpi_loop *loop;
    int number;
};

static void run_lane(weft *w, void *arg)
{
    struct lane *lane = arg;
    struct weft__mpi_loop *loop = lane->loop;
    size_t begin, end;
    while (!weft_cancelled(w) && ask(w, loop, lane->number, &begin, &end))
        loop->part(w, begin, end, loop->arg);
}

static void run_lanes(weft *w, void *arg)
{
    struct weft__mpi_loop *loop = arg;
    struct lane lanes[WEFT__MPI_LANES];
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < loop->lanes; i++) {
        lanes[i] = (struct lane){loop, i};
        int error = weft_spawn(w, &scope, run_lane, &lanes[i]);
        if (error)
            weft_fail(w, error);
    }
    loop->code = weft_scope_close(w, &scope);
}

/* ---- The task ---- */

void weft__mpi_loop_stop(struct weft__mpi_loop *loop, int verdict)
{
    pthread_mutex_lock(&tasks);
    loop->verdict = verdict;
    if (verdict && loop->is_live)
        weft_task_cancel(&loop->task);
    pthread_mutex_unlock(&tasks);
    weft_event_set(NULL, &loop->over); /* the last touch */
}

static void set_live(struct weft__mpi_loop *loop, bool is_live)
{
    pthread_mutex_lock(&tasks);
    loop->is_live = is_live;
    if (is_live && loop->verdict)
        weft_task_cancel(&loop->task);
    pthread_mutex_unlock(&tasks);
}

/* Runs the lanes in a task, so that the verdict can cancel them. A job's own computation may be
 * cancelled meanwhile, and the task is then, too. So a job can't run the task itself; a thread
 * outside does. */
static int run_task(weft *w, struct weft__mpi_loop *loop, uint64_t when)
{
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    options.deadline = weft__mpi_deadline(when);
    int error =
        weft_submit_with(w ? weft_pool_of(w) : NULL, &loop->task, run_lanes, loop, &options);
    if (error)
        return error;
    set_live(loop, true);
    if (w)
        error = weft_task_wait_until(&loop->task, WEFT_FOREVER);
    bool is_cancelled = error && !weft_task_done(&loop->task);
    if (is_cancelled)
        weft_task_cancel(&loop->task);
    int result = weft_task_wait(&loop->task);
    set_live(loop, false);
    return is_cancelled ? error : result ? result : loop->code;
}

/* ---- The loop ---- */

static void stop_came(struct weft__mpi_wait *wait)
{
    struct weft__mpi_loop *loop =
        (struct weft__mpi_loop *)((char *)wait - offsetof(struct weft__mpi_loop, stop));
    if (wait->result != MPI_SUCCESS)
        weft__mpi_die("the end of a loop was not received");
    weft__mpi_loop_stop(loop, (int)loop->stop_message[0]);
}

static int begin_loop(void *arg)
{
    struct weft__mpi_loop *loop = arg;
    if (loop->ranks->rank == 0) {
        loop->root = weft__mpi_root_begin(loop);
        return loop->root ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    loop->stop = (struct weft__mpi_wait){.kind = WEFT__MPI_ONE,
                                         .quiet = true,
                                         .uses = &loop->ranks->uses,
                                         .n = 1,
                                         .requests = &loop->stop_request,
                                         .statuses = MPI_STATUS_IGNORE,
                                         .then = stop_came};
    int result = MPI_Irecv(loop->stop_message, 4, MPI_INT64_T, 0, loop->tag + WEFT__MPI_STOP,
                           loop->ranks->comm, &loop->stop_request);
    return result == MPI_SUCCESS && weft__mpi_submit(&loop->stop) ? MPI_ERR_NO_MEM : result;
}

/* The verdict comes for sure: whatever ends this wait earlier becomes a part of it. */
static void await_verdict(weft *w, struct weft__mpi_loop *loop, uint64_t when)
{
    if (loop->root)
        weft__mpi_root_worry(loop->root);
    weft__mpi_hurry();
    int error = weft_event_wait_until(w, &loop->over, when);
    if (!error)
        return;
    say(w, loop, WEFT__MPI_FAIL, error);
    weft_event_wait(w, &loop->over);
}

/* If all went well, all ranks have come, and go soon. */
static void leave(weft *w, struct weft__mpi_loop *loop)
{
    if (loop->root && loop->verdict)
        weft__mpi_root_leave(loop->root);
    say(w, loop, WEFT__MPI_BYE, 0);
    if (!loop->root || loop->verdict)
        return;
    weft__mpi_hurry();
    weft_event_wait(w, &loop->gone);
}

int weft__mpi_loop(weft *w, struct weft__mpi_loop *loop, uint64_t when)
{
    loop->tag = weft__mpi_next_tag(w, loop->ranks);
    weft_event_init(&loop->over, "weft_mpi_for");
    weft_event_from_outside(&loop->over);
    weft_event_init(&loop->gone, "weft_mpi_for");
    weft_event_from_outside(&loop->gone);
    if (weft__mpi_do(w, begin_loop, loop) != MPI_SUCCESS)
        weft__mpi_die("no memory for a loop, which other ranks begin");
    say(w, loop, WEFT__MPI_DONE, run_task(w, loop, when));
    await_verdict(w, loop, when);
    leave(w, loop);
    return loop->verdict;
}
