/* SPDX-License-Identifier: MIT */
/* The tree of weft_reduce(), see src/parallel/reduce.c: the left side of a node has the largest
 * power of two of blocks that leaves something for the right side. So 2^k neighbouring blocks, from
 * a multiple of 2^k on, are a node, and so are the last ones, however few. These nodes are computed
 * by any rank, each with weft_reduce(); then every rank has all of them, and combines them by the
 * rest of the tree. How many nodes there are depends on the number of blocks and on the size alone.
 */
#include "loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODES = 1024,     /* at most */
    NODES_LEAST = 64, /* at most, if accumulators are large */
    TABLE = 1 << 20,  /* bytes of all nodes, if they are more than NODES_LEAST */
    PIECE = 1 << 28,  /* bytes in one call of MPI */
};

struct reduction {
    const weft_reducer *reducer;
    void *arg;
    size_t begin, end, step; /* elements of a node */
    size_t nodes;
    char *table; /* accumulators; zeros where another rank has computed it */
};

static void fold_nodes(weft *w, size_t first, size_t last, void *arg)
{
    struct reduction *all = arg;
    for (size_t i = first; i < last && !weft_cancelled(w); i++) {
        size_t begin = all->begin + i * all->step;
        size_t end = all->end - begin < all->step ? all->end : begin + all->step;
        weft_reduce(w, begin, end, all->reducer, all->arg, all->table + i * all->reducer->size);
    }
}

static void fold_part(weft *w, size_t begin, size_t end, void *arg)
{
    weft_for(w, begin, end, fold_nodes, arg);
}

static size_t left_side(size_t n)
{
    size_t power = 1;
    while (power < n - power)
        power *= 2;
    return power;
}

/* Combines nodes from first to last - 1 in the place of the first. */
static void combine(weft *w, const struct reduction *all, size_t first, size_t last)
{
    if (last - first < 2)
        return;
    size_t middle = first + left_side(last - first), size = all->reducer->size;
    combine(w, all, first, middle);
    combine(w, all, middle, last);
    all->reducer->combine(w, all->table + first * size, all->table + middle * size, all->arg);
}

struct share {
    char *bytes;
    int n;
    MPI_Comm comm;
    MPI_Request request;
};

/* Each byte is zero on all ranks but one. */
static int begin_share(void *arg)
{
    struct share *share = arg;
    return MPI_Iallreduce(MPI_IN_PLACE, share->bytes, share->n, MPI_BYTE, MPI_BOR, share->comm,
                          &share->request);
}

static void share_table(weft *w, const struct reduction *all, MPI_Comm comm)
{
    size_t size = all->nodes * all->reducer->size;
    for (size_t done = 0; done < size; done += PIECE) {
        size_t n = size - done < PIECE ? size - done : PIECE;
        struct share share = {all->table + done, (int)n, comm, MPI_REQUEST_NULL};
        if (weft__mpi_do(w, begin_share, &share) != MPI_SUCCESS)
            weft__mpi_die("the parts of a reduction can't be sent");
        weft__mpi_finish(w, 1, &share.request, n);
    }
}

static void divide(struct reduction *all)
{
    const weft_reducer *reducer = all->reducer;
    size_t block = reducer->block ? reducer->block : WEFT_REDUCE_BLOCK;
    size_t n = all->end - all->begin, blocks = n / block + (n % block != 0), group = 1;
    size_t most = TABLE / reducer->size;
    most = most > NODES ? NODES : most < NODES_LEAST ? NODES_LEAST : most;
    while (blocks / group + (blocks % group != 0) > most)
        group *= 2;
    all->step = group > SIZE_MAX / block ? SIZE_MAX : group * block;
    all->nodes = blocks / group + (blocks % group != 0);
}

static int reduce(weft *w, struct weft__mpi_ranks *ranks, struct reduction *all, uint64_t when,
                  void *result)
{
    struct weft__mpi_loop loop = {.ranks = ranks,
                                  .end = all->nodes,
                                  .least = 1,
                                  .most = SIZE_MAX,
                                  .lanes = 2,
                                  .part = fold_part,
                                  .arg = all};
    int error = weft__mpi_loop(w, &loop, when);
    if (error)
        return error;
    share_table(w, all, ranks->comm);
    combine(w, all, 0, all->nodes);
    memcpy(result, all->table, all->reducer->size);
    return 0;
}

static bool is_flat(const weft_reducer *reducer)
{
    return !reducer->halt && !reducer->make && !reducer->drop && !reducer->move;
}

int weft_mpi_reduce_until(weft *w, MPI_Comm comm, size_t begin, size_t end,
                          const weft_reducer *reducer, void *arg, void *result, uint64_t when)
{
    if (!w || !reducer || !result || !reducer->fold || !reducer->combine || reducer->size == 0 ||
        end < begin || end > INT64_MAX)
        return -EINVAL;
    if (!is_flat(reducer))
        return -ENOTSUP;
    struct weft__mpi_ranks *ranks;
    struct reduction all = {.reducer = reducer, .arg = arg, .begin = begin, .end = end};
    divide(&all);
    all.table = calloc(all.nodes ? all.nodes : 1, reducer->size);
    if (!all.table)
        return -ENOMEM;
    if (all.nodes == 0 && reducer->identity)
        memcpy(all.table, reducer->identity, reducer->size);
    int error = weft__mpi_enter(w, comm, &ranks);
    if (!error) {
        error = reduce(w, ranks, &all, when, result);
        weft__mpi_leave(ranks);
    }
    free(all.table);
    return error;
}

int weft_mpi_reduce(weft *w, MPI_Comm comm, size_t begin, size_t end, const weft_reducer *reducer,
                    void *arg, void *result)
{
    return weft_mpi_reduce_until(w, comm, begin, end, reducer, arg, result, WEFT_FOREVER);
}
