/* SPDX-License-Identifier: MIT */
/* The same from C++, and a pool with a config of its own. */
#include <cstdio>
#include <weft.h>
#include <weft/actor.h>
#include <weft/parallel.h>

struct fib {
    long n, result;
};

static void fib_run(weft *w, void *arg)
{
    fib *f = static_cast<fib *>(arg);
    if (f->n < 2) {
        f->result = f->n;
        return;
    }
    fib left = {f->n - 1, 0}, right = {f->n - 2, 0};
    weft_join(w, fib_run, &left, fib_run, &right);
    f->result = left.result + right.result;
}

static void forked(weft *w, void *arg)
{
    fib right = {10, 0};
    weft *in = weft_fork(w, fib_run, &right);
    fib_run(in, arg);
    if (!weft_merge(w))
        fib_run(w, &right);
    static_cast<fib *>(arg)->result += right.result;
}

/* The same with a guard, and left without a merge. */
static void guarded(weft *w, void *arg)
{
    fib right = {10, 0}, ignored = {10, 0};
    weft::fork_guard guard(w, fib_run, &right);
    weft::fork_guard left(guard.context(), fib_run, &ignored);
    fib_run(left.context(), arg);
    if (!left.merge())
        fib_run(guard.context(), &ignored);
    if (!guard.merge())
        fib_run(w, &right);
    static_cast<fib *>(arg)->result += right.result;
    weft::fork_guard dropped(w, fib_run, &ignored);
}

/* All children in a loop, with their arguments and results in the slots. */
static long dfs(weft *w, long width, int depth);
WEFT_FORKABLE(long, dfs, long width; int depth;, dfs(w, a->width, a->depth))

static long dfs(weft *w, long width, int depth)
{
    if (depth == 0)
        return 1;
    long sum = 0;
    for (long i = 0; i < width; i++)
        w = WEFT_FORK_IN(w, dfs, width, depth - 1);
    for (long i = 0; i < width; i++) {
        w = weft_outer(w);
        sum += WEFT_MERGE_IN(w, dfs);
    }
    return sum;
}

static void in_a_row(weft *w, void *arg)
{
    *static_cast<long *>(arg) = dfs(w, 5, 6);
}

/* Commas that are not between arguments, where weft_fork and weft_for may be macros. */
static void commas(weft *w, void *arg)
{
    weft_for(
        w, 0, 10,
        [](weft *, size_t begin, size_t end, void *sum) {
            long first = static_cast<long>(begin), last = static_cast<long>(end);
            __atomic_fetch_add(static_cast<long *>(sum), last - first, __ATOMIC_RELAXED);
        },
        arg);
    auto add = [](weft *, void *sum) {
        long one = 1, two = 2;
        __atomic_fetch_add(static_cast<long *>(sum), one + two, __ATOMIC_RELAXED);
    };
    weft_join(w, add, arg, add, arg);
    auto join = weft_join; /* which is a function, too */
    join(w, add, arg, add, arg);
}

/* Loops that are made for a type: a class here. */
struct item {
    long key;
    bool operator==(const item &other) const
    {
        return key == other.key;
    }
};

static inline void rise(item *one)
{
    one->key++;
}
static inline bool is_at(item one, long key)
{
    return one.key == key;
}
static inline bool is_same(item a, item b)
{
    return a == b;
}
static inline bool is_odd(item one)
{
    return one.key % 2 != 0;
}
static inline bool is_less(item a, item b)
{
    return a.key < b.key;
}
static inline item sum_of(item a, item b)
{
    return {a.key + b.key};
}
static inline size_t bin_of(item one)
{
    return static_cast<size_t>(one.key % 2);
}

WEFT_FOR_EACH_DEFINE(rise_all, item, rise)
WEFT_FIND_DEFINE(find_key, item, is_at, long)
WEFT_SCAN_EXCLUSIVE_DEFINE(sums_before, item, {0}, sum_of)
WEFT_UNIQUE_DEFINE(unique, item, is_same)
WEFT_PARTITION_DEFINE(partition, item, is_odd)
WEFT_MERGE_SORTED_DEFINE(merge, item, is_less)
WEFT_HISTOGRAM_DEFINE(histogram, item, bin_of)

/* 0, 0, 1, 1, 2, 2, ..., then 1, 1, 2, 2, ... */
static void typed(weft *w, void *arg)
{
    const size_t n = 1000;
    static item items[n], odd[n], even[n], all[2 * n], total;
    size_t counts[2];
    for (size_t i = 0; i < n; i++)
        items[i].key = static_cast<long>(i / 2);
    rise_all(w, items, n);
    bool right = find_key(w, items, n, 500) == 998 && find_key(w, items, n, 0) == n;
    histogram(w, items, n, counts, 2);
    right = right && counts[0] == 500 && counts[1] == 500;
    right = right && partition(w, items, n, odd, even) == 500 && odd[2].key == 3;
    merge(w, odd, 500, even, 500, all);
    right = right && all[4].key == 3 && all[999].key == 500;
    sums_before(w, items, n, all, &total);
    right = right && all[4].key == 6 && total.key == 250500;
    right = right && unique(w, items, n, items) == 500 && items[499].key == 500;
    *static_cast<bool *>(arg) = right;
}

/* Templates and lambdas do as functions. */
template <typename T> static inline T larger(T a, T b)
{
    return b > a ? b : a;
}

static inline double square(float x)
{
    return static_cast<double>(x) * x;
}

WEFT_REDUCE_DEFINE(largest, long, larger, -1)
WEFT_MAP_REDUCE_DEFINE(
    sum_of_squares, float, square, double, [](double a, double b) { return a + b; }, 0)

static void reductions(weft *w, void *arg)
{
    static long numbers[1000];
    static float floats[100000];
    for (size_t i = 0; i < 1000; i++)
        numbers[i] = static_cast<long>(i * 7 % 1000);
    for (size_t i = 0; i < 100000; i++)
        floats[i] = static_cast<float>(i % 4);
    *static_cast<bool *>(arg) = largest(w, numbers, 1000) == 999 && largest(w, numbers, 0) == -1 &&
                                sum_of_squares(w, floats, 100000) == 350000;
}

int main()
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 2;
    weft_pool *pool = nullptr;
    if (weft_pool_create(&pool, &config) != 0 || weft_pool_workers(pool) != 2)
        return 1;
    fib f = {20, 0};
    int error = weft_run(pool, forked, &f);
    fib g = {20, 0};
    error |= weft_run(pool, guarded, &g);
    std::printf("%s: %ld\n", weft_version(), f.result);
    long sum = 0;
    error |= weft_run(pool, commas, &sum);
    bool right = false;
    error |= weft_run(pool, typed, &right);
    bool reduced = false;
    error |= weft_run(pool, reductions, &reduced) | !reduced;
    long leaves = 0;
    error |= weft_run(pool, in_a_row, &leaves);
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_worker_info worker = WEFT_WORKER_INFO_INIT;
    error |= weft_pool_get_info(pool, &info) | weft_worker_get_info(pool, 0, &worker);
    weft_actors_config actors = WEFT_ACTORS_CONFIG_INIT;
    weft_actor_config actor = WEFT_ACTOR_CONFIG_INIT;
    weft_actor_info about = WEFT_ACTOR_INFO_INIT;
    error |= info.workers != 2 || actors.size != sizeof actors || actor.size != sizeof actor ||
             about.size != sizeof about;
    return weft_pool_destroy(pool) != 0 || error != 0 || f.result != 6765 + 55 ||
           g.result != f.result || sum != 22 || !right || leaves != 15625;
}
