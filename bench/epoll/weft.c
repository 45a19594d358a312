/* SPDX-License-Identifier: MIT */
#include "server.h"

#include "../contest.h"

#include <stdlib.h>
#include <weft/task.h>

struct serving {
    struct server *server;
    weft_pool *pool;
    weft_completions *completions;
    weft_task tasks[SERVER_WINDOW];
};

static void compute(weft *w, void *request)
{
    (void)w;
    server_compute(request);
}

static void start(struct server_request *request, void *data)
{
    struct serving *serving = data;
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    options.completions = serving->completions;
    weft_task *task = &serving->tasks[request - serving->server->window];
    if (weft_submit_with(serving->pool, task, compute, request, &options))
        abort();
}

static struct server_request *next(void *data)
{
    struct serving *serving = data;
    weft_task *task;
    if (weft_completions_next(serving->completions, &task))
        return NULL;
    weft_task_wait(task);
    return &serving->server->window[task - serving->tasks];
}

static void run(weft_pool *pool, void *data)
{
    struct serving serving = {.server = data, .pool = pool};
    if (weft_completions_create(&serving.completions))
        abort();
    server_loop(data, &(struct server_runtime){start, weft_completions_fd(serving.completions),
                                               next, &serving});
    weft_completions_destroy(serving.completions);
}

const struct contest epoll_contest = {
    .kernel = &epoll_kernel,
    .weft = run,
    .what = "SIZE requests of 50 us to an epoll loop, weft_submit_with() and completions",
    .operation = "request",
    .size = 2000,
    .quick = 50,
    .most = 10000000,
    .reps = 9,
    .claims = {.times_faster_than_peers = 0.95, .times_faster_together = 0.95},
};
