/* SPDX-License-Identifier: MIT */
/* Blocks of an array are given out as by weft_mpi_for(). A rank keeps what it makes of its blocks
 * until all are done. Then every rank learns how long each output is and which rank has it, by one
 * sum over all ranks, and rank 0 takes them one after the other: its own from memory, the others by
 * messages, a few of which are always under way. So a rank needs memory for all its outputs, and
 * rank 0 for WINDOW more. */
#include "loop.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOW = 8,
    TAG = WEFT__MPI_LOOPS * WEFT__MPI_TAGS,
    PIECE = 1 << 28,
    BLOCKS_MOST = 1000000000
};

struct weft_mpi_out {
    char *bytes;
    size_t n, size;
    int error;
};

struct mapping {
    const char *in;
    size_t n, block, blocks;
    int delimiter;
    weft_mpi_map_fn *map;
    weft_mpi_write_fn *write;
    void *arg;
    struct weft_mpi_out *outs;
    int64_t *table; /* for each block: the length, and 1 + the rank */
    int rank;
    MPI_Comm comm;
};

int weft_mpi_put(weft_mpi_out *out, const void *bytes, size_t n)
{
    if (n > (size_t)PIECE - out->n)
        return out->error = -ENOMEM;
    if (n > out->size - out->n) {
        size_t size = out->size ? 2 * out->size : 256;
        while (size - out->n < n)
            size *= 2;
        char *grown = realloc(out->bytes, size);
        if (!grown)
            return out->error = -ENOMEM;
        out->bytes = grown;
        out->size = size;
    }
    if (n > 0)
        memcpy(out->bytes + out->n, bytes, n);
    out->n += n;
    return 0;
}

/* ---- Computing ---- */

/* Where block i begins: after the last byte of the block before it, if that is before `limit`. */
static size_t begin_of(const struct mapping *all, size_t i, size_t limit)
{
    size_t begin = i * all->block;
    if (begin >= limit || i == 0)
        return begin < limit ? begin : limit;
    if (all->delimiter < 0)
        return begin;
    const char *found = memchr(all->in + begin - 1, all->delimiter, limit - begin);
    return found ? (size_t)(found - all->in) + 1 : limit;
}

/* A piece longer than a block leaves empty ones behind it, where nobody looks for its end again. */
static void map_block(weft *w, struct mapping *all, size_t i)
{
    size_t limit = all->n - i * all->block > all->block ? (i + 1) * all->block : all->n;
    size_t begin = begin_of(all, i, limit), end = all->n;
    struct weft_mpi_out *out = &all->outs[i];
    if (begin < limit && i + 1 < all->blocks)
        end = begin_of(all, i + 1, all->n);
    if (begin < limit)
        all->map(w, all->in + begin, end - begin, out, all->arg);
    if (out->error)
        weft_fail(w, out->error);
    all->table[2 * i] = (int64_t)out->n;
    all->table[2 * i + 1] = 1 + all->rank;
}

static void map_some(weft *w, size_t begin, size_t end, void *arg)
{
    for (size_t i = begin; i < end && !weft_cancelled(w); i++)
        map_block(w, arg, i);
}

static void map_part(weft *w, size_t begin, size_t end, void *arg)
{
    weft_for(w, begin, end, map_some, arg);
}

/* ---- Collecting ---- */

struct parcel {
    struct mapping *all;
    size_t i;
    char *bytes;
    MPI_Request request;
};

static int begin_table(void *arg)
{
    struct parcel *parcel = arg;
    struct mapping *all = parcel->all;
    return MPI_Iallreduce(MPI_IN_PLACE, all->table, (int)(2 * all->blocks), MPI_INT64_T, MPI_SUM,
                          all->comm, &parcel->request);
}

static int begin_send(void *arg)
{
    struct parcel *parcel = arg;
    struct weft_mpi_out *out = &parcel->all->outs[parcel->i];
    return MPI_Isend(out->bytes, (int)out->n, MPI_BYTE, 0, TAG, parcel->all->comm,
                     &parcel->request);
}

static int begin_receive(void *arg)
{
    struct parcel *parcel = arg;
    const int64_t *entry = &parcel->all->table[2 * parcel->i];
    return MPI_Irecv(parcel->bytes, (int)entry[0], MPI_BYTE, (int)entry[1] - 1, TAG,
                     parcel->all->comm, &parcel->request);
}

static bool is_elsewhere(const struct mapping *all, size_t i)
{
    return all->table[2 * i] > 0 && all->table[2 * i + 1] != 1 + all->rank;
}

/* In the order of the blocks, as rank 0 takes them. */
static void send_outs(weft *w, struct mapping *all)
{
    for (size_t i = 0; i < all->blocks; i++) {
        if (all->table[2 * i + 1] != 1 + all->rank || all->table[2 * i] == 0)
            continue;
        struct parcel parcel = {.all = all, .i = i};
        if (weft__mpi_do(w, begin_send, &parcel) != MPI_SUCCESS)
            weft__mpi_die("the output of a block can't be sent");
        weft__mpi_finish(w, 1, &parcel.request, 0);
    }
}

static void order(weft *w, struct mapping *all, struct parcel *parcel, size_t i)
{
    *parcel = (struct parcel){.all = all, .i = i};
    if (i >= all->blocks || !is_elsewhere(all, i))
        return;
    parcel->bytes = malloc((size_t)all->table[2 * i]);
    if (!parcel->bytes)
        weft__mpi_die("no memory for the output of a block");
    if (weft__mpi_do(w, begin_receive, parcel) != MPI_SUCCESS)
        weft__mpi_die("the output of a block can't be received");
}

/* Rank 0. An error here is not the others': they have sent, or wait for ever; so it ends the
 * program, as an error of MPI would. */
static void write_outs(weft *w, struct mapping *all)
{
    struct parcel parcels[WINDOW];
    for (size_t i = 0; i < WINDOW; i++)
        order(w, all, &parcels[i], i);
    for (size_t i = 0; i < all->blocks; i++) {
        struct parcel *parcel = &parcels[i % WINDOW];
        if (parcel->bytes)
            weft__mpi_finish(w, 1, &parcel->request, 0);
        const char *bytes = parcel->bytes ? parcel->bytes : all->outs[i].bytes;
        if (all->table[2 * i] > 0)
            all->write(w, bytes, (size_t)all->table[2 * i], all->arg);
        free(parcel->bytes);
        order(w, all, parcel, i + WINDOW);
    }
}

static int run(weft *w, struct weft__mpi_ranks *ranks, struct mapping *all)
{
    all->rank = ranks->rank;
    all->comm = ranks->comm;
    struct weft__mpi_loop loop = {.ranks = ranks,
                                  .end = all->blocks,
                                  .least = 1,
                                  .most = SIZE_MAX,
                                  .lanes = 2,
                                  .part = map_part,
                                  .arg = all};
    int error = weft__mpi_loop(w, &loop, WEFT_FOREVER);
    if (error)
        return error;
    struct parcel parcel = {.all = all};
    if (weft__mpi_do(w, begin_table, &parcel) != MPI_SUCCESS)
        weft__mpi_die("the lengths of outputs can't be sent");
    weft__mpi_finish(w, 1, &parcel.request, 0);
    if (all->rank == 0)
        write_outs(w, all);
    else
        send_outs(w, all);
    return 0;
}

static int enter(weft *w, MPI_Comm comm, struct mapping *all)
{
    struct weft__mpi_ranks *ranks;
    int error = weft__mpi_enter(w, comm, &ranks);
    if (error)
        return error;
    error = run(w, ranks, all);
    weft__mpi_leave(ranks);
    return error;
}

int weft_mpi_map(weft *w, MPI_Comm comm, const void *in, size_t n, size_t block, int delimiter,
                 weft_mpi_map_fn *map, weft_mpi_write_fn *write, void *arg)
{
    if ((!in && n > 0) || block == 0 || !map || !write ||
        n / block + (n % block != 0) > BLOCKS_MOST)
        return -EINVAL;
    struct mapping all = {.in = in,
                          .n = n,
                          .block = block,
                          .blocks = n / block + (n % block != 0),
                          .delimiter = delimiter,
                          .map = map,
                          .write = write,
                          .arg = arg};
    all.outs = calloc(all.blocks + 1, sizeof *all.outs);
    all.table = calloc(all.blocks + 1, 2 * sizeof *all.table);
    int error = all.outs && all.table ? enter(w, comm, &all) : -ENOMEM;
    for (size_t i = 0; all.outs && i < all.blocks; i++)
        free(all.outs[i].bytes);
    free(all.outs);
    free(all.table);
    return error;
}
