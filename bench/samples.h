/* SPDX-License-Identifier: MIT */
/* samples.h: what was measured, repetition by repetition, and what is made of it. */
#ifndef BENCH_SAMPLES_H
#define BENCH_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

struct samples {
    size_t count;
    double *values; /* room for as many as there are repetitions */
};

struct summary {
    size_t count;
    double median, min, low, high; /* low and high: the 10th and 90th of 100 */
};

bool samples_init(struct samples *samples, size_t room); /* false, with a message: no memory */
void samples_free(struct samples *samples);              /* also what was never initialised: {0} */
void samples_add(struct samples *samples, double value);
struct summary samples_summary(struct samples *samples); /* sorts them */

#endif
