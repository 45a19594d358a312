/* SPDX-License-Identifier: MIT */
/* parallel_owned.c: reductions whose accumulators own memory. Every accumulator that was made is
 * moved from, dropped, or the result; each exactly once. */
#include "property.h"
#include "weft/actor.h"
#include "weft/lines.h"
#include "weft/parallel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 16 };

/* What an accumulator owns. */
struct table {
    size_t counts[BINS], first; /* `first`: the smallest element, for the order */
};

struct holder {
    uint64_t mark; /* from the identity */
    struct table *table;
};

static const struct holder identity = {0x5eed, NULL};

struct all {
    atomic_size_t made, dropped, moved;
    const weft_text *text; /* of lines; or NULL */
    size_t halt_at, fail_at;
    bool slow, nested, ordered;
    atomic_bool started, open; /* an actor waits in its fold until it is killed */
    bool waits;
};

static void make(weft *w, void *accumulator, void *arg)
{
    struct all *all = arg;
    struct holder *holder = accumulator;
    HOLDS(holder->mark == identity.mark && !holder->table);
    holder->table = calloc(1, sizeof *holder->table);
    HOLDS(holder->table);
    holder->table->first = SIZE_MAX;
    atomic_fetch_add(&all->made, 1);
}

static void drop(weft *w, void *accumulator, void *arg)
{
    struct all *all = arg;
    struct holder *holder = accumulator;
    HOLDS(holder->table);
    free(holder->table);
    holder->table = NULL;
    atomic_fetch_add(&all->dropped, 1);
}

static void combine(weft *w, void *left, const void *right, void *arg)
{
    const struct all *all = arg;
    struct table *to = ((struct holder *)left)->table;
    const struct table *from = ((const struct holder *)right)->table;
    HOLDS(to && from && to != from);
    if (all->ordered && from->first != SIZE_MAX && to->first != SIZE_MAX)
        HOLDS(to->first < from->first);
    to->first = from->first < to->first ? from->first : to->first;
    for (size_t i = 0; i < BINS; i++)
        to->counts[i] += from->counts[i];
}

/* Takes the table of the right side, and frees its own. */
static void move(weft *w, void *left, void *right, void *arg)
{
    struct all *all = arg;
    struct holder *l = left, *r = right;
    combine(w, left, right, arg);
    struct table *free_one = r->table->counts[0] > l->table->counts[0] / 2 ? r->table : l->table;
    if (free_one == l->table) {
        *r->table = *l->table;
        l->table = r->table;
    }
    free(free_one);
    r->table = NULL;
    atomic_fetch_add(&all->moved, 1);
}

static void wait_a_little(weft *w, size_t begin, size_t end, void *arg)
{
    dawdle(begin);
}

static void fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    struct all *all = arg;
    struct table *table = ((struct holder *)accumulator)->table;
    HOLDS(table && begin < end);
    table->first = begin < table->first ? begin : table->first;
    for (size_t i = begin; i < end; i++) {
        table->counts[i % BINS]++;
        if (all->slow)
            dawdle(i);
        if (i == all->fail_at)
            weft_fail(w, -EDOM);
    }
    if (all->nested)
        weft_for(w, 0, 20, wait_a_little, NULL);
    atomic_store(&all->started, true);
    while (all->waits && !atomic_load(&all->open))
        weft_yield(w);
}

static bool halt(weft *w, const void *accumulator, void *arg)
{
    const struct all *all = arg;
    return ((const struct holder *)accumulator)->table->counts[0] >= all->halt_at;
}

static weft_reducer any_reducer(struct dice *dice, bool halts)
{
    bool moves = dice_below(dice, 2);
    return (weft_reducer){.size = sizeof(struct holder),
                          .identity = &identity,
                          .fold = fold,
                          .combine = moves && dice_below(dice, 2) ? NULL : combine,
                          .block = 1 + dice_size(dice, 300),
                          .halt = halts ? halt : NULL,
                          .make = make,
                          .drop = drop,
                          .move = moves ? move : NULL};
}

static size_t elements(const struct holder *holder)
{
    size_t n = 0;
    for (size_t i = 0; i < BINS; i++)
        n += holder->table->counts[i];
    return n;
}

static void reduce(weft *w, size_t n, const weft_reducer *reducer, struct all *all,
                   struct holder *result)
{
    if (all->text && all->ordered)
        weft_reduce_lines(w, all->text, reducer, all, result);
    else if (all->text)
        weft_reduce_lines_unordered(w, all->text, reducer, all, result);
    else if (all->ordered)
        weft_reduce(w, 0, n, reducer, all, result);
    else
        weft_reduce_unordered(w, 0, n, reducer, all, result);
}

/* Only the result is left, and it is the caller's. */
static void result_remains(weft *w, struct all *all, struct holder *result)
{
    HOLDS(result->table);
    HOLDS(atomic_load(&all->made) == atomic_load(&all->dropped) + atomic_load(&all->moved) + 1);
    drop(w, result, all);
}

static void owned(weft *w, struct dice *dice)
{
    bool halts = dice_below(dice, 3) == 0, fails = dice_below(dice, 3) == 0;
    bool has_text = dice_below(dice, 2);
    size_t n = dice_size(dice, 20000);
    char *bytes = malloc(n + 1);
    HOLDS(bytes);
    for (size_t i = 0; i < n; i++)
        bytes[i] = dice_below(dice, 20) ? 'x' : '\n';
    const weft_text text = {bytes, n};
    struct all all = {.text = has_text ? &text : NULL,
                      .halt_at = dice_size(dice, 100),
                      .fail_at = fails && n ? dice_below(dice, n) : SIZE_MAX,
                      .slow = dice_below(dice, 2),
                      .nested = dice_below(dice, 4) == 0,
                      .ordered = dice_below(dice, 2)};
    weft_reducer reducer = any_reducer(dice, halts);
    struct holder result = {1, NULL};
    weft_scope scope;
    weft_scope_open(w, &scope);
    reduce(w, n, &reducer, &all, &result);
    HOLDS(halts || fails || elements(&result) == n);
    HOLDS(!halts || fails || elements(&result) == n || halt(w, &result, &all));
    if (!all.ordered && !all.nested) /* one for each of the workers and this guest */
        HOLDS(atomic_load(&all.made) <= weft_pool_workers(weft_pool_of(w)) + 1);
    if (dice_below(dice, 4) == 0) { /* a computation that has failed before */
        weft_fail(w, -EDOM);
        result_remains(w, &all, &result);
        reduce(w, n, &reducer, &all, &result);
        HOLDS(elements(&result) == 0);
    }
    result_remains(w, &all, &result);
    (void)weft_scope_close(w, &scope);
    free(bytes);
}

static void each_ends_once(void **state)
{
    property_holds(owned, SCALED(120, 10));
}

/* With `drop` alone: zeros are an accumulator, too. */
static void fold_lazily(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    struct holder *holder = accumulator;
    if (!holder->table)
        make(w, holder, arg);
    fold(w, begin, end, holder, arg);
}

static void add_lazily(weft *w, void *left, const void *right, void *arg)
{
    struct holder *l = left;
    if (!((const struct holder *)right)->table)
        return;
    if (!l->table)
        make(w, l, arg);
    combine(w, left, right, arg);
}

static void drop_lazily(weft *w, void *accumulator, void *arg)
{
    if (((struct holder *)accumulator)->table)
        drop(w, accumulator, arg);
}

static void lazy(weft *w, struct dice *dice)
{
    size_t n = 1 + dice_size(dice, 20000);
    struct all all = {.slow = dice_below(dice, 2), .ordered = dice_below(dice, 2), .halt_at = 1};
    all.fail_at = SIZE_MAX;
    const weft_reducer reducer = {.size = sizeof(struct holder),
                                  .identity = &identity,
                                  .fold = fold_lazily,
                                  .combine = add_lazily,
                                  .drop = drop_lazily,
                                  .block = 100};
    struct holder result;
    reduce(w, n, &reducer, &all, &result);
    HOLDS(elements(&result) == n);
    result_remains(w, &all, &result);
}

static void accumulators_need_no_make(void **state)
{
    property_holds(lazy, SCALED(60, 5));
}

/* ---- Actors: what is left is dropped, the result as well ---- */

static int killed_actor(weft *w, void *arg)
{
    struct all *all = arg;
    static const weft_reducer reducer = {.size = sizeof(struct holder),
                                         .identity = &identity,
                                         .fold = fold,
                                         .combine = combine,
                                         .block = 100,
                                         .make = make,
                                         .drop = drop};
    struct holder result;
    reduce(w, 1000, &reducer, all, &result);
    return 0;
}

static void kill_in_reduction(weft_pool *pool, bool ordered)
{
    struct all all = {.ordered = ordered, .waits = true, .fail_at = SIZE_MAX};
    weft_actor *actor;
    CHECK(weft_actor_create(&actor, pool, killed_actor, &all, NULL) == 0);
    CHECK(weft_actor_run(actor) == 0);
    while (!atomic_load(&all.started))
        ;
    weft_actor_kill(actor);
    assert_int_equal(weft_actor_wait(NULL, actor), -ECANCELED);
    weft_actor_release(actor);
    assert_true(atomic_load(&all.made) > 0);
    assert_int_equal(atomic_load(&all.made), atomic_load(&all.dropped));
}

static void actors_drop_what_they_made(void **state)
{
    for (unsigned workers = 1; workers <= 2; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        kill_in_reduction(pool, true);
        kill_in_reduction(pool, false);
        pool_drop(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_ends_once),
        cmocka_unit_test(accumulators_need_no_make),
        cmocka_unit_test(actors_drop_what_they_made),
    };
    return RUN_ON_ALL_ROADS(tests);
}
