/* SPDX-License-Identifier: MIT */
/* hashmap.c: hash maps against a plain array of all keys; joins against two loops. */
#include "weft/hashmap.h"
#include "actors.h"
#include "check.h"
#include "child.h"
#include "pools.h"
#include "property.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Values are sequences of digits in a number: combine shows the order. */
static void append(weft *w, void *left, const void *right, void *arg)
{
    uint64_t *value = left;
    *value = *value * 31 + *(const uint64_t *)right;
}

static uint64_t hash_badly(const void *key, void *arg)
{
    return *(const uint32_t *)key % 3; /* long chains, and few partitions */
}

static uint64_t hash_as_number(const void *key, void *arg)
{
    return *(const uint32_t *)key;
}

static bool equal_numbers(const void *a, const void *b, void *arg)
{
    return *(const uint32_t *)a == *(const uint32_t *)b;
}

static weft_hashmap_kind random_kind(struct dice *dice)
{
    weft_hashmap_kind kind = {.key_size = sizeof(uint32_t), .value_size = sizeof(uint64_t)};
    size_t hash = dice_below(dice, 8);
    kind.hash = hash == 0 ? hash_badly : hash == 1 ? hash_as_number : NULL;
    kind.equal = dice_below(dice, 2) ? equal_numbers : NULL;
    kind.combine = dice_below(dice, 4) ? append : NULL;
    return kind;
}

/* ---- The model ---- */

struct model {
    size_t keys; /* below this */
    bool *has;
    uint64_t *value;
    bool combines;
};

static struct model model_make(size_t keys, bool combines)
{
    struct model model = {keys, calloc(keys, sizeof(bool)), calloc(keys, sizeof(uint64_t)),
                          combines};
    HOLDS(model.has && model.value);
    return model;
}

static void model_free(struct model *model)
{
    free(model->has);
    free(model->value);
}

static void model_put(struct model *model, uint32_t key, uint64_t value)
{
    bool adds = model->has[key] && model->combines;
    model->value[key] = adds ? model->value[key] * 31 + value : value;
    model->has[key] = true;
}

struct visits {
    const struct model *model;
    atomic_uchar *count;
};

static void visit(weft *w, const void *key, void *value, void *arg)
{
    struct visits *visits = arg;
    uint32_t number = *(const uint32_t *)key;
    HOLDS(number < visits->model->keys && visits->model->has[number]);
    HOLDS(*(uint64_t *)value == visits->model->value[number]);
    atomic_fetch_add(&visits->count[number], 1);
}

static void expect_same(weft *w, weft_hashmap *map, const struct model *model)
{
    size_t size = 0;
    for (uint32_t key = 0; key < model->keys; key++) {
        uint64_t value = 0;
        const uint64_t *found = weft_hashmap_find(map, &key);
        HOLDS(weft_hashmap_get(map, &key, &value) == model->has[key]);
        HOLDS((found != NULL) == model->has[key]);
        HOLDS(!found || (*found == model->value[key] && value == *found));
        size += model->has[key];
    }
    HOLDS(weft_hashmap_size(map) == size);
    struct visits visits = {model, calloc(model->keys, sizeof(atomic_uchar))};
    weft_hashmap_for(w, map, visit, &visits);
    for (size_t key = 0; key < model->keys; key++)
        HOLDS(atomic_load(&visits.count[key]) == model->has[key]);
    free(visits.count);
}

/* ---- Against the model ---- */

static void put_array(weft *w, weft_hashmap *map, struct model *model, struct dice *dice)
{
    size_t n = dice_size(dice, 20000);
    uint32_t *keys = malloc((n + 1) * sizeof *keys);
    uint64_t *values = dice_below(dice, 4) ? malloc((n + 1) * sizeof *values) : NULL;
    for (size_t i = 0; i < n; i++) {
        keys[i] = (uint32_t)dice_below(dice, model->keys);
        if (values)
            values[i] = dice_roll(dice);
        model_put(model, keys[i], values ? values[i] : 0);
    }
    HOLDS(weft_hashmap_put_all(w, map, keys, values, n) == 0);
    free(keys);
    free(values);
}

static void put_singles(weft *w, weft_hashmap *map, struct model *model, struct dice *dice)
{
    for (size_t n = dice_size(dice, 300); n > 0; n--) {
        uint32_t key = (uint32_t)dice_below(dice, model->keys);
        uint64_t value = dice_roll(dice);
        if (dice_below(dice, 3)) {
            HOLDS(weft_hashmap_put(w, map, &key, &value) == 0);
            model_put(model, key, value);
        } else {
            HOLDS(weft_hashmap_remove(map, &key) == model->has[key]);
            model->has[key] = false;
        }
    }
}

static void merge_another(weft *w, weft_hashmap *map, struct model *model,
                          const weft_hashmap_kind *kind, struct dice *dice)
{
    weft_hashmap *other;
    struct model others = model_make(model->keys, model->combines);
    HOLDS(weft_hashmap_create(&other, kind, 0) == 0);
    put_array(w, other, &others, dice);
    HOLDS(weft_hashmap_merge(w, map, other) == 0);
    HOLDS(weft_hashmap_size(other) == 0);
    for (uint32_t key = 0; key < others.keys; key++)
        if (others.has[key])
            model_put(model, key, others.value[key]);
    model_free(&others);
    weft_hashmap_destroy(other);
}

static void maps_are_as_the_model(weft *w, struct dice *dice)
{
    weft_hashmap_kind kind = random_kind(dice);
    struct model model =
        model_make(1 + dice_size(dice, kind.hash == hash_badly ? 300 : 30000), kind.combine);
    weft_hashmap *map;
    HOLDS(weft_hashmap_create(&map, &kind, dice_below(dice, 2) ? dice_size(dice, 30000) : 0) == 0);
    for (size_t steps = 1 + dice_below(dice, 4); steps > 0; steps--) {
        switch (dice_below(dice, 3)) {
        case 0:
            put_array(w, map, &model, dice);
            break;
        case 1:
            put_singles(w, map, &model, dice);
            break;
        default:
            merge_another(w, map, &model, &kind, dice);
        }
        expect_same(w, map, &model);
    }
    weft_hashmap_destroy(map);
    model_free(&model);
}

static void maps(void **state)
{
    property_holds(maps_are_as_the_model, SCALED(40, 20));
}

/* ---- Many threads, single keys ---- */

static void add(weft *w, void *left, const void *right, void *arg)
{
    *(uint64_t *)left += *(const uint64_t *)right;
}

enum { KEYS = 100, PUTS = 30000 };

static void put_some(weft *w, size_t begin, size_t end, void *arg)
{
    for (size_t i = begin; i < end; i++) {
        uint32_t key = (uint32_t)(i % KEYS);
        CHECK(weft_hashmap_put(w, arg, &key, &(uint64_t){1}) == 0);
        uint64_t value;
        CHECK(weft_hashmap_get(arg, &key, &value) && value >= 1 && value <= PUTS / KEYS);
    }
}

static void put_at_the_same_time(weft *w, void *map)
{
    weft_for(w, 0, PUTS, put_some, map);
}

static void threads_put_at_the_same_time(void **state)
{
    for (unsigned workers = 1; workers <= 8; workers *= 2) {
        weft_pool *pool = pool_make(workers, 0);
        weft_hashmap_kind kind = {sizeof(uint32_t), sizeof(uint64_t), .combine = add};
        weft_hashmap *map;
        assert_int_equal(weft_hashmap_create(&map, &kind, 0), 0);
        assert_int_equal(weft_run(pool, put_at_the_same_time, map), 0);
        for (uint32_t key = 0; key < KEYS; key++)
            assert_int_equal(*(uint64_t *)weft_hashmap_find(map, &key), PUTS / KEYS);
        weft_hashmap_destroy(map);
        pool_drop(pool);
    }
}

/* ---- Keys of other kinds ---- */

static uint64_t hash_word(const void *key, void *arg)
{
    const char *word = *(const char *const *)key;
    return weft_hash(word, strlen(word));
}

static bool equal_words(const void *a, const void *b, void *arg)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b) == 0;
}

static void count_words(weft *w, void *arg)
{
    char one[] = "one", also_one[] = "one";
    const char *words[] = {one, "two", "three", also_one, "two", "one", ""};
    static const uint64_t ones[] = {1, 1, 1, 1, 1, 1, 1};
    weft_hashmap_kind kind = {sizeof(char *), sizeof(uint64_t), hash_word, equal_words, add, NULL};
    weft_hashmap *map;
    CHECK(weft_hashmap_create(&map, &kind, 0) == 0);
    CHECK(weft_hashmap_put_all(w, map, words, ones, 7) == 0);
    CHECK(weft_hashmap_size(map) == 4);
    const char *word = "one";
    CHECK(*(uint64_t *)weft_hashmap_find(map, &word) == 3);
    word = "four";
    CHECK(!weft_hashmap_find(map, &word));
    weft_hashmap_destroy(map);
}

/* Odd sizes, and a set. Addresses are aligned as promised. */
static void put_odd_sizes(weft *w, void *arg)
{
    static const size_t sizes[][2] = {{1, 0}, {3, 5}, {16, 16}, {12, 4}, {40, 1}, {2, 32}};
    const size_t most = _Alignof(max_align_t); /* 8 on s390x */
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        weft_hashmap_kind kind = {.key_size = sizes[s][0], .value_size = sizes[s][1]};
        size_t align = kind.value_size & (~kind.value_size + 1);
        weft_hashmap *set;
        CHECK(weft_hashmap_create(&set, &kind, 0) == 0);
        for (unsigned char i = 0; i < 200; i++) {
            unsigned char key[40], value[32];
            memset(key, i, sizeof key);
            memset(value, i, sizeof value);
            CHECK(weft_hashmap_put(w, set, key, value) == 0);
            const void *found = weft_hashmap_find(set, key);
            CHECK(found && memcmp(found, value, kind.value_size) == 0);
            CHECK(align == 0 || (uintptr_t)found % (align < most ? align : most) == 0);
        }
        CHECK(weft_hashmap_size(set) == 200);
        weft_hashmap_destroy(set);
    }
}

static void other_kinds(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, count_words, NULL), 0);
    assert_int_equal(weft_run(pool, put_odd_sizes, NULL), 0);
    pool_drop(pool);
}

/* ---- Joins ---- */

struct pairs {
    const uint32_t *a, *b;
    size_t b_n;
    atomic_uchar *seen;
    atomic_size_t count;
};

static void note_pair(weft *w, size_t i, size_t j, void *arg)
{
    struct pairs *pairs = arg;
    HOLDS(pairs->a[i] == pairs->b[j]);
    HOLDS(atomic_fetch_add(&pairs->seen[i * pairs->b_n + j], 1) == 0);
    atomic_fetch_add(&pairs->count, 1);
}

static void joins_are_all_pairs(weft *w, struct dice *dice)
{
    size_t n[2] = {dice_size(dice, 300), dice_size(dice, 300)}, keys = 1 + dice_size(dice, 300);
    uint32_t *tables[2];
    for (int t = 0; t < 2; t++) {
        tables[t] = malloc((n[t] + 1) * sizeof *tables[t]);
        for (size_t i = 0; i < n[t]; i++)
            tables[t][i] = (uint32_t)dice_below(dice, keys);
    }
    struct pairs pairs = {tables[0], tables[1], n[1], calloc(n[0] * n[1] + 1, 1), 0};
    weft_hashmap_kind kind = random_kind(dice);
    HOLDS(weft_equijoin(w, tables[0], n[0], tables[1], n[1], &kind, note_pair, &pairs) == 0);
    size_t expected = 0;
    for (size_t i = 0; i < n[0]; i++)
        for (size_t j = 0; j < n[1]; j++)
            expected += tables[0][i] == tables[1][j];
    HOLDS(atomic_load(&pairs.count) == expected);
    free(pairs.seen);
    free(tables[0]);
    free(tables[1]);
}

static void joins(void **state)
{
    property_holds(joins_are_all_pairs, SCALED(60, 20));
}

/* ---- Failure ---- */

static void use_when_cancelled(weft *w, void *arg)
{
    weft_hashmap_kind kind = {.key_size = sizeof(uint32_t), .value_size = sizeof(uint64_t)};
    uint32_t keys[100] = {0};
    weft_hashmap *map, *other;
    CHECK(weft_hashmap_create(&map, &kind, 0) == 0);
    CHECK(weft_hashmap_create(&other, &kind, 0) == 0);
    weft_fail(w, -EIO);
    CHECK(weft_hashmap_put_all(w, map, keys, NULL, 100) == -ECANCELED);
    CHECK(weft_hashmap_merge(w, map, other) == -ECANCELED);
    CHECK(weft_equijoin(w, keys, 100, keys, 100, &kind, note_pair, NULL) == -ECANCELED);
    CHECK(weft_hashmap_put(w, map, keys, NULL) == 0); /* a single key needs no loop */
    weft_hashmap_destroy(map);
    weft_hashmap_destroy(other);
}

static void cancelled(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, use_when_cancelled, NULL), -EIO);
    pool_drop(pool);
}

static void make_mistakes(weft *w, void *arg)
{
    weft_hashmap_kind kind = {.key_size = 4, .value_size = 8}, other_kind = {.key_size = 8};
    weft_hashmap *map = (weft_hashmap *)&map, *other;
    uint32_t key = 1;
    CHECK(weft_hashmap_create(NULL, &kind, 0) == -EINVAL);
    CHECK(weft_hashmap_create(&map, NULL, 0) == -EINVAL && !map);
    CHECK(weft_hashmap_create(&map, &(weft_hashmap_kind){.value_size = 8}, 0) == -EINVAL);
    CHECK(weft_hashmap_create(&map, &kind, SIZE_MAX) == -ENOMEM && !map);
    CHECK(weft_hashmap_create(&map, &kind, 0) == 0);
    CHECK(weft_hashmap_create(&other, &other_kind, 0) == 0);
    CHECK(weft_hashmap_put(w, NULL, &key, NULL) == -EINVAL);
    CHECK(weft_hashmap_put(w, map, NULL, NULL) == -EINVAL);
    CHECK(weft_hashmap_put_all(w, map, NULL, NULL, 1) == -EINVAL);
    CHECK(weft_hashmap_put_all(w, map, NULL, NULL, 0) == 0);
    CHECK(weft_hashmap_merge(w, map, other) == -EINVAL);
    CHECK(weft_hashmap_merge(w, map, map) == -EINVAL);
    CHECK(weft_equijoin(w, &key, 1, &key, 1, NULL, note_pair, NULL) == -EINVAL);
    CHECK(weft_equijoin(w, &key, 1, &key, 1, &kind, NULL, NULL) == -EINVAL);
    CHECK(weft_equijoin(w, NULL, 1, &key, 1, &kind, note_pair, NULL) == -EINVAL);
    CHECK(!weft_hashmap_get(map, &key, NULL) && !weft_hashmap_get(NULL, &key, NULL));
    CHECK(!weft_hashmap_find(map, &key) && !weft_hashmap_find(NULL, &key));
    CHECK(!weft_hashmap_remove(map, &key) && !weft_hashmap_remove(NULL, &key));
    CHECK(weft_hashmap_size(NULL) == 0);
    weft_hashmap_destroy(NULL);
    weft_hashmap_destroy(map);
    weft_hashmap_destroy(other);
}

static void mistakes(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    assert_int_equal(weft_run(pool, make_mistakes, NULL), 0);
    pool_drop(pool);
}

/* ---- Actors that end in a merge ---- */

enum { MOVED = SCALED(20000, 4) };

struct merging {
    weft_hashmap *into, *from;
    atomic_long begun, finished, calls;
    long ends_at; /* the call of `combine` in which the actor ends */
    bool fails;   /* or it is past its memory */
};

/* Adds, and ends before that. */
static void combine_and_end(weft *w, void *value, const void *other, void *arg)
{
    struct merging *merging = arg;
    long more = *(const long *)other;
    atomic_fetch_add(&merging->begun, more);
    bool ends = atomic_fetch_add(&merging->calls, 1) == merging->ends_at;
    if (ends && merging->fails)
        weft_fail(w, -EIO);
    else if (ends)
        weft_alloc(w, (size_t)1 << 40);
    *(long *)value += more;
    atomic_fetch_add(&merging->finished, more);
}

static int merge_and_end(weft *w, void *arg)
{
    struct merging *merging = arg;
    return weft_hashmap_merge(w, merging->into, merging->from);
}

static void add_value(weft *w, const void *key, void *value, void *sum)
{
    atomic_fetch_add((atomic_long *)sum, *(const long *)value);
}

static void sum_up(weft *w, void *arg)
{
    struct merging *merging = arg;
    atomic_long into = 0, from = 0;
    weft_hashmap_for(w, merging->into, add_value, &into);
    weft_hashmap_for(w, merging->from, add_value, &from);
    long lost = atomic_load(&merging->begun) - atomic_load(&merging->finished);
    CHECK(into + from + lost == (long)MOVED * (MOVED + 1) / 2 * 3);
    for (long key = 1; key <= MOVED; key++) { /* what is left can be found */
        long in_from = 0, in_into = 0;
        CHECK(weft_hashmap_get(merging->into, &key, &in_into));
        bool left = weft_hashmap_get(merging->from, &key, &in_from);
        CHECK(left ? in_into == key && in_from == 2 * key : in_into == key || in_into == 3 * key);
    }
    size_t left = weft_hashmap_size(merging->from);
    CHECK(left > 0);
    merging->ends_at = -1;
    CHECK(weft_hashmap_merge(w, merging->into, merging->from) == 0);
    CHECK(weft_hashmap_size(merging->from) == 0 && weft_hashmap_size(merging->into) == MOVED);
    into = 0;
    weft_hashmap_for(w, merging->into, add_value, &into);
    CHECK(into + lost == (long)MOVED * (MOVED + 1) / 2 * 3);
}

static void actors_end_in_a_merge(void **state)
{
    for (int i = 0; i < 12; i++) {
        weft_pool *pool = pool_make(1 + (unsigned)i % 3, 0);
        struct merging merging = {.ends_at = i * MOVED / 24, .fails = i % 2};
        weft_hashmap_kind kind = {.key_size = sizeof(long),
                                  .value_size = sizeof(long),
                                  .combine = combine_and_end,
                                  .arg = &merging};
        assert_int_equal(weft_hashmap_create(&merging.into, &kind, 0), 0);
        assert_int_equal(weft_hashmap_create(&merging.from, &kind, 0), 0);
        for (long key = 1; key <= MOVED; key++) {
            assert_int_equal(weft_hashmap_put(NULL, merging.into, &key, &key), 0);
            assert_int_equal(weft_hashmap_put(NULL, merging.from, &key, &(long){2 * key}), 0);
        }
        int reason = run_one(pool, merge_and_end, &merging);
        assert_int_equal(reason, merging.fails ? -ECANCELED : -ENOMEM);
        assert_int_equal(weft_run(pool, sum_up, &merging), 0);
        weft_hashmap_destroy(merging.into);
        weft_hashmap_destroy(merging.from);
        pool_drop(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps),
        cmocka_unit_test(threads_put_at_the_same_time),
        cmocka_unit_test(other_kinds),
        cmocka_unit_test(joins),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(actors_end_in_a_merge),
    };
    return RUN_ON_ALL_ROADS(tests);
}
