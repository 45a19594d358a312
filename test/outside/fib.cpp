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
           g.result != f.result || sum != 22 || leaves != 15625;
}
