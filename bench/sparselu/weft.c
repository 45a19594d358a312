/* SPDX-License-Identifier: MIT */
#include "sparselu.h"

#include "../contest.h"

#include <stdlib.h>

static void child(weft *w, void *copy)
{
    const struct lu_task *task = copy;
    (void)w;
    lu_run(task->lu, task->k, task->i, task->j);
}

static void if_due(weft *w, weft_scope *scope, struct lu_task task)
{
    if (lu_is_due(task.lu, task.k, task.i, task.j) &&
        weft_spawn_copy(w, scope, child, &task, sizeof task, NULL))
        abort();
}

static void factor(weft *w, void *data)
{
    struct lu *lu = data;
    for (size_t k = 0; k < lu->n; k++) {
        weft_scope scope;
        lu_factor(lu_at(lu, k, k));
        weft_scope_open(w, &scope);
        for (size_t i = k + 1; i < lu->n; i++) {
            if_due(w, &scope, (struct lu_task){lu, k, k, i});
            if_due(w, &scope, (struct lu_task){lu, k, i, k});
        }
        weft_scope_close(w, &scope);
        weft_scope_open(w, &scope);
        for (size_t i = k + 1; i < lu->n; i++)
            for (size_t j = k + 1; j < lu->n; j++)
                if_due(w, &scope, (struct lu_task){lu, k, i, j});
        weft_scope_close(w, &scope);
    }
}

static void run(weft_pool *pool, void *data)
{
    weft_run(pool, factor, data);
}

const struct contest sparselu_contest = {
    .kernel = &sparselu_kernel,
    .weft = run,
    .what = "factors a sparse matrix of SIZE by SIZE blocks of 16 by 16 floats",
    .operation = "update",
    .size = 40,
    .quick = 10,
    .most = LU_MOST,
    .reps = 21,
    .claims = {.times_twin = 1.1, .times_faster_than_peers = 1},
};
