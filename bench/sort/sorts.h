/* SPDX-License-Identifier: MIT */
/* sorts.h: the sorts of libraries: what there is to sort, in which order. */
#ifndef BENCH_SORTS_H
#define BENCH_SORTS_H

#include "../kernel.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sorts_pattern {
    SORTS_RANDOM,
    SORTS_SORTED,
    SORTS_REVERSED,
    SORTS_FEW,    /* sixteen different ones */
    SORTS_ORGAN,  /* up, then down */
    SORTS_RUNS,   /* eight sorted parts */
    SORTS_NEARLY, /* sorted, but for one of a thousand */
    SORTS_PATTERNS,
};

extern const char *const sorts_patterns[SORTS_PATTERNS];

/* A kernel's size says both: how many, as a power of two, and in which order. The peers are told
 * no more than that. */
enum { SORTS_SIZES = 100 };
#define SORTS_SIZE(pattern, bits) ((pattern)*SORTS_SIZES + (bits))

struct sorts {
    size_t count;
    enum sorts_pattern pattern;
    uint64_t *elements;
};

/* The sequential twin is glibc's qsort_r. The others have the same data, and names by which
 * peers know what they are asked for. */
extern const struct kernel sorts_kernel, sorts_std_kernel, sorts_stable_kernel;

#ifdef __cplusplus
}
#endif

#endif
