/* SPDX-License-Identifier: MIT */
/* actor_limits.c: right sides that come back because of a limit are done once, as far as anybody
 * can see. */
#include "check.h"
#include "pools.h"
#include "weft/actor.h"
#include "weft/ordmap.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

static weft_actor *start(weft_pool *pool, weft_actor_fn *fn, void *arg,
                         const weft_actor_config *config)
{
    weft_actor *actor;
    CHECK(weft_actor_create(&actor, pool, fn, arg, config) == 0);
    CHECK(weft_actor_run(actor) == 0);
    return actor;
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
        int reason = weft_actor_wait(NULL, actor);
        weft_actor_release(actor);
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
        cmocka_unit_test(odd_limits_are_limits),
        cmocka_unit_test(maps_lose_nothing_at_the_limit),
    };
    return cmocka_run_group_tests_name("actor_limits", tests, NULL, NULL);
}
