/* SPDX-License-Identifier: MIT */
/* Operations on all entries of a map. Both sides of a node are done at the same time; and so are
 * the entries of a leaf, if the program's function takes long. */
#include "parallel/ordmap.h"

#include "core/misuse.h"
#include "parallel/for.h"

#include <errno.h>

#define FAILED WEFT__TREE_FAILED

/* ---- Building ---- */

struct building {
    const struct weft__tree_kind *kind;
    const char *keys, *values;
};

struct range {
    const struct building *all;
    size_t begin, end;
    struct weft__tree *result;
};

static struct weft__tree *build_leaf(const struct range *range)
{
    const struct building *all = range->all;
    const weft_ordmap_kind *given = &all->kind->given;
    struct weft__run run = {all->keys + range->begin * given->key_size,
                            all->values ? all->values + range->begin * given->value_size : NULL,
                            range->end - range->begin};
    return weft__tree_grow(all->kind, &run, run.n);
}

static void build(weft *w, void *arg)
{
    struct range *range = arg;
    const struct building *all = range->all;
    size_t n = range->end - range->begin;
    if (n <= all->kind->most) {
        range->result = build_leaf(range);
        return;
    }
    size_t middle = range->begin + weft__tree_middle(all->kind, n);
    struct range left = {all, range->begin, middle, FAILED};
    struct range right = {all, middle, range->end, FAILED};
    struct weft__trees trees = {.of = {&left.result, &right.result}};
    weft__cleanup_push(w, &trees.cleanup, weft__trees_drop);
    weft_join(w, build, &left, build, &right);
    weft__cleanup_pop(w, &trees.cleanup);
    range->result = weft__tree_join_at(
        all->kind, left.result, all->keys + middle * all->kind->given.key_size, right.result);
}

static bool are_ascending(weft *w, size_t begin, size_t end, void *arg)
{
    const struct building *all = arg;
    const weft_ordmap_kind *given = &all->kind->given;
    (void)w;
    for (size_t i = begin; i < end; i++) {
        const char *key = all->keys + i * given->key_size;
        if (given->compare(key, key + given->key_size, given->arg) >= 0)
            return false;
    }
    return true;
}

int weft_ordmap_build(weft *w, const void *keys, const void *values, size_t n,
                      const weft_ordmap_kind *given, weft_ordmap **result)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!result || (!keys && n > 0))
        return -EINVAL;
    struct weft__tree_kind kind;
    struct building all = {&kind, keys, values};
    *result = NULL;
    int error = weft__ordmap_kind(&kind, given);
    if (error)
        return error;
    if (n > 1 && !weft_all(w, 0, n - 1, are_ascending, &all))
        return weft_cancelled(w) ? -ECANCELED : -EINVAL;
    struct range range = {&all, 0, n, FAILED};
    WEFT__MUST_RETURN(weft__callee_threw, build(w, &range));
    return weft__ordmap_make(w, result, &kind, range.result);
}

/* ---- Mapping ---- */

struct mapping {
    const struct weft__tree_kind *from, *to;
    weft_ordmap_map_fn *fn;
    void *arg;
};

struct mapped {
    const struct mapping *all;
    const struct weft__tree *tree;
    struct weft__tree *result;
};

/* Entries of the leaf `tree`. The result may be several leaves, if its values are larger. */
static void map_range(weft *w, size_t begin, size_t end, void *arg)
{
    const struct mapped mapped = *(const struct mapped *)arg; /* fn can't change the copy */
    const struct mapping *all = mapped.all;
    for (size_t i = begin; i < end; i++)
        all->fn(w, weft__leaf_key(all->from, mapped.tree, i),
                weft__leaf_value(all->from, mapped.tree, i),
                weft__tree_place(all->to, mapped.result, i), all->arg);
}

static struct weft__tree *map_leaf(weft *w, const struct mapping *all,
                                   const struct weft__tree *leaf)
{
    const struct weft__slice slice = weft__slice_all(leaf);
    struct weft__run keys = weft__run_of(all->from, &slice);
    keys.values = NULL;
    struct mapped mapped = {all, leaf, weft__tree_grow(all->to, &keys, keys.n)};
    if (mapped.result == FAILED)
        return FAILED;
    struct weft__trees trees = {.of = {&mapped.result}};
    weft__cleanup_push(w, &trees.cleanup, weft__trees_drop);
    weft__for_keyed(w, slice.end, map_range, &mapped, WEFT__KEY(all->fn));
    weft__cleanup_pop(w, &trees.cleanup);
    return weft__tree_unless_cancelled(w, mapped.result);
}

static void map(weft *w, void *arg)
{
    struct mapped *mapped = arg;
    const struct weft__tree *tree = mapped->tree;
    if (weft__tree_is_leaf(tree)) {
        mapped->result = map_leaf(w, mapped->all, tree);
        return;
    }
    struct mapped left = {mapped->all, tree->child[WEFT__LEFT], FAILED};
    struct mapped right = {mapped->all, tree->child[WEFT__RIGHT], FAILED};
    struct weft__trees trees = {.of = {&left.result, &right.result}};
    weft__cleanup_push(w, &trees.cleanup, weft__trees_drop);
    weft_join(w, map, &left, map, &right);
    weft__cleanup_pop(w, &trees.cleanup);
    mapped->result = weft__tree_join_at(mapped->all->to, left.result, tree->data, right.result);
}

int weft_ordmap_map(weft *w, const weft_ordmap *from, weft_ordmap_map_fn *fn, void *arg,
                    weft_ordmap **result, size_t value_size)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!weft__ordmap_given(result, from) || !fn)
        return -EINVAL;
    weft_ordmap_kind given = from->kind.given;
    struct weft__tree_kind kind;
    given.value_size = value_size;
    *result = NULL;
    int error = weft__ordmap_kind(&kind, &given);
    if (error)
        return error;
    const struct mapping all = {&from->kind, &kind, fn, arg};
    struct mapped mapped = {&all, from->root, NULL};
    if (from->root)
        WEFT__MUST_RETURN(weft__callee_threw, map(w, &mapped));
    return weft__ordmap_make(w, result, &kind, mapped.result);
}

/* ---- Filtering ---- */

struct filtering {
    const struct weft__tree_kind *kind;
    weft_ordmap_keep_fn *keep;
    void *arg;
};

struct filtered {
    const struct filtering *all;
    const struct weft__tree *tree;
    struct weft__tree *result;
};

struct leaf_filtering {
    const struct filtering *all;
    const struct weft__tree *leaf;
    bool kept[WEFT__LEAF_MOST];
};

static void filter_range(weft *w, size_t begin, size_t end, void *arg)
{
    struct leaf_filtering *filtering = arg;
    const struct filtering all = *filtering->all; /* keep can't change the copy */
    for (size_t i = begin; i < end; i++)
        filtering->kept[i] = all.keep(w, weft__leaf_key(all.kind, filtering->leaf, i),
                                      weft__leaf_value(all.kind, filtering->leaf, i), all.arg);
}

/* The kept entries, as runs. If all are kept, the result is the leaf itself. */
static struct weft__tree *leaf_of_kept(const struct leaf_filtering *filtering)
{
    const struct weft__tree_kind *kind = filtering->all->kind;
    struct weft__run runs[WEFT__LEAF_MOST / 2];
    struct weft__slice slice = {filtering->leaf, 0, 0};
    size_t n_runs = 0, n = 0, size = slice.tree->size;
    while (slice.begin < size) {
        slice.end = slice.begin;
        while (slice.end < size && filtering->kept[slice.end])
            slice.end++;
        if (slice.begin < slice.end)
            runs[n_runs++] = weft__run_of(kind, &slice);
        n += slice.end - slice.begin;
        slice.begin = slice.end + 1;
    }
    return n == size ? weft__tree_share(slice.tree) : weft__tree_grow(kind, runs, n);
}

static struct weft__tree *filter_leaf(weft *w, const struct filtered *filtered)
{
    struct leaf_filtering filtering = {.all = filtered->all, .leaf = filtered->tree};
    weft__for_keyed(w, filtered->tree->size, filter_range, &filtering,
                    WEFT__KEY(filtered->all->keep));
    return weft__is_cancelled(w) ? FAILED : leaf_of_kept(&filtering);
}

static void filter(weft *w, void *arg)
{
    struct filtered *filtered = arg;
    const struct weft__tree *tree = filtered->tree;
    if (weft__tree_is_leaf(tree)) {
        filtered->result = filter_leaf(w, filtered);
        return;
    }
    struct filtered left = {filtered->all, tree->child[WEFT__LEFT], FAILED};
    struct filtered right = {filtered->all, tree->child[WEFT__RIGHT], FAILED};
    struct weft__trees trees = {.of = {&left.result, &right.result}};
    weft__cleanup_push(w, &trees.cleanup, weft__trees_drop);
    weft_join(w, filter, &left, filter, &right);
    weft__cleanup_pop(w, &trees.cleanup);
    filtered->result = weft__tree_join_like(filtered->all->kind, tree, left.result, right.result);
}

int weft_ordmap_filter(weft *w, const weft_ordmap *from, weft_ordmap_keep_fn *keep, void *arg,
                       weft_ordmap **result)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!weft__ordmap_given(result, from) || !keep)
        return -EINVAL;
    const struct filtering all = {&from->kind, keep, arg};
    struct filtered filtered = {&all, from->root, NULL};
    if (from->root)
        WEFT__MUST_RETURN(weft__callee_threw, filter(w, &filtered));
    return weft__ordmap_make(w, result, &from->kind, filtered.result);
}
