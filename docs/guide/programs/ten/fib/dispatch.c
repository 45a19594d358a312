/* SPDX-License-Identifier: MIT */
#include <dispatch/dispatch.h>
#include <stdio.h>

struct fib {
    long n, result;
};

static void fib(void *arg)
{
    struct fib *f = arg;
    if (f->n < 2) {
        f->result = f->n;
        return;
    }
    struct fib parts[2] = {{f->n - 1, 0}, {f->n - 2, 0}};
    if (f->n < 20) { /* a block would cost more than it brings */
        fib(&parts[0]);
        fib(&parts[1]);
    } else {
        dispatch_group_t group = dispatch_group_create();
        dispatch_queue_t queue = dispatch_get_global_queue(0, 0);
        dispatch_group_async_f(group, queue, &parts[1], fib);
        fib(&parts[0]);
        dispatch_group_wait(group, DISPATCH_TIME_FOREVER); /* blocks this thread */
        dispatch_release(group);
    }
    f->result = parts[0].result + parts[1].result;
}

int main(void)
{
    struct fib f = {36, 0};
    fib(&f);
    printf("%ld\n", f.result);
}
