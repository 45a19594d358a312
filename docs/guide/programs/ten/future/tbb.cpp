/* SPDX-License-Identifier: MIT */
#include <cstdio>
#include <tbb/task_group.h>

/* How many steps do the numbers of a range take to come down to 1? */
static unsigned long steps(unsigned long begin, unsigned long end)
{
    unsigned long all = 0;
    for (unsigned long i = begin; i < end; i++)
        for (unsigned long n = i; n != 1; all++)
            n = n % 2 ? 3 * n + 1 : n / 2;
    return all;
}

int main()
{
    unsigned long later;
    tbb::task_group group;
    group.run([&] { later = steps(1, 300000); });
    unsigned long now = steps(300000, 600000); // meanwhile
    group.wait();
    std::printf("%lu\n", now + later);
}
