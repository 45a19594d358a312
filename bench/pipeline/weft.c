/* SPDX-License-Identifier: MIT */
#include "pipeline.h"

#include "../contest.h"

#include <weft/parallel.h>
#include <weft/pipeline.h>

static bool read_one(weft *w, void *item, void *arg)
{
    (void)w;
    return pipeline_read(arg, item);
}

static bool work_on(weft *w, void *item, void *arg)
{
    (void)w;
    (void)arg;
    pipeline_work(item);
    return true;
}

static bool write_one(weft *w, void *item, void *arg)
{
    (void)w;
    pipeline_write(arg, item);
    return true;
}

static void job(weft *w, void *data)
{
    static const weft_stage stages[] = {{read_one, false}, {work_on, true}, {write_one, false}};
    static const weft_state item = {.size = sizeof(struct pipeline_block)};
    weft_pipeline(w, stages, sizeof stages / sizeof stages[0], &item, 0, data);
}

static void run(weft_pool *pool, void *data)
{
    weft_run(pool, job, data);
}

const struct contest pipeline_contest = {
    .kernel = &pipeline_kernel,
    .weft = run,
    .what = "weft_pipeline, SIZE blocks read, worked on and written",
    .operation = "block",
    .size = 2000,
    .quick = 50,
    .most = 1000000,
    .reps = 15,
    .claims = {.times_twin = 1.03, .times_twin_wall = 0.75},
};
