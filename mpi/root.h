/* SPDX-License-Identifier: MIT */
/* root.h: what rank 0 has for a loop: what is left of the range, and who is done. */
#ifndef WEFT_MPI_ROOT_H
#define WEFT_MPI_ROOT_H

#include "loop.h"

#include <pthread.h>

/* What is sent to rank 0, as the first of four numbers. */
enum { WEFT__MPI_ASK, WEFT__MPI_DONE, WEFT__MPI_FAIL, WEFT__MPI_BYE };

/* Tags of one loop. */
enum {
    WEFT__MPI_TO_ROOT,
    WEFT__MPI_STOP,
    WEFT__MPI_GRANT, /* and one for each lane */
};

struct weft__mpi_root {
    pthread_mutex_t lock;
    struct weft__mpi_loop *local; /* NULL: rank 0 has left the loop */
    struct weft__mpi_ranks *ranks;
    int tag;
    size_t next, end, most;
    int not_seen, not_done, not_gone; /* ranks */
    bool *seen;
    bool has_verdict, worries;
    int verdict;
    struct weft__mpi_wait wait;
    MPI_Request request;
    MPI_Status status;
    int64_t message[4];
};

/* NULL: no memory. Freed when all ranks have gone. In a call of MPI. */
struct weft__mpi_root *weft__mpi_root_begin(struct weft__mpi_loop *loop);

/* The next part, at least `least` long; empty: no more. */
void weft__mpi_root_take(struct weft__mpi_root *root, size_t least, int64_t part[4]);

/* A rank has said something. In a call of MPI. */
void weft__mpi_root_hear(struct weft__mpi_root *root, int from, const int64_t message[4]);

/* Rank 0 is about to wait for the verdict. If some ranks have not called yet, this wait counts for
 * the line about waits. */
void weft__mpi_root_worry(struct weft__mpi_root *root);

/* After the verdict: rank 0 does not wait until all have gone. */
void weft__mpi_root_leave(struct weft__mpi_root *root);

/* Sends four numbers, and forgets about it. In a call of MPI. */
void weft__mpi_post(struct weft__mpi_ranks *ranks, int to, int tag, const int64_t numbers[4]);

/* The verdict reaches a rank. */
void weft__mpi_loop_stop(struct weft__mpi_loop *loop, int verdict);

#endif
