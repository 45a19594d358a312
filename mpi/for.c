/* SPDX-License-Identifier: MIT */
#include "loop.h"

#include <errno.h>

struct body {
    weft_range_fn *fn;
    void *arg;
};

static void run_part(weft *w, size_t begin, size_t end, void *arg)
{
    struct body *body = arg;
    weft_for(w, begin, end, body->fn, body->arg);
}

int weft_mpi_for_until(weft *w, MPI_Comm comm, size_t begin, size_t end, weft_range_fn *fn,
                       void *arg, uint64_t when)
{
    if (!fn || end < begin || end > INT64_MAX)
        return -EINVAL;
    struct weft__mpi_ranks *ranks;
    int error = weft__mpi_enter(w, comm, &ranks);
    if (error)
        return error;
    unsigned workers = weft_pool_workers(w ? weft_pool_of(w) : NULL);
    struct body body = {fn, arg};
    /* Two lanes: while one waits for its next part, or for the last elements of one, the other has
     * work for all workers. */
    struct weft__mpi_loop loop = {
        .ranks = ranks,
        .begin = begin,
        .end = end,
        .least = (workers + 1) / 2,
        .most = SIZE_MAX,
        .lanes = 2,
        .part = run_part,
        .arg = &body,
    };
    error = weft__mpi_loop(w, &loop, when);
    weft__mpi_leave(ranks);
    return error;
}

int weft_mpi_for(weft *w, MPI_Comm comm, size_t begin, size_t end, weft_range_fn *fn, void *arg)
{
    return weft_mpi_for_until(w, comm, begin, end, fn, arg, WEFT_FOREVER);
}
