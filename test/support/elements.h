/* SPDX-License-Identifier: MIT */
/* elements.h: arrays to sort: elements of any size, in orders that sorts may find hard. */
#ifndef TEST_ELEMENTS_H
#define TEST_ELEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pattern {
    PATTERN_RANDOM,
    PATTERN_SORTED,
    PATTERN_REVERSED,
    PATTERN_EQUAL,
    PATTERN_FEW,    /* four different keys */
    PATTERN_ORGAN,  /* up, then down */
    PATTERN_SAW,    /* up, and up again, ... */
    PATTERN_NEARLY, /* sorted, but for one of sixteen */
    PATTERN_TAIL,   /* sorted, then random */
    PATTERN_SKEWED, /* mostly small */
    PATTERNS,
};

extern const char *const pattern_names[PATTERNS];

/* The key of element i of n. */
uint64_t pattern_key(enum pattern pattern, size_t i, size_t n);

/* An element has a key of up to two bytes; a number, if there is room for it, by which equal
 * ones can be told apart; and bytes up to the end that follow from both. */
void element_write(void *element, size_t size, uint64_t key, size_t number);
unsigned element_key(const void *element, size_t size);
bool element_is_whole(const void *element, size_t size);

/* For qsort_r and weft_sort; `size` points to the elements' size. */
int element_compare(const void *a, const void *b, void *size);

struct elements {
    size_t n, size;
    unsigned char *base; /* allocated, so that sanitizers know where it ends */
    void *allocated;
};

/* Elements that begin `offset` bytes beyond where anything could. */
void elements_make(struct elements *e, enum pattern pattern, size_t n, size_t size, size_t offset);
void elements_copy(struct elements *e, const struct elements *from);
void elements_free(struct elements *e);

bool elements_are_sorted(const struct elements *e);
bool elements_are_stable(const struct elements *e); /* sorted, and equal ones by their number */

/* The same elements, in whatever order. */
bool elements_are_those(const struct elements *e, const struct elements *of);

#endif
