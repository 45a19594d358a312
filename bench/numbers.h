/* SPDX-License-Identifier: MIT */
/* numbers.h: an array of numbers, as the data of a kernel. */
#ifndef BENCH_NUMBERS_H
#define BENCH_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

struct numbers {
    size_t count;
    uint64_t *elements;
};

#ifdef __cplusplus
extern "C" {
#endif

/* For struct kernel: 2^size of them; their indices; a sum that depends on their order. */
void *numbers_prepare(unsigned size);
void numbers_reset(void *data);
uint64_t numbers_checksum(const void *data);
void numbers_release(void *data);

#ifdef __cplusplus
}
#endif

#endif
