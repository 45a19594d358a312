/* SPDX-License-Identifier: MIT */
#include "os/clock.h"

#include <errno.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

uint64_t weft__clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

void weft__clock_sleep(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
        ;
}
