/* SPDX-License-Identifier: MIT */
/* topology.h: which CPUs this process may use, and in which order. */
#ifndef WEFT_OS_TOPOLOGY_H
#define WEFT_OS_TOPOLOGY_H

/* CPUs this process may use, in the order in which workers should be given them: one
 * hardware thread of each core, then the second ones, and so on. */
struct weft__cpus {
    unsigned count; /* at least 1 */
    int *ids;       /* as the affinity calls number them */
};

/* Those in the calling thread's affinity mask. 0 or -ENOMEM. */
int weft__cpus_allowed(struct weft__cpus *cpus);
void weft__cpus_free(struct weft__cpus *cpus); /* also of a zeroed one */

/* How many workers a pool gets that does not say: one per CPU that the affinity mask and
 * the cgroup quota allow, from 1 to WEFT_WORKERS_MAX. If a launcher has started several processes
 * here, their share of these: see launcher.h. */
unsigned weft__workers_auto(void);

/* ---- For tests ---- */

struct weft__cpu {
    int id;
    int core;        /* equal for the threads of one core; smaller ones come first */
    unsigned thread; /* its index among the threads of its core */
};

/* Sets `thread` and sorts by it, then by core. */
void weft__cpus_order(struct weft__cpu *cpus, unsigned count);

/* The smallest CPU number in `cpu`'s core, from ROOT/sys; -1 if that can't be read. */
int weft__core_read(const char *root, int cpu);

#endif
