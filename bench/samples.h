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
    double median, min, low, high, last; /* the 10th, 90th and 99th of 100 */
};

bool samples_init(struct samples *samples, size_t room); /* false, with a message: no memory */
void samples_free(struct samples *samples);              /* also what was never initialised: {0} */
void samples_add(struct samples *samples, double value);
struct summary samples_summary(const struct samples *samples);

/* The median of a's first by b's first, a's second by b's second, and so on: they were
 * measured one after the other, and what disturbs a machine lasts longer than that. */
double samples_ratio(const struct samples *a, const struct samples *b);

#endif
