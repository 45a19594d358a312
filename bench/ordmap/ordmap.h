/* SPDX-License-Identifier: MIT */
/* ordmap: ordered maps with numbers for keys and values: built from sorted arrays, made one, and
 * added up. The twins are what a plain program would do with binary trees: a union goes through
 * both in order and builds a third. */
#ifndef BENCH_ORDMAP_H
#define BENCH_ORDMAP_H

#include <stddef.h>
#include <stdint.h>

enum { ORDMAP_SUMS = 10 }; /* a map is added up so many times */

/* What can be done with the maps of a contender without being timed. */
struct ordmap_ways {
    uint64_t (*checksum)(const void *map);
    void (*drop)(void *map);
};

struct ordmap_made {
    void *map; /* NULL: none */
    const struct ordmap_ways *ways;
};

struct ordmap {
    size_t count;                /* of keys in each of two maps */
    uint64_t *keys[2], *values;  /* ascending; the values of both */
    struct ordmap_made plain[2]; /* the two maps, made by the twin */
    struct ordmap_made other[2]; /* and by another contender, when it needs them */
    struct ordmap_made made;     /* in the last run, */
    uint64_t sum;                /* or this was */
    void *large;                 /* see reset() */
};

/* Of a map, entry by entry in their order, beginning with 0. */
static inline uint64_t ordmap_checksum(uint64_t sum, uint64_t key, uint64_t value)
{
    return (sum * 31 + key) * 31 + value;
}

#endif
