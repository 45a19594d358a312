/* SPDX-License-Identifier: MIT */
/* cgroup.h: how much CPU time the control groups of this process allow. */
#ifndef WEFT_OS_CGROUP_H
#define WEFT_OS_CGROUP_H

/* The CPU bandwidth quota, in CPUs, rounded up: the least over the process's cgroup and
 * its ancestors, in both versions of the interface. At least 1; UINT_MAX: there is no
 * limit, or none is known. `root` is put before every file name: "",
 * or where a test has its own /proc and /sys. */
unsigned weft__cgroup_cpus(const char *root);

#endif
