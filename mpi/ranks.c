/* SPDX-License-Identifier: MIT */
#include "ranks.h"

#include "look.h"

#include <errno.h>
#include <stdlib.h>

static int keyval = MPI_KEYVAL_INVALID; /* written in calls of MPI by the first loop */

struct lookup {
    MPI_Comm comm;
    struct weft__mpi_ranks *ranks;
    MPI_Request request;
};

/* MPI frees a communicator of the program. What belongs to MPI_COMM_WORLD ends with MPI itself. */
static int drop(MPI_Comm comm, int key, void *value, void *unused)
{
    (void)key, (void)unused;
    struct weft__mpi_ranks *ranks = value;
    weft__mpi_settle();
    if (comm != MPI_COMM_WORLD)
        MPI_Comm_free(&ranks->comm);
    free(ranks);
    return MPI_SUCCESS;
}

static int find(void *arg)
{
    struct lookup *lookup = arg;
    int found = 0, inter = 0, result = MPI_SUCCESS;
    if (keyval == MPI_KEYVAL_INVALID)
        result = MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &keyval, NULL);
    if (result == MPI_SUCCESS)
        result = MPI_Comm_test_inter(lookup->comm, &inter);
    if (inter)
        return MPI_ERR_COMM;
    if (result == MPI_SUCCESS)
        result = MPI_Comm_get_attr(lookup->comm, keyval, &lookup->ranks, &found);
    if (!found)
        lookup->ranks = NULL;
    return result;
}

static int begin_copy(void *arg)
{
    struct lookup *lookup = arg;
    return MPI_Comm_idup(lookup->comm, &lookup->ranks->comm, &lookup->request);
}

static int keep(void *arg)
{
    struct lookup *lookup = arg;
    MPI_Comm_rank(lookup->comm, &lookup->ranks->rank);
    MPI_Comm_size(lookup->comm, &lookup->ranks->size);
    return MPI_Comm_set_attr(lookup->comm, keyval, lookup->ranks);
}

static int make(weft *w, struct lookup *lookup)
{
    lookup->ranks = calloc(1, sizeof *lookup->ranks);
    if (!lookup->ranks)
        return -ENOMEM;
    int error = weft__mpi_errno(weft__mpi_do(w, begin_copy, lookup));
    if (!error)
        error = weft_mpi_wait(w, &lookup->request, MPI_STATUS_IGNORE);
    if (!error)
        error = weft__mpi_errno(weft__mpi_do(w, keep, lookup));
    if (error)
        free(lookup->ranks);
    return error;
}

int weft__mpi_ranks(weft *w, MPI_Comm comm, struct weft__mpi_ranks **ranks)
{
    if (comm == MPI_COMM_NULL)
        return -EINVAL;
    int error = weft__mpi_ready();
    if (error)
        return error;
    struct lookup lookup = {.comm = comm};
    error = weft__mpi_errno(weft__mpi_do(w, find, &lookup));
    if (!error && !lookup.ranks)
        error = make(w, &lookup);
    *ranks = lookup.ranks;
    return error;
}
