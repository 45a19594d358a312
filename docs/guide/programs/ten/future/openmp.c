/* SPDX-License-Identifier: MIT */
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

int main(void)
{
    unsigned long later, now;
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(later)
        later = steps(1, 300000);
        now = steps(300000, 600000); /* meanwhile */
#pragma omp taskwait
    }
    printf("%lu\n", now + later);
}
