/* SPDX-License-Identifier: MIT */
/* joins: small computations from outside, two sides each, one after the other. They succeed; or the
 * left side fails, and the caller learns that: by what the runtime has for errors (weft_fail, a
 * cancelled context, a Result), and by what it does about exceptions and panics. */
#ifndef BENCH_JOINS_H
#define BENCH_JOINS_H

#include "../kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

struct joins {
    unsigned runs; /* the kernel's size */
    unsigned failed;
};

extern const struct kernel joins_fine_kernel, joins_failing_kernel, joins_throwing_kernel;

#ifdef __cplusplus
}
#endif

#endif
