/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft/parallel.h>

enum { N = 1 << 20 };
static unsigned numbers[N];

static void steps(weft *w, size_t begin, size_t end, void *arg)
{
    (void)w, (void)arg;
    for (size_t i = begin; i < end; i++) {
        unsigned long n = i + 1;
        unsigned count = 0;
        for (; n != 1; count++)
            n = n % 2 ? 3 * n + 1 : n / 2;
        numbers[i] = count;
    }
}

static void run(weft *w, void *arg)
{
    weft_for(w, 0, N, steps, arg);
}

int main(void)
{
    int error = weft_run(NULL, run, NULL);
    printf("%u\n", numbers[837798]);
    return error != 0;
}
