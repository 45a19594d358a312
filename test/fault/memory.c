/* SPDX-License-Identifier: MIT */
/* memory.c: no memory. Every operation is tried with its first allocation failing, then its
 * second, and so on until none fails any more. It says -ENOMEM and has done nothing, or it
 * has done everything; nothing is lost, run twice, or leaked. */
#include "os/memory.h"

#include "child.h"
#include "core/pool.h"
#include "proc.h"
#include "weft/actor.h"
#include "weft/lines.h"
#include "weft/local.h"
#include "weft/parallel.h"
#include "weft/sort.h"
#include "weft/sync.h"
#include "weft/task.h"

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

static void end_is_told(void *ran, int error)
{
    CHECK_EQUAL(error, 0);
    atomic_fetch_add((atomic_int *)ran, 1);
}

static bool try_submit_detached(uint32_t k, enum way way)
{
    weft_pool *pool = child_pool(1, 0, way);
    atomic_int ran = 0;
    until_asleep(pool, 1);
    fail_at(k);
    int error = weft_submit_detached(pool, count_up, &ran, end_is_told);
    bool one_failed = failed();
    child_pool_end(pool);
    CHECK(error == 0 || (one_failed && error == -ENOMEM));
    CHECK_EQUAL(atomic_load(&ran), error ? 0 : 2);
    return one_failed;
}

static void oom_submit_detached(void)
{
    FOR_EACH_WAY(way)
    {
        CHECK(sweep(try_submit_detached, way) >= 1);
    }
}

enum { SOON = 1000000000 }; /* so that the caller comes to wait before it, on any machine */

static bool try_completions(uint32_t k, enum way way)
{
    weft_completions *queue = NULL;
    weft_task *over;
    fail_at(k);
    int error = weft_completions_create(&queue);
    CHECK_EQUAL(error, queue ? 0 : -ENOMEM);
    if (queue) {
        error = weft_completions_next_until(queue, &over, weft_now() + SOON);
        CHECK(over == NULL && (error == -ETIMEDOUT || error == -ENOMEM));
        CHECK_EQUAL(weft_completions_destroy(queue), 0);
    }
    return failed();
}

static void oom_completions(void)
{
    CHECK(sweep(try_completions, WAY_SPIN) >= 2);
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

enum spawn_kind { SPAWN, SPAWN_FIFO, SPAWN_DETACHED, SPAWN_COPY, SPAWN_DROP, SPAWN_NARROW };

struct spawns {
    enum spawn_kind kind;
    uint32_t k;
    bool spawned[SPAWNS], one_failed;
    atomic_int ran[SPAWNS];
};

static void count_up_at(weft *w, void *copy)
{
    count_up(w, *(void **)copy);
}

static int spawn(weft *w, weft_scope *scope, enum spawn_kind kind, void *arg)
{
    switch (kind) {
    case SPAWN:
        return weft_spawn(w, scope, count_up, arg);
    case SPAWN_FIFO:
        return weft_spawn_fifo(w, scope, count_up, arg);
    case SPAWN_DETACHED:
        return weft_spawn_detached(w, count_up, arg);
    case SPAWN_COPY:
        return weft_spawn_copy(w, scope, count_up_at, (void *[40]){arg}, 320, count_up_at);
    case SPAWN_DROP:
    case SPAWN_NARROW:
        return weft_spawn_drop(w, scope, count_up, arg, count_up);
    }
    return -EINVAL;
}

static void spawn_all(weft *w, void *arg)
{
    struct spawns *spawns = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    if (spawns->kind == SPAWN_NARROW)
        weft_scope_width(&scope, SPAWNS - 20); /* so many tokens, and some children wait */
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

static bool try_spawn_copy(uint32_t k, enum way way)
{
    return try_spawns(k, way, SPAWN_COPY);
}

static bool try_spawn_drop(uint32_t k, enum way way)
{
    return try_spawns(k, way, SPAWN_DROP);
}

static bool try_spawn_narrow(uint32_t k, enum way way)
{
    return try_spawns(k, way, SPAWN_NARROW);
}

static void oom_spawn_narrow(void)
{
    CHECK(sweep(try_spawn_narrow, WAY_SPIN) > SPAWNS);
}

static void oom_spawn_copy(void)
{
    CHECK(sweep(try_spawn_copy, WAY_SPIN) > SPAWNS);
}

static void oom_spawn_drop(void)
{
    CHECK(sweep(try_spawn_drop, WAY_SPIN) > SPAWNS);
}

/* The other worker runs each child, and frees its node: the nodes have to come back. */
static void spawn_for_other(weft *w, void *unused)
{
    enum { ROUNDS = 600 };
    atomic_int ran = 0;
    for (int i = 1; i <= 2 * ROUNDS; i++) {
        weft_scope scope;
        weft_scope_open(w, &scope);
        CHECK_EQUAL(spawn(w, &scope, i % 2 ? SPAWN : SPAWN_DROP, &ran), 0);
        WAIT_UNTIL(atomic_load(&ran) == i);
        CHECK_EQUAL(weft_scope_close(w, &scope), 0);
        if (i == ROUNDS)
            fail_at(1);
    }
    CHECK(!failed());
}

static void no_memory_for_ever(void)
{
    weft_pool *pool = child_pool(2, WEFT_NO_GUESTS, WAY_SPIN);
    CHECK_EQUAL(weft_run(pool, spawn_for_other, NULL), 0);
    child_pool_end(pool);
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

/* Accumulators that own memory: what was made is dropped, whichever allocation fails. */
static atomic_int tables;

static void table_make(weft *w, void *accumulator, void *arg)
{
    *(struct wide **)accumulator = calloc(1, sizeof(struct wide));
    CHECK(*(struct wide **)accumulator);
    atomic_fetch_add(&tables, 1);
}

static void table_drop(weft *w, void *accumulator, void *arg)
{
    free(*(struct wide **)accumulator);
    atomic_fetch_sub(&tables, 1);
}

static void table_fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    wide_fold(w, begin, end, *(struct wide **)accumulator, arg);
}

static void table_move(weft *w, void *left, void *right, void *arg)
{
    wide_add(w, *(struct wide **)left, *(struct wide **)right, arg);
    table_drop(w, right, arg);
}

enum { HEAVY = 8192 + 16 }; /* bytes of an accumulator that is not put on the stack */

static bool compute_owned(weft *w, bool ordered, bool lines)
{
    static char bytes[NUMBERS];
    static _Alignas(max_align_t) char space[HEAVY];
    struct wide **result = (struct wide **)(void *)space;
    static const weft_reducer reducer = {.size = HEAVY,
                                         .fold = table_fold,
                                         .block = BLOCK,
                                         .make = table_make,
                                         .drop = table_drop,
                                         .move = table_move};
    memset(bytes, '\n', sizeof bytes);
    const weft_text text = {bytes, NUMBERS};
    if (ordered && lines)
        weft_reduce_lines(w, &text, &reducer, NULL, result);
    else if (ordered)
        weft_reduce(w, 0, NUMBERS, &reducer, NULL, result);
    else if (lines)
        weft_reduce_lines_unordered(w, &text, &reducer, NULL, result);
    else
        weft_reduce_unordered(w, 0, NUMBERS, &reducer, NULL, result);
    bool right = has_numbers_below(*result, NUMBERS);
    table_drop(w, result, NULL);
    CHECK_EQUAL(atomic_load(&tables), 0);
    return right;
}

static bool compute_owned_reduce(weft *w)
{
    return compute_owned(w, true, false) && compute_owned(w, true, true);
}

static bool compute_owned_unordered(weft *w)
{
    return compute_owned(w, false, false) && compute_owned(w, false, true);
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

static inline size_t bin_of_number(size_t number)
{
    return number % 4;
}

WEFT_HISTOGRAM_DEFINE(histogram_typed, size_t, bin_of_number)

/* Without memory for several tables, one is enough. */
static bool compute_typed_histogram(weft *w)
{
    size_t counts[4] = {0};
    histogram_typed(w, numbers(), NUMBERS, counts, 4);
    for (int i = 0; i < 4; i++)
        if (counts[i] != NUMBERS / 4)
            return false;
    return true;
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

static void count_lines(weft *w, const char *begin, const char *end, void *state, void *arg)
{
    *(size_t *)state += (size_t)(end - begin);
}

static bool compute_for_lines_with(weft *w)
{
    static char bytes[NUMBERS];
    size_t all = 0;
    memset(bytes, '\n', sizeof bytes);
    weft_for_lines_with(w, &(weft_text){bytes, NUMBERS},
                        &(weft_state){.size = sizeof(size_t), .drop = collect}, count_lines, &all);
    return all == NUMBERS;
}

static void add_lines(weft *w, const char *begin, const char *end, void *arg)
{
    atomic_fetch_add((atomic_size_t *)arg, (size_t)(end - begin));
}

/* Longer than what is read at once, in one line: so its memory has to grow. */
static bool compute_for_lines_fd(weft *w)
{
    enum { LONG = 300000 };
    static char bytes[LONG];
    weft_text read;
    atomic_size_t all = 0;
    FILE *file = tmpfile();
    memset(bytes, 'x', sizeof bytes);
    CHECK(file && fwrite(bytes, 1, LONG, file) == LONG && fflush(file) == 0);
    rewind(file);
    int error = weft_for_lines_fd(w, fileno(file), add_lines, &all);
    rewind(file);
    if (!error)
        error = weft_text_read(fileno(file), &read);
    if (!error) {
        CHECK(read.size == LONG);
        weft_text_unmap(&read);
    }
    fclose(file);
    CHECK(error == 0 || error == -ENOMEM);
    if (error)
        weft_fail(w, error);
    return all == LONG;
}

static void count_locally(weft *w, size_t begin, size_t end, void *arg)
{
    size_t *value = weft_local_get(w, arg);
    if (value)
        *value += end - begin;
    else
        CHECK(weft_cancelled(w));
}

static bool compute_local(weft *w)
{
    size_t all = 0;
    weft_local local;
    weft_local_init(&local, &(weft_state){.size = sizeof(size_t)}, NULL);
    weft_for(w, 0, NUMBERS, count_locally, &local);
    weft_local_visit(w, &local, collect, &all);
    weft_local_destroy(w, &local);
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
        {compute_reduce, 1},         {compute_reduce_unordered, 0}, /* these only for what others
                                                                       take */
        {compute_reduce_lines, 1},   {compute_map_reduce, 1},        {compute_map_reduce_until, 1},
        {compute_histogram, 0},      {compute_typed_histogram, 1},   {compute_scan, 0},
        {compute_owned_reduce, 1},   {compute_owned_unordered, 0},   {compute_for_with, 1},
        {compute_for_lines_with, 1}, {compute_for_lines_fd, 6},      {compute_local, 1},
        {compute_sort_stable, 1},    {compute_typed_sort_stable, 1},
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

/* ---- Waiting for each other ---- */

/* Waits with a limit need no memory. */
struct limited {
    uint32_t k;
    weft_event never;
    weft_actor *deaf; /* its mailbox is full */
    atomic_bool begun;
    weft_rwlock lock;
    bool one_failed;
};

static int wait_with_limit(weft *w, void *arg)
{
    struct limited *limited = arg;
    uint64_t when = weft_now() + 2000000;
    fail_at(limited->k);
    CHECK_EQUAL(weft_event_wait_until(w, &limited->never, when), -ETIMEDOUT);
    CHECK_EQUAL(weft_actor_wait_until(w, limited->deaf, weft_now() + 1000), -ETIMEDOUT);
    CHECK_EQUAL(weft_actor_send_until(w, limited->deaf, arg, weft_now() + 1000), -ETIMEDOUT);
    limited->one_failed = failed();
    CHECK(weft_now() >= when);
    return 0;
}

static int wait_for_event(weft *w, void *arg)
{
    struct limited *limited = arg;
    atomic_store(&limited->begun, true);
    weft_event_wait(w, &limited->never);
    return 0;
}

static void wait_with_limit_job(weft *w, void *limited)
{
    (void)wait_with_limit(w, limited);
}

static bool try_limit(uint32_t k, enum way way)
{
    weft_pool *pool = child_pool(1, 0, way);
    struct limited limited = {.k = k};
    weft_actor *actor;
    until_asleep(pool, 1);
    CHECK_EQUAL(weft_actor_create(&limited.deaf, pool, wait_for_event, &limited, NULL), 0);
    while (weft_actor_try_send(NULL, limited.deaf, &limited) == 0)
        ;
    UNTIL(atomic_load(&limited.begun));    /* it has its memory */
    (void)wait_with_limit(NULL, &limited); /* outside; then in a job */
    bool one_failed = limited.one_failed;
    CHECK_EQUAL(weft_run(pool, wait_with_limit_job, &limited), 0);
    one_failed |= limited.one_failed;
    CHECK_EQUAL(weft_actor_create(&actor, pool, wait_with_limit, &limited, NULL), 0);
    CHECK_EQUAL(weft_actor_run(actor), 0);
    CHECK_EQUAL(weft_actor_wait(NULL, actor), 0);
    weft_actor_release(actor);
    weft_event_set(NULL, &limited.never);
    CHECK_EQUAL(weft_actor_wait(NULL, limited.deaf), 0);
    weft_actor_release(limited.deaf);
    child_pool_end(pool);
    return one_failed || limited.one_failed;
}

/* An actor that can't note what it holds ends, and holds nothing. */
static int lock_and_unlock(weft *w, void *arg)
{
    struct limited *limited = arg;
    fail_at(limited->k);
    weft_rwlock_lock_read(w, &limited->lock);
    weft_rwlock_lock_read(w, &limited->lock);
    weft_rwlock_unlock(w, &limited->lock);
    weft_rwlock_unlock(w, &limited->lock);
    return 0;
}

static bool try_rwlock(uint32_t k, enum way way)
{
    weft_pool *pool = child_pool(1, 0, way);
    struct limited limited = {.k = k};
    weft_actor *actor;
    until_asleep(pool, 1);
    CHECK_EQUAL(weft_actor_create(&actor, pool, lock_and_unlock, &limited, NULL), 0);
    CHECK_EQUAL(weft_actor_run(actor), 0);
    int reason = weft_actor_wait(NULL, actor);
    bool one_failed = failed();
    CHECK_EQUAL(reason, one_failed ? -ENOMEM : 0);
    CHECK(weft_rwlock_trylock_write(NULL, &limited.lock));
    weft_rwlock_unlock(NULL, &limited.lock);
    weft_actor_release(actor);
    child_pool_end(pool);
    return one_failed;
}

/* A send that finds no memory has sent nothing. */
static bool try_unlimited(uint32_t k, enum way way)
{
    enum { ITEMS = 100 };
    weft_channel channel;
    int sent = 0, item;
    CHECK_EQUAL(weft_channel_init(&channel, "unlimited", sizeof item, WEFT_UNLIMITED), 0);
    fail_at(k);
    for (int i = 0; i < ITEMS; i++) {
        int error = weft_channel_send(NULL, &channel, &i);
        CHECK(error == 0 || error == -ENOMEM);
        weft_case again = {.channel = &channel, .send = true, .item = &i};
        if (error) {
            CHECK_EQUAL(weft_select(NULL, &again, 1, 0), 0); /* only one fails */
            CHECK_EQUAL(again.result, 0);
        }
        sent++;
    }
    for (int i = 0; i < sent; i++) {
        CHECK_EQUAL(weft_channel_try_receive(NULL, &channel, &item), 0);
        CHECK_EQUAL(item, i);
    }
    CHECK_EQUAL(weft_channel_try_receive(NULL, &channel, &item), -EAGAIN);
    weft_channel_destroy(&channel);
    (void)way;
    return failed();
}

static void oom_sync(void)
{
    FOR_EACH_WAY(way)
    {
        CHECK(sweep(try_limit, way) == 0);
        CHECK(sweep(try_rwlock, way) == 2);
        CHECK(sweep(try_unlimited, way) >= 3);
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
        IN_CHILD(oom_submit_detached),
        IN_CHILD(oom_completions),
        IN_CHILD(oom_broadcast),
        IN_CHILD(oom_spawn),
        IN_CHILD(oom_spawn_fifo),
        IN_CHILD(oom_spawn_detached),
        IN_CHILD(oom_spawn_copy),
        IN_CHILD(oom_spawn_drop),
        IN_CHILD(oom_spawn_narrow),
        IN_CHILD(no_memory_for_ever),
        IN_CHILD(spawn_among_thieves),
        IN_CHILD(oom_fork_past_the_deques_capacity),
        IN_CHILD(oom_forks_past_the_last_slot),
        IN_CHILD(oom_data_parallelism),
        IN_CHILD(oom_sync),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
