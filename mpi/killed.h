/* SPDX-License-Identifier: MIT */
/* killed.h: a line from ranks that end because another has. When a rank dies, the launcher sends
 * SIGTERM to all others, and says which one it was; they say what they were. */
#ifndef WEFT_MPI_KILLED_H
#define WEFT_MPI_KILLED_H

/* Unless the program has said what SIGTERM does. */
void weft__mpi_tell_when_killed(int rank, int ranks);

#endif
