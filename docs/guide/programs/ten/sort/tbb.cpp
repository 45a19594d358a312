/* SPDX-License-Identifier: MIT */
#include <cstdint>
#include <cstdio>
#include <tbb/parallel_sort.h>

enum { N = 1 << 22 };
static uint32_t numbers[N];

int main()
{
    for (uint32_t i = 0; i < N; i++)
        numbers[i] = i * 2654435761u;
    tbb::parallel_sort(numbers, numbers + N);
    int error = 0;
    for (int i = 1; i < N; i++)
        error |= numbers[i - 1] > numbers[i];
    std::printf("%u\n", (unsigned)numbers[N / 2]);
    return error;
}
