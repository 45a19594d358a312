/* SPDX-License-Identifier: MIT */
#include <dispatch/dispatch.h>
#include <stdio.h>

enum { N = 1 << 20, CHUNK = 1024 };
static unsigned numbers[N];

static void steps(void *arg, size_t chunk)
{
    (void)arg;
    for (size_t i = chunk * CHUNK; i < (chunk + 1) * CHUNK; i++) {
        unsigned long n = i + 1;
        unsigned count = 0;
        for (; n != 1; count++)
            n = n % 2 ? 3 * n + 1 : n / 2;
        numbers[i] = count;
    }
}

int main(void)
{
    dispatch_apply_f(N / CHUNK, dispatch_get_global_queue(0, 0), NULL, steps);
    printf("%u\n", numbers[837798]);
}
