/* SPDX-License-Identifier: MIT */
/* Whole pools, as a program uses them: a thread of the harness makes one, its workers are
 * threads of the model, and all are gone in the end. */
#include "core/pool.h"
#include "harnesses.h"

#include <errno.h>
#include <weft/task.h>

static weft_pool *pool;
static int ran[3];
static weft_task tasks[2];

static void setup(void)
{
}

static int create(unsigned workers, enum weft_fork fork)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = workers;
    config.spin_rounds = config.spares = WEFT_NONE;
    config.fork = fork;
    config.quantum = WEFT_NONE;
    config.flags = WEFT_NO_SIGSEGV;
    return weft_pool_create(&pool, &config);
}

static void make(unsigned workers, enum weft_fork fork)
{
    MODEL_ASSERT(create(workers, fork) == 0);
}

static void destroy(void)
{
    MODEL_ASSERT(weft_pool_destroy(pool) == 0);
}

static void note(weft *w, void *p)
{
    *(int *)p += 1;
}

/* ---- Create and destroy ---- */

static void create_and_destroy(void)
{
    make(2, WEFT_FORK_LAZY);
    destroy();
}

/* One thing fails, whichever it is: what was started ends, and the error is told. */
static void create_in_vain(void)
{
    int error = create(2, WEFT_FORK_LAZY);
    MODEL_ASSERT(error == 0 || error == -ENOMEM || error == -EPERM);
    MODEL_ASSERT(!pool == (error != 0));
    if (pool && weft_pool_destroy(pool) == -ENOMEM) /* that may be what fails */
        destroy();
}

/* ---- Jobs ---- */

static void join(weft *w, void *arg)
{
    weft_join(w, note, &ran[0], note, &ran[1]);
    MODEL_ASSERT(ran[0] == 1 && ran[1] == 1);
}

/* The fork wakes the worker, or finds it awake. */
static void run_lazy(void)
{
    make(1, WEFT_FORK_LAZY);
    MODEL_ASSERT(weft_run(pool, join, NULL) == 0);
    destroy();
}

static void run_eager(void)
{
    make(1, WEFT_FORK_EAGER);
    MODEL_ASSERT(weft_run(pool, join, NULL) == 0);
    destroy();
}

static void submit_and_wait(void)
{
    make(1, WEFT_FORK_LAZY);
    MODEL_ASSERT(weft_submit(pool, &tasks[0], note, &ran[0]) == 0);
    MODEL_ASSERT(weft_task_wait(&tasks[0]) == 0);
    MODEL_ASSERT(ran[0] == 1);
    destroy();
}

/* What was submitted is done before destroy returns. */
static void submit_and_destroy(void)
{
    make(1, WEFT_FORK_LAZY);
    MODEL_ASSERT(weft_submit(pool, &tasks[0], note, &ran[0]) == 0);
    destroy();
    MODEL_ASSERT(ran[0] == 1);
}

/* A job submits another one while the pool is destroyed: it is refused, or done. */
static int error;

static void submit_more(weft *w, void *arg)
{
    error = weft_submit(pool, &tasks[1], note, &ran[1]);
    MODEL_ASSERT(error == 0 || error == -ESHUTDOWN);
}

static void destroy_while_submitting(void)
{
    make(1, WEFT_FORK_LAZY);
    MODEL_ASSERT(weft_submit(pool, &tasks[0], submit_more, NULL) == 0);
    destroy();
    MODEL_ASSERT(ran[1] == (error == 0));
}

/* A job waits for a task that the worker has taken, or takes it itself. */
static void wait_inside(weft *w, void *arg)
{
    MODEL_ASSERT(weft_submit(pool, &tasks[0], note, &ran[0]) == 0);
    MODEL_ASSERT(weft_task_wait(&tasks[0]) == 0);
    MODEL_ASSERT(ran[0] == 1);
}

static void run_and_wait(void)
{
    make(1, WEFT_FORK_LAZY);
    MODEL_ASSERT(weft_run(pool, wait_inside, NULL) == 0);
    destroy();
}

/* ---- Cancelled tasks ---- */

static void cancel_and_wait(void)
{
    make(1, WEFT_FORK_LAZY);
    MODEL_ASSERT(weft_submit(pool, &tasks[0], note, &ran[0]) == 0);
    MODEL_ASSERT(weft_task_cancel(&tasks[0]) == 0);
    int result = weft_task_wait(&tasks[0]);
    MODEL_ASSERT(result == -ECANCELED || (result == 0 && ran[0] == 1));
    destroy();
}

static void *cancel(void *task)
{
    MODEL_ASSERT(weft_task_cancel(task) == 0);
    return NULL;
}

/* The pool is gone when the task is over, whoever cancels it. */
static void cancel_while_destroying(void)
{
    make(1, WEFT_FORK_LAZY);
    MODEL_ASSERT(weft_submit(pool, &tasks[0], note, &ran[0]) == 0);
    MODEL_ASSERT(model_start(cancel, &tasks[0]));
    destroy();
    MODEL_ASSERT(weft_task_done(&tasks[0]));
}

/* Threads that somebody else starts, and nobody joins. */
struct start {
    void (*run)(void *arg);
    void *arg;
};

static void *run_foreign(void *p)
{
    struct start *start = p;
    start->run(start->arg);
    return NULL;
}

static int start_foreign(void (*run)(void *arg), void *arg, unsigned worker, void *data)
{
    struct start *start = model_alloc(sizeof *start);
    *start = (struct start){run, arg};
    return model_start(run_foreign, start) ? 0 : EAGAIN;
}

static void create_foreign(void)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 1;
    config.spin_rounds = config.spares = WEFT_NONE;
    config.flags = WEFT_NO_SIGSEGV;
    config.spawn_thread = start_foreign;
    MODEL_ASSERT(weft_pool_create(&pool, &config) == 0);
    destroy();
}

/* Somebody is in the pool, and leaves while it ends. */
static void setup_left(void)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 1;
    config.spin_rounds = config.spares = WEFT_NONE;
    config.flags = WEFT_NO_SIGSEGV | WEFT_USE_CALLER; /* who has no thread to join */
    MODEL_ASSERT(weft_pool_create(&pool, &config) == 0);
    pool->config.flags &= ~(unsigned)WEFT_USE_CALLER;
    weft__pool_hold(pool);
}

static void leave(void)
{
    pool->config.data = &ran;
    weft__pool_leave(pool);
}

/* ---- Broadcasts ---- */

static void mark_worker(weft *w, void *arg)
{
    ran[weft_worker_index(w)]++;
}

static void broadcast_to_one(void)
{
    make(1, WEFT_FORK_LAZY);
    MODEL_ASSERT(weft_broadcast(pool, mark_worker, NULL) == 0);
    MODEL_ASSERT(ran[0] == 1);
    destroy();
}

#define POOL(id, text, few, thing)                                                \
    {                                                                             \
        .name = id, .what = text, .setup = setup, .thread = {thing}, .stale = few \
    }

const struct harness pool_harnesses[] = {
    {.name = "pool-create",
     .what = "two workers come and go",
     .setup = setup,
     .thread = {create_and_destroy},
     .preemptions = 1, /* three threads */
     .stale = 1},
    {.name = "pool-create-fails",
     .what = "an allocation or a thread fails",
     .setup = setup,
     .thread = {create_in_vain},
     .preemptions = 1,
     .stale = 1,
     .failures = 1},
    POOL("pool-run", "a job forks while the worker falls asleep", 1, run_lazy),
    POOL("pool-run-eager", "the same on the eager road", 1, run_eager),
    POOL("pool-submit", "a task, and a thread that waits for it", 1, submit_and_wait),
    POOL("pool-destroy", "a pool ends with a task in it", 1, submit_and_destroy),
    POOL("pool-destroy-submit", "a job submits another while the pool ends", 1,
         destroy_while_submitting),
    POOL("pool-wait", "a job waits for a task", 1, run_and_wait),
    POOL("pool-cancel", "a task is cancelled while the worker begins it", 1, cancel_and_wait),
    {.name = "pool-cancel-destroy",
     .what = "a task is cancelled while its pool ends with it",
     .setup = setup,
     .thread = {cancel_while_destroying},
     .preemptions = 1, /* three threads */
     .stale = 1},
    POOL("pool-foreign", "threads that somebody else starts", 1, create_foreign),
    {.name = "pool-left",
     .what = "somebody leaves while the pool ends",
     .setup = setup_left,
     .thread = {destroy, leave}},
    POOL("pool-broadcast", "a broadcast to a worker that falls asleep", 1, broadcast_to_one),
    {0},
};
