/* SPDX-License-Identifier: MIT */
/* loops.c: weft_mpi_for() and weft_mpi_reduce(): each element once, the same bits as in one
 * process, and every way to end early. */
#include "ranks.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>

enum { N = 100000 };

/* Calls of MPI that may be made while the library has something under way. */
struct call {
    enum { SUM, SEND, RECEIVE } kind;
    void *in, *out;
    int peer;
    MPI_Request request;
};

static int begin_call(void *arg)
{
    struct call *call = arg;
    if (call->kind == SUM)
        return MPI_Iallreduce(call->in, call->out, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                              &call->request);
    if (call->kind == SEND)
        return MPI_Isend(call->in, 1, MPI_INT, call->peer, 0, MPI_COMM_WORLD, &call->request);
    return MPI_Irecv(call->out, 1, MPI_INT, call->peer, 0, MPI_COMM_WORLD, &call->request);
}

static void call_and_wait(weft *w, struct call call)
{
    CHECK(weft_mpi_call(w, begin_call, &call) == 0);
    CHECK(weft_mpi_wait(w, &call.request, MPI_STATUS_IGNORE) == 0);
}

/* ---- Each element once ---- */

static atomic_int *touched;
static atomic_long elements_here;

static void touch(weft *w, size_t begin, size_t end, void *arg)
{
    (void)w;
    CHECK(arg == touched);
    atomic_fetch_add(&elements_here, (long)(end - begin));
    for (size_t i = begin; i < end; i++)
        atomic_fetch_add(&touched[i], 1);
}

static void each_once(weft *w, size_t begin, size_t end)
{
    int *sums = calloc(N, sizeof *sums);
    touched = calloc(N, sizeof *touched);
    CHECK(sums && touched);
    CHECK(weft_mpi_for(w, MPI_COMM_WORLD, begin, end, touch, touched) == 0);
    call_and_wait(w, (struct call){.kind = SUM, .in = touched, .out = sums});
    for (size_t i = 0; i < N; i++)
        CHECK(sums[i] == (i >= begin && i < end));
    free(touched);
    free(sums);
}

static void loops(weft *w, void *arg)
{
    (void)arg;
    each_once(w, 0, N);
    each_once(w, 17, 18);
    each_once(w, 5, 5);
    for (size_t i = 0; i < 20; i++)
        each_once(w, i, i * i * i);
    CHECK(weft_mpi_for(w, MPI_COMM_WORLD, 0, 1, NULL, NULL) == -EINVAL);
    CHECK(weft_mpi_for(w, MPI_COMM_NULL, 0, 1, touch, NULL) == -EINVAL);
    CHECK(weft_mpi_for(w, MPI_COMM_WORLD, 1, 0, touch, NULL) == -EINVAL);
}

/* Two groups: there is no one order of ranks. */
static void between_groups(void)
{
    MPI_Comm half, both;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
    CHECK(weft_mpi_for(NULL, both, 0, 1, touch, NULL) == -EINVAL);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

/* Rank 0 is slow: the others do its share. */
static void slow_on_one(weft *w, size_t begin, size_t end, void *arg)
{
    (void)w, (void)arg;
    for (size_t i = begin; i < end; i++) {
        sleep_ms(rank == 0 ? 100 : 1);
        atomic_fetch_add(&elements_here, 1);
    }
}

static void balanced(weft *w, void *arg)
{
    (void)arg;
    elements_here = 0;
    CHECK(weft_mpi_for(w, MPI_COMM_WORLD, 0, 200, slow_on_one, NULL) == 0);
    if (rank == 0)
        CHECK(elements_here < 200 / ranks); /* its equal share */
}

/* ---- The same bits ---- */

static void add_terms(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    (void)w, (void)arg;
    double *sum = accumulator;
    for (size_t i = begin; i < end; i++)
        *sum += sin((double)i) * exp((double)(i % 37));
}

static void add(weft *w, void *left, const void *right, void *arg)
{
    (void)w, (void)arg;
    *(double *)left += *(const double *)right;
}

static void sums(weft *w, void *arg)
{
    (void)arg;
    static const size_t ends[] = {0, 1, 9, 10, 11, 1000, 10230, 10240, 10241, 33333, 100000};
    weft_reducer reducer = {.size = sizeof(double), .fold = add_terms, .combine = add, .block = 10};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        double here, all = -1;
        weft_reduce(w, 3, 3 + ends[i], &reducer, NULL, &here);
        CHECK(weft_mpi_reduce(w, MPI_COMM_WORLD, 3, 3 + ends[i], &reducer, NULL, &all) == 0);
        CHECK(memcmp(&here, &all, sizeof here) == 0);
    }
    double least = -1, none = 0;
    reducer.identity = &least;
    CHECK(weft_mpi_reduce(w, MPI_COMM_WORLD, 5, 5, &reducer, NULL, &none) == 0 && none == least);
    reducer.halt = (bool (*)(weft *, const void *, void *))abort;
    double result;
    CHECK(weft_mpi_reduce(w, MPI_COMM_WORLD, 0, 9, &reducer, NULL, &result) == -ENOTSUP);
}

/* ---- Ends ---- */

static void fail_at(weft *w, size_t begin, size_t end, void *arg)
{
    size_t *where = arg;
    for (size_t i = begin; i < end && !weft_cancelled(w); i++) {
        if (i == *where)
            weft_fail(w, -EDOM);
        sleep_ms(1);
    }
}

/* One rank sees the failure; the others would compute for a minute. */
static void failing(weft *w, void *arg)
{
    (void)arg;
    size_t where = 3;
    uint64_t begin = weft_now();
    CHECK(weft_mpi_for(w, MPI_COMM_WORLD, 0, 400000, fail_at, &where) == -EDOM);
    CHECK(weft_now() - begin < 30000 * MS);
    each_once(w, 0, 1000); /* nothing is left behind */
}

/* Elements that only end when they are cancelled, on all ranks but the one that fails. */
static void hang(weft *w, size_t begin, size_t end, void *arg)
{
    (void)begin, (void)end;
    int *code = arg;
    while (!weft_cancelled(w)) {
        if (*code && rank == ranks - 1)
            weft_fail(w, *code);
        sleep_ms(1);
    }
}

static void hanging(weft *w, void *arg)
{
    (void)arg;
    int code = -ENOENT;
    CHECK(weft_mpi_for(w, MPI_COMM_WORLD, 0, 1000, hang, &code) == -ENOENT);
    code = 0;
    /* One rank has a limit. */
    uint64_t when = rank == ranks - 1 ? weft_now() + 50 * MS : WEFT_FOREVER;
    CHECK(weft_mpi_for_until(w, MPI_COMM_WORLD, 0, 1000, hang, &code, when) == -ETIMEDOUT);
    /* The computation around it, on one rank. */
    weft_scope scope;
    weft_scope_open(w, &scope);
    if (rank == 0)
        weft_scope_deadline(&scope, weft_now() + 50 * MS);
    CHECK(weft_mpi_for(w, MPI_COMM_WORLD, 0, 1000, hang, &code) == -ECANCELED);
    CHECK(weft_scope_close(w, &scope) == (rank == 0 ? -ETIMEDOUT : 0));
    each_once(w, 0, 1000);
}

/* The last rank comes when all others have returned: their limit does not wait for it, and it finds
 * the same end. */
static void late(weft *w, void *arg)
{
    (void)arg;
    int code = 0, word = 1, last = ranks - 1;
    for (int i = 0; i < last && rank == last; i++)
        call_and_wait(w, (struct call){.kind = RECEIVE, .out = &word, .peer = i});
    CHECK(weft_mpi_for_until(w, MPI_COMM_WORLD, 0, 1000, hang, &code,
                             rank == 0 ? weft_now() + 50 * MS : WEFT_FOREVER) == -ETIMEDOUT);
    if (rank != last)
        call_and_wait(w, (struct call){.kind = SEND, .in = &word, .peer = last});
    each_once(w, 0, 1000);
}

/* The last rank is hundreds of failed loops behind. Their messages must not reach others, though
 * tags are used again: so the others wait for it before. */
static void far_behind(weft *w, void *arg)
{
    (void)arg;
    int code = 0;
    if (rank == ranks - 1)
        sleep_ms(1500);
    for (int i = 0; i < 700; i++) {
        uint64_t when = rank < ranks - 1 || ranks == 1 ? 0 : WEFT_FOREVER;
        CHECK(weft_mpi_for_until(w, MPI_COMM_WORLD, 0, 1000, hang, &code, when) == -ETIMEDOUT);
    }
    each_once(w, 0, 1000);
}

/* Rank 0 is done, and passes its limit, or is cancelled, while it waits for the last rank, which
 * comes when the others have returned. */
static void done_and_late(weft *w, void *arg)
{
    int error = *(int *)arg, word = 1, last = ranks - 1;
    weft_scope scope;
    for (int i = 0; i < last && rank == last; i++)
        call_and_wait(w, (struct call){.kind = RECEIVE, .out = &word, .peer = i});
    weft_scope_open(w, &scope);
    if (rank == 0 && error == -ECANCELED)
        weft_scope_deadline(&scope, weft_now() + 50 * MS);
    CHECK(weft_mpi_for_until(w, MPI_COMM_WORLD, 0, 0, touch, NULL,
                             rank == 0 && error == -ETIMEDOUT ? weft_now() + 50 * MS
                                                              : WEFT_FOREVER) == error);
    CHECK(weft_scope_close(w, &scope) == (rank == 0 && error == -ECANCELED ? -ETIMEDOUT : 0));
    if (rank != last)
        call_and_wait(w, (struct call){.kind = SEND, .in = &word, .peer = last});
    each_once(w, 0, 1000);
}

static void hang_in_fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    (void)accumulator;
    hang(w, begin, end, arg);
}

static void reduction_hangs(weft *w, void *arg)
{
    (void)arg;
    int code = 0;
    double sum = 7;
    weft_reducer reducer = {.size = sizeof sum, .fold = hang_in_fold, .combine = add, .block = 10};
    uint64_t when = rank == ranks - 1 ? weft_now() + 50 * MS : WEFT_FOREVER;
    CHECK(weft_mpi_reduce_until(w, MPI_COMM_WORLD, 0, 1000, &reducer, &code, &sum, when) ==
          -ETIMEDOUT);
}

/* A limit that is long past, by any number, on any rank. */
static void past(weft *w, void *arg)
{
    (void)arg;
    for (int i = 0; i < 2 * ranks; i++) {
        uint64_t when = rank == i / 2 ? (uint64_t)(i % 2) : WEFT_FOREVER;
        int code = 0;
        CHECK(weft_mpi_for_until(w, MPI_COMM_WORLD, 0, 1000, hang, &code, when) == -ETIMEDOUT);
    }
}

/* A loop in the body of a loop, which other threads run at the same time. */
static void nest(weft *w, size_t begin, size_t end, void *arg)
{
    for (size_t i = begin; i < end; i++) {
        int error = weft_mpi_for(w, MPI_COMM_SELF, 0, 1, touch, arg);
        CHECK(error == 0 || error == -EBUSY);
        CHECK(weft_mpi_for(w, MPI_COMM_WORLD, 0, 1, touch, arg) == -EBUSY);
    }
}

static void nested(weft *w, void *arg)
{
    (void)arg;
    touched = calloc(N, sizeof *touched);
    CHECK(weft_mpi_for(w, MPI_COMM_WORLD, 0, 200, nest, touched) == 0);
    free(touched);
}

/* A communicator is freed while a loop with another one runs. */
static void make_and_free(weft *w, size_t begin, size_t end, void *arg)
{
    for (size_t i = begin; i < end; i++) {
        MPI_Comm own;
        MPI_Comm_dup(MPI_COMM_SELF, &own);
        CHECK(weft_mpi_for(w, own, 0, 1, touch, arg) == 0);
        MPI_Comm_free(&own);
    }
}

static void freed_inside(weft *w, void *arg)
{
    (void)arg;
    touched = calloc(N, sizeof *touched);
    CHECK(weft_mpi_for(w, MPI_COMM_WORLD, 0, 20, make_and_free, touched) == 0);
    free(touched);
}

static int free_it(void *arg)
{
    return MPI_Comm_free(arg);
}

/* Rank 0 frees a communicator whose last rank comes to the loop meanwhile: it still answers it. */
static void freed_early(MPI_Comm own)
{
    int word = 1, last = ranks - 1;
    CHECK(weft_mpi_for(NULL, own, 0, 10, touch, touched) == 0);
    if (rank == last) {
        call_and_wait(NULL, (struct call){.kind = RECEIVE, .out = &word, .peer = 0});
        sleep_ms(50); /* let rank 0 wait, most times */
    }
    CHECK(weft_mpi_for_until(NULL, own, 0, 0, touch, touched,
                             rank == 0 ? weft_now() + MS : WEFT_FOREVER) == -ETIMEDOUT);
    if (rank == 0)
        call_and_wait(NULL, (struct call){.kind = SEND, .in = &word, .peer = last});
    CHECK(weft_mpi_call(NULL, free_it, &own) == 0);
}

int main(int argc, char **argv)
{
    MPI_Comm own;
    begin(argc, argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    if (ranks > 1)
        between_groups();
    run(loops, NULL);
    if (ranks > 1) {
        run(balanced, NULL);
        run(done_and_late, &(int){-ETIMEDOUT});
        run(done_and_late, &(int){-ECANCELED});
    }
    run(sums, NULL);
    run(failing, NULL);
    run(hanging, NULL);
    run(late, NULL);
    run(reduction_hangs, NULL);
    run(past, NULL);
    run(far_behind, NULL);
    run(nested, NULL);
    if (argc == 1) /* it calls MPI itself */
        run(freed_inside, NULL);
    touched = calloc(N, sizeof *touched);
    CHECK(weft_mpi_for(NULL, MPI_COMM_WORLD, 0, 10, touch, touched) == 0); /* outside */
    int code = -ENOENT;
    CHECK(weft_mpi_for(NULL, MPI_COMM_WORLD, 0, 1000, hang, &code) == -ENOENT);
    if (ranks > 1)
        freed_early(own);
    else
        MPI_Comm_free(&own);
    free(touched);
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    touched = calloc(N, sizeof *touched);
    elements_here = 0;
    CHECK(weft_mpi_for(NULL, half, 0, 100, touch, touched) == 0);
    long there = elements_here;
    MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_LONG, MPI_SUM, half);
    CHECK(there == 100);
    free(touched);
    /* A loop that has failed, and then the end at once: rank 0 still hears of the others. */
    size_t where = 3;
    CHECK(weft_mpi_for(NULL, half, 0, 1000, fail_at, &where) == -EDOM);
    CHECK(weft_mpi_call(NULL, free_it, &half) == 0);
    CHECK(weft_mpi_for(NULL, MPI_COMM_WORLD, 0, 1000, fail_at, &where) == -EDOM);
    MPI_Finalize();
    return weft_mpi_for(NULL, MPI_COMM_WORLD, 0, 1, touch, NULL) != -ENOTSUP;
}
