/* SPDX-License-Identifier: MIT */
#include "fib.h"

#include "../kernel.h"

#include <stdlib.h>

/* The compiler may inline it into itself as often as it likes, and does. */
static long fib(long n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

/* The same, but a call remains a call: both of them. */
static __attribute__((noinline)) long fib_call(long n)
{
    if (n < 2)
        return n;
    long left = fib_call(n - 1), right = fib_call(n - 2);
    __asm__("" : "+r"(right)); /* else the second one becomes a loop */
    return left + right;
}

static void sequential(void *data)
{
    struct fib *f = data;
    f->result = fib(f->n);
}

static void recursive(void *data)
{
    struct fib *f = data;
    f->result = fib_call(f->n);
}

static void *prepare(unsigned size)
{
    struct fib *f = malloc(sizeof *f);
    if (f)
        f->n = (long)size;
    return f;
}

static void reset(void *data)
{
    struct fib *f = data;
    f->result = 0;
}

static uint64_t checksum(const void *data)
{
    const struct fib *f = data;
    return (uint64_t)f->result;
}

/* Forks of fib(n): one, and those of both sides. That is the next Fibonacci number less one. */
static double operations(const void *data)
{
    const struct fib *f = data;
    double forks = 0, before = 0;
    for (long i = 2; i <= f->n; i++) {
        double next = 1 + forks + before;
        before = forks;
        forks = next;
    }
    return forks;
}

const struct kernel fib_kernel = {
    .name = "fib",
    .prepare = prepare,
    .reset = reset,
    .sequential = sequential,
    .recursive = recursive,
    .checksum = checksum,
    .operations = operations,
    .release = free,
};
