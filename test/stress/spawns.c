/* SPDX-License-Identifier: MIT */
/* spawns.c: a million children for each number of workers: last in, first out; first in,
 * first out; and both in scopes within scopes, among forks. Each runs once. */
#include "check.h"
#include "pools.h"
#include "watchdog.h"

#include <stdlib.h>

enum { CHILDREN = SCALED(120000, 4) }; /* three kinds on three roads are a million */

static atomic_uchar *ran; /* CHILDREN */

static void run_child(weft *w, void *arg)
{
    size_t i = (size_t)((atomic_uchar *)arg - ran);
    atomic_fetch_add_explicit(&ran[i], 1, memory_order_relaxed);
    if (i % 1024 == 0)
        watchdog_kick();
}

/* ---- One scope ---- */

static void spawn_flat(weft *w, weft_scope *scope, bool fifo)
{
    for (size_t i = 0; i < CHILDREN; i++)
        CHECK((fifo ? weft_spawn_fifo : weft_spawn)(w, scope, run_child, &ran[i]) == 0);
}

static void flat(weft *w, void *fifo)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    spawn_flat(w, &scope, fifo != NULL);
    CHECK(weft_scope_close(w, &scope) == 0);
}

/* ---- Scopes within scopes ---- */

struct range {
    size_t begin, end;
    weft_scope *outer; /* one further out: some of the children go there */
};

static void spawn_range(weft *w, void *arg);

/* One half is forked, until few are left. */
static void split(weft *w, struct range *range, weft_scope *scope)
{
    size_t middle = range->begin + (range->end - range->begin) / 2;
    struct range left = {range->begin, middle, scope}, right = {middle, range->end, scope};
    weft *in = weft_fork(w, spawn_range, &right);
    spawn_range(in, &left);
    if (!weft_merge(w))
        spawn_range(w, &right);
}

static void spawn_range(weft *w, void *arg)
{
    struct range *range = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    if (range->end - range->begin > 32) {
        split(w, range, &scope);
    } else {
        for (size_t i = range->begin; i < range->end; i++) {
            weft_scope *into = range->outer && i % 3 == 0 ? range->outer : &scope;
            CHECK((i % 2 ? weft_spawn : weft_spawn_fifo)(w, into, run_child, &ran[i]) == 0);
        }
    }
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void nested(weft *w, void *unused)
{
    struct range all = {0, CHILDREN, NULL};
    spawn_range(w, &all);
}

/* ---- All of them ---- */

static void spawn_all(unsigned workers, unsigned flags)
{
    weft_fn *const kinds[] = {flat, flat, nested};
    static int fifo;
    void *const args[] = {NULL, &fifo, NULL};
    weft_pool *pool = pool_make(workers, flags);
    for (int k = 0; k < 3; k++) {
        ran = calloc(CHILDREN, sizeof ran[0]);
        assert_non_null(ran);
        assert_int_equal(weft_run(pool, kinds[k], args[k]), 0);
        for (size_t i = 0; i < CHILDREN; i++)
            assert_int_equal(atomic_load_explicit(&ran[i], memory_order_relaxed), 1);
        free(ran);
    }
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORKERS(1, 0, spawn_all),
        WITH_WORKERS(2, WEFT_NO_GUESTS, spawn_all),
        WITH_WORKERS(8, 0, spawn_all),
        WITH_WORKERS(64, WEFT_NO_GUESTS, spawn_all),
    };
    return RUN_ON_ALL_ROADS(tests);
}
