/* SPDX-License-Identifier: MIT */
/* parallel_lanes.c: WEFT_REDUCE_DEFINE is what a plain model of blocks and lanes computes, bit for
 * bit, for all lengths, places in memory and numbers of workers. So are sums. */
#include "property.h"
#include "weft/parallel.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 512 }; /* of a block */

/* ---- The model: one element after the other, as the header says ---- */

static size_t lanes_of(size_t size)
{
    size_t lanes = 1;
    while (lanes * 2 * size <= 128)
        lanes *= 2;
    return lanes;
}

/* All lengths are tried once, and a few of them with more workers, and where an emulator needs
 * minutes for all (test/ports). */
static size_t step_of(weft *w, struct dice *dice)
{
    static const struct road *first;
    first = first ? first : road;
    bool once =
        weft_pool_workers(weft_pool_of(w)) == 1 && road == first && !getenv("WEFT_TEST_EMULATED");
    return SANITIZED ? 9000 + dice_below(dice, 999) : once ? 1 : 100 + dice_below(dice, 999);
}

/* `blocks` has the values of all whole blocks; what follows them is one more. */
#define MODEL(name, in_type, map, type, combine, none)                                    \
    struct name##_model {                                                                 \
        type lanes[128], rows, blocks[8];                                                 \
        size_t n; /* elements */                                                          \
    };                                                                                    \
    static type name##_of_lanes(const struct name##_model *m)                             \
    {                                                                                     \
        type lanes[128];                                                                  \
        memcpy(lanes, m->lanes, sizeof lanes);                                            \
        for (size_t half = lanes_of(sizeof(type)) / 2; half > 0; half /= 2)               \
            for (size_t l = 0; l < half; l++)                                             \
                lanes[l] = combine(lanes[l], lanes[l + half]);                            \
        return lanes[0];                                                                  \
    }                                                                                     \
    static type name##_of_blocks(const type *blocks, size_t n)                            \
    {                                                                                     \
        size_t left = 1;                                                                  \
        while (left * 2 < n)                                                              \
            left *= 2;                                                                    \
        return n == 1 ? blocks[0]                                                         \
                      : combine(name##_of_blocks(blocks, left),                           \
                                name##_of_blocks(blocks + left, n - left));               \
    }                                                                                     \
    static type name##_of_all(struct name##_model *m)                                     \
    {                                                                                     \
        size_t lanes = lanes_of(sizeof(type)), whole = m->n / (lanes * ROWS);             \
        size_t rest = m->n % (lanes * ROWS);                                              \
        if (rest > 0)                                                                     \
            m->blocks[whole] = rest < lanes ? m->rows : name##_of_lanes(m);               \
        return m->n == 0 ? none : name##_of_blocks(m->blocks, whole + (rest > 0));        \
    }                                                                                     \
    static void name##_add(struct name##_model *m, in_type element)                       \
    {                                                                                     \
        size_t lanes = lanes_of(sizeof(type)), i = m->n % (lanes * ROWS);                 \
        for (size_t l = 0; i == 0 && l < lanes; l++)                                      \
            m->lanes[l] = m->rows = none;                                                 \
        m->rows = combine(m->rows, map(element));                                         \
        m->lanes[i % lanes] = combine(m->lanes[i % lanes], map(element));                 \
        m->n++;                                                                           \
        if (m->n % (lanes * ROWS) == 0)                                                   \
            m->blocks[m->n / (lanes * ROWS) - 1] = name##_of_lanes(m);                    \
    }                                                                                     \
    WEFT_MAP_REDUCE_DEFINE(name, in_type, map, type, combine, none)                       \
    static void name##_is_the_model(weft *w, struct dice *dice)                           \
    {                                                                                     \
        size_t most = 3 * ROWS * lanes_of(sizeof(type)) + 3, skip = dice_below(dice, 64); \
        in_type *in = malloc((skip + most) * sizeof in[0]);                               \
        HOLDS(in);                                                                        \
        for (size_t i = 0; i < skip + most; i++)                                          \
            name##_roll(dice, &in[i]);                                                    \
        struct name##_model m = {.n = 0};                                                 \
        size_t step = step_of(w, dice);                                                   \
        for (size_t n = 0; n <= most; n++) {                                              \
            if (n % step == 0 || n > most - 6) {                                          \
                type result = name(w, in + skip, n), expected = name##_of_all(&m);        \
                HOLDS(memcmp(&result, &expected, sizeof result) == 0);                    \
            }                                                                             \
            if (n < most)                                                                 \
                name##_add(&m, in[skip + n]);                                             \
        }                                                                                 \
        free(in);                                                                         \
    }

#define SAME(x) (x)
#define ADD(a, b) ((a) + (b))

/* Numbers whose sum depends on the order very much. */
static double wild(struct dice *dice)
{
    return ldexp((double)(int64_t)dice_roll(dice), (int)dice_below(dice, 40) - 80);
}

static void sum_f32_roll(struct dice *dice, float *to)
{
    *to = (float)wild(dice);
}

static void sum_f64_roll(struct dice *dice, double *to)
{
    *to = wild(dice);
}

static double squared(float x)
{
    return (double)x * (double)x;
}

static void squares_roll(struct dice *dice, float *to)
{
    *to = (float)wild(dice);
}

static inline uint8_t larger(uint8_t a, uint8_t b)
{
    return b > a ? b : a;
}

static inline uint8_t rare(uint8_t x)
{
    return x < 250 ? x / 2 : x; /* or each row had the largest */
}

static void max_u8_roll(struct dice *dice, uint8_t *to)
{
    *to = (uint8_t)dice_roll(dice);
}

static inline int16_t both(int16_t a, int16_t b)
{
    return (int16_t)(a ^ b);
}

static void xor_i16_roll(struct dice *dice, int16_t *to)
{
    *to = (int16_t)dice_roll(dice);
}

/* Sizes that are no powers of two, and more than a lane has room for. */
typedef struct point {
    float x, y, z;
} point;

static inline point point_add(point a, point b)
{
    return (point){a.x + b.x, a.y + b.y, a.z + b.z};
}

static const point origin;

static void centre_roll(struct dice *dice, point *to)
{
    *to = (point){(float)wild(dice), (float)wild(dice), (float)wild(dice)};
}

typedef struct large {
    double numbers[13];
} large;

static inline large large_add(large a, large b)
{
    for (size_t i = 0; i < 13; i++)
        a.numbers[i] += b.numbers[i];
    return a;
}

static const large nothing;

static void larges_roll(struct dice *dice, large *to)
{
    for (size_t i = 0; i < 13; i++)
        to->numbers[i] = wild(dice);
}

MODEL(sum_f32, float, SAME, float, ADD, 0)
MODEL(sum_f64, double, SAME, double, ADD, 0)
MODEL(squares, float, squared, double, ADD, 0)
MODEL(max_u8, uint8_t, rare, uint8_t, larger, 0)
MODEL(xor_i16, int16_t, SAME, int16_t, both, 0)
MODEL(centre, point, SAME, point, point_add, origin)
MODEL(larges, large, SAME, large, large_add, nothing)

static void lanes_are_as_in_the_model(void **state)
{
    static property_fn *const all[] = {
        sum_f32_is_the_model, sum_f64_is_the_model, squares_is_the_model, max_u8_is_the_model,
        xor_i16_is_the_model, centre_is_the_model,  larges_is_the_model};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        property_holds(all[i], 1);
}

/* ---- The same bits for any number of workers ---- */

enum { MANY = 300000 };
static float numbers[MANY];

WEFT_REDUCE_DEFINE(sum_plainly, float, ADD, 0)

/* Takes a while now and then, so that others come and take what is left. */
static inline double with_pauses(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (bits % 2048 == 0)
        dawdle(bits);
    return (double)x;
}

WEFT_MAP_REDUCE_DEFINE(sum_with_pauses, float, with_pauses, double, ADD, 0)

struct sums {
    float plain;
    double mapped, paused;
};

static void sum_all(weft *w, void *arg)
{
    struct sums *sums = arg;
    memset(sums, 0, sizeof *sums);
    sums->plain = sum_plainly(w, numbers, MANY);
    sums->mapped = weft_sum_f32(w, numbers, MANY);
    sums->paused = sum_with_pauses(w, numbers, MANY);
}

static void any_number_of_workers(void **state)
{
    struct dice dice = {42};
    for (size_t i = 0; i < MANY; i++)
        numbers[i] = (float)wild(&dice);
    static const unsigned workers[] = {1, 2, 3, 8, 64};
    struct sums sums[sizeof workers / sizeof workers[0]];
    for (size_t i = 0; i < sizeof workers / sizeof workers[0]; i++) {
        weft_pool *pool = pool_make(workers[i], 0);
        assert_int_equal(weft_run(pool, sum_all, &sums[i]), 0);
        assert_memory_equal(&sums[i], &sums[0], sizeof sums[0]);
        pool_drop(pool);
    }
    /* The library's own is made in the same way. */
    assert_memory_equal(&sums[0].mapped, &sums[0].paused, sizeof sums[0].mapped);
}

/* ---- What is not a number, and what is cancelled ---- */

static inline float larger_f32(float a, float b)
{
    return b > a ? b : a;
}

WEFT_REDUCE_DEFINE(max_f32, float, larger_f32, -INFINITY)

static void nans(weft *w, struct dice *dice)
{
    float in[200];
    size_t n = dice_below(dice, 200), at = dice_below(dice, n);
    for (size_t i = 0; i < n; i++)
        in[i] = NAN;
    HOLDS(max_f32(w, in, n) == -INFINITY && weft_max_f32(w, in, n) == -INFINITY);
    HOLDS(weft_min_f32(w, in, n) == INFINITY);
    if (n > 0)
        in[at] = -3;
    HOLDS(n == 0 || (max_f32(w, in, n) == -3 && weft_max_f32(w, in, n) == -3));
    HOLDS(n == 0 || weft_min_f32(w, in, n) == -3);
}

static void nans_are_ignored(void **state)
{
    property_holds(nans, SCALED(200, 4));
}

static atomic_size_t mapped;

static inline long counted(long x)
{
    atomic_fetch_add(&mapped, 1);
    return x;
}

WEFT_MAP_REDUCE_DEFINE(sum_counted, long, counted, long, ADD, 0)

static void cancelled(weft *w, struct dice *dice)
{
    static const long in[30000];
    weft_scope scope;
    atomic_store(&mapped, 0);
    weft_scope_open(w, &scope);
    weft_fail(w, -EDOM);
    HOLDS(sum_counted(w, in, dice_size(dice, 30000)) == 0);
    HOLDS(weft_scope_close(w, &scope) == -EDOM);
    HOLDS(atomic_load(&mapped) == 0);
    HOLDS(sum_counted(w, in, 30000) == 0 && atomic_load(&mapped) == 30000);
}

static void cancelled_ones_do_not_begin(void **state)
{
    property_holds(cancelled, SCALED(20, 5));
}

/* ---- Numbers at the ends of their types ---- */

#define EXTREMES_OF(T, type, total, value)                                                     \
    static void extremes_##T(weft *w, struct dice *dice)                                       \
    {                                                                                          \
        size_t n = dice_size(dice, 150000), skip = dice_below(dice, 20);                       \
        type *array = malloc((n + skip + 1) * sizeof array[0]), *in = array + skip;            \
        HOLDS(array);                                                                          \
        for (size_t i = 0; i < n; i++)                                                         \
            in[i] = value;                                                                     \
        HOLDS(weft_sum_##T(w, in, n) == (total)((uint64_t)(value)*n));                         \
        HOLDS(weft_count_##T(w, in, n, value) == n && weft_count_##T(w, in, n, 1) == 0);       \
        HOLDS(n == 0 || (weft_min_##T(w, in, n) == value && weft_max_##T(w, in, n) == value)); \
        free(array);                                                                           \
    }

EXTREMES_OF(i8, int8_t, int64_t, INT8_MIN)
EXTREMES_OF(u8, uint8_t, uint64_t, UINT8_MAX)
EXTREMES_OF(i16, int16_t, int64_t, INT16_MIN)
EXTREMES_OF(u16, uint16_t, uint64_t, UINT16_MAX)
EXTREMES_OF(i32, int32_t, int64_t, INT32_MIN)
EXTREMES_OF(u32, uint32_t, uint64_t, UINT32_MAX)
EXTREMES_OF(i64, int64_t, int64_t, INT64_MIN)
EXTREMES_OF(u64, uint64_t, uint64_t, UINT64_MAX)

static void extremes_do_not_overflow(void **state)
{
    static property_fn *const all[] = {extremes_i8,  extremes_u8,  extremes_i16, extremes_u16,
                                       extremes_i32, extremes_u32, extremes_i64, extremes_u64};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        property_holds(all[i], SCALED(10, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_are_as_in_the_model),
        cmocka_unit_test(any_number_of_workers),
        cmocka_unit_test(nans_are_ignored),
        cmocka_unit_test(extremes_do_not_overflow),
        cmocka_unit_test(cancelled_ones_do_not_begin),
    };
    return RUN_ON_ALL_ROADS(tests);
}
