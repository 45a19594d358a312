/* SPDX-License-Identifier: MIT */
/* proc.h: what the kernel says about this process and its threads. */
#ifndef TEST_PROC_H
#define TEST_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Is it blocked in a system call? A thread that spins or yields is not. */
bool thread_is_asleep(pid_t tid);

/* Are all of them, but for this one? */
bool threads_all_sleep(pid_t but);

size_t mapped_bytes(void); /* of the whole process */

unsigned long thread_switches(pid_t tid); /* context switches so far, of both kinds */

/* The threads whose name starts with `prefix`; how many there are, of which at most `max` are
 * stored. */
unsigned threads_called(const char *prefix, pid_t *tids, unsigned max);

#endif
