/* SPDX-License-Identifier: MIT */
#include "elements.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

const char *const pattern_names[PATTERNS] = {
    "random", "sorted", "reversed",      "equal",  "few distinct",
    "organ",  "saw",    "nearly sorted", "tailed", "skewed",
};

/* Mixes the bits of i: the same everywhere, and as good as random. */
static uint64_t mix(uint64_t i)
{
    i = (i + 1) * 0x9e3779b97f4a7c15u;
    i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
    return i ^ i >> 31;
}

uint64_t pattern_key(enum pattern pattern, size_t i, size_t n)
{
    switch (pattern) {
    case PATTERN_SORTED:
        return i;
    case PATTERN_REVERSED:
        return n - i;
    case PATTERN_EQUAL:
        return 7;
    case PATTERN_FEW:
        return mix(i) % 4;
    case PATTERN_ORGAN:
        return i < n / 2 ? i : n - i;
    case PATTERN_SAW:
        return i % (n / 5 + 1);
    case PATTERN_NEARLY:
        return mix(i) % 16 == 0 ? mix(i + n) % n : i;
    case PATTERN_TAIL:
        return i < n - n / 8 ? i : mix(i) % n;
    case PATTERN_SKEWED:
        return mix(i) >> mix(i + n) % 64;
    default:
        return mix(i);
    }
}

enum { NUMBER_AT = 2, NUMBER_SIZE = 4 };

static size_t key_size(size_t size)
{
    return size < NUMBER_AT ? size : NUMBER_AT;
}

static bool is_numbered(size_t size)
{
    return size >= NUMBER_AT + NUMBER_SIZE;
}

static uint32_t element_number(const unsigned char *e)
{
    uint32_t number;
    memcpy(&number, e + NUMBER_AT, sizeof number);
    return number;
}

unsigned element_key(const void *element, size_t size)
{
    const unsigned char *e = element;
    return key_size(size) == 1 ? e[0] : e[0] * 256u + e[1];
}

/* What an element's bytes count up from. */
static uint64_t filler(const void *element, size_t size)
{
    return mix(element_key(element, size)) + element_number(element);
}

void element_write(void *element, size_t size, uint64_t key, size_t number)
{
    unsigned char *e = element;
    uint32_t n = (uint32_t)number;
    memset(e, 0, size);
    if (key_size(size) == 2)
        e[0] = (unsigned char)(key >> 8);
    e[key_size(size) - 1] = (unsigned char)key;
    if (!is_numbered(size))
        return;
    memcpy(e + NUMBER_AT, &n, sizeof n);
    uint64_t fill = filler(e, size);
    for (size_t i = NUMBER_AT + NUMBER_SIZE; i < size; i++)
        e[i] = (unsigned char)(fill + i);
}

bool element_is_whole(const void *element, size_t size)
{
    const unsigned char *e = element;
    uint64_t fill = is_numbered(size) ? filler(e, size) : 0;
    for (size_t i = NUMBER_AT + NUMBER_SIZE; i < size; i++)
        if (e[i] != (unsigned char)(fill + i))
            return false;
    return true;
}

int element_compare(const void *a, const void *b, void *size)
{
    unsigned x = element_key(a, *(size_t *)size), y = element_key(b, *(size_t *)size);
    return (x > y) - (x < y);
}

static void make_room(struct elements *e, size_t n, size_t size, size_t offset)
{
    *e = (struct elements){.n = n, .size = size, .allocated = malloc(n * size + offset)};
    CHECK(e->allocated || n * size + offset == 0);
    e->base = (unsigned char *)e->allocated + offset;
}

void elements_make(struct elements *e, enum pattern pattern, size_t n, size_t size, size_t offset)
{
    make_room(e, n, size, offset);
    for (size_t i = 0; i < n; i++)
        element_write(e->base + i * size, size, pattern_key(pattern, i, n), i);
}

void elements_copy(struct elements *e, const struct elements *from)
{
    make_room(e, from->n, from->size, 0);
    if (from->n > 0)
        memcpy(e->base, from->base, from->n * from->size);
}

void elements_free(struct elements *e)
{
    free(e->allocated);
}

bool elements_are_sorted(const struct elements *e)
{
    for (size_t i = 1; i < e->n; i++)
        if (element_key(e->base + (i - 1) * e->size, e->size) >
            element_key(e->base + i * e->size, e->size))
            return false;
    return true;
}

bool elements_are_stable(const struct elements *e)
{
    for (size_t i = 1; i < e->n && is_numbered(e->size); i++) {
        const unsigned char *a = e->base + (i - 1) * e->size, *b = a + e->size;
        if (element_key(a, e->size) == element_key(b, e->size) &&
            element_number(a) >= element_number(b))
            return false;
    }
    return elements_are_sorted(e);
}

/* Sums over all elements that tell which there are, and not where; and all are whole. */
struct sums {
    uint64_t first, second;
    bool whole;
};

static struct sums sums_of(const struct elements *e)
{
    struct sums sums = {.whole = true};
    for (size_t i = 0; i < e->n; i++) {
        const unsigned char *element = e->base + i * e->size;
        uint64_t number = is_numbered(e->size) ? element_number(element) : 0;
        uint64_t hash = mix(number << 16 | element_key(element, e->size));
        sums.first += hash;
        sums.second += mix(hash);
        sums.whole = sums.whole && element_is_whole(element, e->size);
    }
    return sums;
}

bool elements_are_those(const struct elements *e, const struct elements *of)
{
    struct sums a = sums_of(e), b = sums_of(of);
    return e->n == of->n && a.first == b.first && a.second == b.second && a.whole;
}
