/* SPDX-License-Identifier: MIT */
/* syscall.h: what the kernel says that a thread of this process waits in. */
#ifndef WEFT_OS_SYSCALL_H
#define WEFT_OS_SYSCALL_H

#include <stdbool.h>
#include <stddef.h>

/* `thread` is the thread's weft__thread_number(). Writes "system call read of descriptor 5", or
 * else where in the kernel it is. False: it computes, has ended, or the kernel does not tell. */
bool weft__syscall_of(int thread, char *text, size_t size);

#endif
