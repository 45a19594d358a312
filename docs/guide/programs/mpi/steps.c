/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft/mpi.h>

enum { SLICES = 10000000 };

/* [fold] */
static void fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    double *sum = accumulator;
    (void)w, (void)arg;
    for (size_t i = begin; i < end; i++) {
        double x = ((double)i + 0.5) / SLICES;
        *sum += 4 / (1 + x * x) / SLICES;
    }
}

static void combine(weft *w, void *left, const void *right, void *arg)
{
    (void)w, (void)arg;
    *(double *)left += *(const double *)right;
}

static const weft_reducer add = {.size = sizeof(double), .fold = fold, .combine = combine};
/* [end] */

/* [one] */
static void one_machine(weft *w, void *arg)
{
    weft_reduce(w, 0, SLICES, &add, NULL, arg);
}
/* [end] */

/* [many] */
static void many_machines(weft *w, void *arg)
{
    int error = weft_mpi_reduce(w, MPI_COMM_WORLD, 0, SLICES, &add, NULL, arg);
    if (error)
        weft_fail(w, error);
}
/* [end] */

/* [wait] */
static void ask_neighbour(weft *w, void *arg)
{
    int rank, ranks;
    MPI_Request requests[2];
    double mine = *(double *)arg, theirs = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Irecv(&theirs, 1, MPI_DOUBLE, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&mine, 1, MPI_DOUBLE, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &requests[1]);
    int error = weft_mpi_waitall(w, 2, requests, MPI_STATUSES_IGNORE); /* the worker goes on */
    if (error || theirs != mine)
        weft_fail(w, error ? error : -1);
}
/* [end] */

/* [main] */
int main(int argc, char **argv)
{
    int provided, rank;
    double here = 0, all = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int error = weft_run(NULL, one_machine, &here);
    if (!error)
        error = weft_run(NULL, many_machines, &all);
    if (!error)
        error = weft_run(NULL, ask_neighbour, &all);
    if (error)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0)
        printf("%.12f, %s\n", all, here == all ? "the same bits" : "not the same");
    MPI_Finalize();
}
/* [end] */
