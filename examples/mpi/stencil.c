/* SPDX-License-Identifier: MIT */
/* stencil.c: heat spreads over a plate whose rows are divided among ranks. In each step a rank
 * needs the rows next to its own from its neighbours. It asks for them, computes all rows that need
 * none of them, and a job that waits for them computes the two that do: communication and
 * computation overlap. With --plain it waits with MPI_Waitall() before it computes; without, it
 * does some steps of both by turns, and says how long the one took, compared with the other.
 *
 *     mpirun -n 4 example-mpi-stencil [--rows N] [--steps N] [--plain] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/mpi.h>

enum { COLUMNS = 2048, ROUNDS = 6 };

struct plate {
    size_t rows; /* of this rank; there is one more at each end, of the neighbours */
    double *now, *next;
    int up, down; /* ranks, or MPI_PROC_NULL */
    MPI_Request requests[4];
    size_t steps;
    bool plain;
    double seconds[2]; /* overlapping, plain */
};

static double *row(double *cells, size_t i)
{
    return cells + i * COLUMNS;
}

static void compute(weft *w, size_t begin, size_t end, void *arg)
{
    struct plate *plate = arg;
    (void)w;
    for (size_t i = begin; i < end; i++) {
        const double *above = row(plate->now, i - 1), *here = row(plate->now, i);
        const double *below = row(plate->now, i + 1);
        double *next = row(plate->next, i);
        for (size_t j = 1; j < COLUMNS - 1; j++)
            next[j] = 0.25 * (above[j] + below[j] + here[j - 1] + here[j + 1]);
    }
}

static void exchange(struct plate *plate)
{
    double *now = plate->now;
    size_t n = plate->rows;
    MPI_Irecv(row(now, 0), COLUMNS, MPI_DOUBLE, plate->up, 0, MPI_COMM_WORLD, &plate->requests[0]);
    MPI_Irecv(row(now, n + 1), COLUMNS, MPI_DOUBLE, plate->down, 1, MPI_COMM_WORLD,
              &plate->requests[1]);
    MPI_Isend(row(now, 1), COLUMNS, MPI_DOUBLE, plate->up, 1, MPI_COMM_WORLD, &plate->requests[2]);
    MPI_Isend(row(now, n), COLUMNS, MPI_DOUBLE, plate->down, 0, MPI_COMM_WORLD,
              &plate->requests[3]);
}

/* The two rows at the ends, when the neighbours' rows are there. The worker does other rows
 * meanwhile. */
static void compute_ends(weft *w, void *arg)
{
    struct plate *plate = arg;
    int error = weft_mpi_waitall(w, 4, plate->requests, MPI_STATUSES_IGNORE);
    if (error) {
        weft_fail(w, error);
        return;
    }
    compute(w, 1, 2, plate);
    compute(w, plate->rows, plate->rows + 1, plate);
}

static void step(weft *w, struct plate *plate)
{
    exchange(plate);
    if (plate->plain) {
        MPI_Waitall(4, plate->requests, MPI_STATUSES_IGNORE);
        weft_for(w, 1, plate->rows + 1, compute, plate);
    } else {
        weft *in = weft_fork(w, compute_ends, plate);
        weft_for(in, 2, plate->rows, compute, plate);
        if (!weft_merge(w))
            compute_ends(w, plate);
    }
    double *last = plate->now;
    plate->now = plate->next;
    plate->next = last;
}

static void steps(weft *w, void *arg)
{
    struct plate *plate = arg;
    for (size_t i = 0; i < plate->steps; i++)
        step(w, plate);
}

static double timed(struct plate *plate, bool plain)
{
    plate->plain = plain;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    if (weft_run(NULL, steps, plate))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
}

int main(int argc, char **argv)
{
    int provided, rank, ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct plate plate = {.steps = 20};
    size_t all = 1024;
    bool only_plain = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--plain") == 0)
            only_plain = true;
        else if (strcmp(argv[i], "--rows") == 0 && i + 1 < argc)
            all = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--steps") == 0 && i + 1 < argc)
            plate.steps = strtoul(argv[++i], NULL, 10);
    }
    plate.rows = all / (size_t)ranks > 2 ? all / (size_t)ranks : 2;
    plate.up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    plate.down = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    plate.now = calloc((plate.rows + 2) * COLUMNS, sizeof(double));
    plate.next = calloc((plate.rows + 2) * COLUMNS, sizeof(double));
    if (!plate.now || !plate.next)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t j = 0; rank == 0 && j < COLUMNS; j++) /* one side is hot */
        plate.now[j] = plate.next[j] = 100;

    timed(&plate, only_plain); /* memory and threads are there from now on */
    for (int i = 0; i < ROUNDS; i++)
        plate.seconds[i % 2] += timed(&plate, only_plain || i % 2);
    double heat = 0, sum = 0;
    for (size_t i = COLUMNS; i < (plate.rows + 1) * COLUMNS; i++)
        heat += plate.now[i];
    MPI_Reduce(&heat, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, %zu steps of %zu rows: heat %.6g; %s %.2f\n", ranks,
               (ROUNDS + 1) * plate.steps, plate.rows * (size_t)ranks, sum,
               only_plain ? "plain against itself" : "time, overlapping against plain:",
               plate.seconds[0] / plate.seconds[1]);
    free(plate.now);
    free(plate.next);
    MPI_Finalize();
    return 0;
}
