/* SPDX-License-Identifier: MIT */
/* ordmap.h: ordered maps: a tree, and what its nodes look like. */
#ifndef WEFT_PARALLEL_ORDMAP_H
#define WEFT_PARALLEL_ORDMAP_H

#include "parallel/ordmap_tree.h"

struct weft_ordmap {
    struct weft__tree_kind kind;
    struct weft__tree *root;
};

/* Makes a map of the tree, and consumes the tree. Returns 0 or the error. `w`: the context in which
 * the tree was made, or NULL. */
int weft__ordmap_make(weft *w, weft_ordmap **result, const struct weft__tree_kind *kind,
                      struct weft__tree *tree);

/* Are both pointers given? Sets *result to NULL. */
bool weft__ordmap_given(weft_ordmap **result, const weft_ordmap *map);

/* 0, or -EINVAL: `given` is not a valid kind. */
int weft__ordmap_kind(struct weft__tree_kind *kind, const weft_ordmap_kind *given);

/* Trees of so many nodes are split between threads. If only keys are compared, a node takes some
 * nanoseconds. How long a function of the program takes is not known, and a fork is cheap: so trees
 * are split earlier if one is called. */
enum { WEFT__TREE_LARGE = 64, WEFT__TREE_LARGE_CALLS = 4 };

/* Calls fn for both sides, at the same time if they are large. If the computation is cancelled, the
 * right side may be left out: so its result has to say beforehand that it has failed. */
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
