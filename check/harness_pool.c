/* SPDX-License-Identifier: MIT */
/* Whole pools, as a program uses them. */
#include "harnesses.h"

#include <errno.h>

static weft_pool *pool;
static int left_ran, right_ran;

static void setup(void)
{
}

static weft_pool *make(weft_config config)
{
    weft_pool *made = NULL;
    config.workers = 1;
    config.spin_rounds = -1;
    config.spares = -1;
    config.quantum = WEFT_QUANTUM_NONE;
    config.flags |= WEFT_NO_SIGSEGV;
    MODEL_ASSERT(weft_pool_create(&made, &config) == 0);
    return made;
}

static void left(weft *w, void *arg)
{
    left_ran++;
}

static void right(weft *w, void *arg)
{
    right_ran++;
}

static void join(weft *w, void *arg)
{
    weft_join(w, left, NULL, right, NULL);
}

static void run_and_destroy(void)
{
    weft_config config = WEFT_CONFIG_INIT;
    pool = make(config);
    MODEL_ASSERT(weft_run(pool, join, NULL) == 0);
    MODEL_ASSERT(weft_pool_destroy(pool) == 0);
}

static void both_ran(void)
{
    MODEL_ASSERT(left_ran == 1 && right_ran == 1);
}

static void submit_and_destroy(void)
{
    weft_config config = WEFT_CONFIG_INIT;
    weft_task task;
    pool = make(config);
    MODEL_ASSERT(weft_submit(pool, &task, left, NULL) == 0);
    MODEL_ASSERT(weft_pool_destroy(pool) == 0);
    MODEL_ASSERT(weft_task_wait(&task) == 0);
    MODEL_ASSERT(left_ran == 1);
}

const struct harness pool_harnesses[] = {
    {.name = "pool-join",
     .what = "create, run a join, destroy",
     .setup = setup,
     .thread = {run_and_destroy},
     .finish = both_ran},
    {.name = "pool-submit",
     .what = "create, submit a task, destroy",
     .setup = setup,
     .thread = {submit_and_destroy}},
    {0},
};
