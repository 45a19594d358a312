/* SPDX-License-Identifier: MIT */
/* kernel.h: a benchmark that computes: its data and its sequential twin. weft's version is
 * beside it; the C and C++ peers bring theirs and use the same data. */
#ifndef BENCH_KERNEL_H
#define BENCH_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kernel {
    const char *name;
    void *(*prepare)(unsigned size);        /* NULL: no memory */
    void (*reset)(void *data);              /* before each run, not timed */
    void (*sequential)(void *data);         /* the twin: the program without forks */
    void (*recursive)(void *data);          /* the same without inlining; may be NULL */
    uint64_t (*checksum)(const void *data); /* after each run, not timed */
    double (*operations)(const void *data); /* of one run */
    /* what its parts took, in seconds, if that is what counts; may be NULL */
    const double *(*times)(const void *data, unsigned *count);
    void (*release)(void *data);
};

extern const struct kernel fib_kernel, treesum_kernel, join_kernel, increment_kernel, nbody_kernel,
    nqueens_kernel, sort_kernel, bursty_kernel, for_kernel, map_kernel, calls_kernel, reduce_kernel,
    floats_kernel, short_kernel, scan_kernel, filter_kernel, find_kernel, ordmap_build_kernel,
    ordmap_union_kernel, ordmap_reduce_kernel, lines_kernel, pipeline_kernel, stencil_kernel,
    each_kernel, histogram_kernel, histogram_calls_kernel, partition_kernel, unique_kernel,
    merge_kernel, exclusive_kernel, words_kernel, graph_chain_kernel, graph_tree_kernel,
    graph_wavefront_kernel, graph_dag_kernel, flow_chain_kernel, flow_tree_kernel,
    flow_wavefront_kernel, flow_dag_kernel, dfs_2_kernel, dfs_8_kernel, dfs_400_kernel,
    spawn_kernel, sparselu_kernel, health_kernel, strassen_kernel, fft_kernel, bnb_kernel,
    matmul_kernel, walk_kernel, epoll_kernel;
extern const struct kernel hashmap_build_kernel, hashmap_put_kernel, hashmap_group_kernel,
    hashmap_merge_kernel, hashmap_get_kernel, hashmap_find_kernel, vector_append_kernel;
extern const struct kernel sum_f32_kernel, sum_f64_kernel, sum_i32_kernel, max_f32_kernel,
    sum_f32_cached_kernel, sum_f64_cached_kernel, sum_i32_cached_kernel, max_f32_cached_kernel;

/* A step of splitmix64: random numbers that are the same everywhere. */
static inline uint64_t kernel_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#ifdef __cplusplus
}
#endif

#endif
