/* SPDX-License-Identifier: MIT */
/* lines: the words of a text in a file that is mapped into memory, line by line, beside a plain
 * loop of memchr(). */
#ifndef BENCH_LINES_H
#define BENCH_LINES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lines_count {
    uint64_t words, longest; /* line */
};

struct lines {
    const char *bytes;
    size_t size;
    struct lines_count count;
};

/* Adds one line; the same function for all contenders. */
void lines_add(struct lines_count *count, const char *line, size_t size);

/* Adds what was counted elsewhere. */
void lines_combine(struct lines_count *to, const struct lines_count *from);

#ifdef __cplusplus
}
#endif

#endif
