/* SPDX-License-Identifier: MIT */
/* loop.h: a range of numbers that all ranks work on, given out in parts by rank 0.
 *
 * On each rank a few lanes ask for a part, do it, and ask again. Rank 0 answers in the engine's
 * thread, or in place for its own lanes. Parts get shorter towards the end: a 4 * ranks-th of the
 * rest, and at least `least`, which each rank chooses so that its workers have something to do.
 *
 *   rank:    ASK -> part, ..., no part    DONE(code) -> STOP(verdict)   BYE
 *
 * The verdict is made once, by rank 0: the first code that is not 0, as soon as it is known, or 0
 * when all are done. It cancels what still runs, and all ranks return it. So a rank other than 0
 * that comes after a failure or a deadline of the others delays none of them: rank 0 keeps what it
 * needs to answer that rank, until it says BYE. FAIL(code) is for a rank that is done and is
 * cancelled, or passes its limit, while it waits for the verdict.
 *
 * Worst case: a part that takes very long and is given out last. A lane waits for one answer of
 * rank 0 per part, while the other lane works. */
#ifndef WEFT_MPI_LOOP_H
#define WEFT_MPI_LOOP_H

#include "ranks.h"

#include <weft/parallel.h>
#include <weft/task.h>

enum { WEFT__MPI_LANES = 16 }; /* at most */

struct weft__mpi_root;

struct weft__mpi_loop {
    struct weft__mpi_ranks *ranks; /* the call has entered */
    size_t begin, end;
    size_t least, most; /* of a part */
    int lanes;
    weft_range_fn *part; /* one part, by a lane */
    void *arg;
    int tag; /* of this loop: the first of TAGS */

    weft_task task;
    bool is_live; /* the task may be cancelled; under the library's lock */
    int code;     /* of this rank */
    int verdict;
    weft_event over;             /* the verdict is there */
    weft_event gone;             /* rank 0: all have the verdict */
    struct weft__mpi_root *root; /* of rank 0; else NULL */
    struct weft__mpi_wait stop;
    MPI_Request stop_request;
    int64_t stop_message[4];
};

/* Runs it; all ranks do, in the same order. Returns the verdict, or an error before the loop has
 * begun. `when`: as weft_mpi_for_until(). */
int weft__mpi_loop(weft *w, struct weft__mpi_loop *loop, uint64_t when);

#endif
