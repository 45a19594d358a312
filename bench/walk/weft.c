/* SPDX-License-Identifier: MIT */
#include "walk.h"

#include "../contest.h"

#include <stdlib.h>

struct visit {
    struct walk *walk;
    weft_scope *scope;
    size_t folder;
};

static void visit(weft *w, void *copy)
{
    struct visit here = *(const struct visit *)copy;
    weft_block_begin(w);
    walk_wait();
    weft_block_end(w);
    for (size_t i = 0, child; i < WALK_CHILDREN && (child = walk_child(here.walk, here.folder, i));
         i++)
        if (weft_spawn_copy(w, here.scope, visit, &(struct visit){here.walk, here.scope, child},
                            sizeof here, NULL))
            abort();
    walk_read(here.walk, here.folder);
}

static void walk_all(weft *w, void *data)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    visit(w, &(struct visit){data, &scope, 0});
    weft_scope_close(w, &scope);
}

static void run(weft_pool *pool, void *data)
{
    weft_run(pool, walk_all, data);
}

const struct contest walk_contest = {
    .kernel = &walk_kernel,
    .weft = run,
    .what = "SIZE folders that take a millisecond each, weft_block_begin() around it",
    .operation = "folder",
    .size = 341,
    .quick = 21,
    .most = 1000000,
    .reps = 7,
    .claims = {.times_twin = 0.2, .times_faster_than_peers = 0.95, .times_faster_together = 0.95},
};
