/* SPDX-License-Identifier: MIT */
/* ordmap_leaf.h: leaves: a few entries in their order, first all keys, then all values. Where one
 * leaf would have too many entries, there are several, and a tree above them. */
#ifndef WEFT_PARALLEL_ORDMAP_LEAF_H
#define WEFT_PARALLEL_ORDMAP_LEAF_H

#include "parallel/element.h"
#include "parallel/ordmap_tree.h"

/* A leaf has less than a kilobyte. To insert a key is to copy a leaf: with longer ones that takes
 * longer, with shorter ones there are more nodes. And glibc's malloc() is slow from 1 KB on: it
 * first merges all small blocks that were freed. */
enum { WEFT__LEAF_BYTES = 960, WEFT__LEAF_FEWEST = 4, WEFT__LEAF_MOST = 64 };

/* How many of n entries, more than fit into a leaf, are on the left side of their tree. As few
 * leaves as possible, all of about the same size: they are at least half full. */
static inline size_t weft__tree_middle(const struct weft__tree_kind *kind, size_t n)
{
    size_t leaves = (n - 1) / kind->most + 1, left = leaves / 2;
    return n / leaves * left + n % leaves * left / leaves;
}

static inline const char *weft__leaf_key(const struct weft__tree_kind *kind,
                                         const struct weft__tree *leaf, size_t i)
{
    return leaf->data + i * kind->given.key_size;
}

/* Where the values are in `data`. */
static inline size_t weft__leaf_values(const struct weft__tree_kind *kind, size_t size)
{
    return (size * kind->given.key_size + kind->value_align - 1) & ~(kind->value_align - 1);
}

static inline const char *weft__leaf_value(const struct weft__tree_kind *kind,
                                           const struct weft__tree *leaf, size_t i)
{
    return leaf->data + weft__leaf_values(kind, leaf->size) + i * kind->given.value_size;
}

/* The leaf that has the entry of this rank, which becomes an index in the leaf. */
const struct weft__tree *weft__leaf_at(const struct weft__tree *tree, size_t *rank);

/* Where the value of the entry of this rank is, in a tree that nobody else has yet. */
static inline void *weft__tree_place(const struct weft__tree_kind *kind, struct weft__tree *mine,
                                     size_t rank)
{
    const struct weft__tree *leaf = weft__leaf_at(mine, &rank);
    return (void *)(uintptr_t)weft__leaf_value(kind, leaf, rank);
}

/* Some entries of a leaf; or a larger tree as a whole. */
struct weft__slice {
    const struct weft__tree *tree;
    size_t begin, end;
};

static inline struct weft__slice weft__slice_all(const struct weft__tree *tree)
{
    return (struct weft__slice){tree, 0, weft__tree_size(tree)};
}

static inline size_t weft__slice_size(const struct weft__slice *slice)
{
    return slice->end - slice->begin;
}

/* Where the key is among n > 0 entries of a leaf, or where it would be. No branch depends on the
 * keys, because the processor would guess it wrong every other time. */
WEFT__ALWAYS_INLINE size_t weft__leaf_seek(const struct weft__tree_kind *kind,
                                           const struct weft__tree *leaf, size_t begin, size_t n,
                                           const void *key, bool *found)
{
    const weft_ordmap_kind *given = &kind->given;
    while (n > 1) {
        size_t half = n / 2;
        int order = given->compare(key, weft__leaf_key(kind, leaf, begin + half), given->arg);
        begin += half & -(size_t)(order >= 0);
        n -= half;
    }
    int order = given->compare(key, weft__leaf_key(kind, leaf, begin), given->arg);
    *found = order == 0;
    return begin + (order > 0);
}

/* The same in a slice of a leaf. */
size_t weft__slice_seek(const struct weft__tree_kind *kind, const struct weft__slice *slice,
                        const void *key, bool *found);

/* Entries that lie side by side. */
struct weft__run {
    const char *keys, *values; /* no values: zeros */
    size_t n;
};

struct weft__run weft__run_of(const struct weft__tree_kind *kind, const struct weft__slice *slice);

/* A tree of the n entries of these runs, which are used up. */
struct weft__tree *weft__tree_grow(const struct weft__tree_kind *kind, struct weft__run *runs,
                                   size_t n);

/* A tree of the slice. */
struct weft__tree *weft__tree_of(const struct weft__tree_kind *kind,
                                 const struct weft__slice *slice);

/* A tree with the run, of one entry or none, in place of the key. */
struct weft__tree *weft__tree_put(const struct weft__tree_kind *kind, const struct weft__tree *tree,
                                  const void *key, const struct weft__run *run);

#endif
