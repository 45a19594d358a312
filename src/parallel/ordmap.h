/* SPDX-License-Identifier: MIT */
/* ordmap.h: the trees that ordered maps are made of.
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
#ifndef WEFT_PARALLEL_ORDMAP_H
#define WEFT_PARALLEL_ORDMAP_H

#include "core/atomic.h"
#include "core/fiber.h"
#include "weft.h"

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

struct weft_ordmap {
    struct weft__tree_kind kind;
    struct weft__tree *root;
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

/* ---- Maps ---- */

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
