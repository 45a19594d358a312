/* SPDX-License-Identifier: MIT */
/* bench.h: what benchmarks share. A benchmark takes samples of several contenders in
 * turn, so that whatever else the machine does hits all of them alike, and reports
 * medians with their spread, and ratios of medians. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <weft.h>

struct samples {
    const char *name;
    size_t count;
    double *values; /* room for as many as there are repetitions */
};

struct summary {
    double median, low, high; /* low and high: the 10th and 90th of 100 */
};

bool samples_init(struct samples *samples, const char *name, size_t room);
void samples_free(struct samples *samples);
void samples_add(struct samples *samples, double value);
struct summary samples_summary(struct samples *samples); /* sorts them */

/* One line of a table: median and spread in microseconds. */
void bench_print(struct samples *samples);

/* One line: a / b of the medians, and the limit it should keep. */
void bench_print_ratio(const char *what, struct samples *a, struct samples *b, double limit);

double bench_now_us(void);

/* Computes for so long, without ever letting go of the CPU. */
void bench_compute_us(double us);

/* Until all workers sleep. */
void bench_until_asleep(weft_pool *pool);

/* Each: 0, or an exit status. */
int bench_wake(unsigned reps);
int bench_idle(unsigned reps);

#endif
