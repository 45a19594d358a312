/* SPDX-License-Identifier: MIT */
/* clock.h: time in seconds. The C and C++ peers use it, too. */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#ifdef __cplusplus
extern "C" {
#endif

double clock_now(void);      /* monotonic */
double clock_cpu(void);      /* CPU time of the whole process */
double clock_cpu_here(void); /* of this thread */

/* Computes for so long, without ever letting go of the CPU. */
void clock_compute(double seconds);

void clock_rest(double seconds); /* asleep */

#ifdef __cplusplus
}
#endif

#endif
