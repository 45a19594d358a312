/* SPDX-License-Identifier: MIT */
/* What a pool with nothing to do costs: CPU time and context switches. */
#include "../bench.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static long switches(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
}

int bench_idle(unsigned reps)
{
    (void)reps;
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 16;
    weft_pool *pool;
    int error = weft_pool_create(&pool, &config);
    if (error) {
        warnx("no pool: error %d", -error);
        return EXIT_FAILURE;
    }
    bench_until_asleep(pool);
    double cpu = cpu_ms();
    long switched = switches();
    nanosleep(&(struct timespec){.tv_sec = 2}, NULL);
    printf("An idle pool of 16 workers, per second\n");
    printf("  %-52s %8.3f  (should be under 1)\n", "CPU time, ms", (cpu_ms() - cpu) / 2);
    printf("  %-52s %8.1f  (should be under 5)\n", "context switches",
           (double)(switches() - switched) / 2);
    weft_pool_destroy(pool);
    return 0;
}
