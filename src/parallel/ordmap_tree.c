/* SPDX-License-Identifier: MIT */
/* Trees by joining: every change is made of weft__tree_join(), which alone keeps trees balanced,
 * and of taking trees apart. */
#include "parallel/ordmap_tree.h"

#include "os/memory.h"
#include "parallel/element.h"

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

/* Fails: drops the trees that the result was to be made of. */
static struct weft__tree *give_up(struct weft__tree *a, struct weft__tree *b, struct weft__tree *c)
{
    weft__tree_drop(a);
    weft__tree_drop(b);
    weft__tree_drop(c);
    return FAILED;
}

/* ---- Nodes ---- */

static void copy_or_clear(void *to, const void *from, size_t size)
{
    if (from)
        weft__copy(to, from, size);
    else
        memset(to, 0, size);
}

struct weft__tree *weft__tree_node(const struct weft__tree_kind *kind, const void *key,
                                   const void *value)
{
    const weft_ordmap_kind *given = &kind->given;
    struct weft__tree *node = weft__small(sizeof *node + kind->value_at + given->value_size);
    if (!node)
        return FAILED;
    node->child[WEFT__LEFT] = node->child[WEFT__RIGHT] = NULL;
    node->size = node->height = 1;
    atomic_store_relaxed(&node->references, 1); /* relaxed: no other thread knows the node */
    weft__copy(node->data, key, given->key_size);
    copy_or_clear(weft__tree_value(kind, node), value, given->value_size);
    return node;
}

static bool is_mine_alone(struct weft__tree *tree)
{
    return atomic_load_acquire(&tree->references) == 1; /* acquire N1: true: it may be changed */
}

/* Takes the root off: returns it as a single node, and its two children. If that fails, there are
 * no children. */
static struct weft__tree *take_apart(const struct weft__tree_kind *kind, struct weft__tree *tree,
                                     struct weft__tree *child[2])
{
    struct weft__tree *node = tree;
    child[WEFT__LEFT] = child[WEFT__RIGHT] = NULL;
    if (!is_mine_alone(tree))
        node = weft__tree_node(kind, weft__tree_key(tree), weft__tree_look(kind, tree));
    for (int side = 0; node != FAILED && side < 2; side++) {
        child[side] = node == tree ? tree->child[side] : weft__tree_share(tree->child[side]);
        node->child[side] = NULL;
    }
    if (node != tree)
        weft__tree_drop(tree);
    return node;
}

static unsigned height(const struct weft__tree *tree)
{
    return tree ? tree->height : 0;
}

/* Gives the node these children. `near` becomes the child on `side`. */
static struct weft__tree *link(struct weft__tree *node, enum weft__side side,
                               struct weft__tree *near, struct weft__tree *far)
{
    unsigned higher = height(near) > height(far) ? height(near) : height(far);
    node->child[side] = near;
    node->child[!side] = far;
    node->size = (weft__tree_size(near) + weft__tree_size(far) + 1) & (((uint64_t)1 << 56) - 1);
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
    if (height(child[!side]) <= height(child[side]))
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
    if (height(near) > height(far) + 1)
        return rotate(kind, side, node, near, far);
    return link(node, side, near, far);
}

/* Joins the node and the low tree to the high tree on `side`: as deep as a tree there is about as
 * high as the low one. The trees above may become higher by one, and are balanced again. */
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

struct weft__tree *weft__tree_join(const struct weft__tree_kind *kind, struct weft__tree *left,
                                   struct weft__tree *node, struct weft__tree *right)
{
    if (left == FAILED || node == FAILED || right == FAILED)
        return give_up(left, node, right);
    if (height(left) > height(right) + 1)
        return graft(kind, WEFT__RIGHT, left, node, right);
    if (height(right) > height(left) + 1)
        return graft(kind, WEFT__LEFT, right, node, left);
    return link(node, WEFT__LEFT, left, right);
}

/* The tree without its last node, which is put in *last. */
static struct weft__tree *take_last(const struct weft__tree_kind *kind, struct weft__tree *tree,
                                    struct weft__tree **last)
{
    struct weft__tree *child[2];
    struct weft__tree *top = take_apart(kind, tree, child);
    if (top == FAILED || !child[WEFT__RIGHT]) {
        *last = top;
        return child[WEFT__LEFT];
    }
    struct weft__tree *rest = take_last(kind, child[WEFT__RIGHT], last);
    return weft__tree_join(kind, child[WEFT__LEFT], top, rest);
}

struct weft__tree *weft__tree_concat(const struct weft__tree_kind *kind, struct weft__tree *left,
                                     struct weft__tree *node, struct weft__tree *right)
{
    if (left == FAILED || right == FAILED)
        return give_up(left, node, right);
    if (!node && (!left || !right))
        return left ? left : right;
    if (!node)
        left = take_last(kind, left, &node);
    return weft__tree_join(kind, left, node, right);
}

/* ---- Keys ---- */

struct weft__parts weft__tree_split(const struct weft__tree_kind *kind, struct weft__tree *tree,
                                    const void *key)
{
    struct weft__tree *child[2];
    if (!tree || tree == FAILED)
        return (struct weft__parts){{tree, tree}, NULL};
    int order = weft__tree_compare(kind, key, tree);
    struct weft__tree *top = take_apart(kind, tree, child);
    if (top == FAILED)
        return (struct weft__parts){{FAILED, FAILED}, NULL};
    if (order == 0)
        return (struct weft__parts){{child[WEFT__LEFT], child[WEFT__RIGHT]}, top};
    struct weft__parts parts = weft__tree_split(kind, child[order > 0], key);
    if (order < 0)
        parts.side[WEFT__RIGHT] =
            weft__tree_join(kind, parts.side[WEFT__RIGHT], top, child[WEFT__RIGHT]);
    else
        parts.side[WEFT__LEFT] =
            weft__tree_join(kind, child[WEFT__LEFT], top, parts.side[WEFT__LEFT]);
    return parts;
}

struct weft__tree *weft__tree_insert(const struct weft__tree_kind *kind, struct weft__tree *tree,
                                     struct weft__tree *node)
{
    struct weft__tree *child[2];
    if (!tree)
        return node;
    int order = weft__tree_compare(kind, weft__tree_key(node), tree);
    struct weft__tree *top = take_apart(kind, tree, child);
    if (top == FAILED)
        return give_up(node, NULL, NULL);
    if (order == 0) {
        weft__tree_drop(top);
        return link(node, WEFT__LEFT, child[WEFT__LEFT], child[WEFT__RIGHT]);
    }
    if (order < 0)
        child[WEFT__LEFT] = weft__tree_insert(kind, child[WEFT__LEFT], node);
    else
        child[WEFT__RIGHT] = weft__tree_insert(kind, child[WEFT__RIGHT], node);
    return weft__tree_join(kind, child[WEFT__LEFT], top, child[WEFT__RIGHT]);
}
