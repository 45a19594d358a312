/* SPDX-License-Identifier: MIT */
/* actor.c: actors from their creation to their end: what is refused, the reason that is told, and
 * that the others go on. */
#include "weft/actor.h"
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/ordmap.h"
#include "weft/parallel.h"
#include "weft/sort.h"
#include "weft/sync.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int count_one(weft *w, void *count)
{
    atomic_fetch_add((atomic_ulong *)count, 1);
    return 0;
}

static int poll_for_ever(weft *w, void *arrived)
{
    atomic_store((atomic_bool *)arrived, true);
    while (weft_actor_self(w))
        weft_poll(w);
    return 0;
}

/* ---- Making ---- */

static int create(weft_pool *pool, const weft_actor_config *config)
{
    static atomic_ulong unused;
    weft_actor *actor;
    int error = weft_actor_create(&actor, pool, count_one, &unused, config);
    CHECK(!error == !!actor);
    weft_actor_release(actor);
    return error;
}

static void bad_values_are_refused(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    weft_actor *actor;
    assert_int_equal(weft_actor_create(NULL, pool, count_one, NULL, NULL), -EINVAL);
    assert_int_equal(weft_actor_create(&actor, pool, NULL, NULL, NULL), -EINVAL);
#define REFUSED(field, bad)                                 \
    do {                                                    \
        weft_actor_config config_ = WEFT_ACTOR_CONFIG_INIT; \
        config_.field = bad;                                \
        assert_int_equal(create(pool, &config_), -EINVAL);  \
    } while (0)
    REFUSED(size, 0);
    REFUSED(size, SIZE_MAX);
    REFUSED(memory, WEFT_ACTOR_STACK);
    REFUSED(share, 101);
    REFUSED(pin, -2);
    REFUSED(pin, 3);
    REFUSED(mailbox, SIZE_MAX);
    REFUSED(mailbox, SIZE_MAX / 32);
    REFUSED(mailbox, ((64 << 20) - WEFT_ACTOR_STACK) / sizeof(void *) + 16); /* nothing is left */
    REFUSED(steal, (enum weft_steal)3);
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    assert_int_equal(create(pool, &config), 0);
    config.mailbox = ((64 << 20) - WEFT_ACTOR_STACK) / sizeof(void *) + 15;
    assert_int_equal(create(pool, &config), 0);
    config.mailbox = 16;
    config.memory = WEFT_ACTOR_STACK + 1;
    config.share = 100;
    config.pin = 2;
    config.steal = WEFT_STEAL_LIVE;
    assert_int_equal(create(pool, &config), 0);
    assert_int_equal(weft_actor_run(NULL), -EINVAL);
    assert_int_equal(weft_actor_wait(NULL, NULL), -EINVAL);
    assert_int_equal(weft_actor_send(NULL, NULL, NULL), -EINVAL);
    assert_int_equal(weft_actor_try_send(NULL, NULL, NULL), -EINVAL);
    assert_int_equal(weft_actor_pin(NULL, 0), -EINVAL);
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    assert_int_equal(weft_actor_get_info(NULL, &info), -EINVAL);
    weft_actor_kill(NULL);
    weft_actor_release(NULL);
    assert_null(weft_actor_self(NULL));
    pool_drop(pool);
}

static void setup_comes_first(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    weft_actors_config config = {.size = SIZE_MAX};
    assert_int_equal(weft_actors_setup(pool, NULL), -EINVAL);
    assert_int_equal(weft_actors_setup(pool, &config), -EINVAL);
    config.size = sizeof config;
    config.executors = WEFT_WORKERS_MAX + 1;
    assert_int_equal(weft_actors_setup(pool, &config), -EINVAL);
    config.executors = 5;
    assert_int_equal(weft_actors_setup(pool, &config), 0);
    assert_int_equal(weft_actors_setup(pool, &config), -EBUSY);
    weft_actor_config actor = WEFT_ACTOR_CONFIG_INIT;
    actor.pin = 5;
    assert_int_equal(create(pool, &actor), 0);
    actor.pin = WEFT_NONE;
    assert_int_equal(create(pool, &actor), 0);
    actor.pin = 6;
    assert_int_equal(create(pool, &actor), -EINVAL);
    pool_drop(pool);
    pool = pool_make(1, 0);
    assert_int_equal(create(pool, NULL), 0);
    assert_int_equal(weft_actors_setup(pool, &config), -EBUSY);
    pool_drop(pool);
}

static void runs_once(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    atomic_ulong count = 0;
    weft_actor *actor = start(pool, count_one, &count, NULL);
    assert_int_equal(weft_actor_run(actor), -EALREADY);
    assert_int_equal(weft_actor_wait(NULL, actor), 0);
    assert_int_equal(weft_actor_run(actor), -EALREADY);
    assert_int_equal(end(actor), 0);
    assert_int_equal(atomic_load(&count), 1);
    pool_drop(pool);
}

static void released_ones_go_on(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    atomic_ulong count = 0;
    for (int i = 0; i < 1000; i++)
        weft_actor_release(start(pool, count_one, &count, NULL));
    WAIT_UNTIL(atomic_load(&count) == 1000);
    pool_drop(pool);
}

struct farewell {
    weft_actor *to;
    weft_event event;
    atomic_uint waiting;
};

static int leave_when_told(weft *w, void *arg)
{
    struct farewell *farewell = arg;
    weft_event_wait(w, &farewell->event);
    return 7;
}

static int wait_for_leaver(weft *w, void *arg)
{
    struct farewell *farewell = arg;
    atomic_fetch_add(&farewell->waiting, 1);
    return weft_actor_wait(w, farewell->to);
}

static int send_to_leaver(weft *w, void *arg)
{
    struct farewell *farewell = arg;
    atomic_fetch_add(&farewell->waiting, 1);
    while (weft_actor_send(w, farewell->to, NULL) == 0)
        ;
    return 7;
}

/* Others wait for one that its owner has released: nothing of it goes before they are back. */
static void released_while_others_wait(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int round = 0; round < rounds_of(SCALED(200, 5)); round++) {
        struct farewell farewell = {.event = WEFT_EVENT_INIT};
        weft_actor *others[4];
        weft_actor_info info = WEFT_ACTOR_INFO_INIT;
        farewell.to = start(pool, leave_when_told, &farewell, NULL);
        for (int i = 0; i < 4; i++)
            others[i] = start(pool, i % 2 ? wait_for_leaver : send_to_leaver, &farewell, NULL);
        for (int i = 0; i < 4; i++)
            do {
                weft_actor_get_info(others[i], &info);
                sched_yield();
            } while (info.state != WEFT_ACTOR_WAITING);
        weft_actor_release(farewell.to);
        weft_event_set(NULL, &farewell.event);
        for (int i = 0; i < 4; i++) /* one that is killed leaves the line; or it was let go */
            if (i == round % 5)
                weft_actor_kill(others[i]);
        for (int i = 0; i < 4; i++) {
            int reason = end(others[i]);
            assert_true(reason == 7 || (i == round % 5 && reason == -ECANCELED));
        }
    }
    pool_drop(pool);
}

/* ---- Reasons ---- */

struct report {
    atomic_ulong count;
    atomic_int reason;
    _Atomic(weft_actor *) actor;
};

static void note(weft_actor *actor, int reason, void *data)
{
    struct report *report = data;
    atomic_store(&report->reason, reason);
    atomic_store(&report->actor, actor);
    atomic_fetch_add(&report->count, 1);
}

static int return_it(weft *w, void *reason)
{
    return *(int *)reason;
}

static int fail_with_it(weft *w, void *reason)
{
    weft_fail(w, *(int *)reason);
    return 0;
}

static void fail_job(weft *w, void *reason)
{
    weft_fail(w, *(int *)reason);
}

static int fail_in_fork(weft *w, void *reason)
{
    weft_join(w, fail_job, reason, fail_job, reason);
    CHECK(weft_cancelled(w));
    return 0;
}

static void supervisor_is_told_once(void **state)
{
    static weft_actor_fn *const fns[] = {return_it, fail_with_it, fail_in_fork};
    weft_pool *pool = pool_make(2, 0);
    for (unsigned i = 0; i < 3; i++) {
        for (int reason = -7; reason <= 7; reason += 7) {
            struct report report = {0};
            weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
            config.supervisor = note;
            config.data = &report;
            if (i > 0 && reason == 0)
                continue; /* no failure */
            weft_actor *actor = start(pool, fns[i], &reason, &config);
            assert_int_equal(weft_actor_wait(NULL, actor), reason);
            assert_int_equal(atomic_load(&report.count), 1);
            assert_int_equal(atomic_load(&report.reason), reason);
            assert_ptr_equal(atomic_load(&report.actor), actor);
            weft_actor_kill(actor); /* too late */
            assert_int_equal(end(actor), reason);
            assert_int_equal(atomic_load(&report.count), 1);
        }
    }
    pool_drop(pool);
}

static void one_that_never_ran_ends_too(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    struct report report = {0};
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    atomic_ulong count = 0;
    weft_actor *actor;
    config.supervisor = note;
    config.data = &report;
    assert_int_equal(weft_actor_create(&actor, pool, count_one, &count, &config), 0);
    weft_actor_kill(actor);
    weft_actor_kill(actor);
    assert_int_equal(atomic_load(&report.count), 1);
    assert_int_equal(weft_actor_run(actor), -EALREADY);
    assert_int_equal(weft_actor_send(NULL, actor, NULL), -EPIPE);
    assert_int_equal(end(actor), -ECANCELED);
    assert_int_equal(weft_actor_create(&actor, pool, count_one, &count, &config), 0);
    weft_actor_release(actor);
    assert_int_equal(atomic_load(&report.count), 2);
    assert_int_equal(atomic_load(&report.reason), -ECANCELED);
    assert_int_equal(atomic_load(&count), 0);
    pool_drop(pool);
}

/* ---- Killing ---- */

static void nothing(weft *w, void *arg)
{
}

static int fork_for_ever(weft *w, void *arrived)
{
    atomic_store((atomic_bool *)arrived, true);
    while (weft_actor_self(w))
        weft_join(w, nothing, NULL, nothing, NULL);
    return 0;
}

static int sleep_for_ever(weft *w, void *arrived)
{
    atomic_store((atomic_bool *)arrived, true);
    weft_sleep_until(w, UINT64_MAX);
    return 0;
}

static int receive_for_ever(weft *w, void *arrived)
{
    void *message;
    atomic_store((atomic_bool *)arrived, true);
    return weft_receive(w, &message);
}

static int yield_for_ever(weft *w, void *arrived)
{
    atomic_store((atomic_bool *)arrived, true);
    while (weft_actor_self(w))
        weft_yield(w);
    return 0;
}

static int sort_for_ever(weft *w, void *arrived)
{
    enum { N = 10000 };
    uint32_t *numbers = weft_alloc(w, N * sizeof numbers[0]);
    atomic_store((atomic_bool *)arrived, true);
    while (weft_actor_self(w)) {
        for (uint32_t i = 0; i < N; i++)
            numbers[i] = i * 2654435761u;
        weft_sort_u32(w, numbers, N);
        weft_poll(w);
    }
    return 0;
}

static void scope_job(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < 4; i++)
        CHECK(weft_spawn(w, &scope, nothing, NULL) == 0);
    weft_scope_close(w, &scope);
}

/* Its children stand in line when it is killed. */
static int spawn_for_ever(weft *w, void *arrived)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    while (weft_actor_self(w)) {
        CHECK(weft_spawn(w, &scope, nothing, NULL) == 0);
        atomic_store((atomic_bool *)arrived, true);
        weft_poll(w);
    }
    return weft_scope_close(w, &scope);
}

static void receive_in_child(weft *w, void *arrived)
{
    void *message;
    atomic_store((atomic_bool *)arrived, true);
    CHECK(weft_receive(w, &message) == -ECANCELED);
}

/* In what the library calls, it can't be unwound. */
static int receive_in_scope(weft *w, void *arrived)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, receive_in_child, arrived) == 0);
    return weft_scope_close(w, &scope);
}

static void sleep_in_child(weft *w, void *arrived)
{
    atomic_store((atomic_bool *)arrived, true);
    weft_sleep_until(w, UINT64_MAX);
}

static int sleep_in_scope(weft *w, void *arrived)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, sleep_in_child, arrived) == 0);
    return weft_scope_close(w, &scope);
}

static int scopes_for_ever(weft *w, void *arrived)
{
    atomic_store((atomic_bool *)arrived, true);
    while (weft_actor_self(w))
        weft_join(w, scope_job, NULL, scope_job, NULL);
    return 0;
}

/* ASan looks for what they leave behind. */
static void killed_wherever_it_is(void **state)
{
    static weft_actor_fn *const fns[] = {
        poll_for_ever, fork_for_ever,  sleep_for_ever,   receive_for_ever, yield_for_ever,
        sort_for_ever, spawn_for_ever, receive_in_scope, sleep_in_scope,   scopes_for_ever};
    weft_pool *pools[] = {pool_make(1, 0), pool_make(2, WEFT_NO_GUESTS)};
    for (unsigned i = 0; i < 2 * sizeof fns / sizeof fns[0]; i++) {
        for (int times = 0; times < 10; times++) {
            atomic_bool arrived = false;
            weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
            config.steal = times % 2 ? WEFT_STEAL_STRICT : WEFT_STEAL_LIVE;
            weft_actor *actor = start(pools[i % 2], fns[i / 2], &arrived, &config);
            if (times > 1) /* otherwise it may not have begun */
                WAIT_UNTIL(atomic_load(&arrived));
            weft_actor_kill(actor);
            assert_int_equal(end(actor), -ECANCELED);
        }
    }
    pool_drop(pools[0]);
    pool_drop(pools[1]);
}

/* ---- Where it is ---- */

static int see_self(weft *w, void *arg)
{
    _Atomic(weft_actor *) *actor = arg;
    WAIT_UNTIL(atomic_load(actor));
    CHECK(weft_actor_self(w) == atomic_load(actor));
    CHECK(weft_here() == w);
    weft *in = weft_fork(w, nothing, NULL);
    CHECK(weft_actor_self(in) == atomic_load(actor));
    if (!weft_merge(w))
        nothing(w, NULL);
    return 0;
}

static void no_self(weft *w, void *arg)
{
    void *message;
    CHECK(!weft_actor_self(w));
    CHECK(!weft_alloc(w, 1));
    CHECK(!weft_alloc_result(w, 1));
    CHECK(weft_receive(w, &message) == -EPERM);
    CHECK(weft_try_receive(w, &message) == -EPERM);
    weft_poll(w);
    weft_sleep_until(w, weft_now() + 1000);
}

static void self_is_the_actor(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    _Atomic(weft_actor *) shared = NULL;
    weft_actor *actor;
    assert_int_equal(weft_actor_create(&actor, pool, see_self, &shared, NULL), 0);
    atomic_store(&shared, actor);
    assert_int_equal(weft_actor_run(actor), 0);
    assert_int_equal(end(actor), 0);
    assert_int_equal(weft_run(pool, no_self, NULL), 0);
    void *message;
    assert_int_equal(weft_receive(NULL, &message), -EPERM);
    pool_drop(pool);
}

static int follow_pins(weft *w, void *arg)
{
    unsigned executors = *(unsigned *)arg;
    for (unsigned i = 0; i < 3 * executors; i++) {
        CHECK(weft_actor_pin(weft_actor_self(w), (int)(i % executors)) == 0);
        while (weft_worker_index(w) != i % executors)
            weft_poll(w);
    }
    CHECK(weft_actor_pin(weft_actor_self(w), (int)executors) == -EINVAL);
    CHECK(weft_actor_pin(weft_actor_self(w), -2) == -EINVAL);
    return weft_actor_pin(weft_actor_self(w), -1);
}

static int stay(weft *w, void *arg)
{
    for (int i = 0; i < 1000; i++) {
        CHECK(weft_worker_index(w) == *(unsigned *)arg);
        weft_yield(w);
    }
    return 0;
}

static void pinned_ones_stay(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    weft_actors_config quantum = {.size = sizeof quantum, .turn = 20000, .executors = 3};
    assert_int_equal(weft_actors_setup(pool, &quantum), 0);
    weft_actor *actors[6];
    unsigned where[6];
    for (unsigned i = 0; i < 6; i++) {
        weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
        where[i] = i % 3;
        config.pin = 1 + (int)where[i];
        actors[i] = start(pool, stay, &where[i], &config);
    }
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(end(actors[i]), 0);
    assert_int_equal(run_one(pool, follow_pins, &(unsigned){3}), 0);
    pool_drop(pool);
}

/* ---- Looking inside ---- */

static void look(weft_actor *actor, const weft_actor_info *info, void *data)
{
    *(unsigned *)data |= 1u << (info->name[0] - 'a');
}

static int use_some(weft *w, void *arg)
{
    struct gate *gate = arg;
    memset(weft_alloc(w, 50000), 1, 50000);
    gate_job(w, gate);
    return 0;
}

/* Computes for as many microseconds as each message says. */
static int compute_for(weft *w, void *arg)
{
    void *us;
    while (weft_receive(w, &us) == 0 && us) {
        uint64_t until = weft_now() + (uintptr_t)us * 1000;
        while (weft_now() < until)
            weft_poll(w);
    }
    return 0;
}

static uint64_t runnable_ns(weft_actor *actor)
{
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    weft_actor_get_info(actor, &info);
    return info.runnable_ns;
}

/* The clock stands still while nobody has anything to do: that is no time in a queue. */
static void idle_time_is_not_counted(void **state)
{
    enum { PAUSE_NS = 300000000, SLACK_NS = PAUSE_NS / 2 }; /* the clock may be late */
    weft_pool *pool = pool_make(1, 0);
    weft_actor *actors[2];
    uint64_t start_time = weft_now();
    for (int i = 0; i < 2; i++)
        actors[i] = start(pool, compute_for, NULL, NULL);
    for (int i = 0; i < 2; i++)
        assert_int_equal(weft_actor_send(NULL, actors[i], (void *)1000), 0);
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    uint64_t before = runnable_ns(actors[0]) + runnable_ns(actors[1]), sent = weft_now();
    assert_true(before <= 2 * (sent - start_time));
    for (int i = 0; i < 4; i++)
        assert_int_equal(weft_actor_send(NULL, actors[i % 2], i < 2 ? (void *)3000 : NULL), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(weft_actor_wait(NULL, actors[i]), 0);
    uint64_t after = runnable_ns(actors[0]) + runnable_ns(actors[1]);
    assert_true(after - before <= 2 * (weft_now() - sent) + SLACK_NS);
    for (int i = 0; i < 2; i++)
        weft_actor_release(actors[i]);
    pool_drop(pool);
}

static void info_tells(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    assert_int_equal(weft_actor_each(pool, look, NULL), 0);
    struct gate gate = {0};
    weft_actor *actors[3];
    for (int i = 0; i < 3; i++) {
        char name[40] = "a234567890123456789012345678901234567";
        name[0] = (char)('a' + i);
        weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
        config.name = name;
        config.memory = WEFT_ACTOR_STACK + 100000;
        assert_int_equal(weft_actor_create(&actors[i], pool, use_some, &gate, &config), 0);
    }
    unsigned seen = 0;
    assert_int_equal(weft_actor_each(pool, look, &seen), 3);
    assert_int_equal(seen, 7);
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    weft_actor_get_info(actors[0], &info);
    assert_int_equal(info.state, WEFT_ACTOR_NEW);
    assert_string_equal(info.name, "a234567890123456789012345678901");
    assert_int_equal(info.memory_limit, WEFT_ACTOR_STACK + 100000);
    assert_int_equal(info.memory, 0);
    assert_int_equal(info.executors, 0);
    assert_int_equal(weft_actor_run(actors[0]), 0);
    gate_wait_arrived(&gate);
    assert_int_equal(weft_actor_send(NULL, actors[0], NULL), 0);
    weft_actor_get_info(actors[0], &info);
    assert_int_equal(info.state, WEFT_ACTOR_RUNNING);
    assert_int_equal(info.messages, 1);
    assert_int_equal(info.executors, 1);
    assert_in_range(info.memory, 50000, 100000);
    assert_int_equal(weft_actor_run(actors[1]), 0);
    weft_actor_get_info(actors[1], &info);
    assert_int_equal(info.state, WEFT_ACTOR_RUNNABLE); /* there is one worker */
    gate_open(&gate);
    assert_int_equal(weft_actor_wait(NULL, actors[0]), 0);
    weft_actor_get_info(actors[0], &info);
    assert_int_equal(info.state, WEFT_ACTOR_OVER);
    assert_int_equal(info.memory, 0);
    assert_int_equal(info.messages, 0);
    assert_in_range(info.memory_peak, 50000, 100000);
    assert_int_equal(weft_actor_wait(NULL, actors[1]), 0);
    seen = 0;
    assert_int_equal(weft_actor_each(pool, look, &seen), 1);
    assert_int_equal(seen, 4);
    for (int i = 0; i < 3; i++)
        weft_actor_release(actors[i]);
    pool_drop(pool);
}

/* ---- The toolbox ---- */

enum { N = SCALED(200000, 4) };

struct results {
    double sum;
    uint64_t hash_sorted, hash_for, hash_map;
    size_t map_size;
};

static uint64_t hash(const void *bytes, size_t n)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    return h;
}

static void fill(weft *w, size_t begin, size_t end, void *arg)
{
    double *numbers = arg;
    for (size_t i = begin; i < end; i++)
        numbers[i] = 1.0 / (1.0 + (double)(i * 2654435761u % 1000003));
}

static int compare(const void *a, const void *b, void *arg)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int compare_keys(const void *a, const void *b, void *arg)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool hash_entry(const void *key, const void *value, void *arg)
{
    *(uint64_t *)arg = *(uint64_t *)arg * 31 + hash(key, 4) + hash(value, 4);
    return true;
}

static void use_maps(weft *w, struct results *results)
{
    enum { KEYS = 5000 };
    static const weft_ordmap_kind kind = {.key_size = 4, .value_size = 4, .compare = compare_keys};
    uint32_t *keys = malloc(2 * KEYS * sizeof keys[0]), *more = keys + KEYS;
    weft_ordmap *a, *b, *both;
    for (uint32_t i = 0; i < KEYS; i++) {
        keys[i] = 2 * i;
        more[i] = 3 * i;
    }
    CHECK(weft_ordmap_build(w, keys, keys, KEYS, &kind, &a) == 0);
    CHECK(weft_ordmap_build(w, more, keys, KEYS, &kind, &b) == 0);
    CHECK(weft_ordmap_union(w, a, b, NULL, NULL, &both) == 0);
    results->map_size = weft_ordmap_size(both);
    results->hash_map = 0;
    weft_ordmap_walk(both, 0, results->map_size, hash_entry, &results->hash_map);
    weft_ordmap_release(a);
    weft_ordmap_release(b);
    weft_ordmap_release(both);
    free(keys);
}

static void compute(weft *w, void *arg)
{
    struct results *results = arg;
    double *numbers = malloc(N * sizeof numbers[0]);
    weft_for(w, 0, N, fill, numbers);
    results->hash_for = hash(numbers, N * sizeof numbers[0]);
    results->sum = weft_sum_f64(w, numbers, N);
    weft_sort(w, numbers, N, sizeof numbers[0], compare, NULL);
    results->hash_sorted = hash(numbers, N * sizeof numbers[0]);
    use_maps(w, results);
    free(numbers);
}

static int compute_in_actor(weft *w, void *arg)
{
    compute(w, arg);
    return 0;
}

static void results_are_the_same_inside(void **state)
{
    struct results outside, inside[4];
    weft_pool *pool = pool_make(2, 0);
    const weft_actors_config quantum = {.size = sizeof quantum, .turn = 20000};
    assert_int_equal(weft_actors_setup(pool, &quantum), 0);
    memset(&outside, 0, sizeof outside);
    memset(inside, 0, sizeof inside);
    assert_int_equal(weft_run(pool, compute, &outside), 0);
    assert_true(outside.map_size > 5000);
    weft_actor *actors[4];
    for (int i = 0; i < 4; i++) {
        weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
        config.steal = i % 2 ? WEFT_STEAL_STRICT : WEFT_STEAL_LIVE;
        actors[i] = start(pool, compute_in_actor, &inside[i], &config);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(end(actors[i]), 0);
        assert_memory_equal(&inside[i], &outside, sizeof outside);
    }
    pool_drop(pool);
}

/* ---- The pool's end ---- */

static void create_another(weft_actor *actor, int reason, void *data)
{
    weft_actor *another;
    atomic_int *error = data;
    atomic_ulong unused;
    atomic_store(error, weft_actor_create(&another, NULL, count_one, &unused, NULL));
    weft_actor_release(another);
}

static weft_pool *ending; /* for who has only a supervisor's arguments */

static void create_in_ending(weft_actor *actor, int reason, void *data)
{
    weft_actor *another;
    CHECK(reason == -ECANCELED);
    atomic_store((atomic_int *)data, weft_actor_create(&another, ending, count_one, NULL, NULL));
}

static void no_more_at_the_end(void **state)
{
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    atomic_bool arrived = false;
    atomic_int errors[2] = {1, 1};
    ending = pool_make(1, 0);
    config.supervisor = create_in_ending;
    config.data = &errors[0];
    weft_actor_release(start(ending, poll_for_ever, &arrived, &config));
    config.data = &errors[1];
    weft_actor *new;
    assert_int_equal(weft_actor_create(&new, ending, count_one, NULL, &config), 0);
    pool_drop(ending);
    for (int i = 0; i < 2; i++)
        assert_int_equal(atomic_load(&errors[i]), -ESHUTDOWN);
    assert_int_equal(end(new), -ECANCELED);
    /* In the default pool a supervisor may make as many as it likes. */
    config.supervisor = create_another;
    atomic_ulong count = 0;
    weft_actor *one;
    assert_int_equal(weft_actor_create(&one, NULL, count_one, &count, &config), 0);
    assert_int_equal(weft_actor_run(one), 0);
    assert_int_equal(end(one), 0);
    assert_int_equal(atomic_load(&errors[1]), 0);
}

static int wait_for_itself(weft *w, void *arg)
{
    return weft_actor_wait(w, weft_actor_self(w));
}

static int send_to_itself(weft *w, void *arg)
{
    weft_actor *self = weft_actor_self(w);
    void *message;
    for (uintptr_t i = 0; i < 16; i++)
        CHECK(weft_actor_send(w, self, (void *)i) == 0);
    CHECK(weft_actor_try_send(w, self, NULL) == -EAGAIN);
    CHECK(weft_actor_send(w, self, NULL) == -EDEADLK);
    for (uintptr_t i = 0; i < 16; i++)
        CHECK(weft_receive(w, &message) == 0 && (uintptr_t)message == i);
    return weft_try_receive(w, &message);
}

static void waits_for_itself(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    assert_int_equal(run_one(pool, wait_for_itself, NULL), -EDEADLK);
    assert_int_equal(run_one(pool, send_to_itself, NULL), -EAGAIN);
    pool_drop(pool);
}

static int destroy_own(weft *w, void *pool)
{
    return weft_pool_destroy(pool);
}

static void not_destroyed_from_inside(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    assert_int_equal(run_one(pool, destroy_own, pool), -EDEADLK);
    pool_drop(pool);
}

/* ---- A guest waits for it ---- */

struct helper {
    weft_pool *pool;
    weft_event event;
    atomic_bool begun;
    pthread_t guest;
    bool run_by_guest;
};

static int wait_and_look_around(weft *w, void *arg)
{
    struct helper *helper = arg;
    atomic_store(&helper->begun, true);
    weft_event_wait(w, &helper->event);
    helper->run_by_guest = pthread_equal(pthread_self(), helper->guest);
    return 5;
}

static void start_and_wait(weft *w, void *arg)
{
    struct helper *helper = arg;
    weft_actor *actor = start(helper->pool, wait_and_look_around, helper, NULL);
    CHECK(weft_actor_wait(w, actor) == 5);
    weft_actor_release(actor);
}

static void *set_when_guest_sleeps(void *arg)
{
    struct helper *helper = arg;
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    WAIT_UNTIL(atomic_load(&helper->begun));
    do
        weft_pool_get_info(helper->pool, &info);
    while (info.guests > 0);
    weft_event_set(NULL, &helper->event);
    return NULL;
}

/* All workers are busy, and the guest sleeps when the actor can go on. Nobody else is there. */
static void its_waiter_helps(void **state)
{
    for (unsigned workers = 1; workers <= 4; workers += 3) {
        struct helper helper = {.pool = pool_make(workers, 0), .guest = pthread_self()};
        struct held held;
        pthread_t setter;
        weft_event_init(&helper.event, "from outside");
        weft_event_from_outside(&helper.event);
        pool_hold(helper.pool, &held, workers);
        assert_int_equal(pthread_create(&setter, NULL, set_when_guest_sleeps, &helper), 0);
        assert_int_equal(weft_run(helper.pool, start_and_wait, &helper), 0);
        assert_true(helper.run_by_guest);
        assert_int_equal(pthread_join(setter, NULL), 0);
        pool_let_go(&held);
        pool_drop(helper.pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(setup_comes_first),
        cmocka_unit_test(runs_once),
        cmocka_unit_test(released_ones_go_on),
        cmocka_unit_test(released_while_others_wait),
        cmocka_unit_test(supervisor_is_told_once),
        cmocka_unit_test(one_that_never_ran_ends_too),
        cmocka_unit_test(killed_wherever_it_is),
        cmocka_unit_test(self_is_the_actor),
        cmocka_unit_test(pinned_ones_stay),
        cmocka_unit_test(info_tells),
        cmocka_unit_test(idle_time_is_not_counted),
        cmocka_unit_test(results_are_the_same_inside),
        cmocka_unit_test(no_more_at_the_end),
        cmocka_unit_test(waits_for_itself),
        cmocka_unit_test(not_destroyed_from_inside),
        cmocka_unit_test(its_waiter_helps),
    };
    return cmocka_run_group_tests_name("actor", tests, NULL, NULL);
}
