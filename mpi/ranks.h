/* SPDX-License-Identifier: MIT */
/* ranks.h: a communicator of the library's own for each of the program's, so that messages don't
 * mix. It is made by the first loop, which all ranks call, and freed with the program's. */
#ifndef WEFT_MPI_RANKS_H
#define WEFT_MPI_RANKS_H

#include "engine.h"

struct weft__mpi_ranks {
    MPI_Comm comm;
    int rank, size;
    unsigned loops; /* how many have begun: the same on all ranks */
    bool is_in_use; /* by a loop or a bag. Under the lock in ranks.c */
};

/* 0, -EINVAL: not a communicator of one group; -EBUSY: another thread makes it just now; -ENOTSUP;
 * -ENOMEM; or as weft_mpi_wait(). */
int weft__mpi_ranks(weft *w, MPI_Comm comm, struct weft__mpi_ranks **ranks);

/* One call at a time in each rank: two would begin in another order elsewhere. 0 or -EBUSY. */
int weft__mpi_claim(struct weft__mpi_ranks *ranks);
void weft__mpi_unclaim(struct weft__mpi_ranks *ranks);

/* As a weft_submit_options.deadline, where 0 is none. */
static inline uint64_t weft__mpi_deadline(uint64_t when)
{
    return when == WEFT_FOREVER ? 0 : when ? when : 1;
}

#endif
