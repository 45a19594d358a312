/* SPDX-License-Identifier: MIT */
/* The first program with weft and MPI. */
#include <stdio.h>
#include <weft/mpi.h>

static void part(weft *w, size_t begin, size_t end, void *arg)
{
    (void)w, (void)begin, (void)end, (void)arg;
}

int main(int argc, char **argv)
{
    int provided, error;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    error = weft_mpi_for(NULL, MPI_COMM_WORLD, 0, 1000, part, NULL);
    printf("%s: %s\n", weft_version(), weft_strerror(error));
    MPI_Finalize();
    return error != 0;
}
