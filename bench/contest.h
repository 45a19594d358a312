/* SPDX-License-Identifier: MIT */
/* contest.h: who is fastest. The sequential twin, weft and its peers compute the same, in turns
 * within one run, so that whatever else the machine does hits all of them alike. */
#ifndef BENCH_CONTEST_H
#define BENCH_CONTEST_H

#include "bench.h"
#include "kernel.h"

#include <stdbool.h>
#include <weft.h>

/* What weft should keep, as ratios of medians within one run; zero: no such claim. */
struct claims {
    double ns_above_twin;           /* per operation, one worker: at most */
    double times_twin;              /* one worker / sequential: at most */
    double times_recursive;         /* one worker / sequential, not inlined: at most */
    double times_faster_than_peers; /* the fastest peer / weft, one worker: at least */
    double times_faster_together;   /* the same with all workers */
    double share;                   /* of what independent sequential copies achieve: at least */
    double times_twin_cpu;          /* CPU time, all workers: at most */
    double times_twin_wall;         /* the same for wall time */
    double steals;                  /* all workers: below */
};

struct contest {
    const struct kernel *kernel;
    void (*ready)(weft_pool *pool, void *data); /* weft's own data, not timed; may be NULL */
    void (*weft)(weft_pool *pool, void *data);
    const char *what;      /* for the reader */
    const char *operation; /* what nanoseconds are counted for */
    unsigned size, quick;  /* of the data; quick is for --quick */
    unsigned most;         /* that anybody may ask for */
    unsigned reps;
    bool mostly_asleep; /* so its wall time says nothing about speed */
    /* CPU time of a run that is the job's own and does not count; NULL: all counts */
    double (*own_cpu)(const void *data);
    struct claims claims;
};

extern const struct contest fib_contest, treesum_contest, join_contest, increment_contest,
    nbody_contest, nqueens_contest, sort_contest, bursty_contest, for_contest, map_contest,
    calls_contest, reduce_contest, floats_contest, short_contest, scan_contest, filter_contest,
    find_contest, ordmap_build_contest, ordmap_union_contest, ordmap_reduce_contest, lines_contest,
    pipeline_contest, each_contest, histogram_contest, histogram_calls_contest, partition_contest,
    unique_contest, merge_contest, exclusive_contest, words_contest, graph_chain_contest,
    graph_tree_contest, graph_wavefront_contest, graph_dag_contest, flow_chain_contest,
    flow_tree_contest, flow_wavefront_contest, flow_dag_contest, dfs_2_contest, dfs_8_contest,
    dfs_400_contest, spawn_contest, sparselu_contest, health_contest, strassen_contest, fft_contest,
    bnb_contest, matmul_contest, walk_contest, epoll_contest;
extern const struct contest hashmap_build_contest, hashmap_put_contest, hashmap_group_contest,
    hashmap_merge_contest, hashmap_get_contest, hashmap_find_contest, vector_append_contest;
extern const struct contest sum_f32_contest, sum_f64_contest, sum_i32_contest, max_f32_contest,
    sum_f32_cached_contest, sum_f64_cached_contest, sum_i32_cached_contest, max_f32_cached_contest;

#ifdef WEFT_BENCH_CXX
extern const struct contest fib_cxx_contest, nqueens_cxx_contest;
#endif

int contest_run(const struct contest *contest, const struct bench_run *run);

#endif
