/* SPDX-License-Identifier: MIT */
#include "sleep.h"

#include <stdbool.h>
#include <stdlib.h>

static int status(bool good)
{
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int bench_sleep(const struct bench_run *run)
{
    return status(sleep_overheads(run) && sleep_usage(run) && sleep_spins(run));
}

int bench_sleep_forks(const struct bench_run *run)
{
    return status(sleep_overheads(run));
}

int bench_sleep_usage(const struct bench_run *run)
{
    return status(sleep_usage(run));
}

int bench_sleep_spins(const struct bench_run *run)
{
    return status(sleep_spins(run));
}
