/* SPDX-License-Identifier: MIT */
/* actor_limits.c: limits of memory: who is past one ends alone, and right sides that come back
 * because of one are done once, as far as anybody can see. */
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/actor.h"
#include "weft/ordmap.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

static int alloc_too_much(weft *w, void *bytes)
{
    for (;;) {
        char *p = weft_alloc(w, *(size_t *)bytes);
        CHECK((uintptr_t)p % _Alignof(max_align_t) == 0);
        memset(p, 1, *(size_t *)bytes);
    }
    return 0;
}

static int add_up(weft *w, void *arg)
{
    unsigned long sum = 0;
    for (unsigned long i = 1; i <= 100000; i++) {
        sum += i;
        weft_poll(w);
    }
    return sum == 5000050000 ? 0 : 1;
}

static void memory_ends_for_one_alone(void **state)
{
    static size_t sizes[] = {1, 100, 5000, 1 << 20, (size_t)1 << 40, SIZE_MAX};
    weft_pool *pool = pool_make(2, 0);
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
        config.memory = WEFT_ACTOR_STACK + (3 << 20);
        weft_actor *greedy = start(pool, alloc_too_much, &sizes[i], &config);
        weft_actor *other = start(pool, add_up, NULL, NULL);
        assert_int_equal(weft_actor_wait(NULL, greedy), -ENOMEM);
        weft_actor_info info;
        weft_actor_get_info(greedy, &info);
        assert_int_equal(info.memory, 0);
        /* What was asked for is limited; the blocks that it lies in are a little larger. */
        assert_true(info.memory_peak <= (3 << 20) + (3 << 16));
        weft_actor_release(greedy);
        assert_int_equal(end(other), 0);
    }
    pool_drop(pool);
}

enum { LEAVES = 256 };

static void count_leaves(weft *w, void *arg)
{
    atomic_fetch_add((atomic_uint *)arg, 1);
    uint64_t until = weft_now() + 5000;
    while (weft_now() < until)
        weft_poll(w);
}

static void fork_leaves(weft *w, atomic_uint *count, unsigned n)
{
    if (n == 1) {
        count_leaves(w, count);
        return;
    }
    weft *in = weft_fork(w, count_leaves, count);
    fork_leaves(in, count, n - 1);
    if (!weft_merge(w))
        count_leaves(w, count);
}

static int allocate_and_fork(weft *w, void *count)
{
    memset(weft_alloc(w, 80), 0, 80);
    fork_leaves(w, count, LEAVES);
    return 0;
}

/* A delegate that allocates nothing is not past the limit, whatever that is: or what it has done
 * would be done again. */
static void odd_limits_are_limits(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    uint64_t delegates = 0;
    for (int i = 0; i < 1000 && delegates < 5; i++) {
        atomic_uint count = 0;
        weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
        config.memory = WEFT_ACTOR_STACK + 100;
        weft_actor *actor = start(pool, allocate_and_fork, &count, &config);
        assert_int_equal(weft_actor_wait(NULL, actor), 0);
        assert_int_equal(atomic_load(&count), LEAVES);
        weft_actor_info info;
        weft_actor_get_info(actor, &info);
        delegates += info.delegates;
        weft_actor_release(actor);
    }
    assert_true(delegates >= 5);
    pool_drop(pool);
}

struct maps {
    weft_ordmap *a, *b;
    int error;
    size_t size;
};

enum { KEYS = 5000, EACH = 32 };

static int compare_keys(const void *a, const void *b, void *arg)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static void build_maps(weft *w, void *arg)
{
    static const weft_ordmap_kind kind = {
        .key_size = sizeof(int), .value_size = sizeof(int), .compare = compare_keys};
    static int keys[KEYS], values[KEYS];
    struct maps *maps = arg;
    for (int i = 0; i < KEYS; i++) {
        keys[i] = i;
        values[i] = i >= KEYS / 2; /* the right half is the one that allocates */
    }
    CHECK(weft_ordmap_build(w, &maps->a, &kind, keys, values, KEYS) == 0);
    CHECK(weft_ordmap_build(w, &maps->b, &kind, keys, values, KEYS) == 0);
}

static void combine(weft *w, void *value, const void *other, void *arg)
{
    uint64_t until = weft_now() + 500;
    while (weft_now() < until)
        weft_poll(w);
    if (*(const int *)other)
        CHECK(weft_alloc(w, EACH));
}

static int intersect(weft *w, void *arg)
{
    struct maps *maps = arg;
    weft_ordmap *both;
    maps->error = weft_ordmap_intersection(w, &both, maps->a, maps->b, combine, NULL);
    maps->size = maps->error ? 0 : weft_ordmap_size(both);
    weft_ordmap_release(both);
    return maps->error;
}

/* What was given back in the middle is done again as from the beginning. (What it held then is
 * lost, so not where leaks are looked for.) */
static void maps_lose_nothing_at_the_limit(void **state)
{
    if (SANITIZED)
        skip();
    weft_pool *pool = pool_make(2, 0);
    struct maps maps = {NULL, NULL, 0, 0};
    assert_int_equal(weft_run(pool, build_maps, &maps), 0);
    for (int i = 0; i < 12; i++) {
        weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
        config.memory = WEFT_ACTOR_STACK + KEYS / 2 * EACH / (size_t)(1 + i % 3);
        weft_actor *actor = start(pool, intersect, &maps, &config);
        int reason = end(actor);
        assert_true(reason == -ENOMEM || (reason == 0 && maps.size == KEYS));
        assert_true(reason == 0 || i % 3);
    }
    weft_ordmap_release(maps.a);
    weft_ordmap_release(maps.b);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_ends_for_one_alone),
        cmocka_unit_test(odd_limits_are_limits),
        cmocka_unit_test(maps_lose_nothing_at_the_limit),
    };
    return cmocka_run_group_tests_name("actor_limits", tests, NULL, NULL);
}
