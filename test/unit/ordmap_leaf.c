/* SPDX-License-Identifier: MIT */
/* ordmap_leaf.c: ordered maps of every size from none to three leaves, and everything that can be
 * done with them, beside plain sorted arrays. */
#include "parallel/ordmap.h"

#include "property.h"
#include "weft/parallel.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = WEFT__LEAF_MOST, SIZES = 3 * MOST + 1, WIDE = 300 };

static int compare(const void *a, const void *b, void *arg)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Leaves of many entries, and of few. Values begin with a number; the rest is zeros. */
static const weft_ordmap_kind kinds[] = {{4, 4, compare, NULL}, {4, WIDE, compare, NULL}};

/* ---- The plain array ---- */

struct list {
    size_t n;
    uint32_t keys[4 * SIZES], values[4 * SIZES];
};

static void list_add(struct list *list, uint32_t key, uint32_t value)
{
    list->keys[list->n] = key;
    list->values[list->n++] = value;
}

/* n numbers, `step` apart. */
static struct list list_make(size_t n, uint32_t first, uint32_t step)
{
    struct list list = {.n = 0};
    for (uint32_t i = 0; i < n; i++)
        list_add(&list, first + i * step, first + 7 * i);
    return list;
}

static weft_ordmap *build(weft *w, const struct list *list, const weft_ordmap_kind *kind)
{
    size_t stride = kind->value_size / 4;
    uint32_t *values = calloc(list->n + 1, kind->value_size);
    weft_ordmap *map;
    CHECK(values);
    for (size_t i = 0; i < list->n; i++)
        values[i * stride] = list->values[i];
    CHECK(weft_ordmap_build(w, list->keys, values, list->n, kind, &map) == 0);
    free(values);
    return map;
}

/* ---- Are they the same? ---- */

/* Leaves are half full, and sides differ by one at most. Returns the entries. */
static size_t expect_sound(const struct weft__tree_kind *kind, const struct weft__tree *tree,
                           bool is_all)
{
    if (!tree)
        return 0;
    if (weft__tree_is_leaf(tree)) {
        CHECK(tree->size > 0 && tree->size <= kind->most);
        CHECK(is_all || tree->size >= kind->most / 2);
        return tree->size;
    }
    const struct weft__tree *left = tree->child[WEFT__LEFT], *right = tree->child[WEFT__RIGHT];
    int difference = (int)left->height - (int)right->height;
    CHECK(difference >= -1 && difference <= 1);
    CHECK(expect_sound(kind, left, false) + expect_sound(kind, right, false) == tree->size);
    return tree->size;
}

struct walk {
    const struct list *list;
    size_t i, value_size;
};

static bool see(const void *key, const void *value, void *arg)
{
    static const char zeros[WIDE];
    struct walk *walk = arg;
    CHECK(walk->i < walk->list->n && *(const uint32_t *)key == walk->list->keys[walk->i]);
    CHECK(*(const uint32_t *)value == walk->list->values[walk->i++]);
    CHECK(memcmp((const char *)value + 4, zeros, walk->value_size - 4) == 0);
    return true;
}

static void expect_same(const weft_ordmap *map, const struct list *list)
{
    struct walk walk = {list, 0, map->kind.given.value_size};
    CHECK(expect_sound(&map->kind, map->root, true) == list->n);
    CHECK(weft_ordmap_walk(map, 0, SIZE_MAX, see, &walk) && walk.i == list->n);
}

static void expect_same_and_release(weft_ordmap *map, const struct list *list)
{
    expect_same(map, list);
    weft_ordmap_release(map);
}

/* ---- One map ---- */

static void look_everywhere(const weft_ordmap *map, const struct list *list)
{
    weft_ordmap_entry entry;
    for (uint32_t i = 0; i < list->n; i++) {
        uint32_t key = list->keys[i], before = key - 1;
        const uint32_t *value = weft_ordmap_find(map, &key);
        CHECK(value && *value == list->values[i] && !weft_ordmap_find(map, &before));
        CHECK(weft_ordmap_rank(map, &key) == i && weft_ordmap_rank(map, &before) == i);
        CHECK(weft_ordmap_at(map, i, &entry) && entry.value == value);
        CHECK(*(const uint32_t *)entry.key == key);
        struct walk walk = {list, i, map->kind.given.value_size};
        CHECK(weft_ordmap_walk(map, i, i + 3, see, &walk));
        CHECK(walk.i == (i + 3 < list->n ? i + 3 : list->n));
    }
    CHECK(!weft_ordmap_at(map, list->n, &entry));
    CHECK(weft_ordmap_rank(map, &(uint32_t){UINT32_MAX}) == list->n);
}

/* A new key at every place. */
static void insert_everywhere(const weft_ordmap *map, const struct list *list)
{
    uint32_t value[WIDE / 4] = {123};
    weft_ordmap *changed;
    for (size_t i = 0; i <= list->n; i++) {
        struct list more = *list;
        uint32_t key = i < list->n ? list->keys[i] - 1 : 1000000;
        memmove(more.keys + i + 1, more.keys + i, (list->n - i) * 4);
        memmove(more.values + i + 1, more.values + i, (list->n - i) * 4);
        more.keys[i] = key;
        more.values[i] = 123;
        more.n++;
        CHECK(weft_ordmap_insert(map, &key, value, &changed) == 0);
        expect_same_and_release(changed, &more);
    }
}

/* Another value for every key; and without every key. */
static void replace_everywhere(const weft_ordmap *map, const struct list *list)
{
    uint32_t value[WIDE / 4] = {123};
    weft_ordmap *changed;
    for (size_t i = 0; i < list->n; i++) {
        struct list other = *list;
        other.values[i] = 123;
        CHECK(weft_ordmap_insert(map, &list->keys[i], value, &changed) == 0);
        expect_same_and_release(changed, &other);
        memmove(other.keys + i, list->keys + i + 1, (list->n - i - 1) * 4);
        memmove(other.values + i, list->values + i + 1, (list->n - i - 1) * 4);
        other.n--;
        CHECK(weft_ordmap_remove(map, &list->keys[i], &changed) == 0);
        expect_same_and_release(changed, &other);
    }
}

/* Split before every key, and joined again. */
static void split_everywhere(const weft_ordmap *map, const struct list *list)
{
    const struct weft__tree_kind *kind = &map->kind;
    for (size_t i = 0; i < list->n; i++) {
        struct weft__parts parts = weft__tree_split(kind, map->root, &list->keys[i]);
        struct weft__tree *left = parts.side[WEFT__LEFT], *right = parts.side[WEFT__RIGHT];
        CHECK(expect_sound(kind, left, true) == i);
        CHECK(expect_sound(kind, right, true) == list->n - i);
        weft_ordmap whole = {*kind, weft__tree_join_at(kind, left, &list->keys[i], right)};
        expect_same(&whole, list);
        weft__tree_drop(whole.root);
    }
}

/* ---- All entries ---- */

struct sieve {
    uint32_t from, modulo;
};

static bool keep(weft *w, const void *key, const void *value, void *arg)
{
    const struct sieve *sieve = arg;
    uint32_t number = *(const uint32_t *)key;
    return number >= sieve->from && (number / 2) % sieve->modulo != 1;
}

static void filter_all(weft *w, const weft_ordmap *map, const struct list *list)
{
    for (uint32_t modulo = 1; modulo <= 5; modulo++) {
        struct sieve sieve = {list->n > 0 ? list->keys[list->n * (modulo % 3) / 3] : 0, modulo};
        struct list kept = {.n = 0};
        weft_ordmap *result;
        for (size_t i = 0; i < list->n; i++)
            if (keep(w, &list->keys[i], NULL, &sieve))
                list_add(&kept, list->keys[i], list->values[i]);
        CHECK(weft_ordmap_filter(w, map, keep, &sieve, &result) == 0);
        expect_same_and_release(result, &kept);
    }
}

static void twice(weft *w, const void *key, const void *value, void *out, void *arg)
{
    *(uint32_t *)out = 2 * *(const uint32_t *)value + *(const uint32_t *)key;
}

/* To values of both sizes: leaves of the result may have other sizes, too. */
static void map_all(weft *w, const weft_ordmap *map, const struct list *list)
{
    for (size_t i = 0; i < 2; i++) {
        struct list doubled = *list;
        weft_ordmap *result;
        for (size_t k = 0; k < list->n; k++)
            doubled.values[k] = 2 * list->values[k] + list->keys[k];
        CHECK(weft_ordmap_map(w, map, twice, NULL, &result, kinds[i].value_size) == 0);
        expect_same_and_release(result, &doubled);
    }
}

/* A hash of all in their order, by combining hashes of parts: associative, not commutative. */
struct hash {
    uint32_t factor, sum;
};

static void hash_of(weft *w, const void *key, const void *value, void *out, void *arg)
{
    *(struct hash *)out = (struct hash){31, *(const uint32_t *)key ^ *(const uint32_t *)value};
}

static void hash_on(weft *w, void *left, const void *right, void *arg)
{
    struct hash *l = left;
    const struct hash *r = right;
    *l = (struct hash){l->factor * r->factor, l->sum * r->factor + r->sum};
}

static void reduce_all(weft *w, const weft_ordmap *map, const struct list *list)
{
    struct hash hash = {3, 4}, expected = hash, one;
    for (size_t i = 0; i < list->n; i++) {
        hash_of(w, &list->keys[i], &list->values[i], &one, NULL);
        hash_on(w, &expected, &one, NULL);
    }
    weft_ordmap_reduce(w, map, hash_of, hash_on, NULL, &hash, sizeof hash);
    CHECK(memcmp(&hash, &expected, sizeof hash) == 0);
}

static size_t count_leaves(const struct weft__tree *tree)
{
    if (!tree)
        return 0;
    return weft__tree_is_leaf(tree)
               ? 1
               : count_leaves(tree->child[WEFT__LEFT]) + count_leaves(tree->child[WEFT__RIGHT]);
}

static void sizes_job(weft *w, void *arg)
{
    for (size_t k = 0; k < 2; k++)
        for (size_t n = 0; n < SIZES; n += SANITIZED && n > 20 ? 9 : 1) {
            struct list list = list_make(n, 2, 2);
            weft_ordmap *map = build(w, &list, &kinds[k]);
            expect_same(map, &list);
            CHECK(count_leaves(map->root) == (n + map->kind.most - 1) / map->kind.most);
            look_everywhere(map, &list);
            insert_everywhere(map, &list);
            replace_everywhere(map, &list);
            split_everywhere(map, &list);
            filter_all(w, map, &list);
            map_all(w, map, &list);
            reduce_all(w, map, &list);
            expect_same_and_release(map, &list);
        }
}

static void every_size_is_right(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, sizes_job, NULL), 0);
    pool_drop(pool);
}

/* ---- Two maps ---- */

static void add(weft *w, void *left, const void *right, void *arg)
{
    *(uint32_t *)left += 3 * *(const uint32_t *)right;
}

/* `how`: 0 union, 1 intersection, 2 difference. */
static struct list together(const struct list *a, const struct list *b, int how, bool adds)
{
    struct list all = {.n = 0};
    for (size_t i = 0, j = 0; i < a->n || j < b->n;) {
        bool in_a = i < a->n && (j == b->n || a->keys[i] <= b->keys[j]);
        bool in_b = j < b->n && (i == a->n || b->keys[j] <= a->keys[i]);
        uint32_t value = in_a ? a->values[i] : b->values[j];
        if (in_a && in_b && adds)
            value += 3 * b->values[j];
        if (how == 0 || (how == 1 ? in_a && in_b : in_a && !in_b))
            list_add(&all, in_a ? a->keys[i] : b->keys[j], value);
        i += in_a;
        j += in_b;
    }
    return all;
}

static void put_together(weft *w, const weft_ordmap *a, const struct list *of_a,
                         const weft_ordmap *b, const struct list *of_b)
{
    for (int how = 0; how < 5; how++) {
        struct list all = together(of_a, of_b, how % 3, how >= 3);
        weft_combine_fn *combine = how >= 3 ? add : NULL;
        weft_ordmap *result;
        if (how % 3 == 0 && a->kind.given.value_size != b->kind.given.value_size)
            continue;
        if (how % 3 == 0)
            CHECK(weft_ordmap_union(w, a, b, combine, NULL, &result) == 0);
        else if (how % 3 == 1)
            CHECK(weft_ordmap_intersection(w, a, b, combine, NULL, &result) == 0);
        else
            CHECK(weft_ordmap_difference(w, a, b, &result) == 0);
        expect_same_and_release(result, &all);
    }
}

/* Sizes around every boundary; b is the same keys, between those of a, sparse, before and after
 * them. */
static void pairs_job(weft *w, void *arg)
{
    static const size_t sizes[] = {
        0, 1, 2, 3, 4, 5, 8, 9, MOST / 2, MOST - 1, MOST, MOST + 1, MOST + 2, 2 * MOST, SIZES - 1};
    static const uint32_t shapes[][2] = {{2, 2}, {3, 2}, {2, 14}, {1, 1}, {1000, 2}};
    enum { N = sizeof sizes / sizeof sizes[0], SHAPES = sizeof shapes / sizeof shapes[0] };
    for (size_t i = 0; i < (size_t)N * N * SHAPES * 4; i += SANITIZED ? 7 : 1) {
        const weft_ordmap_kind *kind = &kinds[i % 2], *b_kind = &kinds[i / 2 % 2];
        const uint32_t *shape = shapes[i / 4 % SHAPES];
        struct list of_a = list_make(sizes[i / 4 / SHAPES % N], 500, 2);
        struct list of_b = list_make(sizes[i / 4 / SHAPES / N], shape[0] + 498, shape[1]);
        if (i % 7 == 0)
            of_b = list_make(of_b.n, 1, 1); /* up to the beginning of a, and beyond */
        weft_ordmap *a = build(w, &of_a, kind), *b = build(w, &of_b, b_kind);
        put_together(w, a, &of_a, b, &of_b);
        expect_same_and_release(a, &of_a);
        expect_same_and_release(b, &of_b);
    }
}

static void every_two_sizes_are_right(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, pairs_job, NULL), 0);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_is_right),
        cmocka_unit_test(every_two_sizes_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
