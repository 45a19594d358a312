/* SPDX-License-Identifier: MIT */
/* Leaves are made of runs of entries, whatever is done: to insert a key is to copy what is before
 * it, the key, and what is after it. */
#include "parallel/ordmap_leaf.h"

#define FAILED WEFT__TREE_FAILED

/* ---- Looking ---- */

const struct weft__tree *weft__leaf_at(const struct weft__tree *tree, size_t *rank)
{
    while (!weft__tree_is_leaf(tree)) {
        size_t left = tree->child[WEFT__LEFT]->size;
        bool is_right = *rank >= left;
        *rank -= is_right ? left : 0;
        tree = tree->child[is_right];
    }
    return tree;
}

size_t weft__slice_seek(const struct weft__tree_kind *kind, const struct weft__slice *slice,
                        const void *key, bool *found)
{
    return weft__leaf_seek(kind, slice->tree, slice->begin, weft__slice_size(slice), key, found);
}

/* ---- Making ---- */

struct weft__run weft__run_of(const struct weft__tree_kind *kind, const struct weft__slice *slice)
{
    return (struct weft__run){weft__leaf_key(kind, slice->tree, slice->begin),
                              weft__leaf_value(kind, slice->tree, slice->begin),
                              weft__slice_size(slice)};
}

static void take(const struct weft__tree_kind *kind, struct weft__run *run, size_t n, char *keys,
                 char *values)
{
    size_t key_bytes = n * kind->given.key_size, value_bytes = n * kind->given.value_size;
    weft__copy(keys, run->keys, key_bytes);
    run->keys += key_bytes;
    run->n -= n;
    if (run->values) {
        weft__copy(values, run->values, value_bytes);
        run->values += value_bytes;
    } else
        memset(values, 0, value_bytes);
}

/* Takes n entries from the runs. */
static struct weft__tree *make_leaf(const struct weft__tree_kind *kind, struct weft__run **next,
                                    size_t n)
{
    const weft_ordmap_kind *given = &kind->given;
    size_t values_at = weft__leaf_values(kind, n);
    struct weft__tree *leaf = weft__tree_alloc(values_at + n * given->value_size);
    if (leaf == FAILED)
        return FAILED;
    leaf->size = n & (((uint64_t)1 << 56) - 1);
    leaf->height = 1;
    for (size_t done = 0; done < n;) {
        size_t some = (*next)->n < n - done ? (*next)->n : n - done;
        take(kind, *next, some, leaf->data + done * given->key_size,
             leaf->data + values_at + done * given->value_size);
        done += some;
        *next += (*next)->n == 0;
    }
    return leaf;
}

static struct weft__tree *grow(const struct weft__tree_kind *kind, struct weft__run **next,
                               size_t n)
{
    if (n <= kind->most)
        return make_leaf(kind, next, n);
    size_t middle = weft__tree_middle(kind, n);
    struct weft__tree *left = grow(kind, next, middle);
    while ((*next)->n == 0)
        ++*next;
    struct weft__tree *node = weft__tree_node(kind, (*next)->keys);
    return weft__tree_join(kind, left, node, grow(kind, next, n - middle));
}

struct weft__tree *weft__tree_grow(const struct weft__tree_kind *kind, struct weft__run *runs,
                                   size_t n)
{
    return n > 0 ? grow(kind, &runs, n) : NULL;
}

struct weft__tree *weft__tree_of(const struct weft__tree_kind *kind,
                                 const struct weft__slice *slice)
{
    if (weft__slice_size(slice) == weft__tree_size(slice->tree))
        return weft__tree_share(slice->tree);
    struct weft__run run = weft__run_of(kind, slice);
    return weft__tree_grow(kind, &run, run.n);
}

static struct weft__tree *put_in_leaf(const struct weft__tree_kind *kind,
                                      const struct weft__tree *leaf, const void *key,
                                      const struct weft__run *run)
{
    struct weft__slice before = weft__slice_all(leaf), after = before;
    bool found;
    before.end = weft__slice_seek(kind, &after, key, &found);
    after.begin = before.end + found;
    struct weft__run runs[] = {weft__run_of(kind, &before), *run, weft__run_of(kind, &after)};
    return weft__tree_grow(kind, runs, runs[0].n + runs[1].n + runs[2].n);
}

struct weft__tree *weft__tree_put(const struct weft__tree_kind *kind, const struct weft__tree *tree,
                                  const void *key, const struct weft__run *run)
{
    struct weft__tree *child[2];
    if (!tree)
        return weft__tree_grow(kind, &(struct weft__run){run->keys, run->values, run->n}, run->n);
    if (weft__tree_is_leaf(tree))
        return put_in_leaf(kind, tree, key, run);
    enum weft__side side = weft__tree_side(kind, tree, key);
    child[side] = weft__tree_put(kind, tree->child[side], key, run);
    child[!side] = weft__tree_share(tree->child[!side]);
    return weft__tree_join_at(kind, child[WEFT__LEFT], tree->data, child[WEFT__RIGHT]);
}
