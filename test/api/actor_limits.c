/* SPDX-License-Identifier: MIT */
/* actor_limits.c: limits of memory: who is past one ends alone, on any number of workers; nothing
 * is done twice, and nothing is left behind. */
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/actor.h"
#include "weft/ordmap.h"
#include "weft/parallel.h"
#include "weft/pipeline.h"
#include "weft/sort.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
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
        weft_actor_info info = WEFT_ACTOR_INFO_INIT;
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

/* A delegate that allocates nothing is not past the limit, whatever that is. */
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
        weft_actor_info info = WEFT_ACTOR_INFO_INIT;
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
    int which;
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
    CHECK(weft_ordmap_build(w, keys, values, KEYS, &kind, &maps->a) == 0);
    CHECK(weft_ordmap_build(w, keys, values, KEYS, &kind, &maps->b) == 0);
}

static void combine(weft *w, void *value, const void *other, void *arg)
{
    uint64_t until = weft_now() + 500;
    while (weft_now() < until)
        weft_poll(w);
    if (*(const int *)other)
        CHECK(weft_alloc(w, EACH));
}

static bool keep(weft *w, const void *key, const void *value, void *arg)
{
    combine(w, NULL, value, NULL);
    return true;
}

static void make_value(weft *w, const void *key, const void *value, void *out, void *arg)
{
    combine(w, NULL, value, NULL);
}

static int make_map(weft *w, void *arg)
{
    struct maps *maps = arg;
    weft_ordmap *made;
    switch (maps->which) {
    case 0:
        maps->error = weft_ordmap_intersection(w, maps->a, maps->b, combine, NULL, &made);
        break;
    case 1:
        maps->error = weft_ordmap_union(w, maps->a, maps->b, combine, NULL, &made);
        break;
    case 2:
        maps->error = weft_ordmap_map(w, maps->a, make_value, NULL, &made, 2 * sizeof(int));
        break;
    default:
        maps->error = weft_ordmap_filter(w, maps->a, keep, NULL, &made);
    }
    maps->size = maps->error ? 0 : weft_ordmap_size(made);
    weft_ordmap_release(made);
    return maps->error;
}

/* ASan looks for what is left behind; two thirds of them are past the limit in the middle. */
static void maps_lose_nothing_at_the_limit(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    struct maps maps = {NULL, NULL, 0, 0, 0};
    assert_int_equal(weft_run(pool, build_maps, &maps), 0);
    for (int i = 0; i < 12; i++) {
        weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
        config.memory = WEFT_ACTOR_STACK + KEYS / 2 * EACH / (size_t)(1 + i % 3);
        maps.which = i / 3;
        weft_actor *actor = start(pool, make_map, &maps, &config);
        int reason = end(actor);
        assert_int_equal(reason, i % 3 ? -ENOMEM : 0);
        assert_true(reason || maps.size == KEYS);
    }
    weft_ordmap_release(maps.a);
    weft_ordmap_release(maps.b);
    pool_drop(pool);
}

/* ---- Once ---- */

/* Takes a while, so that others get what is left. */
static void dawdle(weft *w, uint64_t ns)
{
    uint64_t until = weft_now() + ns;
    while (weft_now() < until)
        if (w)
            weft_poll(w);
}

static weft_actor *start_limited(weft_pool *pool, weft_actor_fn *fn, void *arg, size_t limit,
                                 enum weft_steal steal)
{
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    config.memory = WEFT_ACTOR_STACK + limit;
    config.steal = steal;
    return start(pool, fn, arg, &config);
}

enum { SIDES = 64, SIDE_BYTES = 16 };

static void count_and_alloc(weft *w, void *count)
{
    atomic_fetch_add((atomic_uint *)count, 1);
    dawdle(w, 20000);
    memset(weft_alloc_result(w, SIDE_BYTES), 1, SIDE_BYTES);
}

static void fork_sides(weft *w, atomic_uint *count, unsigned n)
{
    weft *in = weft_fork(w, count_and_alloc, count);
    if (n > 1)
        fork_sides(in, count, n - 1);
    else
        dawdle(in, 100000);
    if (!weft_merge(w))
        count_and_alloc(w, count);
}

static int fork_all_sides(weft *w, void *count)
{
    fork_sides(w, count, SIDES);
    return 0;
}

/* What each of them asks for is next to nothing: they are far from the limit. */
static void right_sides_run_once(void **state)
{
    for (unsigned workers = 1; workers <= 8; workers *= 2) {
        weft_pool *pool = pool_make(workers, 0);
        for (int i = 0; i < 6; i++) {
            atomic_uint count = 0;
            weft_actor *actor = start_limited(pool, fork_all_sides, &count, 64 * SIDES * SIDE_BYTES,
                                              i % 2 ? WEFT_STEAL_STRICT : WEFT_STEAL_LIVE);
            assert_int_equal(end(actor), 0);
            assert_int_equal(atomic_load(&count), SIDES);
        }
        pool_drop(pool);
    }
}

enum {
    ELEMENTS = 4000,
    APART = 64,
    ELEMENT_BYTES = 16,
    QUARTER = ELEMENTS / APART * ELEMENT_BYTES
};

static void add(weft *w, void *left, const void *right, void *arg)
{
    if (*(const long *)right % APART == 0)
        weft_alloc(w, ELEMENT_BYTES);
    dawdle(w, 500);
    *(long *)left += *(const long *)right;
}

static int scan_in_place(weft *w, void *arg)
{
    long *numbers = arg;
    weft_scan_inclusive(w, numbers, ELEMENTS, sizeof numbers[0], add, NULL, numbers);
    return 0;
}

static void count_range(weft *w, size_t begin, size_t end, void *state, void *arg)
{
    for (size_t i = begin; i < end; i++) {
        if (i % APART == 0)
            weft_alloc(w, ELEMENT_BYTES);
        dawdle(w, 500);
        ++*(size_t *)state;
    }
}

static void collect(weft *w, void *state, void *arg)
{
    atomic_fetch_add((atomic_size_t *)arg, *(size_t *)state);
}

static int count_with_state(weft *w, void *arg)
{
    const weft_state kind = {.size = sizeof(size_t), .drop = collect};
    weft_for_with(w, 0, ELEMENTS, &kind, count_range, arg);
    return 0;
}

/* What works in place, or has a state, can't be done twice. A scan may combine each element twice
 * if parts of it are done elsewhere: that is half of the limit at most. */
static void the_toolbox_does_nothing_twice(void **state)
{
    static long numbers[ELEMENTS];
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < SCALED(10, 2); i++) {
        for (long j = 0; j < ELEMENTS; j++)
            numbers[j] = j;
        assert_int_equal(
            end(start_limited(pool, scan_in_place, numbers, 4 * QUARTER, WEFT_STEAL_LIVE)), 0);
        for (long j = 0; j < ELEMENTS; j++)
            assert_int_equal(numbers[j], j * (j + 1) / 2);
        atomic_size_t count = 0;
        assert_int_equal(
            end(start_limited(pool, count_with_state, &count, 4 * QUARTER, WEFT_STEAL_LIVE)), 0);
        assert_int_equal(atomic_load(&count), ELEMENTS);
    }
    pool_drop(pool);
}

/* ---- The same on any number of workers ---- */

enum { LEVELS = 6, LEVEL_BYTES = 1000 };

static void grow(weft *w, void *arg)
{
    unsigned level = *(unsigned *)arg;
    memset(weft_alloc(w, LEVEL_BYTES), 1, LEVEL_BYTES);
    dawdle(w, 10000);
    if (level == 0)
        return;
    level--;
    weft_join(w, grow, &level, grow, &level);
}

static int grow_tree(weft *w, void *arg)
{
    grow(w, &(unsigned){LEVELS});
    return 0;
}

/* All of it is in use in the end, and to the byte. */
static void the_limit_is_the_programs(void **state)
{
    const size_t needs = ((2u << LEVELS) - 1) * (LEVEL_BYTES + 8);
    for (unsigned workers = 1; workers <= 8; workers *= 2) {
        weft_pool *pool = pool_make(workers, 0);
        for (int i = 0; i < 12; i++) {
            size_t limit = needs - (size_t)(i % 2);
            enum weft_steal steal = i % 4 < 2 ? WEFT_STEAL_STRICT : WEFT_STEAL_LIVE;
            weft_actor *actor = start_limited(pool, grow_tree, NULL, limit, steal);
            assert_int_equal(weft_actor_wait(NULL, actor), i % 2 ? -ENOMEM : 0);
            weft_actor_info info = WEFT_ACTOR_INFO_INIT;
            weft_actor_get_info(actor, &info);
            assert_int_equal(info.memory_peak, limit);
            assert_int_equal(info.memory, 0);
            weft_actor_release(actor);
        }
        pool_drop(pool);
    }
}

/* ---- Marks ---- */

enum { LARGE = 100000 };

static void use_and_release(weft *w, void *arg)
{
    for (int i = 0; i < 50; i++) {
        weft_mark outer = weft_alloc_mark(w);
        unsigned char *first = memset(weft_alloc(w, LARGE), i, LARGE);
        weft_mark inner = weft_alloc_mark(w);
        memset(weft_alloc(w, LARGE), 0xff, LARGE);
        weft_alloc_release(w, inner);
        unsigned char *second = memset(weft_alloc(w, LARGE), 0xff, LARGE);
        for (int j = 0; j < LARGE; j += 1000)
            CHECK(first[j] == i && second[j] == 0xff);
        dawdle(w, 1000);
        weft_alloc_release(w, outer);
    }
}

static int mark_around_forks(weft *w, void *arg)
{
    for (int i = 0; i < 10; i++) {
        weft_mark mark = weft_alloc_mark(w);
        weft_join(w, use_and_release, NULL, use_and_release, NULL);
        weft_alloc(w, LARGE);
        weft_alloc_release(w, mark);
    }
    return 0;
}

static void marks_free_what_came_after(void **state)
{
    for (unsigned workers = 1; workers <= 2; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        for (int i = 0; i < 4; i++) {
            weft_actor *actor = start_limited(pool, mark_around_forks, NULL, 2 * LARGE,
                                              i % 2 ? WEFT_STEAL_STRICT : WEFT_STEAL_LIVE);
            assert_int_equal(weft_actor_wait(NULL, actor), 0);
            weft_actor_info info = WEFT_ACTOR_INFO_INIT;
            weft_actor_get_info(actor, &info);
            assert_int_equal(info.memory_peak, 2 * LARGE);
            weft_actor_release(actor);
        }
        pool_drop(pool);
    }
}

/* ---- Deferred ---- */

struct log {
    atomic_uint length;
    char text[16];
};

static struct log *current;

static void note(weft *w, void *letter)
{
    CHECK(weft_actor_self(w));
    current->text[atomic_fetch_add(&current->length, 1)] = *(char *)letter;
}

static void defer_letters(weft *w)
{
    static char letters[] = "abcd";
    for (int i = 0; i < 4; i++)
        CHECK(weft_defer(w, note, &letters[i]) == 0);
    CHECK(weft_undefer(w, note, &letters[1]) == 0);
    CHECK(weft_undefer(w, note, &letters[1]) == -ENOENT);
}

static int defer_and_return(weft *w, void *arg)
{
    defer_letters(w);
    return 0;
}

static int defer_and_alloc(weft *w, void *arg)
{
    defer_letters(w);
    for (;;)
        weft_alloc(w, 1000);
    return 0;
}

static int defer_and_poll(weft *w, void *arg)
{
    defer_letters(w);
    atomic_store((atomic_bool *)arg, true);
    while (weft_actor_self(w))
        weft_poll(w);
    return 0;
}

static void defer_in_right_side(weft *w, void *arg)
{
    defer_letters(w);
    atomic_store((atomic_bool *)arg, true);
    while (!weft_cancelled(w))
        weft_poll(w);
}

static int defer_elsewhere(weft *w, void *arg)
{
    weft *in = weft_fork(w, defer_in_right_side, arg);
    while (!atomic_load((atomic_bool *)arg)) /* until it is stolen */
        weft_poll(in);
    for (;;)
        weft_alloc(in, 1000);
    return 0;
}

static void deferred_once_in_reverse(void **state)
{
    static weft_actor_fn *const fns[] = {defer_and_return, defer_and_alloc, defer_and_poll,
                                         defer_elsewhere};
    static const int reasons[] = {0, -ENOMEM, -ECANCELED, -ENOMEM};
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < 4; i++) {
        struct log log = {0};
        atomic_bool arrived = false;
        current = &log;
        weft_actor *actor = start_limited(pool, fns[i], &arrived, 100000, WEFT_STEAL_LIVE);
        if (reasons[i] == -ECANCELED) {
            WAIT_UNTIL(atomic_load(&arrived));
            weft_actor_kill(actor);
        }
        assert_int_equal(end(actor), reasons[i]);
        assert_string_equal(log.text, "dca");
    }
    assert_int_equal(weft_defer(NULL, note, NULL), -EPERM);
    assert_int_equal(weft_undefer(NULL, note, NULL), -EPERM);
    pool_drop(pool);
}

struct file {
    atomic_bool is_open;
};

static void close_file(weft *w, void *file)
{
    CHECK(atomic_exchange(&((struct file *)file)->is_open, false));
}

static void open_file(weft *w, void *file)
{
    atomic_store(&((struct file *)file)->is_open, true);
    CHECK(weft_defer(w, close_file, file) == 0);
    dawdle(w, 100000);
}

/* What a right side has opened is open for whoever forked it, also if it was done elsewhere. */
static int open_in_right_side(weft *w, void *arg)
{
    struct file *files = arg;
    for (int i = 0; i < 20; i++) {
        weft_join(w, open_file, &files[0], open_file, &files[1]);
        CHECK(atomic_load(&files[0].is_open) && atomic_load(&files[1].is_open));
        CHECK(weft_undefer(w, close_file, &files[0]) == 0);
        close_file(w, &files[0]);
        CHECK(weft_undefer(w, close_file, &files[1]) == 0);
        close_file(w, &files[1]);
    }
    weft_join(w, open_file, &files[0], open_file, &files[1]);
    return 0;
}

static void what_right_sides_defer_is_handed_over(void **state)
{
    for (unsigned workers = 1; workers <= 2; workers++) {
        struct file files[2] = {{false}, {false}};
        weft_pool *pool = pool_make(workers, 0);
        assert_int_equal(run_one(pool, open_in_right_side, files), 0);
        assert_false(atomic_load(&files[0].is_open) || atomic_load(&files[1].is_open));
        pool_drop(pool);
    }
}

/* ---- The library's own memory ---- */

static void alloc_in_child(weft *w, void *arg)
{
    dawdle(w, 1000);
    weft_alloc(w, 1000);
}

static int alloc_in_scopes(weft *w, void *arg)
{
    weft_scope outer, inner;
    weft_scope_open(w, &outer);
    for (int i = 0; i < 100; i++)
        CHECK(weft_spawn(w, &outer, alloc_in_child, NULL) == 0);
    weft_scope_open(w, &inner);
    for (int i = 0; i < 100; i++)
        CHECK(weft_spawn(w, &inner, alloc_in_child, NULL) == 0);
    weft_scope_close(w, &inner);
    return weft_scope_close(w, &outer);
}

static bool alloc_in_stage(weft *w, void *item, void *arg)
{
    alloc_in_child(w, NULL);
    return true;
}

static int alloc_in_pipeline(weft *w, void *arg)
{
    const weft_stage stages[] = {{.run = alloc_in_stage},
                                 {.run = alloc_in_stage, .parallel = true}};
    const weft_state item = {.size = 1000};
    return weft_pipeline(w, stages, 2, &item, 0, NULL);
}

static void alloc_in_fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    for (size_t i = begin; i < end; i++)
        alloc_in_child(w, NULL);
}

static void no_combine(weft *w, void *left, const void *right, void *arg)
{
}

static int alloc_in_reduction(weft *w, void *unordered)
{
    const weft_reducer reducer = {
        .size = 20000, .block = 4, .fold = alloc_in_fold, .combine = no_combine};
    void *result = weft_alloc(w, reducer.size);
    if (unordered)
        weft_reduce_unordered(w, 0, 1000, &reducer, NULL, result);
    else
        weft_reduce(w, 0, 1000, &reducer, NULL, result);
    return 0;
}

static void alloc_in_map(weft *w, const void *key, const void *value, void *to, void *arg)
{
    alloc_in_child(w, NULL);
}

static int alloc_in_maps(weft *w, void *arg)
{
    const struct maps *maps = arg;
    weft_ordmap *mapped;
    return weft_ordmap_map(w, maps->a, alloc_in_map, NULL, &mapped, sizeof(int));
}

static int poll_and_compare(const void *a, const void *b, void *w)
{
    weft_poll(weft_here());
    return *(const unsigned *)a < *(const unsigned *)b ? -1 : 1;
}

static int sort_and_poll(weft *w, void *arg)
{
    enum { N = 20000 };
    struct {
        unsigned key;
        char rest[9];
    } *elements = weft_alloc(w, N * sizeof *elements);
    for (;;) {
        for (unsigned i = 0; i < N; i++)
            elements[i].key = i * 2654435761u;
        weft_sort_stable(w, elements, N, sizeof *elements, poll_and_compare, w);
    }
    return 0;
}

/* Past the limit, or killed, in the middle of functions that have memory of their own. */
static void the_library_leaves_nothing_behind(void **state)
{
    static weft_actor_fn *const fns[] = {alloc_in_scopes,    alloc_in_pipeline, alloc_in_reduction,
                                         alloc_in_reduction, alloc_in_maps,     scan_in_place,
                                         count_with_state};
    static long numbers[ELEMENTS];
    atomic_size_t count = 0;
    weft_pool *pool = pool_make(2, 0);
    struct maps maps = {NULL, NULL, 0, 0, 0};
    assert_int_equal(weft_run(pool, build_maps, &maps), 0);
    void *const args[] = {NULL, NULL, NULL, &maps, &maps, numbers, &count};
    for (unsigned i = 0; i < 4 * sizeof fns / sizeof fns[0]; i++) {
        size_t limit = i / 4 < 5 ? 60000 : 500;
        weft_actor *actor = start_limited(pool, fns[i / 4], args[i / 4], limit,
                                          i % 2 ? WEFT_STEAL_STRICT : WEFT_STEAL_LIVE);
        assert_int_equal(end(actor), -ENOMEM);
    }
    for (int i = 0; i < 4; i++) {
        weft_actor *actor = start(pool, sort_and_poll, NULL, NULL);
        dawdle(NULL, 1000000);
        weft_actor_kill(actor);
        assert_int_equal(end(actor), -ECANCELED);
    }
    weft_ordmap_release(maps.a);
    weft_ordmap_release(maps.b);
    pool_drop(pool);
}

/* ---- Arguments of forks that have no slot ---- */

static long twice(weft *w, long x, long y, long z);
WEFT_FORKABLE(long, twice, long x; long y; long z;, twice(w, a->x, a->y, a->z))

static long twice(weft *w, long x, long y, long z)
{
    return x + y + z;
}

enum { SLOTS_AT_LEAST = 7500, SLOTS_AT_MOST = 1 << 15, PER_FORK = 48 };

struct rows {
    long forks, rows, done;
};

static void one_row(weft *w, struct rows *rows)
{
    weft *in = w;
    long sum = 0;
    for (long i = 0; i < rows->forks; i++)
        in = WEFT_FORK_IN(in, twice, i, i, 1);
    for (long i = 0; i < rows->forks; i++) {
        in = weft_outer(in);
        sum += WEFT_MERGE_IN(in, twice);
    }
    CHECK(in == w && sum == rows->forks * rows->forks);
    rows->done++;
}

static int long_rows(weft *w, void *arg)
{
    struct rows *rows = arg;
    for (long i = 0; i < rows->rows; i++) {
        weft_mark mark = weft_alloc_mark(w);
        CHECK(weft_alloc(w, 1000));
        one_row(w, rows);
        CHECK(weft_alloc(w, 1000));
        if (i % 2)
            weft_alloc_release(w, mark);
    }
    return 0;
}

/* They are kept elsewhere, but they are the actor's; and only as long as they are needed. */
static void forks_without_a_slot_are_counted(void **state)
{
    for (unsigned workers = 1; workers <= 3; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        for (int fits = 0; fits < 2; fits++) {
            size_t memory = 4 << 20;
            long kept = (long)(memory / PER_FORK);
            struct rows rows = {.rows = 10};
            rows.forks = fits ? kept / 2 + SLOTS_AT_LEAST : kept + SLOTS_AT_MOST + 1000;
            weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
            config.memory = WEFT_ACTOR_STACK + memory;
            weft_actor *actor = start(pool, long_rows, &rows, &config);
            assert_int_equal(weft_actor_wait(NULL, actor), fits ? 0 : -ENOMEM);
            assert_int_equal(rows.done, fits ? rows.rows : 0);
            weft_actor_info info = WEFT_ACTOR_INFO_INIT;
            weft_actor_get_info(actor, &info);
            assert_int_equal(info.memory, 0);
            assert_true(info.memory_peak > memory / 4 && info.memory_peak <= memory);
            weft_actor_release(actor);
        }
        pool_drop(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_ends_for_one_alone),
        cmocka_unit_test(odd_limits_are_limits),
        cmocka_unit_test(maps_lose_nothing_at_the_limit),
        cmocka_unit_test(right_sides_run_once),
        cmocka_unit_test(the_toolbox_does_nothing_twice),
        cmocka_unit_test(the_limit_is_the_programs),
        cmocka_unit_test(marks_free_what_came_after),
        cmocka_unit_test(deferred_once_in_reverse),
        cmocka_unit_test(what_right_sides_defer_is_handed_over),
        cmocka_unit_test(the_library_leaves_nothing_behind),
        cmocka_unit_test(forks_without_a_slot_are_counted),
    };
    return cmocka_run_group_tests_name("actor_limits", tests, NULL, NULL);
}
