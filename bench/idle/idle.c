/* SPDX-License-Identifier: MIT */
/* What a pool with nothing to do costs: CPU time and context switches. */
#include "../bench.h"
#include "../clock.h"

#include <stdlib.h>
#include <sys/resource.h>

enum { IDLE_WORKERS = 16 };

static double switches(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_nvcsw + usage.ru_nivcsw);
}

int bench_idle(const struct bench_run *run)
{
    const double seconds = run->quick ? 0.2 : 2;
    weft_pool *pool = bench_pool(&(weft_config){.workers = IDLE_WORKERS});
    if (!pool)
        return EXIT_FAILURE;
    bench_until_asleep(pool);
    double cpu = clock_cpu(), switched = switches(), start = clock_now();
    clock_rest(seconds);
    double slept = clock_now() - start;
    switched = switches() - switched;
    cpu = clock_cpu() - cpu;
    weft_pool_destroy(pool);

    report_add(run->report, &(struct result){
                                .bench = "idle",
                                .peer = "weft",
                                .workers = IDLE_WORKERS,
                                .seconds = {1, slept, slept, slept, slept, slept},
                                .cpu = cpu,
                                .steals = -1,
                            });
    report_title(run->report, "idle: a pool of %d workers with nothing to do\n", IDLE_WORKERS);
    report_claim(run->report, "CPU time, ms per second", cpu * 1e3 / slept, REPORT_BELOW, 1);
    report_claim(run->report, "CPU time, ms in two seconds", cpu * 2e3 / slept, REPORT_BELOW, 0.1);
    report_claim(run->report, "context switches per second", switched / slept, REPORT_BELOW, 5);
    report_title(run->report, "\n");
    return EXIT_SUCCESS;
}
