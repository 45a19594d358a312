/* SPDX-License-Identifier: MIT */
/* refuse.c: less than MPI_THREAD_SERIALIZED is refused, with a line that says what to ask for; and
 * so is a program before MPI_Init_thread() and after MPI_Finalize(). The argument is the level. */
#include "ranks.h"

#include <errno.h>

int main(int argc, char **argv)
{
    MPI_Request request = MPI_REQUEST_NULL;
    bool done;
    int provided;
    if (argc > 1 && strcmp(argv[1], "none") == 0) {
        CHECK(weft_mpi_test(NULL, &request, &done, MPI_STATUS_IGNORE) == -ENOTSUP);
        return 0;
    }
    bool single = argc > 1 && strcmp(argv[1], "single") == 0;
    MPI_Init_thread(&argc, &argv, single ? MPI_THREAD_SINGLE : MPI_THREAD_FUNNELED, &provided);
    CHECK(weft_mpi_wait(NULL, &request, MPI_STATUS_IGNORE) == -ENOTSUP);
    CHECK(weft_mpi_waitall(NULL, 1, &request, MPI_STATUSES_IGNORE) == -ENOTSUP);
    CHECK(weft_mpi_for(NULL, MPI_COMM_WORLD, 0, 1, (weft_range_fn *)abort, NULL) == -ENOTSUP);
    MPI_Finalize();
    return 0;
}
