/* SPDX-License-Identifier: MIT */
#include "numbers.h"

#include <stdlib.h>

void *numbers_prepare(unsigned size)
{
    struct numbers *all = malloc(sizeof *all);
    uint64_t *elements = malloc(((size_t)1 << size) * sizeof *elements);
    if (!all || !elements) {
        free(all);
        free(elements);
        return NULL;
    }
    *all = (struct numbers){(size_t)1 << size, elements};
    return all;
}

void numbers_reset(void *data)
{
    struct numbers *all = data;
    for (size_t i = 0; i < all->count; i++)
        all->elements[i] = i;
}

uint64_t numbers_checksum(const void *data)
{
    const struct numbers *all = data;
    uint64_t sum = 0;
    for (size_t i = 0; i < all->count; i++)
        sum = sum * 31 + all->elements[i];
    return sum;
}

void numbers_release(void *data)
{
    struct numbers *all = data;
    free(all->elements);
    free(all);
}
