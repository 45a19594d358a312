/* SPDX-License-Identifier: MIT */
/* ordmap_tree.h: the trees that ordered maps are made of.
 *
 * All entries are in leaves, in arrays (ordmap_leaf.h). A node has two sides and a key: the keys on
 * its left are smaller, those on its right are not. It need not be the key of an entry.
 *
 *             [ 40 ]
 *            /      \
 *       [ 17 ]       [ 71 ]
 *       /    \       /    \
 *    3..15  17..38  42..66  80..99
 *
 * The heights of a node's two sides differ by one at most (AVL). A leaf is at least half full,
 * unless it is the whole tree. A leaf never changes once others can see it; a node never changes
 * while there is more than one reference to it. A function that wants to change a node takes it
 * apart: it gets the node itself if it had the only reference, otherwise a copy.
 *
 * A function that takes a `struct weft__tree *` consumes a reference of its caller, and what it
 * returns is a reference for the caller. If the parameter is const, the function only reads. NULL
 * is the empty tree. WEFT__TREE_FAILED stands for a tree that could not be made, for lack of memory
 * or because the computation was cancelled: a function that gets it drops its other trees and
 * returns WEFT__TREE_FAILED. So errors need no other way back, on whichever thread they happen. */
#ifndef WEFT_PARALLEL_ORDMAP_TREE_H
#define WEFT_PARALLEL_ORDMAP_TREE_H

#include "core/fiber.h"
#include "os/atomic.h"

#include <weft/ordmap.h>

enum weft__side { WEFT__LEFT, WEFT__RIGHT };

struct weft__tree {
    struct atomic_u64 references;
    struct weft__tree *child[2]; /* of a leaf: NULL */
    uint64_t height : 8;         /* 1: a leaf */
    uint64_t size : 56;          /* how many entries the tree has */
    _Alignas(
        max_align_t) char data[]; /* of a node: its key; of a leaf: its keys, then its values */
};

/* What trees look like. */
struct weft__tree_kind {
    weft_ordmap_kind given;
    size_t most;        /* entries in a leaf; an even number */
    size_t value_align; /* a power of two */
};

extern struct weft__tree weft__tree_failed;
#define WEFT__TREE_FAILED (&weft__tree_failed)

static inline size_t weft__tree_size(const struct weft__tree *tree)
{
    return tree ? (size_t)tree->size : 0;
}

static inline bool weft__tree_is_leaf(const struct weft__tree *tree)
{
    return tree->height == 1;
}

/* On which side of a node is the key, or would it be? */
static inline enum weft__side weft__tree_side(const struct weft__tree_kind *kind,
                                              const struct weft__tree *node, const void *key)
{
    return kind->given.compare(key, node->data, kind->given.arg) < 0 ? WEFT__LEFT : WEFT__RIGHT;
}

/* One more reference to a tree. The caller has one, or reads a map that has one. */
struct weft__tree *weft__tree_share(const struct weft__tree *tree);
void weft__tree_drop(struct weft__tree *tree);

/* Memory for a tree without children, whose data has so many bytes; or failed. */
struct weft__tree *weft__tree_alloc(size_t bytes);

/* A node without sides, or failed. */
struct weft__tree *weft__tree_node(const struct weft__tree_kind *kind, const void *key);

/* Joins the left tree and the right tree by a node without sides, whose key is between them. */
struct weft__tree *weft__tree_join(const struct weft__tree_kind *kind, struct weft__tree *left,
                                   struct weft__tree *node, struct weft__tree *right);

/* The same by a new node with this key. */
struct weft__tree *weft__tree_join_at(const struct weft__tree_kind *kind, struct weft__tree *left,
                                      const void *key, struct weft__tree *right);

/* The same by a node like this one: the node itself, if both trees are its own sides. */
struct weft__tree *weft__tree_join_like(const struct weft__tree_kind *kind,
                                        const struct weft__tree *node, struct weft__tree *left,
                                        struct weft__tree *right);

/* A tree that was split at a key: the smaller keys, and the others. */
struct weft__parts {
    struct weft__tree *side[2];
};
struct weft__parts weft__tree_split(const struct weft__tree_kind *kind,
                                    const struct weft__tree *tree, const void *key);

/* The tree; or failed, if the computation is cancelled: then some of its values are missing. */
struct weft__tree *weft__tree_unless_cancelled(weft *w, struct weft__tree *tree);

/* The references of a function whose actor may be ended meanwhile: they are dropped then. */
enum { WEFT__TREES = 4 };
struct weft__trees {
    struct weft__cleanup cleanup;
    struct weft__tree **of[WEFT__TREES]; /* pointers to them, up to the first NULL */
};

void weft__trees_drop(struct weft__cleanup *trees, weft *w);

#endif
