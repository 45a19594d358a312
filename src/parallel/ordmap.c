/* SPDX-License-Identifier: MIT */
/* Maps: a kind and a tree; and the operations of a single thread. */
#include "parallel/ordmap.h"

#include "core/misuse.h"
#include "os/memory.h"
#include "parallel/element.h"

#include <errno.h>

/* ---- Making ---- */

/* As many entries as fit; but an even number, and a few of any size. */
static size_t most_in_leaf(size_t entry_size)
{
    size_t fit = WEFT__LEAF_BYTES / entry_size & ~(size_t)1;
    if (fit < WEFT__LEAF_FEWEST)
        return WEFT__LEAF_FEWEST;
    return fit < WEFT__LEAF_MOST ? fit : WEFT__LEAF_MOST;
}

int weft__ordmap_kind(struct weft__tree_kind *kind, const weft_ordmap_kind *given)
{
    const size_t most = SIZE_MAX / 8 / WEFT__LEAF_FEWEST; /* so that a leaf has a size */
    if (!given || !given->compare || given->key_size == 0 || given->key_size > most ||
        given->value_size > most)
        return -EINVAL;
    kind->given = *given;
    kind->most = most_in_leaf(given->key_size + given->value_size);
    kind->value_align = given->value_size ? weft__alignment(given->value_size) : 1;
    return 0;
}

int weft__ordmap_make(weft *w, weft_ordmap **result, const struct weft__tree_kind *kind,
                      struct weft__tree *tree)
{
    *result = NULL;
    if (tree == WEFT__TREE_FAILED)
        return w && weft_cancelled(w) ? -ECANCELED : -ENOMEM;
    weft_ordmap *map = weft__small(sizeof *map);
    if (!map) {
        weft__tree_drop(tree);
        return -ENOMEM;
    }
    *map = (weft_ordmap){*kind, tree};
    *result = map;
    return 0;
}

bool weft__ordmap_given(weft_ordmap **result, const weft_ordmap *map)
{
    if (result)
        *result = NULL;
    return result && map;
}

int weft_ordmap_empty(const weft_ordmap_kind *given, weft_ordmap **result)
{
    struct weft__tree_kind kind;
    if (!result)
        return -EINVAL;
    *result = NULL;
    int error = weft__ordmap_kind(&kind, given);
    return error ? error : weft__ordmap_make(NULL, result, &kind, NULL);
}

int weft_ordmap_copy(const weft_ordmap *map, weft_ordmap **result)
{
    if (!weft__ordmap_given(result, map))
        return -EINVAL;
    return weft__ordmap_make(NULL, result, &map->kind, weft__tree_share(map->root));
}

void weft_ordmap_release(weft_ordmap *map)
{
    if (!map)
        return;
    weft__tree_drop(map->root);
    weft__free(map);
}

int weft_ordmap_insert(const weft_ordmap *map, const void *key, const void *value,
                       weft_ordmap **result)
{
    if (!weft__ordmap_given(result, map) || !key)
        return -EINVAL;
    const struct weft__run one = {key, value, 1};
    return weft__ordmap_make(NULL, result, &map->kind,
                             weft__tree_put(&map->kind, map->root, key, &one));
}

int weft_ordmap_remove(const weft_ordmap *map, const void *key, weft_ordmap **result)
{
    if (!weft__ordmap_given(result, map) || !key)
        return -EINVAL;
    if (!weft_ordmap_find(map, key)) /* nothing has to be made anew */
        return weft_ordmap_copy(map, result);
    const struct weft__run none = {key, NULL, 0};
    return weft__ordmap_make(NULL, result, &map->kind,
                             weft__tree_put(&map->kind, map->root, key, &none));
}

/* ---- Looking ---- */

size_t weft_ordmap_size(const weft_ordmap *map)
{
    WEFT__NEEDS(map, "a map");
    return weft__tree_size(map->root);
}

const void *weft_ordmap_find(const weft_ordmap *map, const void *key)
{
    WEFT__NEEDS(map, "a map");
    WEFT__NEEDS(key, "a key");
    const struct weft__tree *tree = map->root;
    bool found;
    if (!tree)
        return NULL;
    while (!weft__tree_is_leaf(tree))
        tree = tree->child[weft__tree_side(&map->kind, tree, key)];
    size_t i = weft__leaf_seek(&map->kind, tree, 0, tree->size, key, &found);
    return found ? weft__leaf_value(&map->kind, tree, i) : NULL;
}

size_t weft_ordmap_rank(const weft_ordmap *map, const void *key)
{
    WEFT__NEEDS(map, "a map");
    WEFT__NEEDS(key, "a key");
    const struct weft__tree *tree = map->root;
    size_t smaller = 0;
    bool found;
    if (!tree)
        return 0;
    while (!weft__tree_is_leaf(tree)) {
        enum weft__side side = weft__tree_side(&map->kind, tree, key);
        smaller += side == WEFT__RIGHT ? tree->child[WEFT__LEFT]->size : 0;
        tree = tree->child[side];
    }
    return smaller + weft__leaf_seek(&map->kind, tree, 0, tree->size, key, &found);
}

bool weft_ordmap_at(const weft_ordmap *map, size_t rank, weft_ordmap_entry *entry)
{
    WEFT__NEEDS(map, "a map");
    WEFT__NEEDS(entry, "a place for the entry");
    if (rank >= weft__tree_size(map->root))
        return false;
    const struct weft__tree *leaf = weft__leaf_at(map->root, &rank);
    entry->key = weft__leaf_key(&map->kind, leaf, rank);
    entry->value = weft__leaf_value(&map->kind, leaf, rank);
    return true;
}

bool weft_ordmap_first(const weft_ordmap *map, weft_ordmap_entry *entry)
{
    return weft_ordmap_at(map, 0, entry);
}

bool weft_ordmap_last(const weft_ordmap *map, weft_ordmap_entry *entry)
{
    return weft_ordmap_at(map, weft_ordmap_size(map) - 1, entry); /* of none: a rank of none */
}

struct walk {
    const struct weft__tree_kind *kind;
    weft_ordmap_visit_fn *visit;
    void *arg;
};

static bool walk_leaf(const struct walk *all, const struct weft__tree *leaf, size_t begin,
                      size_t end)
{
    const weft_ordmap_kind *given = &all->kind->given;
    const char *key = weft__leaf_key(all->kind, leaf, begin);
    const char *value = weft__leaf_value(all->kind, leaf, begin);
    for (size_t i = begin; i < end; i++) {
        if (!all->visit(key, value, all->arg))
            return false;
        key += given->key_size;
        value += given->value_size;
    }
    return true;
}

/* `begin` and `end` are ranks in this tree; `end` may be beyond it. */
static bool walk(const struct walk *all, const struct weft__tree *tree, size_t begin, size_t end)
{
    while (!weft__tree_is_leaf(tree)) {
        size_t left = tree->child[WEFT__LEFT]->size;
        if (begin < left && !walk(all, tree->child[WEFT__LEFT], begin, end))
            return false;
        if (end <= left)
            return true;
        begin = begin > left ? begin - left : 0;
        end -= left;
        tree = tree->child[WEFT__RIGHT];
    }
    return walk_leaf(all, tree, begin, end < tree->size ? end : tree->size);
}

bool weft_ordmap_walk(const weft_ordmap *map, size_t begin, size_t end, weft_ordmap_visit_fn *visit,
                      void *arg)
{
    WEFT__NEEDS(map, "a map");
    WEFT__NEEDS(visit, "a function");
    if (begin >= end || begin >= weft__tree_size(map->root))
        return true;
    return walk(&(struct walk){&map->kind, visit, arg}, map->root, begin, end);
}
