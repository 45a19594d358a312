/* SPDX-License-Identifier: MIT */
/* containers.c: hash maps and vectors without memory: each allocation fails once. Nothing is lost,
 * put twice or leaked. And their functions when the job fails, or the actor ends, inside them. */
#include "actors.h"
#include "child.h"
#include "os/memory.h"
#include "weft/hashmap.h"
#include "weft/vector.h"

#include <errno.h>
#include <stdatomic.h>

enum { KEYS = 1500 };

static uint32_t keys[2 * KEYS];
static uint64_t ones[2 * KEYS];

static void add(weft *w, void *left, const void *right, void *arg)
{
    *(uint64_t *)left += *(const uint64_t *)right;
}

static const weft_hashmap_kind kind = {
    .key_size = sizeof(uint32_t), .value_size = sizeof(uint64_t), .combine = add};

static void fail_at(uint32_t k)
{
    atomic_store_relaxed(&weft__alloc_fail_at, k);
}

/* Has an allocation failed since fail_at()? Switches it off. */
static bool failed(void)
{
    uint32_t left = atomic_load_relaxed(&weft__alloc_fail_at);
    fail_at(0);
    return left == 0 || left > UINT32_MAX / 2; /* two threads may count at once */
}

/* With the k-th allocation failing. True: one has failed. */
typedef bool try_fn(weft *w, uint32_t k);

static weft_hashmap *make(void)
{
    weft_hashmap *map;
    CHECK_EQUAL(weft_hashmap_create(&map, &kind, 0), 0);
    return map;
}

static uint64_t value_of(weft_hashmap *map, uint32_t key)
{
    const uint64_t *value = weft_hashmap_find(map, &key);
    return value ? *value : 0;
}

static bool try_create(weft *w, uint32_t k)
{
    weft_hashmap *map;
    weft_vector *vector;
    fail_at(k);
    int error = weft_hashmap_create(&map, &kind, 100000);
    CHECK(error == 0 || (error == -ENOMEM && !map));
    weft_hashmap_destroy(map);
    error = weft_vector_create(&vector, 8);
    CHECK(error == 0 || (error == -ENOMEM && !vector));
    weft_vector_destroy(vector);
    return failed();
}

static bool try_put(weft *w, uint32_t k)
{
    weft_hashmap *map = make();
    size_t put = 0;
    fail_at(k);
    for (uint32_t key = 0; key < KEYS; key++) {
        int error = weft_hashmap_put(w, map, &key, &ones[0]);
        CHECK(error == 0 || error == -ENOMEM);
        CHECK_EQUAL(value_of(map, key), error ? 0 : 1);
        put += !error;
    }
    CHECK_EQUAL(weft_hashmap_size(map), put);
    CHECK(put >= KEYS - 1);
    weft_hashmap_destroy(map);
    return failed();
}

static bool try_put_all(weft *w, uint32_t k)
{
    weft_hashmap *map = make();
    fail_at(k);
    int error = weft_hashmap_put_all(w, map, keys, ones, 2 * KEYS);
    bool one_failed = failed();
    CHECK(error == 0 || (error == -ENOMEM && one_failed));
    for (uint32_t key = 0; key < KEYS; key++)
        CHECK(error ? value_of(map, key) <= 2 : value_of(map, key) == 2);
    weft_hashmap_destroy(map);
    return one_failed;
}

static bool try_merge(weft *w, uint32_t k)
{
    weft_hashmap *into = make(), *from = make();
    CHECK_EQUAL(weft_hashmap_put_all(w, into, keys, ones, KEYS / 2), 0);
    CHECK_EQUAL(weft_hashmap_put_all(w, from, keys, ones, 2 * KEYS), 0);
    fail_at(k);
    int error = weft_hashmap_merge(w, into, from);
    bool one_failed = failed();
    CHECK(error == 0 || (error == -ENOMEM && one_failed));
    for (uint32_t key = 0; key < KEYS; key++) /* moved or not, but not both */
        CHECK_EQUAL(value_of(into, key) + value_of(from, key), key < KEYS / 2 ? 3 : 2);
    CHECK_EQUAL(weft_hashmap_merge(w, into, from), 0); /* the rest */
    CHECK_EQUAL(weft_hashmap_size(from), 0);
    for (uint32_t key = 0; key < KEYS; key++)
        CHECK_EQUAL(value_of(into, key), key < KEYS / 2 ? 3 : 2);
    weft_hashmap_destroy(into);
    weft_hashmap_destroy(from);
    return one_failed;
}

static void count_pair(weft *w, size_t i, size_t j, void *count)
{
    CHECK_EQUAL(keys[i], keys[j]);
    atomic_fetch_add((atomic_size_t *)count, 1);
}

static bool try_join(weft *w, uint32_t k)
{
    atomic_size_t count = 0;
    fail_at(k);
    int error = weft_equijoin(w, keys, 2 * KEYS, keys, KEYS, &kind, count_pair, &count);
    bool one_failed = failed();
    CHECK(error == 0 || (error == -ENOMEM && one_failed));
    CHECK(error ? atomic_load(&count) < 2 * KEYS : atomic_load(&count) == 2 * KEYS);
    return one_failed;
}

static bool try_append(weft *w, uint32_t k)
{
    weft_vector *vector;
    size_t appended = 0, first;
    CHECK_EQUAL(weft_vector_create(&vector, sizeof(size_t)), 0);
    fail_at(k);
    for (size_t i = 0; i < KEYS; i++) {
        int error = weft_vector_append(vector, &i, 1, &first);
        CHECK(error == 0 || error == -ENOMEM);
        CHECK(error || (first == appended && *(size_t *)weft_vector_at(vector, first) == i));
        appended += !error;
    }
    CHECK_EQUAL(weft_vector_size(vector), appended); /* no gap */
    CHECK(appended >= KEYS - 1);
    weft_vector_destroy(vector);
    return failed();
}

static void sweep(weft *w, void *arg)
{
    try_fn *try = *(try_fn **)arg;
    uint32_t k = 1;
    while (try(w, k))
        k += SANITIZED && k > 5 ? 13 : 1; /* most are alike: one for each partition */
    CHECK(k > 2);                         /* there is more than one allocation */
}

static void fill_keys(void)
{
    for (uint32_t i = 0; i < 2 * KEYS; i++) {
        keys[i] = i % KEYS;
        ones[i] = 1;
    }
}

static void no_memory(void)
{
    static try_fn *const tries[] = {try_create, try_put,  try_put_all,
                                    try_merge,  try_join, try_append};
    fill_keys();
    for (unsigned workers = 1; workers <= 3; workers += 2) {
        weft_pool *pool = child_pool(workers, 0, WAY_SPIN);
        for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++)
            CHECK_EQUAL(weft_run(pool, sweep, (void *)(uintptr_t)&tries[i]), 0);
        child_pool_end(pool);
    }
}

/* ---- Failures in the functions that are called ---- */

enum { SAME = 1000 };
static const uint32_t same[SAME]; /* one key: all pairs belong to one partition */
static long calls;

static void fail_in_pair(weft *w, size_t i, size_t j, void *arg)
{
    calls++;
    weft_fail(w, -EIO);
}

static void fail_in_visit(weft *w, const void *key, void *value, void *arg)
{
    calls++;
    weft_fail(w, -EIO);
}

static void fail_inside(weft *w, void *arg)
{
    weft_scope scope;
    weft_hashmap *map = make();
    weft_scope_open(w, &scope);
    calls = 0;
    (void)weft_equijoin(w, same, SAME, same, SAME, &kind, fail_in_pair, NULL);
    CHECK_EQUAL(weft_scope_close(w, &scope), -EIO);
    CHECK(calls >= 1 && calls <= SAME); /* the pairs of one key at most */
    CHECK_EQUAL(weft_hashmap_put_all(w, map, keys, ones, 2 * KEYS), 0);
    weft_scope_open(w, &scope);
    calls = 0;
    weft_hashmap_for(w, map, fail_in_visit, NULL);
    CHECK_EQUAL(weft_scope_close(w, &scope), -EIO);
    CHECK_EQUAL(calls, 1);
    weft_hashmap_destroy(map);
}

static void kill_in_pair(weft *w, size_t i, size_t j, void *arg)
{
    calls++;
    weft_actor_kill(weft_actor_self(w));
}

static int join_until_killed(weft *w, void *arg)
{
    return weft_equijoin(w, same, SAME, same, SAME, &kind, kill_in_pair, NULL);
}

/* One worker: nobody else is in the middle of something. */
static void failures_end_loops(void)
{
    fill_keys();
    FOR_EACH_WAY(way)
    {
        weft_pool *pool = child_pool(1, WEFT_NO_GUESTS, way);
        CHECK_EQUAL(weft_run(pool, fail_inside, NULL), 0);
        calls = 0;
        CHECK_EQUAL(run_one(pool, join_until_killed, NULL), -ECANCELED);
        CHECK(calls >= 1 && calls <= SAME);
        child_pool_end(pool);
    }
}

/* An actor past its memory ends in `combine`, and leaves the map to others. */
static void combine_too_much(weft *w, void *left, const void *right, void *arg)
{
    if (weft_actor_self(w))
        weft_alloc(w, (size_t)256 << 20);
}

static int put_twice(weft *w, void *map)
{
    CHECK_EQUAL(weft_hashmap_put(w, map, &keys[1], &ones[0]), 0);
    return weft_hashmap_put(w, map, &keys[1], &ones[0]);
}

static int put_all_twice(weft *w, void *map)
{
    return weft_hashmap_put_all(w, map, keys, ones, 2 * KEYS);
}

static void actor_ends_in_combine(void)
{
    static weft_actor_fn *const puts[] = {put_twice, put_all_twice};
    weft_hashmap_kind greedy = kind;
    greedy.combine = combine_too_much;
    fill_keys();
    weft_pool *pool = child_pool(2, 0, WAY_NO_SPIN);
    for (size_t i = 0; i < 2; i++) {
        weft_hashmap *map;
        uint64_t value = 0;
        CHECK_EQUAL(weft_hashmap_create(&map, &greedy, 0), 0);
        CHECK_EQUAL(run_one(pool, puts[i], map), -ENOMEM);
        for (uint32_t key = 0; key < KEYS; key++) /* no lock is held */
            (void)weft_hashmap_get(map, &key, &value);
        weft_hashmap_destroy(map);
    }
    child_pool_end(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(no_memory),
        IN_CHILD(failures_end_loops),
        IN_CHILD(actor_ends_in_combine),
    };
    return cmocka_run_group_tests_name("containers", tests, NULL, NULL);
}
