/* SPDX-License-Identifier: MIT */
#include "captured.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

/* ---- A call ---- */

struct range {
    uint64_t lo, hi, result;
};

static void sum_run(weft *w, void *arg);

static uint64_t sum(weft *w, uint64_t lo, uint64_t hi)
{
    if (hi - lo == 1)
        return captured_leaf(lo);
    uint64_t middle = lo + (hi - lo) / 2;
    struct range right = {.lo = middle, .hi = hi};
    weft *in = weft_fork(w, sum_run, &right);
    uint64_t left = sum(in, lo, middle);
    return left + (weft_merge(w) ? right.result : sum(w, middle, hi));
}

static void sum_run(weft *w, void *arg)
{
    struct range *range = arg;
    range->result = sum(w, range->lo, range->hi);
}

/* ---- Both, in a pool ---- */

struct server {
    weft_pool *pool;
    struct captured *captured;
    weft_task *tasks;
};

static uint64_t call(uint64_t first, void *data)
{
    const struct server *server = data;
    struct range all = {.lo = first, .hi = first + CAPTURED_LEAVES};
    weft_run(server->pool, sum_run, &all);
    return all.result;
}

static void long_job(weft *w, void *arg)
{
    (void)w;
    captured_task_run(arg);
}

/* One that was started before is over, or about to be: nobody runs it while waiting. */
static void start(struct captured_task *task, void *data)
{
    const struct server *server = data;
    weft_task *own = &server->tasks[task - server->captured->tasks];
    if (task->starts > 0)
        weft_task_wait(own);
    int error = weft_submit(server->pool, own, long_job, task);
    if (error)
        errx(EXIT_FAILURE, "captured: no long task: %s", strerror(-error));
}

void captured_weft(weft_pool *pool, struct captured *captured)
{
    struct server server = {pool, captured, calloc(captured->count, sizeof *server.tasks)};
    if (!server.tasks)
        err(EXIT_FAILURE, "captured");
    captured_client(captured, &(struct captured_runtime){start, call, &server});
    for (unsigned i = 0; i < captured->count; i++)
        if (captured->tasks[i].starts > 0)
            weft_task_wait(&server.tasks[i]);
    free(server.tasks);
}
