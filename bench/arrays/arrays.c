/* SPDX-License-Identifier: MIT */
#include "arrays.h"

size_t arrays_find(const uint64_t *numbers, size_t begin, size_t end, uint64_t value)
{
#pragma GCC unroll 4
    for (size_t i = begin; i < end; i++)
        if (arrays_is(numbers[i], value))
            return i;
    return end;
}
