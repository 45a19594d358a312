/* SPDX-License-Identifier: MIT */
/* ring.h: a contest under way: who takes part, and what they have done so far. */
#ifndef BENCH_RING_H
#define BENCH_RING_H

#include "bench.h"
#include "contest.h"
#include "peer.h"
#include "report.h"
#include "samples.h"

#include <stdbool.h>
#include <stdint.h>
#include <weft.h>

enum ring_kind { RING_SEQUENTIAL, RING_RECURSIVE, RING_COPIES, RING_WEFT, RING_PEER };

struct contender {
    enum ring_kind kind;
    const char *name;
    unsigned workers;
    weft_pool *pool; /* weft's, */
    weft_fn *fn;     /* and what it runs there, on the data; NULL: the contest says */
    void (*run)(const struct contender *, const struct contest *, void *data); /* or how, */
    void *own;                                                                 /* with this */
    struct peer peer;                                                          /* a peer's */
    struct samples seconds, cpu, steals, wakes;
    double spent;         /* seconds */
    struct result result; /* made of the samples in the end */
};

enum { RING_CONTENDERS_MAX = 11 + 2 * PEERS };

struct ring {
    const struct contest *contest;
    const struct bench_run *run;
    unsigned size, reps;
    void **data; /* the first for everybody, one for each copy; NULL ends them */
    unsigned count;
    struct contender contenders[RING_CONTENDERS_MAX];
    bool known;
    uint64_t checksum; /* the first one; all others must be the same */
};

/* The twin, weft and all peers. False, with a message. ring_close() has to follow in any case. */
bool ring_open(struct ring *ring, const struct contest *contest, const struct bench_run *run);
void ring_close(struct ring *ring);

/* The same in steps, where it is the caller who says who takes part: begin, the twin, others, make.
 * NULL or false, with a message. */
void ring_begin(struct ring *ring, const struct contest *contest, const struct bench_run *run);
void ring_add_twin(struct ring *ring);
struct contender *ring_add_weft(struct ring *ring, const weft_config *config);
bool ring_add_peer(struct ring *ring, const char *peer, const char *benchmark, const char *name,
                   unsigned workers); /* true, too, if it does not have this benchmark */
bool ring_make(struct ring *ring);

/* All repetitions of all contenders. False, with a message, if one fails or is wrong. */
bool ring_run(struct ring *ring);

/* Makes each contender's result of its samples. */
void ring_summarise(struct ring *ring);

#endif
