/* SPDX-License-Identifier: MIT */
/* ordmap.h: ordered maps: a tree, and what its nodes look like. */
#ifndef WEFT_PARALLEL_ORDMAP_H
#define WEFT_PARALLEL_ORDMAP_H

#include "parallel/ordmap_tree.h"

struct weft_ordmap {
    struct weft__tree_kind kind;
    struct weft__tree *root;
};

/* Consumes the tree: a map of it, or why there is none. `w`: NULL, or where it was made. */
int weft__ordmap_make(weft *w, weft_ordmap **result, const struct weft__tree_kind *kind,
                      struct weft__tree *tree);

/* Is there a place for the result, which is NULL then, and a map to make it of? */
bool weft__ordmap_given(weft_ordmap **result, const weft_ordmap *map);

/* -EINVAL: not a kind. */
int weft__ordmap_kind(struct weft__tree_kind *kind, const weft_ordmap_kind *given);

/* Are trees of so many nodes split between threads? Where only keys are compared, a node takes
 * some nanoseconds; what a function of the caller's takes, nobody knows, and a fork is cheap. */
enum { WEFT__TREE_LARGE = 64, WEFT__TREE_LARGE_CALLS = 4 };

/* Does both, at the same time if they are large. The right one may be left out, if the computation
 * is cancelled: its result should say that it has failed beforehand. */
static inline void weft__both(weft *w, bool large, weft_fn *fn, void *left, void *right)
{
    if (large) {
        weft_join(w, fn, left, fn, right);
        return;
    }
    fn(w, left);
    fn(w, right);
}

#endif
