/* SPDX-License-Identifier: MIT */
#include <pthread.h>
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

static void *job(void *arg)
{
    *(unsigned long *)arg = steps(1, 300000);
    return NULL;
}

int main(void)
{
    unsigned long later;
    pthread_t thread;
    if (pthread_create(&thread, NULL, job, &later))
        return 1;
    unsigned long now = steps(300000, 600000); /* meanwhile */
    pthread_join(thread, NULL);
    printf("%lu\n", now + later);
}
