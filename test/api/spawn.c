/* SPDX-License-Identifier: MIT */
/* spawn.c: children that get a copy of their argument, and children that are dropped: each runs or
 * is dropped, once, also in actors that fail or are killed. */
#include "actors.h"
#include "check.h"
#include "pools.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- Copies ---- */

enum { SIZES = 5, EACH = 50, LARGEST = 5000 };

static const size_t sizes[SIZES] = {1, 16, 48, 49, LARGEST};

struct sums {
    weft_scope *scope;
    atomic_ulong of[SIZES];
};

struct note {
    struct sums *sums;
    unsigned size, depth;
};

static void add_bytes(weft *w, void *copy)
{
    const unsigned char *bytes = copy;
    CHECK((uintptr_t)copy % _Alignof(max_align_t) == 0);
    size_t size = bytes[0]; /* the index into sizes */
    CHECK(size < SIZES);
    for (size_t i = 1; i < sizes[size]; i++)
        CHECK(bytes[i] == (unsigned char)i);
}

static void count_copy(weft *w, void *copy)
{
    struct note note = *(struct note *)copy;
    unsigned char bytes[LARGEST];
    for (size_t i = 1; i < sizes[note.size]; i++)
        bytes[i] = (unsigned char)i;
    bytes[0] = (unsigned char)note.size;
    CHECK(weft_spawn_copy(w, note.sums->scope, add_bytes, bytes, sizes[note.size], NULL) == 0);
    memset(bytes, 0xee, sizeof bytes); /* the copy stays as it is */
    atomic_fetch_add(&note.sums->of[note.size], 1);
    if (note.depth == 0)
        return;
    note.depth--;
    CHECK(weft_spawn_copy(w, note.sums->scope, count_copy, &note, sizeof note, NULL) == 0);
    CHECK(memcmp(&((struct note *)copy)->sums, &note.sums, sizeof note.sums) == 0);
}

static void no_bytes(weft *w, void *copy)
{
    CHECK(copy != NULL);
}

static void spawn_copies(weft *w, void *arg)
{
    struct sums *sums = arg;
    weft_scope scope;
    weft_scope_open(w, sums->scope = &scope);
    for (unsigned size = 0; size < SIZES; size++) {
        struct note note = {sums, size, EACH - 1};
        CHECK(weft_spawn_copy(w, &scope, count_copy, &note, sizeof note, NULL) == 0);
    }
    CHECK(weft_spawn_copy(w, &scope, no_bytes, NULL, 0, NULL) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
}

static int spawn_copies_actor(weft *w, void *arg)
{
    spawn_copies(w, arg);
    return 0;
}

static void expect_copies(struct sums *sums)
{
    for (unsigned size = 0; size < SIZES; size++)
        assert_int_equal(atomic_exchange(&sums->of[size], 0), EACH);
}

static void copies(void **state)
{
    struct sums sums = {0};
    for (unsigned workers = 1; workers <= 4; workers++) {
        weft_pool *pool = pool_make(workers, workers == 2 ? WEFT_NO_GUESTS : 0);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(weft_run(pool, spawn_copies, &sums), 0);
            expect_copies(&sums);
        }
        assert_int_equal(run_one(pool, spawn_copies_actor, &sums), 0);
        expect_copies(&sums);
        pool_drop(pool);
    }
}

/* ---- Dropped ---- */

enum { CHILDREN = SCALED(2000, 10), LUCKY = CHILDREN / 2 };

struct fate {
    atomic_int ran, dropped;
};

struct fates {
    struct fate of[CHILDREN];
    atomic_bool arrived;
    bool before; /* it fails before it spawns */
};

static void run_child(weft *w, void *arg)
{
    atomic_fetch_add(&((struct fate *)arg)->ran, 1);
}

static void drop_child(weft *w, void *arg)
{
    CHECK(weft_here() != NULL);
    atomic_fetch_add(&((struct fate *)arg)->dropped, 1);
}

static void run_copied(weft *w, void *arg)
{
    run_child(w, *(void **)arg);
}

static void drop_copied(weft *w, void *arg)
{
    drop_child(w, *(void **)arg);
}

static void fail_now(weft *w, void *arg)
{
    weft_fail(w, -7);
}

static void spawn_one(weft *w, weft_scope *scope, struct fate *fate, int i)
{
    if (i == LUCKY)
        CHECK(weft_spawn(w, scope, fail_now, NULL) == 0);
    if (i % 2)
        CHECK(weft_spawn_drop(w, scope, run_child, fate, drop_child) == 0);
    else
        CHECK(weft_spawn_copy(w, scope, run_copied, &fate, sizeof fate, drop_copied) == 0);
}

static void spawn_and_fail(weft *w, void *arg)
{
    struct fates *fates = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    if (fates->before)
        weft_fail(w, -7);
    for (int i = 0; i < CHILDREN; i++)
        spawn_one(w, &scope, &fates->of[i], i);
    CHECK(weft_scope_close(w, &scope) == -7);
}

static int spawn_and_fail_actor(weft *w, void *arg)
{
    spawn_and_fail(w, arg);
    return 0;
}

/* Each child ran or was dropped. Returns how many were dropped. */
static int settle(struct fates *fates)
{
    int dropped = 0;
    for (int i = 0; i < CHILDREN; i++) {
        int ran = atomic_exchange(&fates->of[i].ran, 0);
        int drop = atomic_exchange(&fates->of[i].dropped, 0);
        assert_int_equal(ran + drop, 1);
        dropped += drop;
    }
    return dropped;
}

static void dropped_once(void **state)
{
    static struct fates fates;
    for (unsigned workers = 1; workers <= 4; workers++) {
        weft_pool *pool = pool_make(workers, workers == 2 ? WEFT_NO_GUESTS : 0);
        for (int i = 0; i < rounds_of(20); i++) {
            fates.before = i % 2;
            assert_int_equal(weft_run(pool, spawn_and_fail, &fates), 0);
            int dropped = settle(&fates);
            assert_true(fates.before ? dropped == CHILDREN : dropped <= CHILDREN);
            if (workers == 1 && !fates.before) /* last in, first out: those before the failure */
                assert_int_equal(dropped, LUCKY);
            assert_int_equal(run_one(pool, spawn_and_fail_actor, &fates), 0);
            assert_true(settle(&fates) > 0);
        }
        pool_drop(pool);
    }
}

/* ---- Killed, with children that stand in line ---- */

static int spawn_and_wait(weft *w, void *arg)
{
    struct fates *fates = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < CHILDREN; i++)
        spawn_one(w, &scope, &fates->of[i], i);
    atomic_store(&fates->arrived, true);
    while (weft_actor_self(w))
        weft_poll(w);
    return weft_scope_close(w, &scope);
}

static void sleep_child(weft *w, void *arrived)
{
    atomic_store((atomic_bool *)arrived, true);
    weft_sleep_until(w, UINT64_MAX);
}

/* It ends in the middle of the close. */
static int close_and_wait(weft *w, void *arg)
{
    struct fates *fates = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, sleep_child, &fates->arrived) == 0);
    for (int i = 0; i < CHILDREN; i++)
        CHECK(weft_spawn_drop(w, &scope, run_child, &fates->of[i], drop_child) == 0);
    return weft_scope_close(w, &scope);
}

static void dropped_when_killed(void **state)
{
    static struct fates fates;
    weft_actor_fn *const fns[] = {spawn_and_wait, close_and_wait};
    for (unsigned workers = 1; workers <= 2; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        for (int i = 0; i < 10; i++) {
            atomic_store(&fates.arrived, false);
            weft_actor *actor = start(pool, fns[i % 2], &fates, NULL);
            WAIT_UNTIL(atomic_load(&fates.arrived));
            weft_actor_kill(actor);
            assert_int_equal(end(actor), -ECANCELED);
            int dropped = settle(&fates);
            if (i % 2 == 0)
                assert_int_equal(dropped, CHILDREN);
        }
        pool_drop(pool);
    }
}

static void bad_arguments_job(weft *w, void *arg)
{
    weft_scope scope;
    int x = 0;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn_copy(w, &scope, NULL, &x, sizeof x, NULL) == -EINVAL);
    CHECK(weft_spawn_copy(w, NULL, run_child, &x, sizeof x, NULL) == -EINVAL);
    CHECK(weft_spawn_copy(NULL, &scope, run_child, &x, sizeof x, NULL) == -EINVAL);
    CHECK(weft_spawn_copy(w, &scope, run_child, NULL, 1, NULL) == -EINVAL);
    CHECK(weft_spawn_copy(w, &scope, run_child, &x, SIZE_MAX, drop_child) == -ENOMEM);
    CHECK(weft_spawn_drop(w, &scope, NULL, &x, drop_child) == -EINVAL);
    CHECK(weft_spawn_drop(w, NULL, run_child, &x, drop_child) == -EINVAL);
    CHECK(weft_spawn_drop(NULL, &scope, run_child, &x, drop_child) == -EINVAL);
    CHECK(weft_spawn_drop(w, &scope, run_child, &x, NULL) == -EINVAL);
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void bad_arguments(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    assert_int_equal(weft_run(pool, bad_arguments_job, NULL), 0);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies),
        cmocka_unit_test(dropped_once),
        cmocka_unit_test(dropped_when_killed),
        cmocka_unit_test(bad_arguments),
    };
    return RUN_ON_ALL_ROADS(tests);
}
