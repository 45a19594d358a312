/* SPDX-License-Identifier: MIT */
#include "loops.h"

void loops_range(float *numbers, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        numbers[i] = loops_half(numbers[i]);
}

/* Small whole numbers: their sum is exact in any order. */
double loops_sum(const float *numbers, size_t begin, size_t end)
{
    double sum = 0;
    for (size_t i = begin; i < end; i++)
        sum += (double)numbers[i];
    return sum;
}

void loops_element(struct weft *w, const void *in, void *out, void *arg)
{
    (void)w;
    (void)arg;
    *(float *)out = loops_half(*(const float *)in);
}
