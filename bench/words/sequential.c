/* SPDX-License-Identifier: MIT */
#include "words.h"

#include "../kernel.h"

#include <stdlib.h>

static void plain(void *data)
{
    struct words *words = data;
    words_add(&words->table, words->bytes, words->bytes + words->size);
}

/* ---- The data ---- */

enum { VOCABULARY_LOG = 16 };

/* As in natural texts, word number k occurs about 1 / k as often as the first. */
static uint64_t any_word(uint64_t *state)
{
    uint64_t bits = kernel_random(state) % VOCABULARY_LOG;
    return ((uint64_t)1 << bits) + kernel_random(state) % ((uint64_t)1 << bits);
}

/* The letters depend on its number alone; rare words are longer. */
static size_t spell(uint64_t number, char *to)
{
    uint64_t state = number;
    size_t size = 0;
    do
        to[size++] = (char)('a' + kernel_random(&state) % 26);
    while ((number >>= 2) > 0);
    return size;
}

/* Lines of 1 to 15 words. */
static void write_text(char *bytes, size_t size)
{
    enum { LONGEST = 16 };
    uint64_t state = 1;
    size_t words = 3, i = 0;
    while (i + LONGEST < size) {
        i += spell(any_word(&state), bytes + i);
        bytes[i++] = words > 1 ? ' ' : '\n';
        words = words > 1 ? words - 1 : 1 + kernel_random(&state) % 15;
    }
    while (i < size)
        bytes[i++] = '\n';
}

static void *prepare(unsigned size)
{
    struct words *words = malloc(sizeof *words);
    size_t all = (size_t)size * 1000000;
    char *bytes = malloc(all);
    if (!words || !bytes) {
        free(words);
        free(bytes);
        return NULL;
    }
    *words = (struct words){.bytes = bytes, .size = all};
    write_text(bytes, all);
    return words;
}

static void reset(void *data)
{
    struct words *words = data;
    words_free(&words->table);
}

static uint64_t checksum(const void *data)
{
    const struct words *words = data;
    uint64_t sum = words->table.used;
    for (size_t i = 0; i < words->table.room; i++)
        sum += words->table.entries[i].count * (words->table.entries[i].hash | 1);
    return sum;
}

static double bytes_read(const void *data)
{
    const struct words *words = data;
    return (double)words->size;
}

static void release(void *data)
{
    struct words *words = data;
    words_free(&words->table);
    free((void *)(uintptr_t)words->bytes);
    free(words);
}

const struct kernel words_kernel = {
    .name = "words",
    .prepare = prepare,
    .reset = reset,
    .sequential = plain,
    .checksum = checksum,
    .operations = bytes_read,
    .release = release,
};
