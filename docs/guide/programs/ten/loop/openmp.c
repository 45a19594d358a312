/* SPDX-License-Identifier: MIT */
#include <stdio.h>

enum { N = 1 << 20 };
static unsigned numbers[N];

int main(void)
{
#pragma omp parallel for schedule(dynamic, 1024) /* elements differ: 1024 is a guess */
    for (long i = 0; i < N; i++) {
        unsigned long n = (unsigned long)i + 1;
        unsigned count = 0;
        for (; n != 1; count++)
            n = n % 2 ? 3 * n + 1 : n / 2;
        numbers[i] = count;
    }
    printf("%u\n", numbers[837798]);
}
