/* SPDX-License-Identifier: MIT */
/* Union, intersection and difference of two maps. The lower of the two trees is split at the root
 * of the higher. The left sides of both are combined, and so are the right sides, at the same time;
 * then the results are joined. Two leaves are merged. All trees that were there are only read, or
 * shared. */
#include "parallel/ordmap.h"

#include "core/misuse.h"
#include "parallel/for.h"

#include <errno.h>

#define FAILED WEFT__TREE_FAILED

/* Which entries the result has. */
struct operation {
    bool only_a, only_b, both;
};

static const struct operation unite = {.only_a = true, .only_b = true, .both = true};
static const struct operation intersect = {.both = true};
static const struct operation subtract = {.only_a = true};

struct setting {
    const struct operation *has;
    const struct weft__tree_kind *kind, *b_kind;
    weft_combine_fn *combine; /* NULL: the result has the value of the first map */
    void *arg;
};

struct pair {
    const struct setting *all;
    struct weft__slice a, b;
    struct weft__tree *result;
};

/* ---- Two leaves ---- */

/* An entry of the result, and the entry of b whose value is to be added to it. */
struct match {
    uint8_t at, b;
};
_Static_assert(2 * WEFT__LEAF_MOST <= UINT8_MAX, "the result has as many entries as both");

struct merged {
    const struct setting *all;
    const struct weft__tree *b;
    struct weft__tree *result;
    size_t n; /* matches */
    struct match matches[WEFT__LEAF_MOST];
};

/* What the result is made of. */
struct plan {
    size_t n, n_runs;
    struct weft__run runs[2 * WEFT__LEAF_MOST];
};

/* Adds entries to the last run, or begins a run. */
static void plan_add(struct plan *plan, const struct weft__tree_kind *kind,
                     const struct weft__tree *leaf, size_t begin, size_t end)
{
    const char *key = weft__leaf_key(kind, leaf, begin);
    struct weft__run *run = &plan->runs[plan->n_runs];
    plan->n += end - begin;
    if (plan->n_runs > 0 && run[-1].keys + run[-1].n * kind->given.key_size == key)
        run[-1].n += end - begin;
    else if (begin < end) {
        *run = (struct weft__run){key, weft__leaf_value(kind, leaf, begin), end - begin};
        plan->n_runs++;
    }
}

/* If that is all of a leaf of a, the result is that leaf. */
static struct weft__tree *plan_grow(struct plan *plan, const struct setting *all,
                                    const struct merged *merged, const struct weft__tree *a)
{
    if (merged->n == 0 && plan->n_runs == 1 && plan->n == a->size && plan->runs[0].keys == a->data)
        return weft__tree_share(a);
    return weft__tree_grow(all->kind, plan->runs, plan->n);
}

static void merge(struct merged *merged, struct weft__slice a, struct weft__slice b)
{
    const struct setting *all = merged->all;
    const struct operation has = *all->has;
    const weft_ordmap_kind given = all->kind->given;
    struct plan plan = {.n_runs = 0};
    while (a.begin < a.end && b.begin < b.end) {
        int order = given.compare(weft__leaf_key(all->kind, a.tree, a.begin),
                                  weft__leaf_key(all->kind, b.tree, b.begin), given.arg);
        if (order == 0 && has.both && all->combine)
            merged->matches[merged->n++] = (struct match){(uint8_t)plan.n, (uint8_t)b.begin};
        if (order == 0 ? has.both : order < 0 && has.only_a)
            plan_add(&plan, all->kind, a.tree, a.begin, a.begin + 1);
        else if (order > 0 && has.only_b)
            plan_add(&plan, all->kind, b.tree, b.begin, b.begin + 1);
        a.begin += order <= 0;
        b.begin += order >= 0;
    }
    if (has.only_a)
        plan_add(&plan, all->kind, a.tree, a.begin, a.end);
    if (has.only_b)
        plan_add(&plan, all->kind, b.tree, b.begin, b.end);
    merged->result = plan_grow(&plan, all, merged, a.tree);
}

static void combine_range(weft *w, size_t begin, size_t end, void *arg)
{
    const struct merged *merged = arg;
    const struct setting all = *merged->all; /* combine can't change the copy */
    for (size_t i = begin; i < end; i++) {
        struct match match = merged->matches[i];
        all.combine(w, weft__tree_place(all.kind, merged->result, match.at),
                    weft__leaf_value(all.b_kind, merged->b, match.b), all.arg);
    }
}

static struct weft__tree *merge_leaves(weft *w, const struct pair *pair)
{
    struct merged merged = {.all = pair->all, .b = pair->b.tree};
    merge(&merged, pair->a, pair->b);
    if (merged.n == 0 || merged.result == FAILED)
        return merged.result;
    struct weft__trees trees = {.of = {&merged.result}};
    weft__cleanup_push(w, &trees.cleanup, weft__trees_drop);
    weft__for_keyed(w, merged.n, combine_range, &merged, WEFT__KEY(pair->all->combine));
    weft__cleanup_pop(w, &trees.cleanup);
    return weft__tree_unless_cancelled(w, merged.result);
}

/* ---- Two trees ---- */

/* Splits the slice at the root of `pivot`, which may be its own tree. A tree has to be split into
 * two new ones, which are put in *made. */
static void split_at(const struct weft__tree_kind *kind, const struct weft__slice *slice,
                     const struct weft__tree *pivot, struct weft__slice side[2],
                     struct weft__parts *made)
{
    const struct weft__tree *tree = slice->tree;
    bool found;
    if (!weft__tree_is_leaf(tree)) {
        if (tree != pivot)
            *made = weft__tree_split(kind, tree, pivot->data);
        for (int i = 0; i < 2; i++)
            side[i] = weft__slice_all(tree == pivot ? tree->child[i] : made->side[i]);
        return;
    }
    side[WEFT__LEFT] = side[WEFT__RIGHT] = *slice;
    side[WEFT__LEFT].end = side[WEFT__RIGHT].begin =
        weft__slice_seek(kind, slice, pivot->data, &found);
}

static void operate(weft *w, void *arg);

/* If nothing of `pivot` has changed, it is the result itself. */
static struct weft__tree *operate_in_two(weft *w, const struct pair *pair)
{
    const struct setting *all = pair->all;
    const struct weft__tree *pivot =
        pair->a.tree->height >= pair->b.tree->height ? pair->a.tree : pair->b.tree;
    struct weft__slice a[2], b[2];
    struct weft__parts made = {{NULL, NULL}};
    split_at(all->kind, &pair->a, pivot, a, &made);
    split_at(all->b_kind, &pair->b, pivot, b, &made);
    struct pair left = {all, a[WEFT__LEFT], b[WEFT__LEFT], FAILED};
    struct pair right = {all, a[WEFT__RIGHT], b[WEFT__RIGHT], FAILED};
    struct weft__trees trees = {
        .of = {&left.result, &right.result, &made.side[WEFT__LEFT], &made.side[WEFT__RIGHT]}};
    weft__cleanup_push(w, &trees.cleanup, weft__trees_drop);
    if (made.side[WEFT__LEFT] != FAILED && made.side[WEFT__RIGHT] != FAILED)
        weft_join(w, operate, &left, operate, &right);
    weft__cleanup_pop(w, &trees.cleanup);
    weft__tree_drop(made.side[WEFT__LEFT]);
    weft__tree_drop(made.side[WEFT__RIGHT]);
    return weft__tree_join_like(all->kind, pivot, left.result, right.result);
}

/* One of the two is empty, or both are the same. */
static struct weft__tree *with_nothing(const struct setting *all, const struct weft__slice *slice,
                                       bool has)
{
    return has ? weft__tree_of(all->kind, slice) : NULL;
}

static void operate(weft *w, void *arg)
{
    struct pair *pair = arg;
    const struct setting *all = pair->all;
    const struct weft__tree *a = pair->a.tree, *b = pair->b.tree;
    size_t a_size = weft__slice_size(&pair->a), b_size = weft__slice_size(&pair->b);
    if (b_size == 0)
        pair->result = with_nothing(all, &pair->a, all->has->only_a);
    else if (a_size == 0)
        pair->result = with_nothing(all, &pair->b, all->has->only_b);
    else if (a == b && a_size == a->size && b_size == b->size && !all->combine)
        pair->result = with_nothing(all, &pair->a, all->has->both);
    else if (weft__is_cancelled(w))
        pair->result = FAILED;
    else if (weft__tree_is_leaf(a) && weft__tree_is_leaf(b))
        pair->result = merge_leaves(w, pair);
    else
        pair->result = operate_in_two(w, pair);
}

static bool are_of_one_kind(const weft_ordmap_kind *a, const weft_ordmap_kind *b, bool has_both)
{
    return a->key_size == b->key_size && a->compare == b->compare && a->arg == b->arg &&
           (!has_both || a->value_size == b->value_size);
}

static int make_one(weft *w, weft_ordmap **result, const weft_ordmap *a, const weft_ordmap *b,
                    const struct setting *all)
{
    if (!are_of_one_kind(&a->kind.given, &b->kind.given, all->has->only_b))
        return -EINVAL;
    struct pair pair = {all, weft__slice_all(a->root), weft__slice_all(b->root), FAILED};
    WEFT__MUST_RETURN(weft__callee_threw, operate(w, &pair));
    return weft__ordmap_make(w, result, &a->kind, pair.result);
}

int weft_ordmap_union(weft *w, const weft_ordmap *a, const weft_ordmap *b, weft_combine_fn *combine,
                      void *arg, weft_ordmap **result)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!weft__ordmap_given(result, a) || !b)
        return -EINVAL;
    const struct setting all = {&unite, &a->kind, &b->kind, combine, arg};
    return make_one(w, result, a, b, &all);
}

int weft_ordmap_intersection(weft *w, const weft_ordmap *a, const weft_ordmap *b,
                             weft_combine_fn *combine, void *arg, weft_ordmap **result)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!weft__ordmap_given(result, a) || !b)
        return -EINVAL;
    const struct setting all = {&intersect, &a->kind, &b->kind, combine, arg};
    return make_one(w, result, a, b, &all);
}

int weft_ordmap_difference(weft *w, const weft_ordmap *a, const weft_ordmap *b,
                           weft_ordmap **result)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!weft__ordmap_given(result, a) || !b)
        return -EINVAL;
    const struct setting all = {&subtract, &a->kind, &b->kind, NULL, NULL};
    return make_one(w, result, a, b, &all);
}
