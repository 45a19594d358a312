/* SPDX-License-Identifier: MIT */
#include "increment.h"

void increment_range(uint64_t *elements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        elements[i]++;
}
