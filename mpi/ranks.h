/* SPDX-License-Identifier: MIT */
/* ranks.h: a communicator of the library's own for each of the program's, so that messages don't
 * mix. It is made by the first loop, which all ranks call, and freed with the program's. */
#ifndef WEFT_MPI_RANKS_H
#define WEFT_MPI_RANKS_H

#include "engine.h"

struct weft__mpi_ranks {
    MPI_Comm comm;
    int rank, size;
    uint64_t loops;             /* how many have begun: the same on all ranks */
    bool is_in_use;             /* by a call. Under the lock in ranks.c */
    struct weft__mpi_uses uses; /* quiet waits; the engine's */
};

/* A call of a function for all ranks begins, and ends. One at a time in each rank: two would begin
 * in another order elsewhere. 0; -EPERM: in an actor; -EINVAL: not a communicator of one group;
 * -EBUSY; -ENOTSUP; -ENOMEM. */
int weft__mpi_enter(weft *w, MPI_Comm comm, struct weft__mpi_ranks **ranks);
void weft__mpi_leave(struct weft__mpi_ranks *ranks);

/* The first of TAGS tags for the messages of the call. They are the same on all ranks, and others
 * than those of the last LOOPS calls. Before tags are used again, all ranks wait for all: a rank
 * that is late has none of their messages left. */
int weft__mpi_next_tag(weft *w, struct weft__mpi_ranks *ranks);

/* MPI allows 32767 tags at least; the others are for weft_mpi_map(). */
enum { WEFT__MPI_TAGS = 32, WEFT__MPI_LOOPS = 512 };

/* As a weft_submit_options.deadline, where 0 is none. */
static inline uint64_t weft__mpi_deadline(uint64_t when)
{
    return when == WEFT_FOREVER ? 0 : when ? when : 1;
}

#endif
