/* SPDX-License-Identifier: MIT */
/* thread.h: a hog, which is a thread of real-time priority that keeps a CPU. Also for
 * test/fault/hog.c. */
#ifndef BENCH_HOG_THREAD_H
#define BENCH_HOG_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct hog {
    pthread_t thread;
    uint64_t ns;
    atomic_bool runs, stop;
};

/* For so long at the most: the kernel takes the CPU away from such threads for 50 ms of each
 * second. False: that is not allowed here. */
bool hog_start(struct hog *hog, int cpu, uint64_t ns);
void hog_stop(struct hog *hog);

cpu_set_t hog_set_of(int cpu);

/* Another one of the set; -1: there is none. */
int hog_other_cpu(const cpu_set_t *all, int cpu);

#endif
