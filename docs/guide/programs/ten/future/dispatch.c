/* SPDX-License-Identifier: MIT */
#include <dispatch/dispatch.h>
#include <stdio.h>

/* How many steps do the numbers of a range take to come down to 1? */
static unsigned long steps(unsigned long begin, unsigned long end)
{
    unsigned long all = 0;
    for (unsigned long i = begin; i < end; i++)
        for (unsigned long n = i; n != 1; all++)
            n = n % 2 ? 3 * n + 1 : n / 2;
    return all;
}

static void job(void *arg)
{
    *(unsigned long *)arg = steps(1, 300000);
}

int main(void)
{
    unsigned long later;
    dispatch_group_t group = dispatch_group_create();
    dispatch_group_async_f(group, dispatch_get_global_queue(0, 0), &later, job);
    unsigned long now = steps(300000, 600000); /* meanwhile */
    dispatch_group_wait(group, DISPATCH_TIME_FOREVER);
    dispatch_release(group);
    printf("%lu\n", now + later);
}
