/* SPDX-License-Identifier: MIT */
/* Union, intersection and difference of two maps. The first tree is split at the root of the
 * second. The left sides of both are combined, and so are the right sides, at the same time; then
 * the results are joined. The nodes of the second tree are only read, or shared. */
#include "parallel/ordmap.h"

#include "core/misuse.h"
#include "parallel/pace.h"

#include <errno.h>

#define FAILED WEFT__TREE_FAILED

enum operation { UNION, INTERSECTION, DIFFERENCE };

struct setting {
    enum operation operation;
    const struct weft__tree_kind *kind, *b_kind;
    weft_combine_fn *combine; /* NULL: the result has the value of the first map */
    void *arg;
};

struct pair {
    const struct setting *all;
    struct weft__tree *a; /* a reference; NULL once run_pair() has begun */
    const struct weft__tree *b;
    struct weft__tree *result;
};

/* One of the two trees is empty. */
static struct weft__tree *with_nothing(const struct setting *all, struct weft__tree *a,
                                       const struct weft__tree *b)
{
    if (all->operation == UNION && !a)
        return weft__tree_share(b);
    if (all->operation != INTERSECTION)
        return a;
    weft__tree_drop(a);
    return NULL;
}

static struct weft__tree *with_itself(const struct setting *all, struct weft__tree *a)
{
    if (all->operation != DIFFERENCE)
        return a;
    weft__tree_drop(a);
    return NULL;
}

/* The node of the result for the root of b, and for the node of a with the same key, if there is
 * one; or NULL. */
static struct weft__tree *middle(weft *w, const struct setting *all, struct weft__tree *node,
                                 const struct weft__tree *b)
{
    const void *value = weft__tree_look(all->b_kind, b);
    if (!node)
        return all->operation == UNION ? weft__tree_node(all->kind, weft__tree_key(b), value)
                                       : NULL;
    if (all->operation == DIFFERENCE) {
        weft__tree_drop(node);
        return NULL;
    }
    if (all->combine)
        all->combine(w, weft__tree_value(all->kind, node), value, all->arg);
    return node;
}

static struct weft__tree *operate(weft *w, const struct setting *all, struct weft__tree *a,
                                  const struct weft__tree *b);

static void run_pair(weft *w, void *arg)
{
    struct pair *pair = arg;
    struct weft__tree *a = pair->a;
    pair->a = NULL;
    pair->result = operate(w, pair->all, a, pair->b);
}

static size_t pair_size(const struct pair *pair)
{
    return weft__tree_size(pair->a) + weft__tree_size(pair->b);
}

static struct weft__tree *split_at_root(weft *w, const struct setting *all, struct weft__tree *a,
                                        const struct weft__tree *b)
{
    size_t large = all->combine ? WEFT__TREE_LARGE_CALLS : WEFT__TREE_LARGE;
    struct weft__parts parts = weft__tree_split(all->kind, a, weft__tree_key(b));
    struct pair left = {all, parts.side[WEFT__LEFT], b->child[WEFT__LEFT], FAILED};
    struct pair right = {all, parts.side[WEFT__RIGHT], b->child[WEFT__RIGHT], FAILED};
    struct weft__trees trees = {
        .of = {&parts.node, &left.a, &left.result, &right.a, &right.result}};
    weft__cleanup_push(w, &trees.cleanup, weft__trees_drop);
    weft__both(w, pair_size(&left) + pair_size(&right) >= large, run_pair, &left, &right);
    struct weft__tree *node = middle(w, all, parts.node, b);
    weft__cleanup_pop(w, &trees.cleanup);
    weft__tree_drop(right.a); /* not NULL if the right side was left out */
    return weft__tree_concat(all->kind, left.result, node, right.result);
}

static struct weft__tree *operate(weft *w, const struct setting *all, struct weft__tree *a,
                                  const struct weft__tree *b)
{
    if (a == FAILED)
        return FAILED;
    if (!a || !b)
        return with_nothing(all, a, b);
    if (a == b && !all->combine)
        return with_itself(all, a);
    if (weft__is_cancelled(w)) {
        weft__tree_drop(a);
        return FAILED;
    }
    return split_at_root(w, all, a, b);
}

static bool are_of_one_kind(enum operation operation, const weft_ordmap_kind *a,
                            const weft_ordmap_kind *b)
{
    return a->key_size == b->key_size && a->compare == b->compare && a->arg == b->arg &&
           (operation != UNION || a->value_size == b->value_size);
}

static int make_one(weft *w, weft_ordmap **result, const weft_ordmap *a, const weft_ordmap *b,
                    const struct setting *all)
{
    *result = NULL;
    if (!are_of_one_kind(all->operation, &a->kind.given, &b->kind.given))
        return -EINVAL;
    struct weft__tree *tree;
    WEFT__MUST_RETURN(weft__callee_threw,
                      tree = operate(w, all, weft__tree_share(a->root), b->root));
    return weft__ordmap_make(w, result, &a->kind, tree);
}

int weft_ordmap_union(weft *w, const weft_ordmap *a, const weft_ordmap *b, weft_combine_fn *combine,
                      void *arg, weft_ordmap **result)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!weft__ordmap_given(result, a) || !b)
        return -EINVAL;
    const struct setting all = {UNION, &a->kind, &b->kind, combine, arg};
    return make_one(w, result, a, b, &all);
}

int weft_ordmap_intersection(weft *w, const weft_ordmap *a, const weft_ordmap *b,
                             weft_combine_fn *combine, void *arg, weft_ordmap **result)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!weft__ordmap_given(result, a) || !b)
        return -EINVAL;
    const struct setting all = {INTERSECTION, &a->kind, &b->kind, combine, arg};
    return make_one(w, result, a, b, &all);
}

int weft_ordmap_difference(weft *w, const weft_ordmap *a, const weft_ordmap *b,
                           weft_ordmap **result)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!weft__ordmap_given(result, a) || !b)
        return -EINVAL;
    const struct setting all = {DIFFERENCE, &a->kind, &b->kind, NULL, NULL};
    return make_one(w, result, a, b, &all);
}
