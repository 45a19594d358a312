/* SPDX-License-Identifier: MIT */
/* storm.c: 10^5 requests out at once, waited for in one call, by any of a set, and one by one in
 * actors; and messages from all to all, with a rank that starts late. */
#include "ranks.h"

#include <weft/actor.h>

enum { OUT = 100000, ACTORS = 2000, EACH = 50, SENDS = 100 };

static int *data;
static MPI_Request *requests;

static void receive_all(void)
{
    for (int i = 0; i < OUT; i++)
        MPI_Irecv(&data[i], 1, MPI_INT, (rank + ranks - 1) % ranks, i, MPI_COMM_WORLD,
                  &requests[i]);
}

/* Some at a time, and in the order of the receives: with all of them at once Open MPI itself takes
 * minutes. */
static void send_all(weft *w)
{
    static int numbers[OUT];
    MPI_Request sends[SENDS];
    for (int first = 0; first < OUT; first += SENDS) {
        for (int i = first; i < first + SENDS; i++) {
            numbers[i] = 3 * i + rank;
            MPI_Isend(&numbers[i], 1, MPI_INT, (rank + 1) % ranks, i, MPI_COMM_WORLD,
                      &sends[i - first]);
        }
        CHECK(weft_mpi_waitall(w, SENDS, sends, MPI_STATUSES_IGNORE) == 0);
    }
}

static void check_all(void)
{
    for (int i = 0; i < OUT; i++) {
        CHECK(data[i] == 3 * i + (rank + ranks - 1) % ranks && requests[i] == MPI_REQUEST_NULL);
        data[i] = 0;
    }
}

static void in_one_call(weft *w, void *arg)
{
    (void)arg;
    receive_all();
    send_all(w);
    CHECK(weft_mpi_waitall(w, OUT, requests, MPI_STATUSES_IGNORE) == 0);
    check_all();
}

/* Each actor waits for one of its requests after the other. */
static int wait_some(weft *w, void *arg)
{
    int first = (int)(intptr_t)arg;
    for (int i = 0; i < EACH; i++)
        CHECK(weft_mpi_wait(w, &requests[first + i], MPI_STATUS_IGNORE) == 0);
    return 0;
}

static void in_actors(void)
{
    static weft_actor *actors[ACTORS];
    receive_all();
    for (int i = 0; i < ACTORS; i++) {
        void *first = (void *)(intptr_t)(i * EACH);
        CHECK(weft_actor_create(&actors[i], NULL, wait_some, first, NULL) == 0);
        CHECK(weft_actor_run(actors[i]) == 0);
    }
    send_all(NULL);
    for (int i = 0; i < ACTORS; i++) {
        CHECK(weft_actor_wait(NULL, actors[i]) == 0);
        weft_actor_release(actors[i]);
    }
    check_all();
}

_Static_assert(ACTORS *EACH == OUT, "each request has its actor");
_Static_assert(OUT % SENDS == 0, "whole rounds");

int main(int argc, char **argv)
{
    const char *place = getenv("OMPI_COMM_WORLD_RANK");
    if (place && strcmp(place, "1") == 0)
        sleep_ms(500); /* it starts late */
    begin(argc, argv);
    data = calloc(OUT, sizeof *data);
    requests = calloc(OUT, sizeof *requests);
    CHECK(data && requests);
    run(in_one_call, NULL);
    in_actors();
    free(data);
    free(requests);
    MPI_Finalize();
    return 0;
}
