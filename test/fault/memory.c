/* SPDX-License-Identifier: MIT */
/* memory.c: no memory. Every operation is tried with its first allocation failing, then its
 * second, and so on until none fails any more. It says -ENOMEM and has done nothing, or it
 * has done everything; nothing is lost, run twice, or leaked. */
#include "os/memory.h"

#include "child.h"
#include "core/pool.h"
#include "proc.h"
#include "weft/lines.h"
#include "weft/parallel.h"
#include "weft/sort.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* An operation, done with the k-th allocation failing. True: one has failed. */
typedef bool try_fn(uint32_t k, enum way way);

static unsigned sweep(try_fn *try, enum way way)
{
    uint32_t k = 1;
    while (try(k, way))
        k++;
    return k - 1;
}

static bool all_or_nothing(int error, int ran, int all)
{
    CHECK(error == 0 || error == -ENOMEM);
    CHECK_EQUAL(ran, error ? 0 : all);
    return failed();
}

/* ---- Pools ---- */

static bool try_create(uint32_t k, unsigned flags, enum way way)
{
    weft_config config = child_config(3, flags, way);
    weft_pool *pool;
    atomic_int ran = 0;
    fail_at(k);
    int error = weft_pool_create(&pool, &config);
    if (error) {
        CHECK_EQUAL(error, -ENOMEM);
        CHECK(pool == NULL && weft_here() == NULL);
        return failed();
    }
    until_asleep(pool, flags & WEFT_USE_CALLER ? 2 : 3); /* they allocate when they start */
    bool one_failed = failed();
    CHECK_EQUAL(weft_broadcast(pool, count_up, &ran), 0);
    CHECK_EQUAL(atomic_load(&ran), 3);
    child_pool_end(pool);
    return one_failed;
}

static bool try_create_plain(uint32_t k, enum way way)
{
    return try_create(k, 0, way);
}

static bool try_create_caller(uint32_t k, enum way way)
{
    return try_create(k, WEFT_USE_CALLER, way);
}

static void oom_create(void)
{
    FOR_EACH_WAY(way)
    {
        CHECK(sweep(try_create_plain, way) >= 5);
        CHECK(sweep(try_create_caller, way) >= 5);
    }
    /* Contexts are mapped, where no leak is looked for. */
    size_t before = mapped_bytes();
    for (int i = 0; i < SCALED(20, 10); i++)
        sweep(try_create_plain, WAY_SPIN);
    CHECK(SANITIZED || mapped_bytes() < before + ((size_t)128 << 20));
}

/* A default pool that can't be made is -ENOMEM, and is made the next time. */
static bool try_default(uint32_t k, enum way way)
{
    atomic_int ran = 0;
    fail_at(k);
    int error = weft_run(NULL, count_up, &ran);
    if (error) {
        CHECK_EQUAL(error, -ENOMEM);
        CHECK_EQUAL(atomic_load(&ran), 0);
        bool one_failed = failed();
        CHECK_EQUAL(weft_run(NULL, count_up, &ran), 0);
        child_pool_end(weft_pool_default());
        return one_failed;
    }
    CHECK_EQUAL(atomic_load(&ran), 1);
    until_asleep(weft_pool_default(), weft_pool_workers(weft_pool_default()));
    bool one_failed = failed();
    child_pool_end(weft_pool_default());
    return one_failed;
}

static void oom_default_pool(void)
{
    CHECK(sweep(try_default, WAY_SPIN) >= 5);
}

/* The thread that destroys needs a place to sleep. The pool stays as it is. */
static bool try_destroy(uint32_t k, enum way way)
{
    weft_pool *pool = child_pool(2, 0, way);
    atomic_int ran = 0;
    until_asleep(pool, 2);
    fail_at(k);
    int error = weft_pool_destroy(pool);
    bool one_failed = failed();
    if (error) {
        CHECK_EQUAL(error, -ENOMEM);
        CHECK_EQUAL(weft_broadcast(pool, count_up, &ran), 0);
        CHECK_EQUAL(atomic_load(&ran), 2);
        child_pool_end(pool);
    }
    return one_failed;
}

static void oom_destroy(void)
{
    FOR_EACH_WAY(way)
    {
        sweep(try_destroy, way);
    }
}

/* ---- Ways in ---- */

static bool try_run(uint32_t k, enum way way)
{
    weft_pool *pool = child_pool(2, 0, way);
    atomic_int ran = 0;
    until_asleep(pool, 2);
    fail_at(k);
    int error = weft_run(pool, count_up, &ran);
    bool one_failed = all_or_nothing(error, atomic_load(&ran), 1);
    child_pool_end(pool);
    return one_failed;
}

static void oom_run(void)
{
    FOR_EACH_WAY(way)
    {
        CHECK(sweep(try_run, way) >= 3); /* a guest is made of several pieces */
    }
}

/* Its waiter can't become a guest; so the worker, held until then, has to run it. */
struct held {
    weft_task task;
    atomic_int started, ran;
};

static void hold_until_tried(weft *w, void *arg)
{
    struct held *held = arg;
    atomic_fetch_add(&held->started, 1);
    UNTIL(atomic_load(&held->ran) || atomic_load_relaxed(&weft__alloc_fail_at) == 0);
}

static bool try_submit_and_wait(uint32_t k, enum way way)
{
    weft_pool *pool = child_pool(1, 0, way);
    struct held held = {0};
    weft_task holder;
    until_asleep(pool, 1);
    fail_at(UINT32_MAX / 2); /* on, but far away */
    CHECK_EQUAL(weft_submit(pool, &holder, hold_until_tried, &held), 0);
    UNTIL(atomic_load(&held.started));
    fail_at(k);
    CHECK_EQUAL(weft_submit(pool, &held.task, count_up, &held.ran), 0);
    CHECK_EQUAL(weft_task_wait(&held.task), 0);
    CHECK_EQUAL(atomic_load(&held.ran), 1);
    bool one_failed = failed();
    CHECK_EQUAL(weft_task_wait(&holder), 0);
    child_pool_end(pool);
    return one_failed;
}

static void oom_submit_and_wait(void)
{
    FOR_EACH_WAY(way)
    {
        CHECK(sweep(try_submit_and_wait, way) >= 3);
    }
}

static bool try_broadcast(uint32_t k, enum way way)
{
    weft_pool *pool = child_pool(3, 0, way);
    atomic_int ran = 0;
    until_asleep(pool, 3);
    fail_at(k);
    int error = weft_broadcast(pool, count_up, &ran);
    bool one_failed = all_or_nothing(error, atomic_load(&ran), 3);
    child_pool_end(pool);
    return one_failed;
}

static bool try_broadcast_detached(uint32_t k, enum way way)
{
    weft_pool *pool = child_pool(3, 0, way);
    atomic_int ran = 0;
    until_asleep(pool, 3);
    fail_at(k);
    int error = weft_broadcast_detached(pool, count_up, &ran);
    CHECK(error == 0 || error == -ENOMEM);
    bool one_failed = failed();
    child_pool_end(pool);
    CHECK_EQUAL(atomic_load(&ran), error ? 0 : 3);
    return one_failed;
}

static void oom_broadcast(void)
{
    FOR_EACH_WAY(way)
    {
        CHECK(sweep(try_broadcast, way) >= 1);
        CHECK(sweep(try_broadcast_detached, way) >= 1);
    }
}

/* ---- Spawning ---- */

/* More than a deque holds at first, so that it has to grow. The jobs do nothing but note
 * that they ran; each exactly once if its spawn said so. */
enum { SPAWNS = 300 };

enum spawn_kind { SPAWN, SPAWN_FIFO, SPAWN_DETACHED };

struct spawns {
    enum spawn_kind kind;
    uint32_t k;
    bool spawned[SPAWNS], one_failed;
    atomic_int ran[SPAWNS];
};

static int spawn(weft *w, weft_scope *scope, enum spawn_kind kind, void *arg)
{
    switch (kind) {
    case SPAWN:
        return weft_spawn(w, scope, count_up, arg);
    case SPAWN_FIFO:
        return weft_spawn_fifo(w, scope, count_up, arg);
    case SPAWN_DETACHED:
        return weft_spawn_detached(w, count_up, arg);
    }
    return -EINVAL;
}

static void spawn_all(weft *w, void *arg)
{
    struct spawns *spawns = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    fail_at(spawns->k);
    for (int i = 0; i < SPAWNS; i++) {
        int error = spawn(w, &scope, spawns->kind, &spawns->ran[i]);
        CHECK(error == 0 || error == -ENOMEM);
        spawns->spawned[i] = error == 0;
    }
    spawns->one_failed = failed();
    CHECK_EQUAL(weft_scope_close(w, &scope), 0);
}

/* The only worker is the caller, so nobody takes anything before all are spawned. */
static bool try_spawns(uint32_t k, enum way way, enum spawn_kind kind)
{
    weft_pool *pool = child_pool(1, WEFT_USE_CALLER, way);
    static struct spawns spawns;
    spawns = (struct spawns){.kind = kind, .k = k};
    CHECK_EQUAL(weft_run(pool, spawn_all, &spawns), 0);
    child_pool_end(pool);
    int lost = 0;
    for (int i = 0; i < SPAWNS; i++) {
        CHECK_EQUAL(atomic_load(&spawns.ran[i]), spawns.spawned[i]);
        lost += !spawns.spawned[i];
    }
    /* What can't be put on the deque may run at once instead. */
    CHECK(lost <= (spawns.one_failed ? 1 : 0));
    return spawns.one_failed;
}

static bool try_spawn(uint32_t k, enum way way)
{
    return try_spawns(k, way, SPAWN);
}

static bool try_spawn_fifo(uint32_t k, enum way way)
{
    return try_spawns(k, way, SPAWN_FIFO);
}

static bool try_spawn_detached(uint32_t k, enum way way)
{
    return try_spawns(k, way, SPAWN_DETACHED);
}

static void oom_spawn(void)
{
    CHECK(sweep(try_spawn, WAY_SPIN) > SPAWNS);
}

static void oom_spawn_fifo(void)
{
    CHECK(sweep(try_spawn_fifo, WAY_SPIN) > SPAWNS);
}

static void oom_spawn_detached(void)
{
    CHECK(sweep(try_spawn_detached, WAY_SPIN) > SPAWNS);
}

/* Again while two thieves take what there is: whatever fails then, nothing is lost. */
static void spawn_among_thieves(void)
{
    FOR_EACH_WAY(way)
    {
        for (enum spawn_kind kind = SPAWN; kind <= SPAWN_DETACHED; kind++) {
            for (uint32_t k = 1; k < SPAWNS + 5; k += SANITIZED ? 60 : 7) {
                static struct spawns spawns;
                weft_pool *pool = child_pool(3, 0, way);
                spawns = (struct spawns){.kind = kind, .k = k};
                CHECK_EQUAL(weft_run(pool, spawn_all, &spawns), 0);
                child_pool_end(pool);
                for (int i = 0; i < SPAWNS; i++)
                    CHECK_EQUAL(atomic_load(&spawns.ran[i]), spawns.spawned[i]);
            }
        }
    }
}

/* ---- Forking ---- */

/* A comb: every left side forks again, until more are pending than a deque holds at first. */
struct comb {
    int depth;
    atomic_int ran;
};

struct tooth {
    struct comb *comb;
    int left;
};

static void tooth(weft *w, void *arg)
{
    struct tooth *t = arg, next = {t->comb, t->left - 1};
    if (t->left == 0)
        return;
    weft *in = weft_fork(w, count_up, &t->comb->ran);
    tooth(in, &next);
    if (!weft_merge(w))
        count_up(w, &t->comb->ran);
}

static bool try_fork(uint32_t k, enum way way)
{
    weft_pool *pool = child_pool(1, WEFT_USE_CALLER, way);
    struct comb comb = {.depth = 2000};
    struct tooth first = {&comb, comb.depth};
    fail_at(k);
    CHECK_EQUAL(weft_run(pool, tooth, &first), 0);
    bool one_failed = failed();
    CHECK_EQUAL(atomic_load(&comb.ran), comb.depth);
    child_pool_end(pool);
    return one_failed;
}

static void oom_fork_past_the_deques_capacity(void)
{
    FOR_EACH_WAY(way)
    {
        CHECK(sweep(try_fork, way) >= (way < WAY_EAGER_NO_SPIN ? 0 : 3)); /* the deque grows */
    }
}

/* More in a row than there are slots: what those beyond were given has to be kept. */
enum { ROW = 40000 };

static long half(weft *w, long n);
WEFT_FORKABLE(long, half, long n;, half(w, a->n))

static long half(weft *w, long n)
{
    return n / 2;
}

static void sum_row(weft *w, void *arg)
{
    long sum = 0;
    for (long i = 0; i < ROW; i++)
        w = WEFT_FORK_IN(w, half, 2 * i);
    for (long i = 0; i < ROW; i++) {
        w = weft_outer(w);
        sum += WEFT_MERGE_IN(w, half);
    }
    *(long *)arg = sum;
}

static bool try_row(uint32_t k, enum way way)
{
    weft_pool *pool = child_pool(1, WEFT_USE_CALLER, way);
    long sum = 0, right = (long)ROW * (ROW - 1) / 2;
    fail_at(k);
    int error = weft_run(pool, sum_row, &sum);
    bool one_failed = failed();
    CHECK(error == 0 || (one_failed && error == -ENOMEM));
    CHECK(error || sum == right);
    CHECK_EQUAL(weft_run(pool, sum_row, &sum), 0);
    CHECK_EQUAL(sum, right);
    child_pool_end(pool);
    return one_failed;
}

static void oom_forks_past_the_last_slot(void)
{
    FOR_EACH_WAY(way)
    {
        CHECK(sweep(try_row, way) >= 7);
    }
}

/* ---- Data parallelism ---- */

/* One rule: what finds no memory does without, or its computation fails with -ENOMEM. Here that is
 * a scope, and the job around it goes on. What is returned: was the result right? */
typedef bool compute_fn(weft *w);

enum { WIDE = 2000, BLOCK = 10, NUMBERS = 12 * BLOCK };

struct wide { /* too large for the stack, so that there has to be memory for each */
    size_t sum[WIDE];
};

static void wide_fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    struct wide *wide = accumulator;
    for (size_t i = begin; i < end; i++)
        wide->sum[i % WIDE]++;
}

static void wide_add(weft *w, void *left, const void *right, void *arg)
{
    for (size_t i = 0; i < WIDE; i++)
        ((struct wide *)left)->sum[i] += ((const struct wide *)right)->sum[i];
}

static const weft_reducer wide_reducer = {
    .size = sizeof(struct wide), .fold = wide_fold, .combine = wide_add, .block = BLOCK};

static bool has_numbers_below(const struct wide *wide, size_t n)
{
    for (size_t i = 0; i < WIDE; i++)
        if (wide->sum[i] != (i < n))
            return false;
    return true;
}

static bool compute_reduce(weft *w)
{
    static struct wide wide;
    weft_reduce(w, 0, NUMBERS, &wide_reducer, NULL, &wide);
    return has_numbers_below(&wide, NUMBERS);
}

static bool compute_reduce_unordered(weft *w)
{
    static struct wide wide;
    weft_reduce_unordered(w, 0, NUMBERS, &wide_reducer, NULL, &wide);
    return has_numbers_below(&wide, NUMBERS);
}

static bool compute_reduce_lines(weft *w)
{
    static char bytes[NUMBERS];
    static struct wide wide;
    memset(bytes, '\n', sizeof bytes);
    weft_reduce_lines(w, &(weft_text){bytes, NUMBERS}, &wide_reducer, NULL, &wide);
    return has_numbers_below(&wide, NUMBERS);
}

static void wide_map(weft *w, const void *in, void *out, void *arg)
{
    *(struct wide *)out = (struct wide){0};
    ((struct wide *)out)->sum[*(const size_t *)in] = 1;
}

static size_t *numbers(void)
{
    static size_t all[NUMBERS];
    for (size_t i = 0; i < NUMBERS; i++)
        all[i] = i;
    return all;
}

static bool compute_map_reduce(weft *w)
{
    static struct wide wide;
    wide = (struct wide){0};
    weft_map_reduce(w, numbers(), NUMBERS, sizeof(size_t), wide_map, wide_add, NULL, &wide,
                    sizeof wide);
    return has_numbers_below(&wide, NUMBERS);
}

static bool is_half(weft *w, const void *accumulator, void *arg)
{
    return ((const struct wide *)accumulator)->sum[NUMBERS / 2];
}

static bool compute_map_reduce_until(weft *w)
{
    static struct wide wide;
    wide = (struct wide){0};
    weft_map_reduce_until(w, numbers(), NUMBERS, sizeof(size_t), wide_map, wide_add, is_half, NULL,
                          &wide, sizeof wide);
    return has_numbers_below(&wide, NUMBERS / 2 + 1);
}

static size_t bin_of(weft *w, const void *element, void *arg)
{
    return *(const size_t *)element;
}

static bool compute_histogram(weft *w)
{
    static struct wide wide;
    weft_histogram(w, numbers(), NUMBERS, sizeof(size_t), bin_of, NULL, wide.sum, WIDE);
    return has_numbers_below(&wide, NUMBERS);
}

static void add_up(weft *w, void *left, const void *right, void *arg)
{
    *(size_t *)left += *(const size_t *)right;
}

static bool compute_scan(weft *w)
{
    size_t *all = numbers();
    weft_scan_inclusive(w, all, NUMBERS, sizeof all[0], add_up, NULL, all);
    for (size_t i = 0; i < NUMBERS; i++)
        if (all[i] != i * (i + 1) / 2)
            return false;
    return true;
}

static void count_range(weft *w, size_t begin, size_t end, void *state, void *arg)
{
    *(size_t *)state += end - begin;
}

static void collect(weft *w, void *state, void *arg)
{
    *(size_t *)arg += *(size_t *)state;
}

static bool compute_for_with(weft *w)
{
    size_t all = 0;
    weft_for_with(w, 0, NUMBERS, &(weft_state){.size = sizeof(size_t), .drop = collect},
                  count_range, &all);
    return all == NUMBERS;
}

static int larger_first(const void *a, const void *b, void *arg)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x < y) - (x > y);
}

static inline bool is_larger(size_t a, size_t b)
{
    return a > b;
}

WEFT_SORT_STABLE_DEFINE(sort_larger_first, size_t, is_larger)

static size_t shuffled(size_t i)
{
    return i * 7 % NUMBERS;
}

/* All are in order, or where they were. */
static bool is_sorted(const size_t *all)
{
    size_t larger_than_next = 0, moved = 0;
    for (size_t i = 0; i < NUMBERS; i++) {
        larger_than_next += i + 1 < NUMBERS && all[i] > all[i + 1];
        moved += all[i] != shuffled(i);
    }
    CHECK(larger_than_next == NUMBERS - 1 || moved == 0);
    return moved > 0;
}

static bool compute_sort_stable(weft *w)
{
    size_t *all = numbers();
    for (size_t i = 0; i < NUMBERS; i++)
        all[i] = shuffled(i);
    weft_sort_stable(w, all, NUMBERS, sizeof all[0], larger_first, NULL);
    return is_sorted(all);
}

static bool compute_typed_sort_stable(weft *w)
{
    size_t *all = numbers();
    for (size_t i = 0; i < NUMBERS; i++)
        all[i] = shuffled(i);
    sort_larger_first(w, all, NUMBERS);
    return is_sorted(all);
}

struct computation {
    compute_fn *fn;
    uint32_t k;
    bool one_failed;
};

static void compute(weft *w, void *arg)
{
    struct computation *c = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    fail_at(c->k);
    bool right = c->fn(w);
    c->one_failed = failed();
    int error = weft_scope_close(w, &scope);
    CHECK(error == 0 ? right : error == -ENOMEM && c->one_failed);
    CHECK(!weft_cancelled(w));
}

static unsigned sweep_computation(weft_pool *pool, compute_fn *fn)
{
    struct computation c = {.fn = fn, .one_failed = true};
    while (c.one_failed) {
        c.k++;
        CHECK_EQUAL(weft_run(pool, compute, &c), 0);
    }
    return c.k - 1;
}

static void oom_data_parallelism(void)
{
    static const struct {
        compute_fn *fn;
        unsigned allocations; /* at least, on any number of workers */
    } all[] = {
        {compute_reduce, 1},
        {compute_reduce_unordered, 0}, /* these only for what others take */
        {compute_reduce_lines, 1},
        {compute_map_reduce, 1},
        {compute_map_reduce_until, 1},
        {compute_histogram, 0},
        {compute_scan, 0},
        {compute_for_with, 1},
        {compute_sort_stable, 1},
        {compute_typed_sort_stable, 1},
    };
    FOR_EACH_WAY(way)
    {
        for (unsigned workers = 1; workers <= 3; workers += 2) {
            weft_pool *pool = child_pool(workers, 0, way);
            until_asleep(pool, workers); /* they allocate when they start */
            for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
                CHECK(sweep_computation(pool, all[i].fn) >= all[i].allocations);
            child_pool_end(pool);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_CHILD(oom_create),
        IN_CHILD(oom_default_pool),
        IN_CHILD(oom_destroy),
        IN_CHILD(oom_run),
        IN_CHILD(oom_submit_and_wait),
        IN_CHILD(oom_broadcast),
        IN_CHILD(oom_spawn),
        IN_CHILD(oom_spawn_fifo),
        IN_CHILD(oom_spawn_detached),
        IN_CHILD(spawn_among_thieves),
        IN_CHILD(oom_fork_past_the_deques_capacity),
        IN_CHILD(oom_forks_past_the_last_slot),
        IN_CHILD(oom_data_parallelism),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
