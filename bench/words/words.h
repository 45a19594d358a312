/* SPDX-License-Identifier: MIT */
/* words: how often each word occurs in a large text: a hash table for each thread, the same code
 * for all contenders, put together in the end. */
#ifndef BENCH_WORDS_H
#define BENCH_WORDS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct words_entry {
    const char *word; /* in the text; NULL: free */
    uint32_t size, hash;
    uint64_t count;
};

/* Zeros are an empty table. */
struct words_table {
    struct words_entry *entries;
    size_t room, used; /* `room` is a power of two, or 0 */
};

struct words {
    const char *bytes;
    size_t size;
    struct words_table table;
};

/* Adds the words from begin to end. A line ends with a newline, and words are divided by spaces.
 * Ends the program if there is no memory. */
void words_add(struct words_table *table, const char *begin, const char *end);

/* Adds what `from` has, and frees that. The larger of the two tables is kept. */
void words_move(struct words_table *to, struct words_table *from);

void words_free(struct words_table *table);

#ifdef __cplusplus
}
#endif

#endif
