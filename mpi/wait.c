/* SPDX-License-Identifier: MIT */
/* The calls that wait: a few looks by the job itself, then the engine. */
#include "engine.h"

#include "look.h"

#include <errno.h>
#include <sched.h>
#include <weft/actor.h>

enum {
    LOOKS = 8,         /* before the job waits: some microseconds */
    PATIENCE = 500000, /* ns: for so long it looks, if its thread has nothing else to do */
    MORE = 1000, /* ns: a look that takes twice as long as an empty one, and this, moves data */
};

static int look(void *arg)
{
    return weft__mpi_look(arg);
}

/* A thread that has nothing else to do may as well look, and lets others run in between: to sleep
 * and to be woken takes longer than a message. An actor's executor has other actors to run. */
static bool is_idle(weft *w)
{
    return !w || (!weft_has_pending(w) && !weft_actor_self(w));
}

/* True: it is over. *took: how long the look took. */
static bool look_once(struct weft__mpi_wait *wait, uint64_t *took)
{
    uint64_t begin = weft_now();
    bool is_over = weft__mpi_look(wait);
    *took = weft_now() - begin;
    return is_over;
}

/* `when` NULL: no limit. */
static bool is_due(weft *w, const uint64_t *when)
{
    return when && (weft_now() >= *when || (w && weft_cancelled(w)));
}

/* MPI moves a long message in pieces, some at each look, if the other side looks, too: so both go
 * on while an eighth of the time goes to looks that move something. `empty`: how long a look takes
 * that finds nothing. Worst case: a look that took long because the thread lost its CPU costs
 * another PATIENCE. */
static bool look_patiently(weft *w, struct weft__mpi_wait *wait, uint64_t empty,
                           const uint64_t *when)
{
    uint64_t begin, now, took, moving;
    do {
        begin = weft_now();
        moving = 0;
        do {
            if (!is_idle(w) || is_due(w, when))
                return false;
            sched_yield();
            if (look_once(wait, &took))
                return true;
            if (took > 2 * empty + MORE)
                moving += took;
            now = weft_now();
        } while (now - begin < PATIENCE);
    } while (8 * moving >= now - begin);
    return false;
}

/* With MPI_THREAD_SERIALIZED one look, because a look there costs two switches of threads. It is
 * needed all the same: the engine takes requests that are out only. */
static int look_first(weft *w, struct weft__mpi_wait *wait, const uint64_t *when, int *is_over)
{
    if (!weft__mpi_is_multiple())
        return weft__mpi_try(w, look, wait, is_over);
    uint64_t took, empty = UINT64_MAX / 4;
    *is_over = false;
    for (int i = 0; i < LOOKS && !*is_over; i++) {
        *is_over = look_once(wait, &took);
        if (took < empty)
            empty = took;
    }
    if (!*is_over)
        *is_over = look_patiently(w, wait, empty, when);
    return 0;
}

static void withdraw(weft *w, void *arg)
{
    (void)w;
    weft__mpi_withdraw(arg);
}

/* An actor that is killed and holds a mutex goes on, but its waits just return. */
static int await_event(weft *w, struct weft__mpi_wait *wait, const uint64_t *when)
{
    int error = 0;
    if (when)
        error = weft_event_wait_until(w, &wait->done, *when);
    else
        weft_event_wait(w, &wait->done);
    if (!error && w && weft_actor_self(w) && weft_cancelled(w))
        error = -ECANCELED;
    return error && weft__mpi_withdraw(wait) ? error : 0;
}

static int wait_for(weft *w, struct weft__mpi_wait *wait, const uint64_t *when)
{
    weft_event_init(&wait->done, "weft_mpi_wait");
    weft_event_from_outside(&wait->done);
    int in_actor = w ? weft_defer(w, withdraw, wait) : -EPERM;
    int error = in_actor == -ENOMEM ? -ENOMEM : weft__mpi_submit(wait);
    if (!error)
        error = await_event(w, wait, when);
    if (in_actor == 0)
        weft_undefer(w, withdraw, wait);
    return error;
}

/* The first that failed, of a set. */
static int error_of(const struct weft__mpi_wait *wait)
{
    if (wait->result != MPI_ERR_IN_STATUS || wait->statuses == MPI_STATUSES_IGNORE)
        return weft__mpi_errno(wait->result);
    for (int i = 0; i < wait->n; i++)
        if (wait->statuses[i].MPI_ERROR != MPI_SUCCESS &&
            wait->statuses[i].MPI_ERROR != MPI_ERR_PENDING)
            return weft__mpi_errno(wait->statuses[i].MPI_ERROR);
    return -EIO;
}

int weft__mpi_wait(weft *w, struct weft__mpi_wait *wait, const uint64_t *when)
{
    if (wait->n < 0 || (wait->n > 0 && !wait->requests))
        return -EINVAL;
    int is_over = false, error = weft__mpi_ready();
    if (!error)
        error = look_first(w, wait, when, &is_over);
    if (is_over)
        weft__mpi_ended_alone();
    else if (!error)
        error = weft__mpi_is_engine() ? -EDEADLK : wait_for(w, wait, when);
    return error ? error : error_of(wait);
}

/* What MPI has begun uses memory of the callers, and other ranks wait for it. */
void weft__mpi_finish(weft *w, int n, MPI_Request *requests, size_t bytes)
{
    struct weft__mpi_wait wait = {.kind = WEFT__MPI_ALL,
                                  .own = true,
                                  .bytes = bytes,
                                  .n = n,
                                  .requests = requests,
                                  .statuses = MPI_STATUSES_IGNORE};
    if (weft__mpi_wait(w, &wait, NULL))
        weft__mpi_die("a message was not sent or received");
}

/* NULL: no limit. */
static int wait_one(weft *w, MPI_Request *request, MPI_Status *status, const uint64_t *when)
{
    struct weft__mpi_wait wait = {
        .kind = WEFT__MPI_ONE, .n = 1, .requests = request, .statuses = status};
    return weft__mpi_wait(w, &wait, when);
}

static int wait_all(weft *w, int n, MPI_Request *requests, MPI_Status *statuses,
                    const uint64_t *when)
{
    struct weft__mpi_wait wait = {
        .kind = WEFT__MPI_ALL, .n = n, .requests = requests, .statuses = statuses};
    return weft__mpi_wait(w, &wait, when);
}

static int wait_any(weft *w, int n, MPI_Request *requests, int *index, MPI_Status *status,
                    const uint64_t *when)
{
    if (!index)
        return -EINVAL;
    struct weft__mpi_wait wait = {.kind = WEFT__MPI_ANY,
                                  .n = n,
                                  .requests = requests,
                                  .statuses = status,
                                  .index = MPI_UNDEFINED};
    int error = weft__mpi_wait(w, &wait, when);
    *index = wait.index;
    return error;
}

int weft_mpi_wait(weft *w, MPI_Request *request, MPI_Status *status)
{
    return wait_one(w, request, status, NULL);
}

int weft_mpi_wait_until(weft *w, MPI_Request *request, MPI_Status *status, uint64_t when)
{
    return wait_one(w, request, status, &when);
}

int weft_mpi_waitall(weft *w, int n, MPI_Request *requests, MPI_Status *statuses)
{
    return wait_all(w, n, requests, statuses, NULL);
}

int weft_mpi_waitall_until(weft *w, int n, MPI_Request *requests, MPI_Status *statuses,
                           uint64_t when)
{
    return wait_all(w, n, requests, statuses, &when);
}

int weft_mpi_waitany(weft *w, int n, MPI_Request *requests, int *index, MPI_Status *status)
{
    return wait_any(w, n, requests, index, status, NULL);
}

int weft_mpi_waitany_until(weft *w, int n, MPI_Request *requests, int *index, MPI_Status *status,
                           uint64_t when)
{
    return wait_any(w, n, requests, index, status, &when);
}

int weft_mpi_test(weft *w, MPI_Request *request, bool *done, MPI_Status *status)
{
    if (!request || !done)
        return -EINVAL;
    int error = weft__mpi_ready();
    if (error)
        return error;
    struct weft__mpi_wait wait = {
        .kind = WEFT__MPI_ONE, .n = 1, .requests = request, .statuses = status};
    int is_over = false;
    error = weft__mpi_try(w, look, &wait, &is_over);
    *done = is_over;
    return error ? error : weft__mpi_errno(wait.result);
}

int weft_mpi_call(weft *w, weft_mpi_fn *fn, void *arg)
{
    if (!fn)
        return -EINVAL;
    int result = MPI_SUCCESS, error = weft__mpi_ready();
    if (!error)
        error = weft__mpi_try(w, fn, arg, &result);
    return error ? error : weft__mpi_errno(result);
}
