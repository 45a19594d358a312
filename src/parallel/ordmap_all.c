/* SPDX-License-Identifier: MIT */
/* Operations on all entries of a map. Both sides of a node are done at the same time, if it is
 * large enough, then the node. */
#include "parallel/ordmap.h"

#include "core/misuse.h"
#include "parallel/element.h"
#include "parallel/pace.h"

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

static struct weft__tree *node_of(const struct building *all, size_t i)
{
    const weft_ordmap_kind *given = &all->kind->given;
    return weft__tree_node(all->kind, all->keys + i * given->key_size,
                           all->values ? all->values + i * given->value_size : NULL);
}

/* The sizes of the two sides differ by one node at most, so the tree is balanced. A node is
 * allocated before its sides: so a walk through the map meets addresses that mostly ascend. Small
 * trees are built without forks, and without a point at which the actor could be ended. */
static struct weft__tree *build_here(const struct building *all, size_t begin, size_t end)
{
    size_t middle = begin + (end - begin) / 2;
    if (begin == end)
        return NULL;
    struct weft__tree *node = node_of(all, middle);
    if (end - begin == 1)
        return node;
    struct weft__tree *left = build_here(all, begin, middle);
    struct weft__tree *right = build_here(all, middle + 1, end);
    return weft__tree_join(all->kind, left, node, right);
}

static void build(weft *w, void *arg)
{
    struct range *range = arg;
    size_t n = range->end - range->begin, middle = range->begin + n / 2;
    if (n < WEFT__TREE_LARGE) {
        range->result = build_here(range->all, range->begin, range->end);
        return;
    }
    struct weft__tree *node = node_of(range->all, middle);
    struct range left = {range->all, range->begin, middle, FAILED};
    struct range right = {range->all, middle + 1, range->end, FAILED};
    struct weft__trees trees = {.of = {&node, &left.result, &right.result}};
    weft__cleanup_push(w, &trees.cleanup, weft__trees_drop);
    weft_join(w, build, &left, build, &right);
    weft__cleanup_pop(w, &trees.cleanup);
    range->result = weft__tree_join(range->all->kind, left.result, node, right.result);
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

static struct weft__tree *map_node(weft *w, const struct mapping *all,
                                   const struct weft__tree *tree, struct weft__tree *node)
{
    if (weft__is_cancelled(w)) {
        weft__tree_drop(node);
        return FAILED;
    }
    if (node != FAILED)
        all->fn(w, weft__tree_key(tree), weft__tree_look(all->from, tree),
                weft__tree_value(all->to, node), all->arg);
    return node;
}

/* The node is allocated first, as above. Its value is computed last, after both sides. */
static void map(weft *w, void *arg)
{
    struct mapped *mapped = arg;
    const struct mapping *all = mapped->all;
    const struct weft__tree *tree = mapped->tree;
    mapped->result = NULL;
    if (!tree)
        return;
    struct weft__tree *node = weft__tree_node(all->to, weft__tree_key(tree), NULL);
    struct mapped left = {all, tree->child[WEFT__LEFT], FAILED};
    struct mapped right = {all, tree->child[WEFT__RIGHT], FAILED};
    struct weft__trees trees = {.of = {&node, &left.result, &right.result}};
    weft__cleanup_push(w, &trees.cleanup, weft__trees_drop);
    weft__both(w, tree->size >= WEFT__TREE_LARGE_CALLS, map, &left, &right);
    node = map_node(w, all, tree, node);
    weft__cleanup_pop(w, &trees.cleanup);
    mapped->result = weft__tree_join(all->to, left.result, node, right.result);
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
    struct mapped mapped = {&all, from->root, FAILED};
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

/* If all nodes are kept, the result is the tree itself, shared. */
static struct weft__tree *filter_node(weft *w, const struct filtering *all,
                                      const struct weft__tree *tree, struct weft__tree *left,
                                      struct weft__tree *right)
{
    const void *key = weft__tree_key(tree), *value = weft__tree_look(all->kind, tree);
    if (!all->keep(w, key, value, all->arg))
        return weft__tree_concat(all->kind, left, NULL, right);
    if (left != tree->child[WEFT__LEFT] || right != tree->child[WEFT__RIGHT])
        return weft__tree_join(all->kind, left, weft__tree_node(all->kind, key, value), right);
    weft__tree_drop(left);
    weft__tree_drop(right);
    return weft__tree_share(tree);
}

static void filter(weft *w, void *arg)
{
    struct filtered *filtered = arg;
    const struct weft__tree *tree = filtered->tree;
    filtered->result = weft__is_cancelled(w) ? FAILED : NULL;
    if (!tree || filtered->result)
        return;
    struct filtered left = {filtered->all, tree->child[WEFT__LEFT], FAILED};
    struct filtered right = {filtered->all, tree->child[WEFT__RIGHT], FAILED};
    struct weft__trees trees = {.of = {&left.result, &right.result}};
    weft__cleanup_push(w, &trees.cleanup, weft__trees_drop);
    weft__both(w, tree->size >= WEFT__TREE_LARGE_CALLS, filter, &left, &right);
    weft__cleanup_pop(w, &trees.cleanup);
    filtered->result = filter_node(w, filtered->all, tree, left.result, right.result);
}

int weft_ordmap_filter(weft *w, const weft_ordmap *from, weft_ordmap_keep_fn *keep, void *arg,
                       weft_ordmap **result)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!weft__ordmap_given(result, from) || !keep)
        return -EINVAL;
    const struct filtering all = {&from->kind, keep, arg};
    struct filtered filtered = {&all, from->root, FAILED};
    WEFT__MUST_RETURN(weft__callee_threw, filter(w, &filtered));
    return weft__ordmap_make(w, result, &from->kind, filtered.result);
}
