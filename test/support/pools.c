/* SPDX-License-Identifier: MIT */
#include "pools.h"

#include "watchdog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct road roads[] = {
    {"lazy", WEFT_FORK_LAZY, WEFT_QUANTUM},
    {"lazy, no quantum", WEFT_FORK_LAZY, WEFT_NONE},
    {"eager", WEFT_FORK_EAGER, WEFT_QUANTUM},
};

const struct road *road = &roads[0];

int run_on_all_roads(const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup,
                     CMFixtureFunction teardown)
{
    int failed = 0;
    const char *only = getenv("TEST_ROAD"); /* for people with a debugger */
    for (size_t i = 0; i < sizeof roads / sizeof roads[0]; i++) {
        road = &roads[i];
        if (only && strcmp(road->name, only) != 0)
            continue;
        failed += _cmocka_run_group_tests(road->name, tests, n, setup, teardown);
    }
    return failed;
}

void staffed_test(void **state)
{
    const struct staffing *staffing = *state;
    staffing->test(staffing->workers, staffing->flags);
}

weft_pool *pool_make_with(const weft_config *given)
{
    weft_config config = *given;
    if (config.fork == WEFT_FORK_DEFAULT)
        config.fork = road->fork;
    if (config.quantum == 0)
        config.quantum = road->quantum;
    weft_pool *pool;
    watchdog_start();
    CHECK(weft_pool_create(&pool, &config) == 0);
    watchdog_know(pool);
    return pool;
}

weft_pool *pool_make(unsigned workers, unsigned flags)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = workers;
    config.flags = flags;
    return pool_make_with(&config);
}

void pool_drop(weft_pool *pool)
{
    CHECK(weft_pool_destroy(pool) == 0);
    watchdog_forget(pool);
}

void pool_wait_asleep(weft_pool *pool)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    do {
        wait_a_moment();
        weft_pool_get_info(pool, &info);
    } while (info.sleeping < info.workers);
}

uint64_t pool_steals(weft_pool *pool)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < weft_pool_workers(pool); i++) {
        weft_worker_info info = WEFT_WORKER_INFO_INIT;
        CHECK(weft_worker_get_info(pool, i, &info) == 0);
        sum += info.steals;
    }
    return sum;
}

char *pool_dump_text(weft_pool *pool)
{
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    CHECK(file);
    weft_pool_dump(pool, file);
    fclose(file);
    return text;
}

void gate_job(weft *w, void *p)
{
    struct gate *gate = p;
    atomic_store(&gate->arrived, true);
    WAIT_UNTIL(atomic_load(&gate->open));
}

void gate_wait_arrived(struct gate *gate)
{
    WAIT_UNTIL(atomic_load(&gate->arrived));
}

void gate_open(struct gate *gate)
{
    atomic_store(&gate->open, true);
}

void pool_hold(weft_pool *pool, struct held *held, unsigned n)
{
    held->n = n;
    held->gates = calloc(n + 1, sizeof held->gates[0]);
    held->tasks = calloc(n + 1, sizeof held->tasks[0]);
    CHECK(held->gates && held->tasks);
    for (unsigned i = 0; i < n; i++)
        CHECK(weft_submit(pool, &held->tasks[i], gate_job, &held->gates[i]) == 0);
    for (unsigned i = 0; i < n; i++)
        gate_wait_arrived(&held->gates[i]);
}

void pool_let_go(struct held *held)
{
    for (unsigned i = 0; i < held->n; i++)
        gate_open(&held->gates[i]);
    for (unsigned i = 0; i < held->n; i++)
        CHECK(weft_task_wait(&held->tasks[i]) == 0);
    free(held->gates);
    free(held->tasks);
}

void count_job(weft *w, void *count)
{
    atomic_fetch_add((atomic_ulong *)count, 1);
}
