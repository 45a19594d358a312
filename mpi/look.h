/* SPDX-License-Identifier: MIT */
/* look.h: one look at the requests of a wait, and what MPI says of them. */
#ifndef WEFT_MPI_LOOK_H
#define WEFT_MPI_LOOK_H

#include "engine.h"

/* Looks at a wait once, by the caller, in a call of MPI. True: it is over. */
bool weft__mpi_look(struct weft__mpi_wait *wait);

/* What a code of MPI means. */
int weft__mpi_errno(int code);

#endif
