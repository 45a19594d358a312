/* SPDX-License-Identifier: MIT */
/* bench.h: the benchmarks there are, and what the command line asks of them. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "peer.h"
#include "report.h"

#include <stdbool.h>
#include <stddef.h>
#include <weft.h>

struct bench_run {
    unsigned reps;    /* 0: the benchmark's own number */
    unsigned size;    /* 0: the benchmark's own size */
    unsigned workers; /* "all": what is compared with one */
    unsigned pattern; /* of what is to be sorted: enum sorts_pattern */
    bool quick;       /* small sizes, few repetitions: does it work? */
    bool peers[PEERS];
    struct report *report;
};

struct benchmark {
    const char *name, *help;
    const struct contest *contest; /* who is fastest; then, or else */
    int (*run)(const struct bench_run *run);
    bool is_part; /* of another one: runs only if it is named */
};

extern const struct benchmark benchmarks[];
extern const size_t benchmarks_count;

/* 0, or an exit status. */
int benchmark_run(const struct benchmark *benchmark, const struct bench_run *run);

/* Is this peer wanted? */
bool bench_has_peer(const struct bench_run *run, const char *peer);

/* A pool, or NULL with a message. The config's size is filled in. */
weft_pool *bench_pool(const weft_config *config);

/* In the affinity mask. */
bool bench_has_two_cpus(void);

/* Until all workers sleep. */
void bench_until_asleep(weft_pool *pool);

int bench_wake(const struct bench_run *run);
int bench_idle(const struct bench_run *run);
int bench_steal(const struct bench_run *run);
int bench_sleep(const struct bench_run *run);
int bench_sleep_forks(const struct bench_run *run); /* its parts */
int bench_sleep_usage(const struct bench_run *run);
int bench_sleep_spins(const struct bench_run *run);
int bench_actors(const struct bench_run *run);
int bench_actors_fair(const struct bench_run *run); /* its parts */
int bench_actors_trees(const struct bench_run *run);
int bench_graph(const struct bench_run *run);
int bench_sorts(const struct bench_run *run);
int bench_found(const struct bench_run *run);
int bench_captured(const struct bench_run *run);
int bench_neighbours(const struct bench_run *run);
int bench_hog(const struct bench_run *run);
int bench_mutex(const struct bench_run *run);
int bench_trace(const struct bench_run *run);
int bench_stencil(const struct bench_run *run);

#endif
