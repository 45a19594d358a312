/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft/sort.h>

enum { N = 1 << 22 };
static uint32_t numbers[N];

static void run(weft *w, void *arg)
{
    weft_sort_u32(w, arg, N); /* WEFT_SORT_DEFINE for types of your own */
}

int main(void)
{
    for (uint32_t i = 0; i < N; i++)
        numbers[i] = i * 2654435761u;
    int error = weft_run(NULL, run, numbers);
    for (int i = 1; i < N; i++)
        error |= numbers[i - 1] > numbers[i];
    printf("%u\n", (unsigned)numbers[N / 2]);
    return error != 0;
}
