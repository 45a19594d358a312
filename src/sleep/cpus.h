/* SPDX-License-Identifier: MIT */
/* cpus.h: which CPUs the threads at work in a pool use, and which CPU another thread can use
 * without disturbing them. All of it is a guess: the kernel moves threads as it likes. */
#ifndef WEFT_SLEEP_CPUS_H
#define WEFT_SLEEP_CPUS_H

#include "os/topology.h"

#include <stdbool.h>
#include <stdint.h>

enum weft__cpu_use {
    CPU_FREE,
    CPU_RECENT, /* used by the guest that came last, which may come again */
    CPU_TAKEN,
};

enum { WEFT__CPUS_KNOWN = 1024 }; /* others count as free */

struct weft__used_cpus {
    uint64_t taken[WEFT__CPUS_KNOWN / 64];
    int recent; /* the CPU of the guest that came last, or -1 */
};

static inline void weft__cpu_take(struct weft__used_cpus *used, int cpu)
{
    if (cpu >= 0 && cpu < WEFT__CPUS_KNOWN)
        used->taken[cpu / 64] |= (uint64_t)1 << cpu % 64;
}

static inline enum weft__cpu_use weft__cpu_use_of(const struct weft__used_cpus *used, int cpu)
{
    if (cpu >= 0 && cpu < WEFT__CPUS_KNOWN && used->taken[cpu / 64] >> cpu % 64 & 1)
        return CPU_TAKEN;
    return cpu == used->recent ? CPU_RECENT : CPU_FREE;
}

/* `cpu`, if its use is at most `bearable`. Else the least used CPU of `cpus`, the nearest one after
 * `cpu`; or `cpu`, if none is used less. */
static inline int weft__cpu_other(const struct weft__used_cpus *used, const struct weft__cpus *cpus,
                                  int cpu, enum weft__cpu_use bearable)
{
    enum weft__cpu_use least = weft__cpu_use_of(used, cpu);
    unsigned first = 0;
    int best = cpu;
    if (least <= bearable)
        return cpu;
    while (first < cpus->count && cpus->ids[first] != cpu)
        first++;
    for (unsigned i = 1; i <= cpus->count; i++) {
        int other = cpus->ids[(first + i) % cpus->count];
        if (weft__cpu_use_of(used, other) < least) {
            least = weft__cpu_use_of(used, other);
            best = other;
        }
    }
    return best;
}

#endif
