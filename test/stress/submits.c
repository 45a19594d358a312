/* SPDX-License-Identifier: MIT */
/* submits.c: a million tasks from eight threads for each number of workers; each runs once,
 * and whoever waits for it is told. */
#include "check.h"
#include "pools.h"
#include "watchdog.h"
#include "weft/task.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

enum { THREADS = 8, BATCH = 50, BATCHES = SCALED(840, 8) }; /* on three roads, a million */

struct order {
    weft_task task;
    unsigned long ran; /* plain: the wait publishes it */
};

static void run_order(weft *w, void *arg)
{
    ((struct order *)arg)->ran++;
}

static void wait_for_order(struct order *order, unsigned way)
{
    if (way == 0) {
        WAIT_UNTIL(weft_task_done(&order->task));
    } else if (way == 1) {
        struct pollfd p = {.fd = weft_task_fd(&order->task), .events = POLLIN};
        CHECK(p.fd >= 0);
        CHECK(poll(&p, 1, -1) == 1);
    } else if (way == 2) {
        while (weft_task_wait_until(&order->task, weft_now() + 20000) == -ETIMEDOUT)
            ;
    }
    CHECK(weft_task_wait(&order->task) == 0);
}

/* All at once; then waits for most of them in the opposite order, for some in other ways. */
static void submit_batch(weft_pool *pool, struct order *orders, unsigned long batch)
{
    weft_submit_options urgently = WEFT_SUBMIT_OPTIONS_INIT;
    urgently.urgent = true;
    for (size_t i = 0; i < BATCH; i++)
        CHECK(weft_submit_with(pool, &orders[i].task, run_order, &orders[i],
                               i % 3 ? NULL : &urgently) == 0);
    for (size_t i = BATCH; i-- > 0;) {
        wait_for_order(&orders[i], i % 16);
        CHECK(orders[i].ran == batch);
    }
    watchdog_kick();
}

static void submit_many(unsigned i, void *pool)
{
    struct order *orders = calloc(BATCH, sizeof orders[0]);
    CHECK(orders);
    for (unsigned long batch = 1; batch <= BATCHES; batch++)
        submit_batch(pool, orders, batch);
    free(orders);
}

static void submit_all(unsigned workers, unsigned flags)
{
    weft_pool *pool = pool_make(workers, flags);
    in_threads(THREADS, submit_many, pool);
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_pool_get_info(pool, &info);
    assert_int_equal(info.queued, 0);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORKERS(1, 0, submit_all),
        WITH_WORKERS(2, WEFT_NO_GUESTS, submit_all),
        WITH_WORKERS(8, 0, submit_all),
        WITH_WORKERS(64, WEFT_NO_GUESTS, submit_all),
    };
    return RUN_ON_ALL_ROADS(tests);
}
