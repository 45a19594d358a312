/* SPDX-License-Identifier: MIT */
/* die.c: what its argument says: "killed": a rank is killed in the middle of a loop, and the others
 * would compute for ever; "absent": a rank never comes to the loop, until it has been missed for
 * some seconds; "missed": the same, when all know each other; "gone": a rank comes so late that the
 * others have given up and want to end MPI; "silent": no message comes for a while; "steady": ranks
 * wait and compute long, but for nothing that is worth a line; "term": SIGTERM; "handled": the
 * program has a handler for it. */
#include "ranks.h"

#include <errno.h>
#include <signal.h>
#include <weft/actor.h>

static void compute(weft *w, size_t begin, size_t end, void *arg)
{
    (void)begin, (void)end, (void)arg;
    uint64_t since = weft_now();
    while (!weft_cancelled(w)) {
        if (rank == ranks - 1 && weft_now() - since > 200 * MS)
            raise(SIGKILL);
        sleep_ms(1);
    }
}

static void little(weft *w, size_t begin, size_t end, void *arg)
{
    (void)w, (void)begin, (void)end, (void)arg;
}

/* ---- Nothing is worth a line, though all lasts longer than WEFT_MPI_WATCH=2 ---- */

enum { STEPS = 4, STEP_MS = 800, LONG_MS = 3000, MANY = 256 * STEPS };

struct set {
    int n, tag, got[MANY];
    MPI_Request requests[MANY];
    weft_actor *actor;
};

static int wait_for_set(weft *w, void *arg)
{
    struct set *set = arg;
    return weft_mpi_waitall(w, set->n, set->requests, MPI_STATUSES_IGNORE);
}

static void begin_set(struct set *set, int n, int tag)
{
    set->n = n;
    set->tag = tag;
    for (int i = 0; i < n; i++)
        MPI_Irecv(&set->got[i], 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &set->requests[i]);
    CHECK(weft_actor_create(&set->actor, NULL, wait_for_set, set, NULL) == 0);
    CHECK(weft_actor_run(set->actor) == 0);
}

static void send_some(struct set *set, int n)
{
    for (int i = 0; i < n; i++)
        MPI_Send(&rank, 1, MPI_INT, rank, set->tag, MPI_COMM_WORLD);
}

static void end_set(struct set *set)
{
    CHECK(weft_actor_wait(NULL, set->actor) == 0);
    weft_actor_release(set->actor);
}

/* A part of it ends now and then. */
static void wait_for_many(struct set *many)
{
    begin_set(many, MANY, 1);
    for (int i = 0; i < STEPS; i++) {
        sleep_ms(STEP_MS);
        send_some(many, MANY / STEPS);
    }
    end_set(many);
}

/* It is still out when others end. */
static void wait_for_one(struct set *one, struct set *other)
{
    begin_set(one, 1, 1);
    for (int i = 0; i < STEPS; i++) {
        begin_set(other, 1, 2);
        sleep_ms(STEP_MS);
        send_some(other, 1);
        end_set(other);
    }
    send_some(one, 1);
    end_set(one);
}

/* The last rank computes long; the others are done. */
static void long_at_last(weft *w, size_t begin, size_t end, void *arg)
{
    (void)w;
    if (rank == ranks - 1 && !__atomic_exchange_n((bool *)arg, true, __ATOMIC_RELAXED))
        sleep_ms(LONG_MS);
    sleep_ms((long)(end - begin));
}

static void steady(void)
{
    static struct set one, other;
    bool slept = false;
    CHECK(weft_mpi_for(NULL, MPI_COMM_WORLD, 0, 10, little, NULL) == 0);
    wait_for_many(&one);
    wait_for_one(&one, &other);
    if (rank == ranks - 1) /* rank 0 waits for it */
        sleep_ms(200);
    CHECK(weft_mpi_for(NULL, MPI_COMM_WORLD, 0, 10, little, NULL) == 0);
    CHECK(weft_mpi_for(NULL, MPI_COMM_WORLD, 0, 600, long_at_last, &slept) == 0);
    begin_set(&one, 1, 1); /* the first wait for long */
    sleep_ms(100);
    send_some(&one, 1);
    end_set(&one);
    if (rank == ranks - 1) /* nobody waits for it any more */
        sleep_ms(LONG_MS);
    CHECK(weft_mpi_for_until(NULL, MPI_COMM_WORLD, 0, 10, little, NULL,
                             rank == 0 ? weft_now() + 50 * MS : WEFT_FOREVER) == -ETIMEDOUT);
    sleep_ms(rank < ranks - 1 ? LONG_MS : 0);
}

/* ---- SIGTERM ---- */

static volatile sig_atomic_t handled;

static void handle(int number)
{
    handled = number;
}

static void terminated(bool has_handler)
{
    bool done;
    MPI_Request request = MPI_REQUEST_NULL;
    if (has_handler)
        signal(SIGTERM, handle);
    CHECK(weft_mpi_test(NULL, &request, &done, MPI_STATUS_IGNORE) == 0 && done);
    raise(SIGTERM);
    CHECK(!has_handler || handled == SIGTERM);
}

int main(int argc, char **argv)
{
    begin(argc, argv);
    CHECK(argc > 1);
    if (strcmp(argv[1], "killed") == 0)
        return weft_mpi_for(NULL, MPI_COMM_WORLD, 0, 1000, compute, NULL) ? 1 : 2;
    if (strcmp(argv[1], "absent") == 0) {
        if (rank == ranks - 1)
            sleep_ms(2500);
        CHECK(weft_mpi_for(NULL, MPI_COMM_WORLD, 0, 1000, little, NULL) == 0); /* once all know */
        if (rank == ranks - 1)
            sleep_ms(2500);
        CHECK(weft_mpi_for(NULL, MPI_COMM_WORLD, 0, 1000, little, NULL) == 0);
    } else if (strcmp(argv[1], "gone") == 0) {
        bool is_late = rank == ranks - 1;
        CHECK(weft_mpi_for(NULL, MPI_COMM_WORLD, 0, 1000, little, NULL) == 0);
        if (is_late)
            sleep_ms(3500);
        CHECK(weft_mpi_for_until(NULL, MPI_COMM_WORLD, 0, 1000, little, NULL,
                                 is_late ? WEFT_FOREVER : weft_now() + 100 * MS) == -ETIMEDOUT);
    } else if (strcmp(argv[1], "missed") == 0) {
        CHECK(weft_mpi_for(NULL, MPI_COMM_WORLD, 0, 1000, little, NULL) == 0);
        if (rank == ranks - 1)
            sleep_ms(2500);
        CHECK(weft_mpi_for(NULL, MPI_COMM_WORLD, 0, 1000, little, NULL) == 0);
    } else if (strcmp(argv[1], "steady") == 0) {
        steady();
    } else if (strcmp(argv[1], "term") == 0 || strcmp(argv[1], "handled") == 0) {
        terminated(strcmp(argv[1], "handled") == 0);
    } else {
        int number = 0;
        MPI_Request request;
        MPI_Irecv(&number, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
        CHECK(weft_mpi_wait_until(NULL, &request, MPI_STATUS_IGNORE, weft_now() + 2500 * MS));
        MPI_Send(&number, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
        CHECK(weft_mpi_wait(NULL, &request, MPI_STATUS_IGNORE) == 0);
    }
    MPI_Finalize();
    return 0;
}
