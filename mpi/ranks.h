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
};

/* 0, -EINVAL: not a communicator of one group; -ENOTSUP; -ENOMEM; or as weft_mpi_wait(). */
int weft__mpi_ranks(weft *w, MPI_Comm comm, struct weft__mpi_ranks **ranks);

#endif
