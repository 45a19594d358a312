/* SPDX-License-Identifier: MIT */
/* ordmap.c: the trees of ordered maps are balanced, and share what they have in common. */
#include "parallel/ordmap.h"

#include "property.h"
#include "weft/parallel.h"

#include <stdlib.h>

static int compare(const void *a, const void *b, void *arg)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Leaves with many entries, and with few. */
static const weft_ordmap_kind set = {.key_size = sizeof(uint32_t), .compare = compare};
static const weft_ordmap_kind wide = {.key_size = sizeof(uint32_t), 300, .compare = compare};

/* Sizes, heights and keys of nodes are true, no node has sides that differ by more than one, and
 * leaves are half full. `begin` and `end` are limits of all keys. */
static void expect_sound(const weft_ordmap *map, const struct weft__tree *tree, uint64_t begin,
                         uint64_t end)
{
    if (weft__tree_is_leaf(tree)) {
        HOLDS(tree->size > 0 && tree->size <= map->kind.most);
        HOLDS(tree == map->root || tree->size >= map->kind.most / 2);
        for (size_t i = 0; i < tree->size; i++, begin++) {
            uint32_t key = *(const uint32_t *)weft__leaf_key(&map->kind, tree, i);
            HOLDS(key >= begin && key < end);
            begin = key;
        }
        return;
    }
    const struct weft__tree *left = tree->child[WEFT__LEFT], *right = tree->child[WEFT__RIGHT];
    unsigned higher = left->height > right->height ? left->height : right->height;
    uint32_t key = *(const uint32_t *)tree->data;
    HOLDS(higher - left->height <= 1 && higher - right->height <= 1);
    HOLDS(tree->height == higher + 1 && tree->size == left->size + right->size);
    HOLDS(key > begin && key < end);
    expect_sound(map, left, begin, key);
    expect_sound(map, right, key, end);
}

static unsigned height_of(const weft_ordmap *map)
{
    if (map->root)
        expect_sound(map, map->root, 0, UINT64_MAX);
    return map->root ? map->root->height : 0;
}

/* Is the tree a part of the other map? It would be on the way to its own key. */
static bool is_in(const weft_ordmap *map, const struct weft__tree *tree)
{
    const struct weft__tree *other = map->root;
    while (other && other != tree)
        other = other->child[weft__tree_side(&map->kind, other, tree->data)];
    return other != NULL;
}

/* Nodes and leaves that are not in the other one. */
static size_t count_new(const struct weft__tree *tree, const weft_ordmap *other)
{
    if (!tree || is_in(other, tree))
        return 0; /* and neither is anything below it new */
    return 1 + count_new(tree->child[WEFT__LEFT], other) +
           count_new(tree->child[WEFT__RIGHT], other);
}

static weft_ordmap *any_map(weft *w, struct dice *dice, const weft_ordmap_kind *kind,
                            size_t universe)
{
    uint32_t *keys = malloc(universe * sizeof *keys);
    size_t n = 0, from = dice_below(dice, universe), to = from + dice_size(dice, universe - from);
    size_t odds = 1 + dice_below(dice, 4);
    weft_ordmap *map;
    HOLDS(keys);
    for (size_t i = from; i < to; i++)
        if (dice_below(dice, odds) == 0)
            keys[n++] = (uint32_t)i;
    HOLDS(weft_ordmap_build(w, keys, NULL, n, kind, &map) == 0);
    free(keys);
    return map;
}

static bool keep_some(weft *w, const void *key, const void *value, void *arg)
{
    return *(const uint32_t *)key * 0x9e3779b9u >> 28 < *(uint32_t *)arg;
}

static void trees(weft *w, struct dice *dice)
{
    const weft_ordmap_kind *kind = dice_below(dice, 2) ? &set : &wide;
    size_t universe = kind == &set ? 5000 : 500;
    weft_ordmap *a = any_map(w, dice, kind, universe), *b = any_map(w, dice, kind, universe);
    weft_ordmap *result;
    uint32_t most = (uint32_t)dice_below(dice, 17);
    size_t which = dice_below(dice, 4);
    if (which == 0)
        HOLDS(weft_ordmap_union(w, a, b, NULL, NULL, &result) == 0);
    else if (which == 1)
        HOLDS(weft_ordmap_intersection(w, a, b, NULL, NULL, &result) == 0);
    else if (which == 2)
        HOLDS(weft_ordmap_difference(w, a, b, &result) == 0);
    else
        HOLDS(weft_ordmap_filter(w, a, keep_some, &most, &result) == 0);
    height_of(a);
    height_of(b);
    height_of(result);
    weft_ordmap_release(a);
    height_of(result); /* still there */
    weft_ordmap_release(result);
    weft_ordmap_release(b);
}

static void trees_are_balanced(void **state)
{
    property_holds(trees, SCALED(60, 6));
}

/* Ascending, descending and in any order; then out again. */
static void steps(weft *w, struct dice *dice)
{
    enum { N = 400 };
    size_t factor = (size_t[]){1, N - 1, 7}[dice_below(dice, 3)];
    bool is_wide = dice_below(dice, 2);
    unsigned highest = is_wide ? 12 : 6; /* 1.44 log2(leaves), which have 2 or 32 entries */
    weft_ordmap *map, *next;
    HOLDS(weft_ordmap_empty(is_wide ? &wide : &set, &map) == 0);
    for (size_t i = 0; i < 2 * (size_t)N; i++) {
        uint32_t key = (uint32_t)(i * factor % N);
        HOLDS((i < N ? weft_ordmap_insert(map, &key, NULL, &next)
                     : weft_ordmap_remove(map, &key, &next)) == 0);
        HOLDS(height_of(next) <= highest);
        HOLDS(count_new(next->root, map) <= 3 * highest);
        weft_ordmap_release(map);
        map = next;
    }
    HOLDS(weft_ordmap_size(map) == 0);
    weft_ordmap_release(map);
}

static void single_steps_are_balanced(void **state)
{
    property_holds(steps, SCALED(6, 3));
}

/* A large map and a small one have nearly all nodes and leaves of the large one; a map and itself
 * all, and so does a map of which nothing was taken away. */
static void sharing_job(weft *w, void *arg)
{
    enum { LARGE = 20000, SMALL = 10 };
    static uint32_t keys[LARGE], few[SMALL];
    weft_ordmap *large, *small, *result;
    for (uint32_t i = 0; i < LARGE; i++)
        keys[i] = 2 * i;
    for (uint32_t i = 0; i < SMALL; i++)
        few[i] = 4000 * i + 1;
    CHECK(weft_ordmap_build(w, keys, NULL, LARGE, &set, &large) == 0);
    CHECK(weft_ordmap_build(w, few, NULL, SMALL, &set, &small) == 0);
    for (int i = 0; i < 2; i++) {
        CHECK(weft_ordmap_union(w, i ? large : small, i ? small : large, NULL, NULL, &result) == 0);
        CHECK(count_new(result->root, large) <= SMALL * 3 * 10);
        weft_ordmap_release(result);
    }
    CHECK(weft_ordmap_intersection(w, large, large, NULL, NULL, &result) == 0);
    CHECK(result->root == large->root);
    weft_ordmap_release(result);
    CHECK(weft_ordmap_filter(w, large, keep_some, &(uint32_t){16}, &result) == 0);
    CHECK(result->root == large->root);
    weft_ordmap_release(result);
    CHECK(weft_ordmap_difference(w, large, small, &result) == 0);
    CHECK(result->root == large->root);
    weft_ordmap_release(result);
    weft_ordmap_release(large);
    weft_ordmap_release(small);
}

static void maps_share_nodes(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, sharing_job, NULL), 0);
    pool_drop(pool);
}

/* Many threads make maps of the same one, and drop them. */
static void share_range(weft *w, size_t begin, size_t end, void *arg)
{
    const weft_ordmap *map = arg;
    for (uint32_t i = (uint32_t)begin; i < end; i++) {
        weft_ordmap *more, *all;
        HOLDS(weft_ordmap_insert(map, &i, NULL, &more) == 0);
        HOLDS(weft_ordmap_union(w, more, map, NULL, NULL, &all) == 0);
        weft_ordmap_release(more);
        HOLDS(weft_ordmap_find(all, &i) != NULL);
        weft_ordmap_release(all);
    }
}

static void sharing(weft *w, struct dice *dice)
{
    weft_ordmap *map = any_map(w, dice, &set, 1000);
    weft_for(w, 0, 200, share_range, map);
    height_of(map);
    weft_ordmap_release(map);
}

static void threads_share_nodes(void **state)
{
    property_holds(sharing, SCALED(10, 5));
}

/* One reads a tree and drops it while another changes it: a copy, or the tree itself, if the
 * first has dropped it. */
struct owner {
    struct weft__tree *tree;
    const struct weft__tree_kind *kind;
};

static void read_and_drop(weft *w, void *arg)
{
    struct owner *owner = arg;
    height_of(&(weft_ordmap){*owner->kind, owner->tree});
    weft__tree_drop(owner->tree);
}

/* An entry that comes after all others: nodes are changed all the way down. */
static void change_and_drop(weft *w, void *arg)
{
    struct owner *owner = arg;
    const uint32_t last = 1000;
    struct weft__run run = {(const char *)&last, NULL, 1};
    struct weft__tree *more = weft__tree_grow(owner->kind, &run, run.n);
    HOLDS(more != WEFT__TREE_FAILED);
    struct weft__tree *changed = weft__tree_join_at(owner->kind, owner->tree, &last, more);
    HOLDS(changed != WEFT__TREE_FAILED);
    height_of(&(weft_ordmap){*owner->kind, changed});
    weft__tree_drop(changed);
}

static void handing_over(weft *w, struct dice *dice)
{
    weft_ordmap *map = any_map(w, dice, &wide, 30);
    weft_scope scope;
    struct owner readers[3], writer = {weft__tree_share(map->root), &map->kind};
    weft_scope_open(w, &scope);
    for (size_t i = 0; i < 3; i++) {
        readers[i] = (struct owner){weft__tree_share(map->root), &map->kind};
        HOLDS(weft_spawn(w, &scope, read_and_drop, &readers[i]) == 0);
    }
    HOLDS(weft_spawn(w, &scope, change_and_drop, &writer) == 0);
    weft__tree_drop(map->root);
    map->root = NULL;
    HOLDS(weft_scope_close(w, &scope) == 0);
    weft_ordmap_release(map);
}

static void threads_hand_nodes_over(void **state)
{
    property_holds(handing_over, SCALED(1000, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_are_balanced),      cmocka_unit_test(single_steps_are_balanced),
        cmocka_unit_test(maps_share_nodes),        cmocka_unit_test(threads_share_nodes),
        cmocka_unit_test(threads_hand_nodes_over),
    };
    return RUN_ON_ALL_ROADS(tests);
}
