/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <time.h>

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double clock_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double clock_cpu(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

double clock_cpu_here(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

void clock_compute(double seconds)
{
    double end = clock_now() + seconds;
    while (clock_now() < end)
        ;
}

void clock_rest(double seconds)
{
    time_t whole = (time_t)seconds;
    struct timespec t = {whole, (long)((seconds - (double)whole) * 1e9)};
    nanosleep(&t, NULL);
}
