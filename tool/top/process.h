/* SPDX-License-Identifier: MIT */
/* process.h: what the kernel says about processes and their threads. */
#ifndef TOP_PROCESS_H
#define TOP_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
    pid_t pid;
    char name[64];   /* without control characters */
    char state;      /* as in proc_pid_stat(5): R, S, D, T, ...; 0: there is none */
    uint64_t cpu_ns; /* used so far */
    uint64_t memory; /* resident, in bytes */
    unsigned threads;
};

/* False: there is no such process, or thread of it. */
bool process_look(pid_t pid, struct process *out);
bool process_look_thread(pid_t pid, int thread, struct process *out);

/* Processes with a page that this user can read, in the order of their numbers. Returns how many;
 * *pids is to be freed. */
size_t process_list(pid_t **pids);

/* The lines of /proc/PID/maps that have code, to be freed; NULL: none could be read. */
char *process_modules(pid_t pid, size_t *size);

#endif
