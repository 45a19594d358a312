/* SPDX-License-Identifier: MIT */
/* pipeline.c: pipelines without memory. They say so, and have dropped what was made; or have
 * done everything. */
#include "weft/pipeline.h"
#include "child.h"
#include "os/memory.h"
#include "weft/parallel.h"

#include <errno.h>
#include <stdatomic.h>

enum { ITEMS = 50 };

struct line {
    uint32_t fail_at;
    int left;
    atomic_int passed, made, dropped;
    int error;
};

static bool give(weft *w, void *item, void *arg)
{
    return ((struct line *)arg)->left-- > 0;
}

static bool work(weft *w, void *item, void *arg)
{
    sched_yield(); /* so that some overtake others, and are spawned later */
    return true;
}

static bool take(weft *w, void *item, void *arg)
{
    atomic_fetch_add(&((struct line *)arg)->passed, 1);
    return true;
}

static void make(weft *w, void *item, void *arg)
{
    atomic_fetch_add(&((struct line *)arg)->made, 1);
}

static void drop(weft *w, void *item, void *arg)
{
    atomic_fetch_add(&((struct line *)arg)->dropped, 1);
}

static void line_job(weft *w, void *arg)
{
    static const weft_stage stages[] = {{give, false}, {work, true}, {take, false}};
    static const weft_state item = {8, make, drop};
    struct line *line = arg;
    atomic_store_relaxed(&weft__alloc_fail_at, line->fail_at);
    line->error = weft_pipeline(w, stages, 3, &item, 8, line);
    atomic_store_relaxed(&weft__alloc_fail_at, 0);
}

/* Spawned jobs are kept for the next ones; so each try has a pool of its own. */
static void try_line(unsigned workers, uint32_t k)
{
    weft_pool *pool = child_pool(workers, 0, WAY_NO_SPIN);
    struct line line = {.fail_at = k, .left = ITEMS};
    until_asleep(pool, workers); /* they allocate when they start */
    CHECK_EQUAL(weft_run(pool, line_job, &line), 0);
    CHECK(line.error == 0 || line.error == -ENOMEM);
    CHECK(line.error || line.passed == ITEMS);
    CHECK_EQUAL(line.made, line.dropped);
    CHECK(k > 3 || line.error); /* the places, before anything begins */
    child_pool_end(pool);
}

static void pipelines_without_memory(void)
{
    for (uint32_t k = 1; k < 20; k++) {
        try_line(1, k);
        try_line(3, k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_CHILD(pipelines_without_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
