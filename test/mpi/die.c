/* SPDX-License-Identifier: MIT */
/* die.c: what its argument says: "killed": a rank is killed in the middle of a loop, and the others
 * would compute for ever; "absent": a rank never comes to the loop, until it has been missed for
 * some seconds; "gone": a rank comes so late that the others have given up and want to end MPI;
 * "silent": no message comes for a while. */
#include "ranks.h"

#include <errno.h>
#include <signal.h>

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
