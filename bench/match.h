/* SPDX-License-Identifier: MIT */
/* match.h: a contest under way: who takes part, and what they have done so far. */
#ifndef BENCH_MATCH_H
#define BENCH_MATCH_H

#include "bench.h"
#include "contest.h"
#include "peer.h"
#include "report.h"
#include "samples.h"

#include <stdbool.h>
#include <stdint.h>
#include <weft.h>

enum match_kind { MATCH_SEQUENTIAL, MATCH_RECURSIVE, MATCH_COPIES, MATCH_WEFT, MATCH_PEER };

struct contender {
    enum match_kind kind;
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

enum { MATCH_CONTENDERS_MAX = 11 + 2 * PEERS };

struct match {
    const struct contest *contest;
    const struct bench_run *run;
    unsigned size, reps;
    void **data; /* the first for everybody, one for each copy; NULL ends them */
    unsigned count;
    struct contender contenders[MATCH_CONTENDERS_MAX];
    bool known;
    uint64_t checksum; /* the first one; all others must be the same */
};

/* The twin, weft and all peers. False, with a message. match_close() has to follow in any case. */
bool match_open(struct match *match, const struct contest *contest, const struct bench_run *run);
void match_close(struct match *match);

/* The same in steps, where it is the caller who says who takes part: begin, the twin, others, make.
 * NULL or false, with a message. */
void match_begin(struct match *match, const struct contest *contest, const struct bench_run *run);
void match_add_twin(struct match *match);
struct contender *match_add_weft(struct match *match, const weft_config *config);
bool match_add_peer(struct match *match, const char *peer, const char *benchmark, const char *name,
                    unsigned workers); /* true, too, if it does not have this benchmark */
bool match_make(struct match *match);

/* All repetitions of all contenders. False, with a message, if one fails or is wrong. */
bool match_run(struct match *match);

/* Makes each contender's result of its samples. */
void match_summarise(struct match *match);

#endif
