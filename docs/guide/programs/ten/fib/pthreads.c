/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>

struct fib {
    long n, result;
    int depth; /* threads are made down to here */
};

static long fib_alone(long n)
{
    return n < 2 ? n : fib_alone(n - 1) + fib_alone(n - 2);
}

static void *fib(void *arg)
{
    struct fib *f = arg;
    if (f->depth == 0 || f->n < 2) {
        f->result = fib_alone(f->n);
        return NULL;
    }
    struct fib left = {f->n - 1, 0, f->depth - 1}, right = {f->n - 2, 0, f->depth - 1};
    pthread_t thread;
    if (pthread_create(&thread, NULL, fib, &right) == 0) {
        fib(&left);
        pthread_join(thread, NULL);
    } else {
        fib(&left);
        fib(&right);
    }
    f->result = left.result + right.result;
    return NULL;
}

int main(void)
{
    struct fib f = {36, 0, 4};
    fib(&f);
    printf("%ld\n", f.result);
}
