/* SPDX-License-Identifier: MIT */
#include "sleep.h"

#include <stdlib.h>

int bench_sleep(const struct bench_run *run)
{
    return sleep_overheads(run) && sleep_usage(run) ? EXIT_SUCCESS : EXIT_FAILURE;
}
