/* SPDX-License-Identifier: MIT */
/* info.c: what a pool says about itself. */
#include "check.h"
#include "pools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 3 };

static weft_pool_info info_of(weft_pool *pool)
{
    weft_pool_info info;
    memset(&info, 0xff, sizeof info);
    info.size = sizeof info;
    assert_int_equal(weft_pool_get_info(pool, &info), 0);
    return info;
}

static void version(void **state)
{
    char expected[32];
    assert_int_equal(weft_version_number(), WEFT_VERSION);
    assert_int_equal(WEFT_VERSION / 10000, WEFT_VERSION_MAJOR);
    assert_int_equal(WEFT_VERSION / 100 % 100, WEFT_VERSION_MINOR);
    assert_int_equal(WEFT_VERSION % 100, WEFT_VERSION_PATCH);
    snprintf(expected, sizeof expected, "%d.%d.%d", WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR,
             WEFT_VERSION_PATCH);
    assert_string_equal(weft_version(), expected);
}

static void asleep_and_busy(void **state)
{
    weft_pool *pool = pool_make(WORKERS, 0);
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    WAIT_UNTIL((info = info_of(pool)).sleeping == WORKERS);
    assert_int_equal(info.workers, WORKERS);
    assert_true(info.cpus >= 1);
    assert_int_equal(info.idle, 0);
    assert_int_equal(info.guests, 0);
    assert_int_equal(info.queued, 0);
    const char *sleep = getenv("WEFT_SLEEP");
    assert_string_equal(info.sleep, sleep && *sleep ? sleep : "events");
    struct held held;
    pool_hold(pool, &held, WORKERS);
    info = info_of(pool);
    assert_int_equal(info.idle, 0);
    assert_int_equal(info.sleeping, 0);
    pool_let_go(&held);
    pool_wait_asleep(pool);
    pool_drop(pool);
}

static void how_it_forks(void **state)
{
    weft_pool *pool = pool_make(WORKERS, 0);
    weft_pool_info info = info_of(pool);
    if (road->fork == WEFT_FORK_EAGER)
        assert_string_equal(info.fork, "eager");
    else if (strcmp(info.fork, "eager (no membarrier)") != 0)
        assert_string_equal(info.fork, "lazy");
    assert_int_equal(info.quantum, road->quantum == WEFT_NONE ? WEFT_NONE : WEFT_QUANTUM);
    pool_drop(pool);
}

static void queued(void **state)
{
    enum { TASKS = 7 };
    weft_pool *pool = pool_make(WORKERS, 0);
    struct held held;
    pool_hold(pool, &held, WORKERS);
    weft_task tasks[TASKS];
    atomic_ulong count = 0;
    for (unsigned i = 0; i < TASKS; i++) {
        assert_int_equal(info_of(pool).queued, i);
        assert_int_equal(weft_submit(pool, &tasks[i], count_job, &count), 0);
    }
    assert_int_equal(weft_task_wait(&tasks[3]), 0); /* out of the middle */
    assert_int_equal(info_of(pool).queued, TASKS - 1);
    pool_let_go(&held);
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(weft_task_wait(&tasks[i]), 0);
    assert_int_equal(info_of(pool).queued, 0);
    pool_drop(pool);
}

static void look_as_guest(weft *w, void *arg)
{
    CHECK(info_of(weft_pool_of(w)).guests == 1);
}

static void guests(void **state)
{
    weft_pool *pool = pool_make(WORKERS, 0);
    assert_int_equal(weft_run(pool, look_as_guest, NULL), 0);
    assert_int_equal(info_of(pool).guests, 0);
    pool_drop(pool);
}

/* ---- One worker ---- */

static void worker_counts(void **state)
{
    enum { TASKS = 50 };
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    atomic_ulong count = 0;
    for (int i = 0; i < TASKS; i++)
        assert_int_equal(weft_run(pool, count_job, &count), 0);
    pool_wait_asleep(pool);
    weft_worker_info info;
    memset(&info, 0xff, sizeof info);
    info.size = sizeof info;
    assert_int_equal(weft_worker_get_info(pool, 0, &info), 0);
    assert_int_equal(info.jobs, TASKS);
    assert_int_equal(info.injected, TASKS);
    assert_int_equal(info.steals, 0);
    assert_int_equal(info.depth_max, 0);
    assert_in_range(info.cpu_ns, 1, weft_now());
    assert_int_equal(weft_worker_get_info(pool, 1, &info), -EINVAL);
    assert_int_equal(weft_worker_get_info(pool, (unsigned)-1, &info), -EINVAL);
    pool_drop(pool);
}

static uint64_t sleeps_of(weft_pool *pool, unsigned worker)
{
    weft_worker_info info = WEFT_WORKER_INFO_INIT;
    CHECK(weft_worker_get_info(pool, worker, &info) == 0);
    return info.sleeps;
}

/* Woken again and again: one by one, since a nudge just before sleep is none. */
static void sleeps_are_counted(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    atomic_ulong count = 0;
    for (int i = 0; i < 10; i++) {
        uint64_t before = sleeps_of(pool, 0);
        while (sleeps_of(pool, 0) == before) {
            pool_wait_asleep(pool);
            assert_int_equal(weft_broadcast(pool, count_job, &count), 0);
        }
    }
    pool_drop(pool);
}

static void steal_one(weft *w, void *arg)
{
    struct gate *gate = arg;
    weft_fork(w, gate_job, gate);
    gate_wait_arrived(gate);
    gate_open(gate);
    CHECK(weft_merge(w));
}

static void nest_one(weft *w, void *arg)
{
    CHECK(weft_run(weft_pool_of(w), count_job, arg) == 0);
}

static void steals_and_depth(void **state)
{
    weft_pool *pool = pool_make(2, WEFT_NO_GUESTS);
    for (unsigned i = 1; i <= 10; i++) {
        struct gate gate = {0};
        assert_int_equal(weft_run(pool, steal_one, &gate), 0);
        assert_int_equal(pool_steals(pool), i);
    }
    pool_drop(pool);
    pool = pool_make(1, WEFT_NO_GUESTS);
    atomic_ulong count = 0;
    assert_int_equal(weft_run(pool, nest_one, &count), 0);
    weft_worker_info info = WEFT_WORKER_INFO_INIT;
    assert_int_equal(weft_worker_get_info(pool, 0, &info), 0);
    assert_int_equal(info.depth_max, 1);
    pool_drop(pool);
}

/* ---- The dump ---- */

static unsigned lines_with(const char *text, const char *word)
{
    unsigned lines = 0;
    for (const char *end; *text && (end = strchr(text, '\n')); text = end + 1)
        if (memmem(text, (size_t)(end - text), word, strlen(word)))
            lines++;
    return lines;
}

static void dump_as_guest(weft *w, void *arg)
{
    char *text = pool_dump_text(weft_pool_of(w));
    CHECK(lines_with(text, "") == 1 + WORKERS + 1);
    CHECK(lines_with(text, "guest 3: busy") == 1);
    CHECK(lines_with(text, "1 guests") == 1);
    free(text);
}

static void dump_has_a_line_for_each(void **state)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = WORKERS;
    config.name = "dumped";
    weft_pool *pool = pool_make_with(&config);
    char *text = pool_dump_text(pool);
    while (lines_with(text, "3 asleep") == 0) { /* in the end */
        free(text);
        text = pool_dump_text(pool);
    }
    assert_int_equal(lines_with(text, ""), 1 + WORKERS);
    assert_int_equal(lines_with(text, "dumped"), 1);
    for (int i = 0; i < WORKERS; i++) {
        char word[32];
        snprintf(word, sizeof word, "worker %d:", i);
        assert_int_equal(lines_with(text, word), 1);
    }
    free(text);
    assert_int_equal(weft_run(pool, dump_as_guest, NULL), 0);
    pool_drop(pool);
}

/* Anybody may look at any time. */
struct watched {
    weft_pool *pool;
    atomic_bool over;
};

static void work_or_watch(unsigned i, void *arg)
{
    struct watched *watched = arg;
    atomic_ulong count = 0;
    if (i == 0) {
        for (int r = 0; r < SCALED(2000, 10); r++) {
            CHECK(weft_run(watched->pool, nest_one, &count) == 0);
            CHECK(weft_broadcast(watched->pool, count_job, &count) == 0);
        }
        atomic_store(&watched->over, true);
        return;
    }
    while (!atomic_load(&watched->over)) {
        char *text = pool_dump_text(watched->pool);
        CHECK(lines_with(text, "worker ") >= WORKERS);
        free(text);
        CHECK(info_of(watched->pool).sleeping <= WORKERS);
        CHECK(info_of(watched->pool).idle <= WORKERS);
    }
}

static void looking_disturbs_nobody(void **state)
{
    struct watched watched = {.pool = pool_make(WORKERS, 0)};
    in_threads(2, work_or_watch, &watched);
    pool_drop(watched.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version),
        cmocka_unit_test(asleep_and_busy),
        cmocka_unit_test(how_it_forks),
        cmocka_unit_test(queued),
        cmocka_unit_test(guests),
        cmocka_unit_test(worker_counts),
        cmocka_unit_test(sleeps_are_counted),
        cmocka_unit_test(steals_and_depth),
        cmocka_unit_test(dump_has_a_line_for_each),
        cmocka_unit_test(looking_disturbs_nobody),
    };
    return RUN_ON_ALL_ROADS(tests);
}
