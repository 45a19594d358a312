/* SPDX-License-Identifier: MIT */
/* ordmap_tree.h: the trees that ordered maps are made of.
 *
 * An AVL tree: the heights of a node's two sides differ by one at most. A node never changes while
 * there is more than one reference to it. A function that wants to change a tree takes it apart: it
 * gets the node itself if it had the only reference, otherwise a copy.
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
    struct weft__tree *child[2];
    uint64_t size : 56; /* how many nodes the tree has */
    uint64_t height : 8;
    _Alignas(max_align_t) char data[]; /* the key, then the value */
};

/* What nodes look like. */
struct weft__tree_kind {
    weft_ordmap_kind given;
    size_t value_at; /* the value's offset in `data` */
};

extern struct weft__tree weft__tree_failed;
#define WEFT__TREE_FAILED (&weft__tree_failed)

static inline size_t weft__tree_size(const struct weft__tree *tree)
{
    return tree ? (size_t)tree->size : 0;
}

static inline const void *weft__tree_key(const struct weft__tree *tree)
{
    return tree->data;
}

static inline void *weft__tree_value(const struct weft__tree_kind *kind, struct weft__tree *tree)
{
    return tree->data + kind->value_at;
}

static inline const void *weft__tree_look(const struct weft__tree_kind *kind,
                                          const struct weft__tree *tree)
{
    return tree->data + kind->value_at;
}

static inline int weft__tree_compare(const struct weft__tree_kind *kind, const void *key,
                                     const struct weft__tree *tree)
{
    return kind->given.compare(key, weft__tree_key(tree), kind->given.arg);
}

/* One more reference to a tree. The caller has one, or reads a map that has one. */
struct weft__tree *weft__tree_share(const struct weft__tree *tree);
void weft__tree_drop(struct weft__tree *tree);

/* A single node, without children; or failed. `value` NULL: the value is zeros, and may be written
 * later. */
struct weft__tree *weft__tree_node(const struct weft__tree_kind *kind, const void *key,
                                   const void *value);

/* Joins the left tree, a single node and the right tree. All keys are in that order. */
struct weft__tree *weft__tree_join(const struct weft__tree_kind *kind, struct weft__tree *left,
                                   struct weft__tree *node, struct weft__tree *right);

/* The same; `node` may be NULL. */
struct weft__tree *weft__tree_concat(const struct weft__tree_kind *kind, struct weft__tree *left,
                                     struct weft__tree *node, struct weft__tree *right);

/* A tree that was split at a key: the nodes with smaller keys, those with greater keys, and the
 * single node with the same key, or NULL. */
struct weft__parts {
    struct weft__tree *side[2], *node;
};
struct weft__parts weft__tree_split(const struct weft__tree_kind *kind, struct weft__tree *tree,
                                    const void *key);

/* Inserts a single node. It replaces a node with the same key. */
struct weft__tree *weft__tree_insert(const struct weft__tree_kind *kind, struct weft__tree *tree,
                                     struct weft__tree *node);

/* The references of a function whose actor may be ended meanwhile: they are dropped then. */
enum { WEFT__TREES = 5 };
struct weft__trees {
    struct weft__cleanup cleanup;
    struct weft__tree **of[WEFT__TREES]; /* pointers to them, up to the first NULL */
};

void weft__trees_drop(struct weft__cleanup *trees, weft *w);

#endif
