/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft.h>

/* How many steps do the numbers of a range take to come down to 1? */
static unsigned long steps(unsigned long begin, unsigned long end)
{
    unsigned long all = 0;
    for (unsigned long i = begin; i < end; i++)
        for (unsigned long n = i; n != 1; all++)
            n = n % 2 ? 3 * n + 1 : n / 2;
    return all;
}

static void job(weft *w, void *arg)
{
    (void)w;
    *(unsigned long *)arg = steps(1, 300000);
}

int main(void)
{
    unsigned long later;
    weft_task task;
    if (weft_submit(NULL, &task, job, &later))
        return 1;
    unsigned long now = steps(300000, 600000); /* meanwhile */
    int error = weft_task_wait(&task);         /* if no worker has begun it: runs it here */
    printf("%lu\n", now + later);
    return error != 0;
}
