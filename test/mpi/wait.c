/* SPDX-License-Identifier: MIT */
/* wait.c: every call that waits, in jobs, in actors and outside, with two ranks or more. All calls
 * of MPI go through weft_mpi_call(), so the same program runs with MPI_THREAD_SERIALIZED. */
#include "ranks.h"

#include <errno.h>
#include <stdatomic.h>
#include <weft/actor.h>
#include <weft/parallel.h>
#include <weft/sync.h>

enum { MANY = 40 };

struct message {
    int *data;
    int peer, tag;
    MPI_Request *request;
};

static int begin_receive(void *arg)
{
    struct message *m = arg;
    return MPI_Irecv(m->data, 1, MPI_INT, m->peer, m->tag, MPI_COMM_WORLD, m->request);
}

static int begin_send(void *arg)
{
    struct message *m = arg;
    return MPI_Isend(m->data, 1, MPI_INT, m->peer, m->tag, MPI_COMM_WORLD, m->request);
}

static void receive(weft *w, int *data, int peer, int tag, MPI_Request *request)
{
    struct message m = {data, peer, tag, request};
    CHECK(weft_mpi_call(w, begin_receive, &m) == 0);
}

static void send(weft *w, int *data, int peer, int tag)
{
    MPI_Request request;
    struct message m = {data, peer, tag, &request};
    CHECK(weft_mpi_call(w, begin_send, &m) == 0);
    CHECK(weft_mpi_wait(w, &request, MPI_STATUS_IGNORE) == 0);
}

static int after(int me)
{
    return (me + 1) % ranks;
}
static int before(int me)
{
    return (me + ranks - 1) % ranks;
}

/* ---- One ---- */

static void one(weft *w, int tag)
{
    int got = -1, mine = rank + 100;
    MPI_Request request;
    MPI_Status status;
    bool done = true;
    receive(w, &got, rank, tag, &request); /* its own, which it has not sent yet */
    CHECK(weft_mpi_wait_until(w, &request, &status, weft_now() + 5 * MS) == -ETIMEDOUT);
    CHECK(weft_mpi_test(w, &request, &done, &status) == 0 && !done && got == -1);
    send(w, &mine, rank, tag);
    CHECK(weft_mpi_wait_until(w, &request, &status, WEFT_FOREVER) == 0 && got == mine);
    receive(w, &got, before(rank), tag, &request);
    send(w, &mine, after(rank), tag);
    CHECK(weft_mpi_wait(w, &request, &status) == 0);
    CHECK(got == before(rank) + 100 && request == MPI_REQUEST_NULL);
    CHECK(status.MPI_SOURCE == before(rank) && status.MPI_TAG == tag);
    CHECK(weft_mpi_wait(w, &request, &status) == 0); /* none is out: at once */
    CHECK(weft_mpi_test(w, &request, &done, &status) == 0 && done);
}

static void one_in_job(weft *w, void *arg)
{
    (void)arg;
    one(w, 2);
}

static int one_in_actor(weft *w, void *arg)
{
    (void)arg;
    one(w, 3);
    return 0;
}

/* ---- Sets ---- */

static void all(weft *w, void *arg)
{
    (void)arg;
    int got[MANY], mine[MANY];
    MPI_Request requests[MANY];
    MPI_Status statuses[MANY];
    for (int i = 0; i < MANY; i++) /* one of them from itself, sent last */
        receive(w, &got[i], i ? before(rank) : rank, 10 + i, &requests[i]);
    CHECK(weft_mpi_waitall_until(w, MANY, requests, statuses, weft_now()) == -ETIMEDOUT);
    for (int i = MANY; i-- > 0;) {
        mine[i] = 7 * i + rank;
        send(w, &mine[i], i ? after(rank) : rank, 10 + i);
    }
    CHECK(weft_mpi_waitall(w, MANY, requests, statuses) == 0);
    for (int i = 0; i < MANY; i++)
        CHECK(got[i] == 7 * i + (i ? before(rank) : rank) && statuses[i].MPI_TAG == 10 + i);
    CHECK(weft_mpi_waitall(w, MANY, requests, MPI_STATUSES_IGNORE) == 0);
}

static void any(weft *w, void *arg)
{
    (void)arg;
    int got[MANY], mine[MANY], index, seen = 0;
    MPI_Request requests[MANY];
    MPI_Status status;
    for (int i = 0; i < MANY; i++)
        receive(w, &got[i], before(rank), 100 + i, &requests[i]);
    for (int i = 0; i < MANY; i++) {
        mine[i] = i;
        send(w, &mine[i], after(rank), 100 + (i * 7) % MANY);
    }
    for (int i = 0; i < MANY; i++) {
        CHECK(weft_mpi_waitany(w, MANY, requests, &index, &status) == 0);
        CHECK(index >= 0 && index < MANY && requests[index] == MPI_REQUEST_NULL);
        CHECK(status.MPI_TAG == 100 + index && (got[index] * 7) % MANY == index);
        seen += index;
    }
    CHECK(seen == MANY * (MANY - 1) / 2);
    CHECK(weft_mpi_waitany(w, MANY, requests, &index, &status) == 0 && index == MPI_UNDEFINED);
}

/* Longer than what is looked at in one call of MPI. */
static void long_set(weft *w, void *arg)
{
    enum { LONG = 600 };
    int got[LONG], mine[LONG];
    MPI_Request requests[LONG];
    MPI_Status statuses[LONG];
    (void)arg;
    for (int i = 0; i < LONG; i++)
        receive(w, &got[i], before(rank), 7000 + i, &requests[i]);
    for (int i = LONG; i-- > 0;) {
        mine[i] = 5 * i + rank;
        send(w, &mine[i], after(rank), 7000 + i);
    }
    CHECK(weft_mpi_waitall(w, LONG, requests, statuses) == 0);
    for (int i = 0; i < LONG; i++)
        CHECK(got[i] == 5 * i + before(rank) && statuses[i].MPI_TAG == 7000 + i);
}

/* ---- Many jobs wait at once, and each for the one before it in the ring ---- */

static int relay(weft *w, void *arg)
{
    int tag = 1000 + (int)(intptr_t)arg, token = -1;
    MPI_Request request;
    receive(w, &token, before(rank), tag, &request);
    if (rank == 0) {
        int first = 0;
        send(w, &first, after(rank), tag);
        CHECK(weft_mpi_wait(w, &request, MPI_STATUS_IGNORE) == 0);
        CHECK(token == ranks - 1);
        return 0;
    }
    CHECK(weft_mpi_wait(w, &request, MPI_STATUS_IGNORE) == 0);
    token++;
    send(w, &token, after(rank), tag);
    return 0;
}

static void in_actors(void)
{
    weft_actor *actors[200];
    for (int i = 0; i < 200; i++) {
        CHECK(weft_actor_create(&actors[i], NULL, relay, (void *)(intptr_t)i, NULL) == 0);
        CHECK(weft_actor_run(actors[i]) == 0);
    }
    for (int i = 0; i < 200; i++) {
        CHECK(weft_actor_wait(NULL, actors[i]) == 0);
        weft_actor_release(actors[i]);
    }
}

static void relay_some(weft *w, size_t begin, size_t end, void *arg)
{
    (void)arg;
    for (size_t i = begin; i < end; i++)
        relay(w, (void *)(intptr_t)(1000 + i));
}

static void in_jobs(weft *w, void *arg)
{
    weft_for(w, 0, 100, relay_some, arg);
}

static int wait_for_ever(weft *w, void *arg)
{
    return weft_mpi_wait(w, arg, MPI_STATUS_IGNORE);
}

static void start(weft_actor **actor, weft_actor_fn *fn, void *arg)
{
    CHECK(weft_actor_create(actor, NULL, fn, arg, NULL) == 0);
    CHECK(weft_actor_run(*actor) == 0);
}

static int end_of(weft_actor *actor)
{
    int reason = weft_actor_wait(NULL, actor);
    weft_actor_release(actor);
    return reason;
}

/* More of them than the engine looks at in one call; the last ones end while the others wait. Only
 * with MPI_THREAD_SERIALIZED: otherwise each actor looks some times before, which Open MPI makes
 * long on a busy machine. */
static void crowd(void)
{
    enum { CROWD = 1150, LAST = 100, FIRST = CROWD - LAST };
    static int got[CROWD], mine[CROWD];
    static MPI_Request requests[CROWD];
    static weft_actor *actors[CROWD];
    for (int i = 0; i < CROWD; i++) {
        receive(NULL, &got[i], rank, 7000 + i, &requests[i]);
        start(&actors[i], wait_for_ever, &requests[i]);
        if (i == FIRST)
            sleep_ms(20); /* let the first ones wait, most times */
    }
    sleep_ms(20);
    for (int i = 0; i < CROWD; i++) {
        int which = (i + FIRST) % CROWD;
        mine[which] = 3 * which;
        send(NULL, &mine[which], rank, 7000 + which);
        if (i == LAST - 1)
            for (int k = FIRST; k < CROWD; k++)
                CHECK(end_of(actors[k]) == 0 && got[k] == 3 * k);
    }
    for (int i = 0; i < FIRST; i++)
        CHECK(end_of(actors[i]) == 0 && got[i] == 3 * i);
}

/* ---- An end in the middle ---- */

/* The actor's wait is taken back; the request is still there. */
static void killed(void)
{
    int got = -1, mine = 5;
    MPI_Request request;
    weft_actor *actor;
    receive(NULL, &got, rank, 5000, &request);
    CHECK(weft_actor_create(&actor, NULL, wait_for_ever, &request, NULL) == 0);
    CHECK(weft_actor_run(actor) == 0);
    sleep_ms(20); /* let it wait, most times */
    weft_actor_kill(actor);
    CHECK(weft_actor_wait(NULL, actor) == -ECANCELED);
    weft_actor_release(actor);
    CHECK(request != MPI_REQUEST_NULL);
    send(NULL, &mine, rank, 5000);
    CHECK(weft_mpi_wait(NULL, &request, MPI_STATUS_IGNORE) == 0 && got == 5);
}

/* An actor that holds a mutex goes on after the kill. The message comes when it is gone. */
struct holder {
    MPI_Request request;
    int got, result;
    weft_mutex mutex;
    weft_event waits;
};

static int wait_and_hold(weft *w, void *arg)
{
    struct holder *holder = arg;
    weft_mutex_lock(w, &holder->mutex);
    weft_event_set(w, &holder->waits);
    holder->result = weft_mpi_wait(w, &holder->request, MPI_STATUS_IGNORE);
    weft_mutex_unlock(w, &holder->mutex);
    return 0;
}

static void killed_holder(void)
{
    int mine = 7;
    weft_actor *actor;
    struct holder holder = {
        .got = -1, .mutex = WEFT_MUTEX_INIT, .waits = WEFT_EVENT_INIT, .result = 1};
    receive(NULL, &holder.got, rank, 5002, &holder.request);
    CHECK(weft_actor_create(&actor, NULL, wait_and_hold, &holder, NULL) == 0);
    CHECK(weft_actor_run(actor) == 0);
    weft_event_wait(NULL, &holder.waits);
    sleep_ms(20); /* let it wait, most times */
    weft_actor_kill(actor);
    CHECK(weft_actor_wait(NULL, actor) == -ECANCELED);
    weft_actor_release(actor);
    CHECK(holder.result == -ECANCELED && holder.request != MPI_REQUEST_NULL);
    send(NULL, &mine, rank, 5002);
    CHECK(weft_mpi_wait(NULL, &holder.request, MPI_STATUS_IGNORE) == 0 && holder.got == 7);
}

/* ---- Inside a call ---- */

static int receive_and_look(void *arg)
{
    struct message *m = arg;
    bool done = true;
    CHECK(weft_mpi_call(NULL, begin_receive, m) == MPI_SUCCESS);
    CHECK(weft_mpi_test(NULL, m->request, &done, MPI_STATUS_IGNORE) == 0 && !done);
    return MPI_SUCCESS;
}

static void nothing(weft *w, size_t begin, size_t end, void *arg)
{
    (void)w, (void)begin, (void)end, (void)arg;
}

static int wait_inside(void *arg)
{
    CHECK(weft_mpi_wait(NULL, arg, MPI_STATUS_IGNORE) == -EDEADLK);
    CHECK(weft_mpi_for(NULL, MPI_COMM_SELF, 0, 1, nothing, NULL) == -EDEADLK);
    return MPI_SUCCESS;
}

/* With MPI_THREAD_SERIALIZED a call runs in the thread that makes all calls. */
static void inside(bool serialized)
{
    int got = -1, mine = 8;
    MPI_Request request;
    struct message m = {&got, rank, 5003, &request};
    CHECK(weft_mpi_call(NULL, receive_and_look, &m) == 0);
    if (serialized)
        CHECK(weft_mpi_call(NULL, wait_inside, &request) == 0);
    send(NULL, &mine, rank, 5003);
    CHECK(weft_mpi_wait(NULL, &request, MPI_STATUS_IGNORE) == 0 && got == 8);
}

/* An actor ends while the library's thread makes its call, or before that. */
struct held {
    atomic_bool has_begun, may_end, has_ended;
};

static int hold(void *arg)
{
    struct held *held = arg;
    atomic_store(&held->has_begun, true);
    while (!atomic_load(&held->may_end))
        sleep_ms(1);
    sleep_ms(20);
    atomic_store(&held->has_ended, true);
    return MPI_SUCCESS;
}

static int call_hold(weft *w, void *arg)
{
    return weft_mpi_call(w, hold, arg);
}

static void killed_in_call(void)
{
    static struct held running, queued;
    weft_actor *first, *second;
    start(&first, call_hold, &running);
    while (!atomic_load(&running.has_begun))
        sleep_ms(1);
    start(&second, call_hold, &queued);
    sleep_ms(20); /* let it wait, most times */
    weft_actor_kill(second);
    CHECK(end_of(second) == -ECANCELED);
    weft_actor_kill(first);
    sleep_ms(20);
    atomic_store(&running.may_end, true);
    CHECK(end_of(first) == -ECANCELED && atomic_load(&running.has_ended));
    bool done;
    MPI_Request none = MPI_REQUEST_NULL;
    CHECK(weft_mpi_test(NULL, &none, &done, MPI_STATUS_IGNORE) == 0 && done);
    CHECK(!atomic_load(&queued.has_begun));
}

/* A message that comes at the limit: the request has ended, or is still there; not both. */
struct limited {
    uint64_t when;
    MPI_Request request;
};

static int wait_until(weft *w, void *arg)
{
    struct limited *limited = arg;
    int error = weft_mpi_wait_until(w, &limited->request, MPI_STATUS_IGNORE, limited->when);
    CHECK((error == 0) == (limited->request == MPI_REQUEST_NULL));
    return error;
}

static void last_moment(void)
{
    int in_time = 0;
    for (int i = 0; i < 200; i++) {
        int got = -1, mine = i;
        weft_actor *actor;
        struct limited limited = {.when = weft_now() + MS / 4};
        receive(NULL, &got, rank, 5002, &limited.request);
        start(&actor, wait_until, &limited);
        while (weft_now() + (uint64_t)(i % 40) * 1000 < limited.when)
            ;
        send(NULL, &mine, rank, 5002);
        int error = end_of(actor);
        CHECK(error == 0 || error == -ETIMEDOUT);
        in_time += error == 0;
        CHECK(weft_mpi_wait(NULL, &limited.request, MPI_STATUS_IGNORE) == 0 && got == i);
    }
    printf("rank %d: %d in time\n", rank, in_time);
}

static void cancelled(weft *w, void *arg)
{
    (void)arg;
    int got = -1, mine = 6;
    MPI_Request request;
    receive(w, &got, rank, 5001, &request);
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + 20 * MS);
    CHECK(weft_mpi_wait_until(w, &request, MPI_STATUS_IGNORE, WEFT_FOREVER) == -ECANCELED);
    CHECK(weft_scope_close(w, &scope) == -ETIMEDOUT);
    send(w, &mine, rank, 5001);
    CHECK(weft_mpi_wait(w, &request, MPI_STATUS_IGNORE) == 0 && got == 6);
}

static void wrong(void)
{
    int index;
    bool done;
    CHECK(weft_mpi_wait(NULL, NULL, MPI_STATUS_IGNORE) == -EINVAL);
    CHECK(weft_mpi_waitall(NULL, -1, NULL, MPI_STATUSES_IGNORE) == -EINVAL);
    CHECK(weft_mpi_waitall(NULL, 0, NULL, MPI_STATUSES_IGNORE) == 0);
    CHECK(weft_mpi_waitany(NULL, 0, NULL, NULL, MPI_STATUS_IGNORE) == -EINVAL);
    CHECK(weft_mpi_waitany(NULL, 0, NULL, &index, MPI_STATUS_IGNORE) == 0);
    CHECK(weft_mpi_test(NULL, NULL, &done, MPI_STATUS_IGNORE) == -EINVAL);
    CHECK(weft_mpi_call(NULL, NULL, NULL) == -EINVAL);
}

/* A message that is too long, where MPI's error handler returns. */
static void too_long(void)
{
    int got[2] = {0}, mine[2] = {1, 2};
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int kind = 0; kind < 4; kind++) {
        MPI_Irecv(got, 1, MPI_INT, before(rank), 6000, MPI_COMM_WORLD, &requests[0]);
        if (kind == 1 && rank == 0)
            sleep_ms(20); /* the others wait by now */
        MPI_Isend(mine, 2, MPI_INT, after(rank), 6000, MPI_COMM_WORLD, &requests[1]);
        if (kind < 2) {
            CHECK(weft_mpi_wait(NULL, &requests[0], MPI_STATUS_IGNORE) == -EMSGSIZE);
            CHECK(weft_mpi_wait(NULL, &requests[1], MPI_STATUS_IGNORE) == 0);
        } else {
            CHECK(weft_mpi_waitall(NULL, 2, requests, kind == 2 ? statuses : MPI_STATUSES_IGNORE) ==
                  -EMSGSIZE);
        }
    }
}

/* In the middle of a long set: those before it have ended, and those far behind may go on. */
static void one_is_too_long(void)
{
    enum { LONG = 600, BAD = 300, SENT = 512 };
    static int got[LONG];
    static MPI_Status statuses[LONG];
    static MPI_Request requests[LONG];
    int mine[2] = {1, 2}, class;
    memset(statuses, 0x55, sizeof statuses);
    for (int i = 0; i < LONG; i++)
        MPI_Irecv(&got[i], 1, MPI_INT, before(rank), 8000 + i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < SENT; i++)
        MPI_Send(mine, 1 + (i == BAD), MPI_INT, after(rank), 8000 + i, MPI_COMM_WORLD);
    CHECK(weft_mpi_waitall(NULL, LONG, requests, statuses) == -EMSGSIZE);
    for (int i = 0; i < 256; i++)
        CHECK(statuses[i].MPI_ERROR == MPI_SUCCESS && requests[i] == MPI_REQUEST_NULL);
    MPI_Error_class(statuses[BAD].MPI_ERROR, &class);
    CHECK(class == MPI_ERR_TRUNCATE);
    for (int i = SENT; i < LONG; i++) {
        CHECK(statuses[i].MPI_ERROR == MPI_ERR_PENDING && requests[i] != MPI_REQUEST_NULL);
        MPI_Send(mine, 1, MPI_INT, after(rank), 8000 + i, MPI_COMM_WORLD);
    }
    CHECK(weft_mpi_waitall(NULL, LONG - SENT, requests + SENT, MPI_STATUSES_IGNORE) == 0);
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    wrong();
    one(NULL, 1);
    run(one_in_job, NULL);
    weft_actor *actor;
    CHECK(weft_actor_create(&actor, NULL, one_in_actor, NULL, NULL) == 0);
    CHECK(weft_actor_run(actor) == 0 && weft_actor_wait(NULL, actor) == 0);
    weft_actor_release(actor);
    run(all, NULL);
    run(any, NULL);
    run(long_set, NULL);
    run(in_jobs, NULL);
    in_actors();
    killed();
    killed_holder();
    inside(argc > 1);
    if (argc > 1) { /* calls are made by another thread */
        crowd();
        killed_in_call();
    }
    last_moment();
    run(cancelled, NULL);
    too_long();
    one_is_too_long();
    MPI_Finalize();
    return 0;
}
