/* SPDX-License-Identifier: MIT */
#include "os/ticks.h"

#if defined __x86_64__

#include <cpuid.h>

enum {
    LEAF_FEATURES = 1,
    LEAF_TSC = 0x15,
    LEAF_HYPERVISOR = 0x40000000,
    LEAF_HYPERVISOR_TSC = 0x40000010,
};

/* Many hypervisors say it in kHz, as VMware did first. */
static uint64_t from_hypervisor(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(LEAF_FEATURES, &a, &b, &c, &d) || !(c >> 31))
        return 0;
    __cpuid(LEAF_HYPERVISOR, a, b, c, d);
    if (a < LEAF_HYPERVISOR_TSC)
        return 0;
    __cpuid(LEAF_HYPERVISOR_TSC, a, b, c, d);
    return (uint64_t)a * 1000;
}

/* The processor says how fast its crystal is, and how many ticks there are for so many of its
 * oscillations. Many processors leave out a part of it. */
uint64_t weft__ticks_per_second(void)
{
    unsigned crystal_ticks, ticks, hertz, unused;
    if (__get_cpuid(LEAF_TSC, &crystal_ticks, &ticks, &hertz, &unused) && crystal_ticks && ticks &&
        hertz)
        return (uint64_t)hertz * ticks / crystal_ticks;
    return from_hypervisor();
}

#elif defined __aarch64__

uint64_t weft__ticks_per_second(void)
{
    uint64_t hertz;
    __asm__("mrs %0, cntfrq_el0" : "=r"(hertz));
    return hertz;
}

#else

uint64_t weft__ticks_per_second(void)
{
    return 1000000000;
}

#endif
