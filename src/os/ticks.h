/* SPDX-License-Identifier: MIT */
/* ticks.h: the processor's own clock, which takes some nanoseconds to read. How long a tick is has
 * to be known from elsewhere. Where there is no such clock, a tick is a nanosecond. */
#ifndef WEFT_OS_TICKS_H
#define WEFT_OS_TICKS_H

#include "os/clock.h"

static inline uint64_t weft__ticks(void)
{
#if defined __x86_64__
    return __builtin_ia32_rdtsc();
#elif defined __aarch64__
    uint64_t value;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
    return weft__clock_now();
#endif
}

/* As the processor says; 0: it does not. */
uint64_t weft__ticks_per_second(void);

#endif
