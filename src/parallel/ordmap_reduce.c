/* SPDX-License-Identifier: MIT */
/* A reduction of a map's entries. At a large node, what is to its left is added to the
 * accumulator, while the node and what is to its right are made another one, which is added to
 * that. Which nodes are large, and so what is combined with what, is decided by the tree
 * alone. */
#include "parallel/ordmap.h"

#include "os/memory.h"
#include "parallel/element.h"
#include "parallel/pace.h"

#include <errno.h>

enum { LARGE = 4096 }; /* accumulators larger than that are not put on the stack */

struct reduction {
    const struct weft__tree_kind *kind;
    size_t size;
    weft_ordmap_map_fn *fn; /* NULL: values are what is combined */
    weft_combine_fn *combine;
    void *arg;
};

/* A node and what is to its right, made one value. */
struct tail {
    const struct reduction *all;
    const struct weft__tree *tree;
    void *accumulator;
    bool is_done;
};

#define SPACE(all) ((all)->size > LARGE ? weft__small((all)->size) : WEFT__SPACE((all)->size))

static void release(const struct reduction *all, void *space)
{
    if (all->size > LARGE)
        weft__free(space);
}

static void begin_with(weft *w, const struct reduction *all, const struct weft__tree *tree,
                       void *accumulator)
{
    const void *value = weft__tree_look(all->kind, tree);
    if (all->fn)
        all->fn(w, accumulator, weft__tree_key(tree), value, all->arg);
    else
        weft__copy(accumulator, value, all->size);
}

/* One after the other; `space` is for each in its turn. */
static void fold_here(weft *w, const struct reduction *all, const struct weft__tree *tree,
                      void *accumulator, void *space)
{
    for (; tree; tree = tree->child[WEFT__RIGHT]) {
        fold_here(w, all, tree->child[WEFT__LEFT], accumulator, space);
        begin_with(w, all, tree, space);
        all->combine(w, accumulator, space, all->arg);
    }
}

static bool fold(weft *w, const struct reduction *all, const struct weft__tree *tree,
                 void *accumulator);

static void fold_tail(weft *w, void *arg)
{
    struct tail *tail = arg;
    begin_with(w, tail->all, tail->tree, tail->accumulator);
    tail->is_done = fold(w, tail->all, tail->tree->child[WEFT__RIGHT], tail->accumulator);
}

static bool fold_in_two(weft *w, const struct reduction *all, const struct weft__tree *tree,
                        void *accumulator, void *space)
{
    struct tail tail = {all, tree, space, false};
    weft *in = weft_fork(w, fold_tail, &tail);
    bool is_done = fold(in, all, tree->child[WEFT__LEFT], accumulator);
    if (!weft_merge(w))
        fold_tail(w, &tail);
    if (!is_done || !tail.is_done)
        return false;
    all->combine(w, accumulator, space, all->arg);
    return true;
}

/* False: there was no memory, or it was cancelled. */
static bool fold(weft *w, const struct reduction *all, const struct weft__tree *tree,
                 void *accumulator)
{
    bool is_done = true;
    if (!tree)
        return true;
    void *space = weft__is_cancelled(w) ? NULL : SPACE(all);
    if (!space)
        return false;
    if (tree->size < WEFT__TREE_LARGE_CALLS)
        fold_here(w, all, tree, accumulator, space);
    else
        is_done = fold_in_two(w, all, tree, accumulator, space);
    release(all, space);
    return is_done;
}

int weft_ordmap_reduce(weft *w, const weft_ordmap *map, size_t size, weft_ordmap_map_fn *fn,
                       weft_combine_fn *combine, void *arg, void *into)
{
    const struct reduction all = {&map->kind, size, fn, combine, arg};
    if (!fn && size != map->kind.given.value_size)
        return -EINVAL;
    if (fold(w, &all, map->root, into))
        return 0;
    return weft_cancelled(w) ? -ECANCELED : -ENOMEM;
}
