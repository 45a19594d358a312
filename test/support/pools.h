/* SPDX-License-Identifier: MIT */
/* pools.h: pools under a watchdog, and jobs that tests can hold and watch. */
#ifndef TEST_POOLS_H
#define TEST_POOLS_H

#include "check.h"
#include "weft.h"

#include <stdatomic.h>

/* How pools made here fork: lazily; lazily, with thieves that wait for no quantum, so that
 * there are many of them; eagerly. */
struct road {
    const char *name;
    enum weft_fork fork;
    int64_t quantum;
};

extern const struct road *road; /* the one that is tried now */

/* Runs the tests once for each road: 0, or how many failed. */
int run_on_all_roads(const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup,
                     CMFixtureFunction teardown);

#define RUN_ON_ALL_ROADS(tests) \
    run_on_all_roads(tests, sizeof(tests) / sizeof((tests)[0]), NULL, NULL)

/* For cmocka's table: a test with so many workers, and these flags of the pool. */
#define WITH_WORKERS(n, flags, test)                              \
    ((struct CMUnitTest){"workers_" #n, staffed_test, NULL, NULL, \
                         &(struct staffing){n, flags, test}})
struct staffing {
    unsigned workers, flags;
    void (*test)(unsigned workers, unsigned flags);
};
void staffed_test(void **state);

/* What a config does not say about forks is as the road says. */
weft_pool *pool_make(unsigned workers, unsigned flags);
weft_pool *pool_make_with(const weft_config *config);
void pool_drop(weft_pool *pool);

/* Until all its worker threads are asleep at the same time. Not for WEFT_USE_CALLER. */
void pool_wait_asleep(weft_pool *pool);

/* A job that says when it has started and goes on when it may: a worker to be kept busy,
 * or a task to be kept from being over. Starts as zeros. */
struct gate {
    atomic_bool arrived, open;
};

void gate_job(weft *w, void *gate);
void gate_wait_arrived(struct gate *gate);
void gate_open(struct gate *gate);

/* Holds `n` workers of a pool, each with a gate of its own, by submitting to it. */
struct held {
    unsigned n;
    struct gate *gates;
    weft_task *tasks;
};

void pool_hold(weft_pool *pool, struct held *held, unsigned n);
void pool_let_go(struct held *held);

/* Of all its workers together. */
uint64_t pool_steals(weft_pool *pool);

/* What weft_pool_dump() says. The caller frees it. */
char *pool_dump_text(weft_pool *pool);

void count_job(weft *w, void *count); /* adds 1 to an atomic_ulong */

#endif
