/* SPDX-License-Identifier: MIT */
/* The same from C++, and a pool with a config of its own. */
#include <cstdio>
#include <weft.h>

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

int main()
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 2;
    weft_pool *pool = nullptr;
    if (weft_pool_create(&pool, &config) != 0 || weft_pool_workers(pool) != 2)
        return 1;
    fib f = {20, 0};
    int error = weft_run(pool, forked, &f);
    std::printf("%s: %ld\n", weft_version(), f.result);
    return weft_pool_destroy(pool) != 0 || error != 0 || f.result != 6765 + 55;
}
