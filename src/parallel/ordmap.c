/* SPDX-License-Identifier: MIT */
/* Maps: a kind and a tree; and the operations of a single thread. */
#include "parallel/ordmap.h"

#include "core/misuse.h"
#include "os/memory.h"
#include "parallel/element.h"

#include <errno.h>

/* ---- Making ---- */

int weft__ordmap_kind(struct weft__tree_kind *kind, const weft_ordmap_kind *given)
{
    const size_t most = SIZE_MAX / 8;
    if (!given || !given->compare || given->key_size == 0 || given->key_size > most ||
        given->value_size > most)
        return -EINVAL;
    size_t align = given->value_size ? weft__alignment(given->value_size) : 1;
    kind->given = *given;
    kind->value_at = (given->key_size + align - 1) & ~(align - 1);
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
    struct weft__tree *tree = weft__tree_node(&map->kind, key, value);
    if (tree != WEFT__TREE_FAILED)
        tree = weft__tree_insert(&map->kind, weft__tree_share(map->root), tree);
    return weft__ordmap_make(NULL, result, &map->kind, tree);
}

int weft_ordmap_remove(const weft_ordmap *map, const void *key, weft_ordmap **result)
{
    if (!weft__ordmap_given(result, map) || !key)
        return -EINVAL;
    if (!weft_ordmap_find(map, key)) /* nothing has to be made anew */
        return weft_ordmap_copy(map, result);
    struct weft__parts parts = weft__tree_split(&map->kind, weft__tree_share(map->root), key);
    weft__tree_drop(parts.node);
    return weft__ordmap_make(
        NULL, result, &map->kind,
        weft__tree_concat(&map->kind, parts.side[WEFT__LEFT], NULL, parts.side[WEFT__RIGHT]));
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
    while (tree) {
        int order = weft__tree_compare(&map->kind, key, tree);
        if (order == 0)
            return weft__tree_look(&map->kind, tree);
        tree = tree->child[order > 0];
    }
    return NULL;
}

size_t weft_ordmap_rank(const weft_ordmap *map, const void *key)
{
    WEFT__NEEDS(map, "a map");
    WEFT__NEEDS(key, "a key");
    const struct weft__tree *tree = map->root;
    size_t smaller = 0;
    while (tree) {
        bool is_right = weft__tree_compare(&map->kind, key, tree) > 0;
        if (is_right)
            smaller += weft__tree_size(tree->child[WEFT__LEFT]) + 1;
        tree = tree->child[is_right];
    }
    return smaller;
}

bool weft_ordmap_at(const weft_ordmap *map, size_t rank, weft_ordmap_entry *entry)
{
    WEFT__NEEDS(map, "a map");
    WEFT__NEEDS(entry, "a place for the entry");
    const struct weft__tree *tree = map->root;
    while (tree) {
        size_t left = weft__tree_size(tree->child[WEFT__LEFT]);
        if (rank == left) {
            *entry = (weft_ordmap_entry){weft__tree_key(tree), weft__tree_look(&map->kind, tree)};
            return true;
        }
        tree = tree->child[rank > left];
        rank -= rank > left ? left + 1 : 0;
    }
    return false;
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

/* `begin` and `end` are ranks in this tree; `end` may be beyond it. */
static bool walk(const struct walk *all, const struct weft__tree *tree, size_t begin, size_t end)
{
    while (tree && begin < end) {
        size_t left = weft__tree_size(tree->child[WEFT__LEFT]);
        if (begin < left && !walk(all, tree->child[WEFT__LEFT], begin, end))
            return false;
        if (begin <= left && left < end &&
            !all->visit(weft__tree_key(tree), weft__tree_look(all->kind, tree), all->arg))
            return false;
        begin = begin > left + 1 ? begin - left - 1 : 0;
        end = end > left + 1 ? end - left - 1 : 0;
        tree = tree->child[WEFT__RIGHT];
    }
    return true;
}

bool weft_ordmap_walk(const weft_ordmap *map, size_t begin, size_t end, weft_ordmap_visit_fn *visit,
                      void *arg)
{
    WEFT__NEEDS(map, "a map");
    WEFT__NEEDS(visit, "a function");
    return walk(&(struct walk){&map->kind, visit, arg}, map->root, begin, end);
}
