/* SPDX-License-Identifier: MIT */
/* ordmap_tree.h: the trees that ordered maps are made of.
 *
 * An AVL tree: the heights of a node's two sides differ by one at most. A node never changes as
 * long as more than one has it: who wants to change one takes it apart, and gets the node
 * itself if it was the last to have it, otherwise a copy.
 *
 * A function that takes a `struct weft__tree *` takes a reference away from its caller, and
 * what it returns is a reference for the caller; where the parameter is const, it only looks. NULL
 * is the empty tree. WEFT__TREE_FAILED stands for one that could not be made, for lack of
 * memory or because the computation was cancelled: what is made of it fails, too, and drops the
 * rest. So errors need no other way back, whoever computes what. */
#ifndef WEFT_PARALLEL_ORDMAP_TREE_H
#define WEFT_PARALLEL_ORDMAP_TREE_H

#include "core/fiber.h"
#include "os/atomic.h"

#include <weft/ordmap.h>

enum weft__side { WEFT__LEFT, WEFT__RIGHT };

struct weft__tree {
    struct atomic_u64 references;
    struct weft__tree *child[2];
    uint64_t size : 56; /* of the tree: nodes */
    uint64_t height : 8;
    _Alignas(max_align_t) char data[]; /* the key, then the value */
};

/* What nodes look like. */
struct weft__tree_kind {
    weft_ordmap_kind given;
    size_t value_at; /* in data */
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

/* One more reference to what the caller has one of, or looks at. */
struct weft__tree *weft__tree_share(const struct weft__tree *tree);
void weft__tree_drop(struct weft__tree *tree);

/* A node alone, without children; or failed. `value` NULL: zeros, or to be written. */
struct weft__tree *weft__tree_node(const struct weft__tree_kind *kind, const void *key,
                                   const void *value);

/* The left side, a node alone, the right side: all keys are in that order. */
struct weft__tree *weft__tree_join(const struct weft__tree_kind *kind, struct weft__tree *left,
                                   struct weft__tree *node, struct weft__tree *right);

/* The same, if there is a node. */
struct weft__tree *weft__tree_concat(const struct weft__tree_kind *kind, struct weft__tree *left,
                                     struct weft__tree *node, struct weft__tree *right);

/* What is smaller than the key, greater, and the node that is equal, alone, or NULL. */
struct weft__parts {
    struct weft__tree *side[2], *node;
};
struct weft__parts weft__tree_split(const struct weft__tree_kind *kind, struct weft__tree *tree,
                                    const void *key);

/* The node, alone, takes the place of an equal one. */
struct weft__tree *weft__tree_insert(const struct weft__tree_kind *kind, struct weft__tree *tree,
                                     struct weft__tree *node);

/* References that a function has while others may end its actor: they are dropped then. */
enum { WEFT__TREES = 5 };
struct weft__trees {
    struct weft__cleanup cleanup;
    struct weft__tree **of[WEFT__TREES]; /* where they are; up to the first NULL */
};

void weft__trees_drop(struct weft__cleanup *trees, weft *w);

#endif
