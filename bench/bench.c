/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include "clock.h"
#include "contest.h"

#include <err.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

const struct benchmark benchmarks[] = {
    {.name = "fib", .contest = &fib_contest},
    {.name = "treesum", .contest = &treesum_contest},
    {.name = "join-recursively", .contest = &join_contest},
    {.name = "increment-all", .contest = &increment_contest},
    {.name = "nbody-parreduce", .contest = &nbody_contest},
    {.name = "nqueens", .contest = &nqueens_contest},
#ifdef WEFT_BENCH_CXX
    {.name = "fib-cxx", .contest = &fib_cxx_contest},
    {.name = "nqueens-cxx", .contest = &nqueens_cxx_contest},
#endif
    {.name = "dfs-2", .contest = &dfs_2_contest},
    {.name = "dfs-8", .contest = &dfs_8_contest},
    {.name = "dfs-400", .contest = &dfs_400_contest},
    {.name = "spawn", .contest = &spawn_contest},
    {.name = "sparselu", .contest = &sparselu_contest},
    {.name = "health", .contest = &health_contest},
    {.name = "strassen", .contest = &strassen_contest},
    {.name = "fft", .contest = &fft_contest},
    {.name = "bnb", .contest = &bnb_contest},
    {.name = "matmul", .contest = &matmul_contest},
    {.name = "walk", .contest = &walk_contest},
    {.name = "epoll", .contest = &epoll_contest},
    {.name = "sort", .contest = &sort_contest, .run = bench_sorts},
    {.name = "bursty", .contest = &bursty_contest},
    {.name = "for", .contest = &for_contest},
    {.name = "map", .contest = &map_contest},
    {.name = "map-calls", .contest = &calls_contest},
    {.name = "reduce", .contest = &reduce_contest},
    {.name = "sum-f32", .contest = &sum_f32_contest},
    {.name = "sum-f64", .contest = &sum_f64_contest},
    {.name = "sum-i32", .contest = &sum_i32_contest},
    {.name = "max-f32", .contest = &max_f32_contest},
    {.name = "sum-f32-cached", .contest = &sum_f32_cached_contest},
    {.name = "sum-f64-cached", .contest = &sum_f64_cached_contest},
    {.name = "sum-i32-cached", .contest = &sum_i32_cached_contest},
    {.name = "max-f32-cached", .contest = &max_f32_cached_contest},
    {.name = "scan", .contest = &scan_contest},
    {.name = "filter", .contest = &filter_contest},
    {.name = "find", .contest = &find_contest},
    {.name = "for-each", .contest = &each_contest},
    {.name = "histogram", .contest = &histogram_contest},
    {.name = "histogram-calls", .contest = &histogram_calls_contest},
    {.name = "partition", .contest = &partition_contest},
    {.name = "unique", .contest = &unique_contest},
    {.name = "merge", .contest = &merge_contest},
    {.name = "scan-exclusive", .contest = &exclusive_contest},
    {.name = "ordmap-build", .contest = &ordmap_build_contest},
    {.name = "ordmap-union", .contest = &ordmap_union_contest},
    {.name = "ordmap-reduce", .contest = &ordmap_reduce_contest},
    {.name = "hashmap-build", .contest = &hashmap_build_contest},
    {.name = "hashmap-put", .contest = &hashmap_put_contest},
    {.name = "hashmap-group", .contest = &hashmap_group_contest},
    {.name = "hashmap-merge", .contest = &hashmap_merge_contest},
    {.name = "hashmap-get", .contest = &hashmap_get_contest},
    {.name = "hashmap-find", .contest = &hashmap_find_contest},
    {.name = "vector-append", .contest = &vector_append_contest},
    {.name = "lines", .contest = &lines_contest},
    {.name = "words", .contest = &words_contest},
    {.name = "pipeline", .contest = &pipeline_contest},
    {.name = "graph",
     .run = bench_graph,
     .help = "jobs that wait for others, by edges or addresses"},
    {.name = "graph-chain", .contest = &graph_chain_contest, .is_part = true},
    {.name = "graph-tree", .contest = &graph_tree_contest, .is_part = true},
    {.name = "graph-wavefront", .contest = &graph_wavefront_contest, .is_part = true},
    {.name = "graph-dag", .contest = &graph_dag_contest, .is_part = true},
    {.name = "flow-chain", .contest = &flow_chain_contest, .is_part = true},
    {.name = "flow-tree", .contest = &flow_tree_contest, .is_part = true},
    {.name = "flow-wavefront", .contest = &flow_wavefront_contest, .is_part = true},
    {.name = "flow-dag", .contest = &flow_dag_contest, .is_part = true},
    {.name = "2000-floats", .contest = &floats_contest},
    {.name = "short-loops", .contest = &short_contest},
    {.name = "stencil", .run = bench_stencil, .help = "many steps of a short loop"},
    {.name = "steal", .run = bench_steal, .help = "one fork, taken by a worker that is awake"},
    {.name = "mutex", .run = bench_mutex, .help = "weft_mutex beside pthread_mutex_t"},
    {.name = "trace", .run = bench_trace, .help = "what a trace costs the program"},
    {.name = "wake", .run = bench_wake, .help = "getting a sleeping pool to work"},
    {.name = "found", .run = bench_found, .help = "how long a fork waits, whatever was learnt"},
    {.name = "captured", .run = bench_captured, .help = "small calls beside long tasks"},
    {.name = "neighbours", .run = bench_neighbours, .help = "what one user costs the others"},
    {.name = "hog", .run = bench_hog, .help = "tasks beside a real-time thread"},
    {.name = "idle", .run = bench_idle, .help = "what a pool with nothing to do costs"},
    {.name = "sleep", .run = bench_sleep, .help = "the sleep protocols beside each other"},
    {.name = "sleep-forks",
     .run = bench_sleep_forks,
     .is_part = true,
     .help = "of sleep: what the protocols cost those who fork"},
    {.name = "sleep-usage",
     .run = bench_sleep_usage,
     .is_part = true,
     .help = "of sleep: CPU time of pools with little to do"},
    {.name = "sleep-spins",
     .run = bench_sleep_spins,
     .is_part = true,
     .help = "of sleep: how long workers search before they sleep"},
    {.name = "actors", .run = bench_actors, .help = "what actors cost, and whether they are fair"},
    {.name = "actors-fair",
     .run = bench_actors_fair,
     .is_part = true,
     .help = "of actors: small requests beside a greedy one"},
    {.name = "actors-trees",
     .run = bench_actors_trees,
     .is_part = true,
     .help = "of actors: forks in actors and in the pool itself"},
};

const size_t benchmarks_count = sizeof benchmarks / sizeof benchmarks[0];

int benchmark_run(const struct benchmark *benchmark, const struct bench_run *run)
{
    int status = benchmark->contest ? contest_run(benchmark->contest, run) : EXIT_SUCCESS;
    return status == EXIT_SUCCESS && benchmark->run ? benchmark->run(run) : status;
}

bool bench_has_peer(const struct bench_run *run, const char *peer)
{
    for (unsigned i = 0; i < PEERS; i++)
        if (strcmp(peer_kinds[i].name, peer) == 0)
            return run->peers[i];
    return false;
}

weft_pool *bench_pool(const weft_config *config)
{
    weft_config sized = *config;
    sized.size = sizeof sized;
    weft_pool *pool;
    int error = weft_pool_create(&pool, &sized);
    if (error)
        warnx("no pool of %u workers: %s", config->workers, strerror(-error));
    return error ? NULL : pool;
}

bool bench_has_two_cpus(void)
{
    cpu_set_t cpus;
    return sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) > 1;
}

void bench_until_asleep(weft_pool *pool)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    do {
        clock_rest(1e-4);
        weft_pool_get_info(pool, &info);
    } while (info.sleeping < info.workers);
}
