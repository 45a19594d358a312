/* SPDX-License-Identifier: MIT */
/* Trees by joining: every change is made of weft__tree_join(), which alone keeps trees balanced
 * and leaves half full. */
#include "parallel/ordmap_tree.h"

#include "core/cancel.h"
#include "os/memory.h"
#include "parallel/element.h"
#include "parallel/ordmap_leaf.h"

#define FAILED WEFT__TREE_FAILED

struct weft__tree weft__tree_failed;

/* ---- References ---- */

struct weft__tree *weft__tree_share(const struct weft__tree *tree)
{
    struct weft__tree *shared = (struct weft__tree *)(uintptr_t)tree;
    if (shared && shared != FAILED)
        /* relaxed: the caller sees the node already, and so will a thread that gets the reference
         * from it. */
        atomic_fetch_add_relaxed(&shared->references, 1);
    return shared;
}

void weft__tree_drop(struct weft__tree *tree)
{
    while (tree && tree != FAILED) {
        /* acq_rel N1: a thread that drops the last reference, or finds that it has the only one,
         * comes after all that other threads read in the node. Last touch, unless this was the last
         * reference. */
        if (atomic_fetch_sub_acq_rel(&tree->references, 1) != 1)
            return;
        struct weft__tree *right = tree->child[WEFT__RIGHT];
        weft__tree_drop(tree->child[WEFT__LEFT]);
        weft__free(tree);
        tree = right;
    }
}

void weft__trees_drop(struct weft__cleanup *cleanup, weft *w)
{
    struct weft__trees *trees = (struct weft__trees *)cleanup;
    (void)w;
    for (int i = 0; i < WEFT__TREES && trees->of[i]; i++)
        weft__tree_drop(*trees->of[i]);
}

struct weft__tree *weft__tree_unless_cancelled(weft *w, struct weft__tree *tree)
{
    if (!weft__is_cancelled(w))
        return tree;
    weft__tree_drop(tree);
    return FAILED;
}

/* Fails: drops the trees that the result was to be made of. */
static struct weft__tree *give_up(struct weft__tree *a, struct weft__tree *b, struct weft__tree *c)
{
    weft__tree_drop(a);
    weft__tree_drop(b);
    weft__tree_drop(c);
    return FAILED;
}

/* ---- Nodes ---- */

struct weft__tree *weft__tree_alloc(size_t bytes)
{
    struct weft__tree *tree = weft__small(sizeof *tree + bytes);
    if (!tree)
        return FAILED;
    tree->child[WEFT__LEFT] = tree->child[WEFT__RIGHT] = NULL;
    tree->size = tree->height = 0;
    atomic_store_relaxed(&tree->references, 1); /* relaxed: no other thread knows the tree */
    return tree;
}

struct weft__tree *weft__tree_node(const struct weft__tree_kind *kind, const void *key)
{
    struct weft__tree *node = weft__tree_alloc(kind->given.key_size);
    if (node != FAILED)
        weft__copy(node->data, key, kind->given.key_size);
    return node;
}

static bool is_mine_alone(struct weft__tree *tree)
{
    return atomic_load_acquire(&tree->references) == 1; /* acquire N1: true: it may be changed */
}

/* Takes the root off: returns it as a node without sides, and its two children. If that fails,
 * there are no children. */
static struct weft__tree *take_apart(const struct weft__tree_kind *kind, struct weft__tree *tree,
                                     struct weft__tree *child[2])
{
    struct weft__tree *node = is_mine_alone(tree) ? tree : weft__tree_node(kind, tree->data);
    child[WEFT__LEFT] = child[WEFT__RIGHT] = NULL;
    for (int side = 0; node != FAILED && side < 2; side++) {
        child[side] = node == tree ? tree->child[side] : weft__tree_share(tree->child[side]);
        node->child[side] = NULL;
    }
    if (node != tree)
        weft__tree_drop(tree);
    return node;
}

/* Gives the node these children. `near` becomes the child on `side`. */
static struct weft__tree *link(struct weft__tree *node, enum weft__side side,
                               struct weft__tree *near, struct weft__tree *far)
{
    unsigned higher = near->height > far->height ? near->height : far->height;
    node->child[side] = near;
    node->child[!side] = far;
    node->size = (near->size + far->size) & (((uint64_t)1 << 56) - 1);
    node->height = (higher + 1) & 0xff;
    return node;
}

/* ---- Balance ---- */

/* The near side is higher by two. Its root goes to the top; or, if its inner side is higher than
 * its outer side, the root of the inner side does. */
static struct weft__tree *rotate(const struct weft__tree_kind *kind, enum weft__side side,
                                 struct weft__tree *node, struct weft__tree *near,
                                 struct weft__tree *far)
{
    struct weft__tree *child[2], *inner[2];
    struct weft__tree *top = take_apart(kind, near, child);
    if (top == FAILED)
        return give_up(node, far, NULL);
    if (child[!side]->height <= child[side]->height)
        return link(top, side, child[side], link(node, side, child[!side], far));
    struct weft__tree *middle = take_apart(kind, child[!side], inner);
    if (middle == FAILED) {
        weft__tree_drop(child[side]);
        return give_up(node, far, top);
    }
    return link(middle, side, link(top, side, child[side], inner[side]),
                link(node, side, inner[!side], far));
}

/* The near side may be higher by two. */
static struct weft__tree *balance(const struct weft__tree_kind *kind, enum weft__side side,
                                  struct weft__tree *node, struct weft__tree *near,
                                  struct weft__tree *far)
{
    if (near == FAILED)
        return give_up(node, far, NULL);
    if (near->height > far->height + 1)
        return rotate(kind, side, node, near, far);
    return link(node, side, near, far);
}

/* Joins the node and the low tree to the high tree on `side`: as deep as a tree there is about as
 * high as the low one, or is a leaf. The trees above may become higher by one, and are balanced
 * again. */
static struct weft__tree *graft(const struct weft__tree_kind *kind, enum weft__side side,
                                struct weft__tree *high, struct weft__tree *node,
                                struct weft__tree *low)
{
    struct weft__tree *child[2];
    struct weft__tree *top = take_apart(kind, high, child);
    if (top == FAILED)
        return give_up(node, low, NULL);
    struct weft__tree *near = side == WEFT__RIGHT ? weft__tree_join(kind, child[side], node, low)
                                                  : weft__tree_join(kind, low, node, child[side]);
    return balance(kind, side, top, near, child[!side]);
}

/* Two leaves, at least one of which is less than half full: their entries are one leaf, or two. */
static struct weft__tree *join_leaves(const struct weft__tree_kind *kind, struct weft__tree *left,
                                      struct weft__tree *node, struct weft__tree *right)
{
    struct weft__slice slices[] = {weft__slice_all(left), weft__slice_all(right)};
    struct weft__run runs[] = {weft__run_of(kind, &slices[0]), weft__run_of(kind, &slices[1])};
    struct weft__tree *joined = weft__tree_grow(kind, runs, runs[0].n + runs[1].n);
    give_up(left, node, right);
    return joined;
}

/* Does it have to become part of another leaf? */
static bool is_too_small(const struct weft__tree_kind *kind, const struct weft__tree *tree)
{
    return weft__tree_is_leaf(tree) && tree->size < kind->most / 2;
}

static struct weft__tree *join_two(const struct weft__tree_kind *kind, struct weft__tree *left,
                                   struct weft__tree *node, struct weft__tree *right)
{
    bool left_small = is_too_small(kind, left), right_small = is_too_small(kind, right);
    if (weft__tree_is_leaf(left) && weft__tree_is_leaf(right) && (left_small || right_small))
        return join_leaves(kind, left, node, right);
    if (right_small || left->height > right->height + 1)
        return graft(kind, WEFT__RIGHT, left, node, right);
    if (left_small || right->height > left->height + 1)
        return graft(kind, WEFT__LEFT, right, node, left);
    return link(node, WEFT__LEFT, left, right);
}

struct weft__tree *weft__tree_join(const struct weft__tree_kind *kind, struct weft__tree *left,
                                   struct weft__tree *node, struct weft__tree *right)
{
    if (left == FAILED || node == FAILED || right == FAILED)
        return give_up(left, node, right);
    if (left && right)
        return join_two(kind, left, node, right);
    weft__tree_drop(node);
    return left ? left : right;
}

struct weft__tree *weft__tree_join_at(const struct weft__tree_kind *kind, struct weft__tree *left,
                                      const void *key, struct weft__tree *right)
{
    bool is_needed = left && right && left != FAILED && right != FAILED;
    return weft__tree_join(kind, left, is_needed ? weft__tree_node(kind, key) : NULL, right);
}

struct weft__tree *weft__tree_join_like(const struct weft__tree_kind *kind,
                                        const struct weft__tree *node, struct weft__tree *left,
                                        struct weft__tree *right)
{
    if (left != node->child[WEFT__LEFT] || right != node->child[WEFT__RIGHT])
        return weft__tree_join_at(kind, left, node->data, right);
    weft__tree_drop(left);
    weft__tree_drop(right);
    return weft__tree_share(node);
}

/* ---- Splitting ---- */

static struct weft__parts split_leaf(const struct weft__tree_kind *kind,
                                     const struct weft__tree *leaf, const void *key)
{
    struct weft__slice left = weft__slice_all(leaf), right = left;
    bool found;
    left.end = right.begin = weft__slice_seek(kind, &right, key, &found);
    return (struct weft__parts){{weft__tree_of(kind, &left), weft__tree_of(kind, &right)}};
}

struct weft__parts weft__tree_split(const struct weft__tree_kind *kind,
                                    const struct weft__tree *tree, const void *key)
{
    if (weft__tree_is_leaf(tree))
        return split_leaf(kind, tree, key);
    struct weft__tree *left = tree->child[WEFT__LEFT], *right = tree->child[WEFT__RIGHT];
    int order = kind->given.compare(key, tree->data, kind->given.arg);
    if (order == 0)
        return (struct weft__parts){{weft__tree_share(left), weft__tree_share(right)}};
    struct weft__parts parts = weft__tree_split(kind, order < 0 ? left : right, key);
    if (order < 0)
        parts.side[WEFT__RIGHT] =
            weft__tree_join_at(kind, parts.side[WEFT__RIGHT], tree->data, weft__tree_share(right));
    else
        parts.side[WEFT__LEFT] =
            weft__tree_join_at(kind, weft__tree_share(left), tree->data, parts.side[WEFT__LEFT]);
    return parts;
}
