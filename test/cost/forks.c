/* SPDX-License-Identifier: MIT */
/* forks.c: fib(N), forking at every call or not at all, for cost.sh to count instructions. */
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

long plain(long n);
long fib(weft *w, long n);

long plain(long n)
{
    return n < 2 ? n : plain(n - 1) + plain(n - 2);
}

WEFT_FORKABLE(long, fib, long n;, fib(w, a->n))

long fib(weft *w, long n)
{
    if (n < 2)
        return n;
    WEFT_FORK(w, fib, right, n - 2);
    long left = fib(right_in, n - 1);
    return left + WEFT_MERGE(w, fib, right);
}

static void run(weft *w, void *n)
{
    *(long *)n = fib(w, *(long *)n);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    long n = atol(argv[2]);
    if (argv[1][0] == 'p') {
        n = plain(n);
    } else {
        weft_config config = WEFT_CONFIG_INIT;
        config.workers = 1;
        weft_pool *pool;
        if (weft_pool_create(&pool, &config) || weft_run(pool, run, &n))
            return 1;
        weft_pool_destroy(pool);
    }
    printf("%ld\n", n);
    return 0;
}
