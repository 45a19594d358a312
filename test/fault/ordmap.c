/* SPDX-License-Identifier: MIT */
/* ordmap.c: ordered maps without memory. Each operation is tried with its first allocation
 * failing, then its second, until none fails: the maps it was given are as they were, and nothing
 * is leaked. */
#include "weft/ordmap.h"
#include "child.h"
#include "os/memory.h"

#include <errno.h>

enum { N = SCALED(300, 4) };

static int compare(const void *a, const void *b, void *arg)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Leaves of many entries and of few: low trees and high ones. */
enum { WIDE = 300 };
static const weft_ordmap_kind kinds[] = {{4, 4, compare, NULL}, {4, WIDE, compare, NULL}};
static uint32_t evens[N], thirds[N];
static uint32_t even_values[N * WIDE / 4], third_values[N * WIDE / 4];

struct given {
    const weft_ordmap_kind *kind;
    weft_ordmap *a, *b, *other; /* as b, but its values have another size */
};

static void add(weft *w, void *left, const void *right, void *arg)
{
    *(uint32_t *)left += *(const uint32_t *)right;
}

static bool keep(weft *w, const void *key, const void *value, void *arg)
{
    return *(const uint32_t *)key % 5 != 0;
}

static void copy_value(weft *w, const void *key, const void *value, void *out, void *arg)
{
    *(uint32_t *)out = *(const uint32_t *)value;
}

typedef int try_fn(weft *w, weft_ordmap **result, const struct given *given);

static int try_empty(weft *w, weft_ordmap **result, const struct given *given)
{
    return weft_ordmap_empty(given->kind, result);
}

static int try_build(weft *w, weft_ordmap **result, const struct given *given)
{
    return weft_ordmap_build(w, evens, even_values, N, given->kind, result);
}

static int try_insert(weft *w, weft_ordmap **result, const struct given *given)
{
    return weft_ordmap_insert(given->a, &(uint32_t){101}, NULL, result);
}

static int try_replace(weft *w, weft_ordmap **result, const struct given *given)
{
    return weft_ordmap_insert(given->a, &(uint32_t){100}, NULL, result);
}

static int try_remove(weft *w, weft_ordmap **result, const struct given *given)
{
    return weft_ordmap_remove(given->a, &(uint32_t){90}, result);
}

/* The one whose leaf is too small without it. */
static int try_remove_many(weft *w, weft_ordmap **result, const struct given *given)
{
    weft_ordmap *map, *next;
    int error = weft_ordmap_copy(given->a, &map);
    for (uint32_t i = 0; i < N / 2 && !error; i++) {
        error = weft_ordmap_remove(map, &evens[i], &next);
        weft_ordmap_release(map);
        map = next;
    }
    *result = map;
    return error;
}

static int try_copy(weft *w, weft_ordmap **result, const struct given *given)
{
    return weft_ordmap_copy(given->a, result);
}

static int try_map(weft *w, weft_ordmap **result, const struct given *given)
{
    return weft_ordmap_map(w, given->a, copy_value, NULL, result, 4);
}

static int try_map_wide(weft *w, weft_ordmap **result, const struct given *given)
{
    return weft_ordmap_map(w, given->a, copy_value, NULL, result, WIDE);
}

static int try_filter(weft *w, weft_ordmap **result, const struct given *given)
{
    return weft_ordmap_filter(w, given->a, keep, NULL, result);
}

static int try_union(weft *w, weft_ordmap **result, const struct given *given)
{
    return weft_ordmap_union(w, given->a, given->b, add, NULL, result);
}

static int try_intersection(weft *w, weft_ordmap **result, const struct given *given)
{
    return weft_ordmap_intersection(w, given->a, given->b, NULL, NULL, result);
}

static int try_difference(weft *w, weft_ordmap **result, const struct given *given)
{
    return weft_ordmap_difference(w, given->a, given->b, result);
}

static int try_other_intersection(weft *w, weft_ordmap **result, const struct given *given)
{
    return weft_ordmap_intersection(w, given->a, given->other, add, NULL, result);
}

static int try_other_difference(weft *w, weft_ordmap **result, const struct given *given)
{
    return weft_ordmap_difference(w, given->other, given->a, result);
}

/* An accumulator that has to be allocated; and all is in it, or the computation has failed. */
static int try_reduce(weft *w, weft_ordmap **result, const struct given *given)
{
    uint32_t sum[2500] = {0};
    weft_scope scope;
    *result = NULL;
    weft_scope_open(w, &scope);
    weft_ordmap_reduce(w, given->a, copy_value, add, NULL, sum, sizeof sum);
    int error = weft_scope_close(w, &scope);
    CHECK(error || sum[0] == N * (N - 1));
    return error;
}

static bool never(weft *w, const void *accumulator, void *arg)
{
    return false;
}

static int try_reduce_until(weft *w, weft_ordmap **result, const struct given *given)
{
    uint32_t sum[2500] = {0};
    weft_scope scope;
    *result = NULL;
    weft_scope_open(w, &scope);
    weft_ordmap_reduce_until(w, given->a, copy_value, add, never, NULL, sum, sizeof sum);
    int error = weft_scope_close(w, &scope);
    CHECK(error || sum[0] == N * (N - 1));
    return error;
}

static bool is_as_built(const void *key, const void *value, void *arg)
{
    uint32_t **next = arg, expected = *(*next)++;
    CHECK(*(const uint32_t *)key == expected && *(const uint32_t *)value == expected);
    return true;
}

static void expect_unharmed(const struct given *given)
{
    CHECK(weft_ordmap_walk(given->a, 0, N, is_as_built, &(uint32_t *){evens}));
    CHECK(weft_ordmap_walk(given->b, 0, N, is_as_built, &(uint32_t *){thirds}));
    CHECK(weft_ordmap_walk(given->other, 0, N, is_as_built, &(uint32_t *){thirds}));
}

static void sweep(weft *w, try_fn *try, const struct given *given)
{
    int error = -ENOMEM;
    for (uint32_t k = 1; error; k++) {
        weft_ordmap *result;
        atomic_store_relaxed(&weft__alloc_fail_at, k);
        error = try(w, &result, given);
        atomic_store_relaxed(&weft__alloc_fail_at, 0);
        CHECK(error == 0 || (error == -ENOMEM && !result));
        weft_ordmap_release(result);
        expect_unharmed(given);
    }
}

static weft_ordmap *build(weft *w, const uint32_t *keys, uint32_t *values,
                          const weft_ordmap_kind *kind)
{
    weft_ordmap *map;
    for (uint32_t i = 0; i < N; i++)
        values[i * kind->value_size / 4] = keys[i];
    CHECK_EQUAL(weft_ordmap_build(w, keys, values, N, kind, &map), 0);
    return map;
}

static void sweep_kind(weft *w, const weft_ordmap_kind *kind, const weft_ordmap_kind *other)
{
    static try_fn *const tries[] = {try_empty,
                                    try_build,
                                    try_insert,
                                    try_replace,
                                    try_remove,
                                    try_remove_many,
                                    try_copy,
                                    try_map,
                                    try_map_wide,
                                    try_filter,
                                    try_union,
                                    try_intersection,
                                    try_difference,
                                    try_other_intersection,
                                    try_other_difference,
                                    try_reduce,
                                    try_reduce_until};
    struct given given = {kind, NULL, NULL, build(w, thirds, third_values, other)};
    given.a = build(w, evens, even_values, kind);
    given.b = build(w, thirds, third_values, kind);
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
        sweep(w, tries[i], &given);
    weft_ordmap_release(given.a);
    weft_ordmap_release(given.b);
    weft_ordmap_release(given.other);
}

static void sweep_all(weft *w, void *arg)
{
    for (uint32_t i = 0; i < N; i++) {
        evens[i] = 2 * i;
        thirds[i] = 3 * i;
    }
    sweep_kind(w, &kinds[0], &kinds[1]);
    sweep_kind(w, &kinds[1], &kinds[0]);
}

static void maps_without_memory(void)
{
    weft_pool *pool = child_pool(1, 0, WAY_NO_SPIN);
    CHECK_EQUAL(weft_run(pool, sweep_all, NULL), 0);
    child_pool_end(pool);
}

/* Somebody else may count, too, and see that memory is short. */
static void maps_without_memory_together(void)
{
    weft_pool *pool = child_pool(3, 0, WAY_EAGER_SPIN);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(weft_run(pool, sweep_all, NULL), 0);
    child_pool_end(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(maps_without_memory),
        IN_CHILD(maps_without_memory_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
