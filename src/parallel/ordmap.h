/* SPDX-License-Identifier: MIT */
/* ordmap.h: ordered maps: a tree, and what it looks like. */
#ifndef WEFT_PARALLEL_ORDMAP_H
#define WEFT_PARALLEL_ORDMAP_H

#include "parallel/ordmap_leaf.h"

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

#endif
