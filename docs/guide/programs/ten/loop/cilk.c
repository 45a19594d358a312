/* SPDX-License-Identifier: MIT */
#include <cilk/cilk.h>
#include <stdio.h>

enum { N = 1 << 20 };
static unsigned numbers[N];

int main(void)
{
    cilk_for (long i = 0; i < N; i++) {
        unsigned long n = (unsigned long)i + 1;
        unsigned count = 0;
        for (; n != 1; count++)
            n = n % 2 ? 3 * n + 1 : n / 2;
        numbers[i] = count;
    }
    printf("%u\n", numbers[837798]);
}
