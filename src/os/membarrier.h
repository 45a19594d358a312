/* SPDX-License-Identifier: MIT */
/* membarrier.h: a barrier in every running thread of this process, for the price of one
 * system call to the caller and nothing to the others. */
#ifndef WEFT_OS_MEMBARRIER_H
#define WEFT_OS_MEMBARRIER_H

#include "os/atomic.h"

/* Registers the process, once. False: the kernel has no such thing, or forbids it. */
bool weft__membarrier_init(void);

/* Only after weft__membarrier_init() returned true. False: it was forbidden since then, by a
 * sandbox that the process has entered. From then on weft__membarrier_is_gone(). */
bool weft__membarrier(void);

extern struct atomic_bool weft__membarrier_lost;

static inline bool weft__membarrier_is_gone(void)
{
    return atomic_load_relaxed(&weft__membarrier_lost); /* relaxed: it never comes back */
}

#endif
