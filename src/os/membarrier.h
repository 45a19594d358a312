/* SPDX-License-Identifier: MIT */
/* membarrier.h: a barrier in every running thread of this process, for the price of one
 * system call to the caller and nothing to the others. */
#ifndef WEFT_OS_MEMBARRIER_H
#define WEFT_OS_MEMBARRIER_H

#include <stdbool.h>

/* Registers the process, once. False: the kernel has no such thing, or forbids it. */
bool weft__membarrier_init(void);

void weft__membarrier(void); /* after init returned true */
#ifdef WEFT_MODEL
#define weft__membarrier() model_barrier_everywhere(CHECK_SITE("membarrier")) /* weft check */
#endif

#endif
