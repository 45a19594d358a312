/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft/parallel.h>

enum { N = 1 << 16 };

static void work(weft *w, size_t begin, size_t end, void *arg)
{
    double *roots = arg;
    (void)w;
    for (size_t i = begin; i < end; i++) {
        double root = 1;
        for (int step = 0; step < 20; step++)
            root = (root + (double)i / root) / 2;
        roots[i] = root;
    }
}

static void run(weft *w, void *arg)
{
    weft_for(w, 0, N, work, arg);
}

/* [info] */
static void tell(weft_pool *pool)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    if (weft_pool_get_info(pool, &info))
        return;
    printf("%u workers on %u CPUs, %u asleep\n", info.workers, info.cpus, info.sleeping);
    for (unsigned i = 0; i < info.workers; i++) {
        weft_worker_info worker = WEFT_WORKER_INFO_INIT;
        if (weft_worker_get_info(pool, i, &worker))
            return;
        printf("worker %u: %llu jobs, %llu stolen, slept %llu times, %.3f s\n", i,
               (unsigned long long)worker.jobs, (unsigned long long)worker.steals,
               (unsigned long long)worker.sleeps, (double)worker.cpu_ns * 1e-9);
    }
}
/* [end] */

int main(void)
{
    static double roots[N];
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 2;
    weft_pool *pool;
    if (weft_pool_create(&pool, &config) || weft_run(pool, run, roots))
        return 1;
    tell(pool);
    return weft_pool_destroy(pool) != 0;
}
