/* SPDX-License-Identifier: MIT */
/* parallel_ordmap.c: ordered maps are what an array with a place for each key is, whatever they
 * were made of; and those they were made of are as they were. */
#include "property.h"
#include "weft/ordmap.h"
#include "weft/parallel.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 400 }; /* values, so that some leaves have few */

/* A key is a number, and bytes that follow from it. */
static void key_make(unsigned char *key, size_t size, uint32_t number)
{
    memset(key, (int)(number % 251), size);
    memcpy(key, &number, sizeof number);
}

static uint32_t key_number(const void *key)
{
    uint32_t number;
    memcpy(&number, key, sizeof number);
    return number;
}

static int compare(const void *a, const void *b, void *arg)
{
    uint32_t x = key_number(a), y = key_number(b);
    return (x > y) - (x < y);
}

/* ---- The model ---- */

/* What all maps of a trial have in common. */
struct world {
    weft_ordmap_kind kind;
    uint32_t universe; /* keys are below that */
    bool slow;
    unsigned salt;
};

struct model {
    const struct world *world;
    size_t n;
    bool *has;
    unsigned char *values;
    weft_ordmap *map; /* which is to be the same */
};

static unsigned char *value_at(const struct model *model, uint32_t number)
{
    return model->values + number * model->world->kind.value_size;
}

static void model_make(struct model *model, const struct world *world)
{
    *model = (struct model){.world = world, .has = calloc(world->universe, sizeof(bool))};
    model->values = calloc(world->universe, world->kind.value_size + 1);
    HOLDS(model->has && model->values);
}

static void model_drop(struct model *model)
{
    free(model->has);
    free(model->values);
    weft_ordmap_release(model->map);
}

static void model_set(struct model *model, uint32_t number, const void *value)
{
    model->n += !model->has[number];
    model->has[number] = true;
    memcpy(value_at(model, number), value, model->world->kind.value_size);
}

static void model_unset(struct model *model, uint32_t number)
{
    model->n -= model->has[number];
    model->has[number] = false;
}

/* ---- Are they the same? ---- */

struct visit {
    const struct model *model;
    uint32_t next;    /* the smallest number that may come */
    size_t rank, end; /* of the next one; of none */
};

static bool visit_entry(const void *key, const void *value, void *arg)
{
    struct visit *visit = arg;
    const weft_ordmap_kind *kind = &visit->model->world->kind;
    unsigned char expected[LONGEST];
    while (!visit->model->has[visit->next])
        visit->next++;
    key_make(expected, kind->key_size, visit->next);
    HOLDS(memcmp(key, expected, kind->key_size) == 0);
    HOLDS(memcmp(value, value_at(visit->model, visit->next), kind->value_size) == 0);
    visit->next++;
    return ++visit->rank < visit->end;
}

static void look_for(const struct model *model, uint32_t number)
{
    unsigned char key[LONGEST];
    const weft_ordmap_kind *kind = &model->world->kind;
    weft_ordmap_entry entry;
    key_make(key, kind->key_size, number);
    const void *value = weft_ordmap_find(model->map, key);
    HOLDS((value != NULL) == model->has[number]);
    if (!value)
        return;
    HOLDS(memcmp(value, value_at(model, number), kind->value_size) == 0);
    size_t rank = weft_ordmap_rank(model->map, key);
    HOLDS(weft_ordmap_at(model->map, rank, &entry) && entry.value == value);
    HOLDS(key_number(entry.key) == number);
}

static uint32_t number_of(const struct model *model, size_t rank)
{
    uint32_t number = 0;
    while (!model->has[number] || rank-- > 0)
        number++;
    return number;
}

/* A part of it, and not to the end of that. */
static void walk_part(const struct model *model, struct dice *dice)
{
    size_t begin = dice_below(dice, model->n + 2), end = begin + dice_below(dice, model->n + 2);
    size_t last = end < model->n ? end : model->n, n = begin < last ? last - begin : 0;
    size_t stop = begin + dice_below(dice, n + 2);
    struct visit visit = {model, begin < model->n ? number_of(model, begin) : 0, begin, stop};
    bool was_stopped = !weft_ordmap_walk(model->map, begin, end, visit_entry, &visit);
    HOLDS(was_stopped == (n > 0 && stop <= last));
    HOLDS(visit.rank == (was_stopped ? (stop > begin ? stop : begin + 1) : begin + n));
}

static void expect_same(const struct model *model, struct dice *dice)
{
    struct visit visit = {model, 0, 0, SIZE_MAX};
    weft_ordmap_entry entry;
    HOLDS(weft_ordmap_size(model->map) == model->n);
    HOLDS(weft_ordmap_walk(model->map, 0, SIZE_MAX, visit_entry, &visit));
    HOLDS(visit.rank == model->n && !weft_ordmap_at(model->map, model->n, &entry));
    HOLDS(weft_ordmap_first(model->map, &entry) == (model->n > 0));
    HOLDS(model->n == 0 || key_number(entry.key) == number_of(model, 0));
    HOLDS(weft_ordmap_last(model->map, &entry) == (model->n > 0));
    HOLDS(model->n == 0 || key_number(entry.key) == number_of(model, model->n - 1));
    for (int i = 0; i < 10; i++)
        look_for(model, (uint32_t)dice_below(dice, model->world->universe));
    walk_part(model, dice);
}

/* ---- Operations: what they do with the map, and with the model ---- */

static void add_bytes(weft *w, void *left, const void *right, void *arg)
{
    const struct world *world = arg;
    unsigned char *to = left;
    const unsigned char *from = right;
    for (size_t i = 0; i < world->kind.value_size; i++)
        to[i] = (unsigned char)(to[i] + 3 * from[i] + 1);
    if (world->slow && world->kind.value_size)
        dawdle(from[0]);
}

static void change(weft *w, const void *key, const void *value, void *out, void *arg)
{
    const struct world *world = arg;
    const unsigned char *from = value;
    for (size_t i = 0; i < world->kind.value_size; i++)
        ((unsigned char *)out)[i] = (unsigned char)(from[i] ^ (key_number(key) + i));
    if (world->slow)
        dawdle(key_number(key));
}

static bool keep(weft *w, const void *key, const void *value, void *arg)
{
    const struct world *world = arg;
    if (world->slow)
        dawdle(key_number(key));
    return (key_number(key) * 0x9e3779b9u >> 28) % 5 != world->salt % 6; /* all, if that is 5 */
}

static void build(weft *w, struct model *to, struct dice *dice)
{
    const weft_ordmap_kind *kind = &to->world->kind;
    unsigned char *keys = malloc(to->world->universe * kind->key_size);
    unsigned char *values = malloc(to->world->universe * kind->value_size + 1), value[LONGEST];
    size_t from = dice_below(dice, to->world->universe), odds = 1 + dice_below(dice, 5);
    bool zeros = dice_below(dice, 4) == 0;
    HOLDS(keys && values);
    for (uint32_t i = (uint32_t)from; i < to->world->universe; i++) {
        if (dice_below(dice, odds))
            continue;
        dice_fill(dice, value, kind->value_size);
        memset(value, 0, zeros ? kind->value_size : 0);
        key_make(keys + to->n * kind->key_size, kind->key_size, i);
        memcpy(values + to->n * kind->value_size, value, kind->value_size);
        model_set(to, i, value);
    }
    HOLDS(weft_ordmap_build(w, keys, zeros ? NULL : values, to->n, kind, &to->map) == 0);
    free(keys);
    free(values);
}

/* One after the other, and some of them again. */
static void insert_and_remove(struct model *to, struct dice *dice)
{
    const weft_ordmap_kind *kind = &to->world->kind;
    unsigned char key[LONGEST], value[LONGEST];
    for (size_t i = dice_size(dice, 60); i > 0; i--) {
        uint32_t number = (uint32_t)dice_below(dice, to->world->universe);
        weft_ordmap *before = to->map;
        key_make(key, kind->key_size, number);
        dice_fill(dice, value, kind->value_size);
        if (dice_below(dice, 3)) {
            HOLDS(weft_ordmap_insert(before, key, value, &to->map) == 0);
            model_set(to, number, value);
        } else {
            HOLDS(weft_ordmap_remove(before, key, &to->map) == 0);
            model_unset(to, number);
        }
        weft_ordmap_release(before);
    }
}

static void become(struct model *to, const struct model *from)
{
    for (uint32_t i = 0; i < to->world->universe; i++)
        if (from->has[i])
            model_set(to, i, value_at(from, i));
}

static void map_all(weft *w, struct model *to, const struct model *from)
{
    const struct world *world = to->world;
    unsigned char key[LONGEST];
    void *arg = (void *)(uintptr_t)world;
    HOLDS(weft_ordmap_map(w, from->map, change, arg, &to->map, world->kind.value_size) == 0);
    become(to, from);
    struct world fast = *world;
    fast.slow = false;
    for (uint32_t i = 0; i < world->universe; i++) {
        key_make(key, world->kind.key_size, i);
        if (to->has[i])
            change(w, key, value_at(from, i), value_at(to, i), &fast);
    }
}

static void filter_all(weft *w, struct model *to, const struct model *from)
{
    unsigned char key[LONGEST];
    struct world fast = *to->world;
    HOLDS(weft_ordmap_filter(w, from->map, keep, (void *)(uintptr_t)to->world, &to->map) == 0);
    fast.slow = false;
    become(to, from);
    for (uint32_t i = 0; i < to->world->universe; i++) {
        key_make(key, to->world->kind.key_size, i);
        if (!keep(w, key, NULL, &fast))
            model_unset(to, i);
    }
}

/* In what follows, `how`: 0 union, 1 intersection, 2 difference. */
static void put_together(weft *w, struct model *to, const struct model *a, const struct model *b,
                         size_t how, bool combine)
{
    struct world fast = *to->world;
    weft_combine_fn *fn = combine ? add_bytes : NULL;
    void *arg = (void *)(uintptr_t)to->world;
    if (how == 0)
        HOLDS(weft_ordmap_union(w, a->map, b->map, fn, arg, &to->map) == 0);
    else if (how == 1)
        HOLDS(weft_ordmap_intersection(w, a->map, b->map, fn, arg, &to->map) == 0);
    else
        HOLDS(weft_ordmap_difference(w, a->map, b->map, &to->map) == 0);
    fast.slow = false;
    for (uint32_t i = 0; i < to->world->universe; i++) {
        bool in_a = a->has[i], in_b = b->has[i];
        if (how == 0 ? !in_a && !in_b : how == 1 ? !in_a || !in_b : !in_a || in_b)
            continue;
        model_set(to, i, value_at(in_a ? a : b, i));
        if (combine && in_a && in_b && how < 2)
            add_bytes(w, value_at(to, i), value_at(b, i), &fast);
    }
}

static void one_operation(weft *w, struct model *to, const struct model *a, const struct model *b,
                          struct dice *dice)
{
    size_t which = dice_below(dice, 9);
    if (which == 0 || which == 1)
        build(w, to, dice);
    else if (which == 2)
        map_all(w, to, a);
    else if (which == 3)
        filter_all(w, to, a);
    else if (which == 4) {
        HOLDS(weft_ordmap_copy(a->map, &to->map) == 0);
        become(to, a);
        insert_and_remove(to, dice);
    } else
        put_together(w, to, a, b, which % 3, dice_below(dice, 2));
}

static struct world any_world(struct dice *dice)
{
    return (struct world){
        .kind = {.key_size = 4 + dice_size(dice, 40),
                 .value_size = dice_size(dice, dice_below(dice, 3) ? 60 : LONGEST),
                 .compare = compare},
        .universe = 1 + (uint32_t)dice_size(dice, 6000),
        .slow = dice_below(dice, 4) == 0,
        .salt = (unsigned)dice_below(dice, 6),
    };
}

static void maps(weft *w, struct dice *dice)
{
    enum { FIRST = 2, ALL = 8 };
    struct world world = any_world(dice);
    struct model models[ALL];
    for (size_t i = 0; i < ALL; i++) {
        model_make(&models[i], &world);
        if (i == 0)
            HOLDS(weft_ordmap_empty(&world.kind, &models[i].map) == 0);
        else if (i < FIRST)
            build(w, &models[i], dice);
        else
            one_operation(w, &models[i], &models[dice_below(dice, i)], &models[dice_below(dice, i)],
                          dice);
        expect_same(&models[i], dice);
    }
    for (size_t i = 0; i < ALL; i++) {
        expect_same(&models[i], dice); /* whatever was made of it */
        model_drop(&models[i]);
    }
}

static void maps_are_what_arrays_are(void **state)
{
    property_holds(maps, SCALED(25, 8));
}

/* ---- Reductions ---- */

struct affine { /* x -> factor * x + sum; one after the other is associative, not commutative */
    uint64_t factor, sum;
};

static void affine_of(weft *w, const void *key, const void *value, void *out, void *arg)
{
    uint32_t number = key_number(key);
    *(struct affine *)out = (struct affine){2 * number + 1, number};
    if (*(bool *)arg)
        dawdle(number);
}

static void affine_after(weft *w, void *left, const void *right, void *arg)
{
    struct affine *l = left;
    const struct affine *r = right;
    *l = (struct affine){l->factor * r->factor, l->sum * r->factor + r->sum};
}

static uint32_t *numbers_below(size_t n)
{
    uint32_t *numbers = malloc((n + 1) * sizeof *numbers);
    HOLDS(numbers);
    for (size_t i = 0; i < n; i++)
        numbers[i] = (uint32_t)i * 3;
    return numbers;
}

static const weft_ordmap_kind set = {.key_size = sizeof(uint32_t), .compare = compare};

static void reductions(weft *w, struct dice *dice)
{
    size_t n = dice_size(dice, 20000);
    bool slow = dice_below(dice, 2);
    uint32_t *numbers = numbers_below(n);
    struct affine result = {3, 4}, expected = result, one;
    weft_ordmap *map;
    HOLDS(weft_ordmap_build(w, numbers, NULL, n, &set, &map) == 0);
    for (size_t i = 0; i < n; i++) {
        affine_of(w, &numbers[i], NULL, &one, &(bool){false});
        affine_after(w, &expected, &one, NULL);
    }
    weft_ordmap_reduce(w, map, affine_of, affine_after, &slow, &result, sizeof result);
    HOLDS(memcmp(&result, &expected, sizeof result) == 0);
    weft_ordmap_release(map);
    free(numbers);
}

static void reductions_keep_the_order(void **state)
{
    property_holds(reductions, SCALED(25, 5));
}

static void add_doubles(weft *w, void *left, const void *right, void *arg)
{
    *(double *)left += *(const double *)right;
    dawdle((size_t) * (const double *)right);
}

static void sum_bits(weft *w, struct dice *dice)
{
    enum { N = 3000 };
    static double first; /* of all pools and roads */
    static uint32_t keys[N];
    static double values[N];
    const weft_ordmap_kind kind = {sizeof keys[0], sizeof values[0], compare, NULL};
    weft_ordmap *map;
    double sum = 0.1;
    for (uint32_t i = 0; i < N; i++) {
        keys[i] = i;
        values[i] = 1000.0 / (1 + i);
    }
    HOLDS(weft_ordmap_build(w, keys, values, N, &kind, &map) == 0);
    weft_ordmap_reduce(w, map, NULL, add_doubles, NULL, &sum, sizeof sum);
    if (first == 0)
        first = sum;
    HOLDS(memcmp(&first, &sum, sizeof sum) == 0);
    weft_ordmap_release(map);
}

static void reductions_are_the_same_bits(void **state)
{
    property_holds(sum_bits, SCALED(20, 5));
}

/* ---- Halting ---- */

struct path { /* the entries so far, in their order; it ends at some */
    struct affine all;
    bool ends;
};

struct journey {
    uint32_t end; /* the first number where it ends, and again later */
    bool slow;
    atomic_size_t seen;
};

static void path_of(weft *w, const void *key, const void *value, void *out, void *arg)
{
    struct journey *journey = arg;
    struct path *path = out;
    uint32_t number = key_number(key);
    affine_of(w, key, value, &path->all, &journey->slow);
    path->ends = number >= journey->end && (number - journey->end) % 99 == 0;
    atomic_fetch_add(&journey->seen, 1);
}

static void path_on(weft *w, void *left, const void *right, void *arg)
{
    struct path *l = left;
    const struct path *r = right;
    HOLDS(!l->ends); /* what has halted is not combined with what follows */
    affine_after(w, &l->all, &r->all, NULL);
    l->ends = r->ends;
}

static bool path_ends(weft *w, const void *accumulator, void *arg)
{
    return ((const struct path *)accumulator)->ends;
}

/* All up to the first end, however many there are. */
static void halting(weft *w, struct dice *dice)
{
    size_t n = dice_size(dice, 20000), first = dice_below(dice, n + 1);
    struct journey journey = {.end = 3 * (uint32_t)first, .slow = dice_below(dice, 2)},
                   plain = {.end = journey.end};
    uint32_t *numbers = numbers_below(n);
    struct path result = {{3, 4}, false}, expected = result, one;
    weft_ordmap *map;
    HOLDS(weft_ordmap_build(w, numbers, NULL, n, &set, &map) == 0);
    for (size_t i = 0; i < n && !expected.ends; i++) {
        path_of(w, &numbers[i], NULL, &one, &plain);
        path_on(w, &expected, &one, NULL);
    }
    for (int i = 0; i < 2; i++) { /* the second time nothing is added to what has ended */
        weft_ordmap_reduce_until(w, map, path_of, path_on, path_ends, &journey, &result,
                                 sizeof result);
        HOLDS(result.ends == (first < n));
        HOLDS(result.all.factor == expected.all.factor && result.all.sum == expected.all.sum);
        if (!result.ends)
            break;
    }
    weft_ordmap_release(map);
    free(numbers);
}

static void reductions_halt(void **state)
{
    property_holds(halting, SCALED(40, 5));
}

static void count_up(weft *w, void *left, const void *right, void *arg)
{
    *(size_t *)left += *(const size_t *)right;
    dawdle(*(size_t *)left);
}

static void one_each(weft *w, const void *key, const void *value, void *out, void *arg)
{
    *(size_t *)out = 1;
}

static bool is_enough(weft *w, const void *accumulator, void *arg)
{
    return *(const size_t *)accumulator >= *(const size_t *)arg;
}

/* Enough of them is found out about in the middle, and always in the same place. */
static void halting_counts(weft *w, struct dice *dice)
{
    enum { N = 3000, ENOUGH = 1000 };
    static size_t first; /* of all pools and roads */
    uint32_t *numbers = numbers_below(N);
    size_t count = 0, enough = ENOUGH, endless = SIZE_MAX;
    weft_ordmap *map;
    HOLDS(weft_ordmap_build(w, numbers, NULL, N, &set, &map) == 0);
    weft_ordmap_reduce_until(w, map, one_each, count_up, is_enough, &enough, &count, sizeof count);
    if (first == 0)
        first = count;
    HOLDS(count == first && count >= ENOUGH && count < N);
    count = 7;
    weft_ordmap_reduce_until(w, map, one_each, count_up, is_enough, &endless, &count, sizeof count);
    HOLDS(count == N + 7);
    weft_ordmap_reduce_until(w, map, one_each, count_up, NULL, NULL, &count, sizeof count);
    HOLDS(count == 2 * N + 7);
    weft_ordmap_release(map);
    free(numbers);
}

static void reductions_halt_in_the_same_place(void **state)
{
    property_holds(halting_counts, SCALED(20, 5));
}

static void lone_job(weft *w, void *arg)
{
    enum { N = 10000, END = 1234 };
    uint32_t *numbers = numbers_below(N);
    struct journey journey = {.end = 3 * END};
    struct path result = {{1, 0}, false};
    weft_ordmap *map;
    CHECK(weft_ordmap_build(w, numbers, NULL, N, &set, &map) == 0);
    weft_ordmap_reduce_until(w, map, path_of, path_on, path_ends, &journey, &result, sizeof result);
    CHECK(atomic_load(&journey.seen) == END + 1);
    weft_ordmap_release(map);
    free(numbers);
}

static void what_follows_is_not_looked_at(void **state)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS); /* nobody is ahead */
    assert_int_equal(weft_run(pool, lone_job, NULL), 0);
    pool_drop(pool);
}

/* ---- Odd ones ---- */

static void wrong_job(weft *w, void *arg)
{
    static const uint32_t twice[] = {1, 2, 2, 3}, falling[] = {3, 2};
    const weft_ordmap_kind without = {.key_size = 4}, sizeless = {.compare = compare};
    const weft_ordmap_kind huge = {.key_size = 4, .value_size = SIZE_MAX - 10, .compare = compare};
    const weft_ordmap_kind longer = {.key_size = 8, .compare = compare};
    const weft_ordmap_kind valued = {.key_size = 4, .value_size = 4, .compare = compare};
    weft_ordmap *map, *other, *result = (weft_ordmap *)&map;
    CHECK(weft_ordmap_empty(&without, &map) == -EINVAL && !map);
    CHECK(weft_ordmap_empty(&sizeless, &map) == -EINVAL && !map);
    CHECK(weft_ordmap_empty(&huge, &map) == -EINVAL && !map);
    CHECK(weft_ordmap_build(w, twice, NULL, 4, &set, &map) == -EINVAL && !map);
    CHECK(weft_ordmap_build(w, falling, NULL, 2, &set, &map) == -EINVAL && !map);
    CHECK(weft_ordmap_build(w, NULL, NULL, 0, &set, &map) == 0);
    CHECK(weft_ordmap_empty(&longer, &other) == 0);
    CHECK(weft_ordmap_union(w, map, other, NULL, NULL, &result) == -EINVAL && !result);
    weft_ordmap_release(other);
    CHECK(weft_ordmap_build(w, twice, NULL, 2, &valued, &other) == 0);
    CHECK(weft_ordmap_union(w, map, other, NULL, NULL, &result) == -EINVAL && !result);
    CHECK(weft_ordmap_difference(w, map, other, &result) == 0 && weft_ordmap_size(result) == 0);
    weft_ordmap_release(result);
    weft_ordmap_release(other);
    weft_ordmap_release(map);
    weft_ordmap_release(NULL);
}

static void what_is_wrong_is_said(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, wrong_job, NULL), 0);
    pool_drop(pool);
}

/* Comparisons that make no sense give some map, of the right size, or a smaller one. */
static int compare_badly(const void *a, const void *b, void *arg)
{
    return (int)(dice_roll(arg) % 3) - 1;
}

static void hostile_job(weft *w, void *arg)
{
    struct dice dice = {1};
    const weft_ordmap_kind kind = {.key_size = 4, .compare = compare_badly, .arg = &dice};
    weft_ordmap *a, *b, *c;
    CHECK(weft_ordmap_empty(&kind, &a) == 0);
    for (uint32_t i = 0; i < 2000; i++) {
        CHECK((i % 3 ? weft_ordmap_insert(a, &i, NULL, &b) : weft_ordmap_remove(a, &i, &b)) == 0);
        weft_ordmap_release(i % 5 ? a : NULL);
        if (i % 5 == 0) {
            CHECK(weft_ordmap_union(w, a, b, NULL, NULL, &c) == 0);
            weft_ordmap_release(a);
            CHECK(weft_ordmap_difference(w, c, b, &a) == 0);
            weft_ordmap_release(a);
            weft_ordmap_release(c);
        }
        a = b;
    }
    weft_ordmap_release(a);
}

static void hostile_comparisons_do_no_harm(void **state)
{
    weft_pool *pool = pool_make(1, 0); /* whose dice are not shared */
    assert_int_equal(weft_run(pool, hostile_job, NULL), 0);
    pool_drop(pool);
}

/* ---- Cancelling ---- */

static void fail_sometimes(weft *w, void *left, const void *right, void *arg)
{
    dawdle(*(const uint32_t *)right);
    if (*(const uint32_t *)right == *(uint32_t *)arg)
        weft_fail(w, -EDOM);
}

struct failing {
    uint32_t bad;
    atomic_size_t calls;
};

static void map_failing(weft *w, const void *key, const void *value, void *out, void *arg)
{
    struct failing *failing = arg;
    atomic_fetch_add(&failing->calls, 1);
    fail_sometimes(w, out, value, &failing->bad);
}

static bool keep_failing(weft *w, const void *key, const void *value, void *arg)
{
    map_failing(w, key, value, NULL, arg);
    return true;
}

/* A map that was made all the same is complete. */
static void cancelled_one_by_one(weft *w, struct dice *dice)
{
    size_t n = 1 + dice_size(dice, 500), which = dice_below(dice, 2);
    uint32_t *numbers = numbers_below(n);
    struct failing failing = {.bad = 3 * (uint32_t)dice_below(dice, n)};
    const weft_ordmap_kind kind = {4, 4, compare, NULL};
    weft_ordmap *map, *result = NULL;
    weft_scope scope;
    HOLDS(weft_ordmap_build(w, numbers, numbers, n, &kind, &map) == 0);
    weft_scope_open(w, &scope);
    int error = which ? weft_ordmap_map(w, map, map_failing, &failing, &result, 4)
                      : weft_ordmap_filter(w, map, keep_failing, &failing, &result);
    HOLDS(error == -ECANCELED || (error == 0 && atomic_load(&failing.calls) == n));
    HOLDS(weft_scope_close(w, &scope) == -EDOM);
    weft_ordmap_release(result);
    weft_ordmap_release(map);
    free(numbers);
}

static void cancelled(weft *w, struct dice *dice)
{
    size_t n = 1 + dice_size(dice, 3000), which = dice_below(dice, 4);
    uint32_t bad = 3 * (uint32_t)dice_below(dice, n), total = 0, *numbers = numbers_below(n);
    const weft_ordmap_kind kind = {4, 4, compare, NULL};
    weft_ordmap *a, *b, *result = NULL;
    weft_scope scope;
    int error = 0;
    HOLDS(weft_ordmap_build(w, numbers, numbers, n, &kind, &a) == 0);
    HOLDS(weft_ordmap_filter(w, a, keep, &(struct world){.salt = 5}, &b) == 0);
    weft_scope_open(w, &scope);
    if (which == 0)
        error = weft_ordmap_union(w, a, b, fail_sometimes, &bad, &result);
    else if (which == 1)
        error = weft_ordmap_intersection(w, a, b, fail_sometimes, &bad, &result);
    else if (which == 2)
        error = weft_ordmap_map(w, a, map_failing, &(struct failing){.bad = bad}, &result, 4);
    else
        weft_ordmap_reduce(w, a, NULL, fail_sometimes, &bad, &total, 4);
    HOLDS(error == -ECANCELED || error == 0); /* it may have been the last one */
    HOLDS(weft_scope_close(w, &scope) == -EDOM);
    weft_scope_open(w, &scope);
    weft_ordmap_reduce_until(w, a, NULL, fail_sometimes, NULL, &bad, &total, 4);
    HOLDS(weft_scope_close(w, &scope) == -EDOM);
    HOLDS(!weft_cancelled(w));
    HOLDS(weft_ordmap_size(a) == n && weft_ordmap_size(b) == n);
    weft_ordmap_release(result);
    weft_ordmap_release(a);
    weft_ordmap_release(b);
    free(numbers);
}

static void cancelled_ones_leave_nothing_behind(void **state)
{
    property_holds(cancelled, SCALED(40, 5));
    property_holds(cancelled_one_by_one, SCALED(40, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_are_what_arrays_are),
        cmocka_unit_test(reductions_keep_the_order),
        cmocka_unit_test(reductions_are_the_same_bits),
        cmocka_unit_test(reductions_halt),
        cmocka_unit_test(reductions_halt_in_the_same_place),
        cmocka_unit_test(what_follows_is_not_looked_at),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(hostile_comparisons_do_no_harm),
        cmocka_unit_test(cancelled_ones_leave_nothing_behind),
    };
    return RUN_ON_ALL_ROADS(tests);
}
