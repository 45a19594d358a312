/* SPDX-License-Identifier: MIT */
/* ranks.h: a test program that mpirun starts several times. A check that fails ends all ranks. */
#ifndef TEST_RANKS_H
#define TEST_RANKS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft/mpi.h>

#define MS ((uint64_t)1000000)

static int rank, ranks;

#define CHECK(condition) ((condition) ? (void)0 : failed(__FILE__, __LINE__, #condition))

static inline void failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "%s:%d: rank %d: %s\n", file, line, rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* The level that the first argument names, MPI_THREAD_MULTIPLE without one. */
static inline void begin(int argc, char **argv)
{
    int level = argc > 1 && strcmp(argv[1], "serialized") == 0 ? MPI_THREAD_SERIALIZED
                                                               : MPI_THREAD_MULTIPLE;
    int provided;
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK(provided == level);
}

static inline void run(weft_fn *fn, void *arg)
{
    int error = weft_run(NULL, fn, arg);
    if (error)
        fprintf(stderr, "rank %d: weft_run: %s\n", rank, weft_strerror(error));
    CHECK(error == 0);
}

static inline void sleep_ms(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

#endif
