/* SPDX-License-Identifier: MIT */
/* sizes.c: configurations and infos of programs of another release: shorter, and longer. */
#include "check.h"
#include "pools.h"
#include "weft/all.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

enum { MORE = 24, LARGEST = 512 };

/* One of a newer release is longer. */
union sized {
    size_t size;
    char bytes[LARGEST];
    weft_config pool_config;
    weft_actor_config actor_config;
    weft_actors_config actors_config;
    weft_submit_options submit_options;
    weft_pool_info pool_info;
    weft_worker_info worker_info;
    weft_actor_info actor_info;
};

static const size_t no_sizes[] = {0, 1, sizeof(size_t), sizeof(size_t) + 3, 4097, SIZE_MAX};

/* ---- Configurations ---- */

static int act(weft *w, void *arg)
{
    return 0;
}

static int use_pool_config(const union sized *config)
{
    weft_pool *pool;
    int error = weft_pool_create(&pool, &config->pool_config);
    return error ? error : weft_pool_destroy(pool);
}

static int use_actor_config(const union sized *config)
{
    weft_pool *pool = pool_make(1, 0);
    weft_actor *actor;
    int error = weft_actor_create(&actor, pool, act, NULL, &config->actor_config);
    if (!error)
        weft_actor_release(actor);
    pool_drop(pool);
    return error;
}

static int use_actors_config(const union sized *config)
{
    weft_pool *pool = pool_make(1, 0);
    int error = weft_actors_setup(pool, &config->actors_config);
    pool_drop(pool);
    return error;
}

static void use_nothing(weft *w, void *arg)
{
}

/* Detached, so that it can't have a queue. */
static int use_submit_options(const union sized *options)
{
    weft_pool *pool = pool_make(1, 0);
    int error = weft_submit_with(pool, NULL, use_nothing, NULL, &options->submit_options);
    pool_drop(pool);
    return error;
}

/* `bad`: a value at `at`, behind the first field, that is refused where it is looked at. */
static void expect_config(int (*use)(const union sized *), size_t size, size_t at, const void *bad,
                          size_t bad_size)
{
    union sized config = {.size = size};
    assert_int_equal(use(&config), 0);
    memcpy(config.bytes + at, bad, bad_size);
    assert_int_equal(use(&config), -EINVAL);
    config.size = at;
    assert_int_equal(use(&config), 0);
    memset(&config, 0, sizeof config);
    config.size = size + MORE;
    assert_int_equal(use(&config), 0);
    for (size_t i = 0; i < MORE; i++) {
        config.bytes[size + i] = 1;
        assert_int_equal(use(&config), -ENOTSUP);
        config.bytes[size + i] = 0;
    }
    for (size_t i = 0; i < sizeof no_sizes / sizeof no_sizes[0]; i++) {
        config.size = no_sizes[i];
        assert_int_equal(use(&config), -EINVAL);
    }
}

static void configurations(void **state)
{
    const int spares = -2;
    expect_config(use_pool_config, sizeof(weft_config), offsetof(weft_config, spares), &spares,
                  sizeof spares);
    const int pin = 100;
    expect_config(use_actor_config, sizeof(weft_actor_config), offsetof(weft_actor_config, pin),
                  &pin, sizeof pin);
    const unsigned executors = WEFT_WORKERS_MAX + 1;
    expect_config(use_actors_config, sizeof(weft_actors_config),
                  offsetof(weft_actors_config, executors), &executors, sizeof executors);
    const uintptr_t queue = 64;
    expect_config(use_submit_options, sizeof(weft_submit_options),
                  offsetof(weft_submit_options, completions), &queue, sizeof queue);
}

/* ---- Infos ---- */

struct looked_at {
    weft_pool *pool;
    weft_actor *actor;
};

static int get_pool_info(const struct looked_at *at, union sized *info)
{
    return weft_pool_get_info(at->pool, &info->pool_info);
}

static int get_worker_info(const struct looked_at *at, union sized *info)
{
    return weft_worker_get_info(at->pool, 0, &info->worker_info);
}

static int get_actor_info(const struct looked_at *at, union sized *info)
{
    return weft_actor_get_info(at->actor, &info->actor_info);
}

static bool are_all(const char *bytes, size_t n, char value)
{
    for (size_t i = 0; i < n; i++)
        if (bytes[i] != value)
            return false;
    return true;
}

static void expect_info(int (*get)(const struct looked_at *, union sized *),
                        const struct looked_at *at, size_t size)
{
    union sized info;
    for (size_t less = 0; less <= size - sizeof(size_t) - sizeof(unsigned); less += 4) {
        memset(&info, 0x55, sizeof info);
        info.size = size - less;
        assert_int_equal(get(at, &info), 0);
        assert_int_equal(info.size, size - less);
        assert_true(are_all(info.bytes + size - less, LARGEST - size + less, 0x55));
    }
    memset(&info, 0x55, sizeof info);
    info.size = size + MORE;
    assert_int_equal(get(at, &info), 0);
    assert_int_equal(info.size, size + MORE);
    assert_true(are_all(info.bytes + size, MORE, 0));
    assert_true(are_all(info.bytes + size + MORE, LARGEST - size - MORE, 0x55));
    for (size_t i = 0; i < sizeof no_sizes / sizeof no_sizes[0]; i++) {
        memset(&info, 0x55, sizeof info);
        info.size = no_sizes[i];
        assert_int_equal(get(at, &info), -EINVAL);
        assert_true(are_all(info.bytes + sizeof(size_t), LARGEST - sizeof(size_t), 0x55));
    }
}

static void infos(void **state)
{
    struct looked_at at = {.pool = pool_make(2, 0)};
    assert_int_equal(weft_actor_create(&at.actor, at.pool, act, NULL, NULL), 0);
    expect_info(get_pool_info, &at, sizeof(weft_pool_info));
    expect_info(get_worker_info, &at, sizeof(weft_worker_info));
    expect_info(get_actor_info, &at, sizeof(weft_actor_info));
    weft_pool_info pool = WEFT_POOL_INFO_INIT;
    assert_int_equal(weft_pool_get_info(at.pool, &pool), 0);
    assert_int_equal(pool.workers, 2);
    weft_actor_info actor = WEFT_ACTOR_INFO_INIT;
    assert_int_equal(weft_actor_get_info(at.actor, &actor), 0);
    assert_string_equal(actor.name, "actor");
    assert_int_equal(actor.state, WEFT_ACTOR_NEW);
    assert_int_equal(actor.executor, WEFT_NONE);
    weft_actor_release(at.actor);
    pool_drop(at.pool);
}

/* ---- By name ---- */

static void sizes_by_name(void **state)
{
    static const struct {
        const char *name;
        size_t size, alignment;
    } types[] = {
        {"weft_actor_config", sizeof(weft_actor_config), _Alignof(weft_actor_config)},
        {"weft_actor_info", sizeof(weft_actor_info), _Alignof(weft_actor_info)},
        {"weft_actors_config", sizeof(weft_actors_config), _Alignof(weft_actors_config)},
        {"weft_again", sizeof(weft_again), _Alignof(weft_again)},
        {"weft_barrier", sizeof(weft_barrier), _Alignof(weft_barrier)},
        {"weft_box", sizeof(weft_box), _Alignof(weft_box)},
        {"weft_case", sizeof(weft_case), _Alignof(weft_case)},
        {"weft_channel", sizeof(weft_channel), _Alignof(weft_channel)},
        {"weft_condition", sizeof(weft_condition), _Alignof(weft_condition)},
        {"weft_config", sizeof(weft_config), _Alignof(weft_config)},
        {"weft_dep", sizeof(weft_dep), _Alignof(weft_dep)},
        {"weft_event", sizeof(weft_event), _Alignof(weft_event)},
        {"weft_flow", sizeof(weft_flow), _Alignof(weft_flow)},
        {"weft_hashmap_kind", sizeof(weft_hashmap_kind), _Alignof(weft_hashmap_kind)},
        {"weft_local", sizeof(weft_local), _Alignof(weft_local)},
        {"weft_mark", sizeof(weft_mark), _Alignof(weft_mark)},
        {"weft_mutex", sizeof(weft_mutex), _Alignof(weft_mutex)},
        {"weft_once", sizeof(weft_once), _Alignof(weft_once)},
        {"weft_ordmap_entry", sizeof(weft_ordmap_entry), _Alignof(weft_ordmap_entry)},
        {"weft_ordmap_kind", sizeof(weft_ordmap_kind), _Alignof(weft_ordmap_kind)},
        {"weft_pool_info", sizeof(weft_pool_info), _Alignof(weft_pool_info)},
        {"weft_reducer", sizeof(weft_reducer), _Alignof(weft_reducer)},
        {"weft_rwlock", sizeof(weft_rwlock), _Alignof(weft_rwlock)},
        {"weft_scope", sizeof(weft_scope), _Alignof(weft_scope)},
        {"weft_semaphore", sizeof(weft_semaphore), _Alignof(weft_semaphore)},
        {"weft_stage", sizeof(weft_stage), _Alignof(weft_stage)},
        {"weft_state", sizeof(weft_state), _Alignof(weft_state)},
        {"weft_submit_options", sizeof(weft_submit_options), _Alignof(weft_submit_options)},
        {"weft_task", sizeof(weft_task), _Alignof(weft_task)},
        {"weft_text", sizeof(weft_text), _Alignof(weft_text)},
        {"weft_timer", sizeof(weft_timer), _Alignof(weft_timer)},
        {"weft_worker_info", sizeof(weft_worker_info), _Alignof(weft_worker_info)},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        assert_int_equal(weft_sizeof(types[i].name), types[i].size);
        assert_int_equal(weft_alignof(types[i].name), types[i].alignment);
    }
    static const char *const none[] = {NULL, "", "weft_pool", "weft_tas", "weft_tasks", "size_t"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_int_equal(weft_sizeof(none[i]), 0);
        assert_int_equal(weft_alignof(none[i]), 0);
    }
}

/* Functions that are inlined have an address, too, which other languages find by their names. */
static void inlined_functions_are_there(void **state)
{
    static const char *const names[] = {"weft_run",
                                        "weft_fork",
                                        "weft_merge",
                                        "weft_outer",
                                        "weft_join",
                                        "weft_poll",
                                        "weft_submit",
                                        "weft_broadcast",
                                        "weft_submit_with",
                                        "weft_submit_detached",
                                        "weft_broadcast_detached",
                                        "weft_timer_start",
                                        "weft_actor_create"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_non_null(dlsym(RTLD_DEFAULT, names[i]));
    void (*volatile poll)(weft *) = weft_poll;
    assert_non_null(poll);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configurations),
        cmocka_unit_test(infos),
        cmocka_unit_test(sizes_by_name),
        cmocka_unit_test(inlined_functions_are_there),
    };
    return cmocka_run_group_tests_name("sizes", tests, NULL, NULL);
}
