/* SPDX-License-Identifier: MIT */
/* parallel_reduce.c: reductions are what a sequential program computes, in order, and the
 * same bits for any number of workers. */
#include "property.h"
#include "weft/parallel.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Something where order matters: x -> a x + b, one after the other ---- */

struct affine {
    uint64_t a, b;
};

static struct affine then(struct affine f, struct affine g)
{
    return (struct affine){g.a * f.a, g.a * f.b + g.b};
}

static struct affine affine_of(size_t i)
{
    return (struct affine){2 * i + 3, i * i + 7};
}

enum { PAD = 4096 };

/* Accumulators of many sizes: an affine map, and bytes that have to come along. */
struct wide {
    struct affine map;
    unsigned char pad[PAD];
};

struct chain {
    size_t size; /* of an accumulator */
    bool slow;
    struct wide identity;
    weft_reducer reducer;
};

static void check_pad(const struct chain *chain, const struct wide *wide)
{
    for (size_t i = 0; i < chain->size - sizeof(struct affine); i++)
        HOLDS(wide->pad[i] == (unsigned char)i);
}

static void chain_fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    struct chain *chain = arg;
    struct wide *wide = accumulator;
    check_pad(chain, wide);
    for (size_t i = begin; i < end; i++)
        wide->map = then(wide->map, affine_of(i));
    if (chain->slow)
        dawdle(begin);
}

static void chain_combine(weft *w, void *left, const void *right, void *arg)
{
    struct chain *chain = arg;
    struct wide *l = left;
    const struct wide *r = right;
    check_pad(chain, l);
    check_pad(chain, r);
    l->map = then(l->map, r->map);
}

static void chain_make(struct chain *chain, struct dice *dice)
{
    chain->size = sizeof(struct affine) + dice_size(dice, PAD) / 8 * 8;
    chain->slow = dice_below(dice, 2);
    chain->identity.map = (struct affine){1, 0};
    for (size_t i = 0; i < PAD; i++)
        chain->identity.pad[i] = (unsigned char)i;
    chain->reducer = (weft_reducer){
        .size = chain->size,
        .identity = &chain->identity,
        .fold = chain_fold,
        .combine = chain_combine,
        .block = dice_size(dice, 3000),
    };
}

static void in_order(weft *w, struct dice *dice)
{
    struct chain chain;
    chain_make(&chain, dice);
    size_t n = dice_size(dice, chain.size > 100 ? 3000 : 100000);
    size_t begin = dice_below(dice, 2) ? SIZE_MAX - n : dice_below(dice, 100);
    struct affine expected = {1, 0};
    for (size_t i = begin; i < begin + n; i++)
        expected = then(expected, affine_of(i));
    struct wide result;
    if (dice_below(dice, 2))
        weft_reduce(w, begin, begin + n, &chain.reducer, &chain, &result);
    else
        weft_reduce_unordered(w, begin, begin + n, &chain.reducer, &chain, &result);
    HOLDS(result.map.a == expected.a && result.map.b == expected.b);
    check_pad(&chain, &result);
}

static void reductions_are_in_order(void **state)
{
    property_holds(in_order, SCALED(80, 5));
}

/* ---- The same bits ---- */

struct doubles {
    const double *numbers;
    bool slow;
};

static void sum_fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    const struct doubles *doubles = arg;
    for (size_t i = begin; i < end; i++)
        *(double *)accumulator += doubles->numbers[i];
    if (doubles->slow)
        dawdle(begin);
}

static void sum_combine(weft *w, void *left, const void *right, void *arg)
{
    *(double *)left += *(const double *)right;
}

enum { NUMBERS = 20000, LENGTHS = 30 };
static double numbers[NUMBERS];
static uint64_t bits[LENGTHS][2];
static bool bits_are_known;

/* Numbers whose sum depends on the order very much. */
static void numbers_make(void)
{
    struct dice dice = {42};
    for (size_t i = 0; i < NUMBERS; i++)
        numbers[i] = ldexp((double)(int64_t)dice_roll(&dice), (int)dice_below(&dice, 120) - 60);
}

static void same_bits(weft *w, struct dice *dice)
{
    for (size_t i = 0; i < LENGTHS; i++) {
        struct doubles doubles = {numbers, dice_below(dice, 2)};
        size_t n = NUMBERS * (i + 1) / LENGTHS - i;
        const weft_reducer reducer = {
            .size = sizeof(double), .fold = sum_fold, .combine = sum_combine, .block = 1 + i * 5};
        double sums[2];
        weft_reduce(w, i, n, &reducer, &doubles, &sums[0]);
        sums[1] = weft_sum_f64(w, numbers + i, n);
        if (!bits_are_known)
            memcpy(bits[i], sums, sizeof sums);
        HOLDS(memcmp(bits[i], sums, sizeof sums) == 0);
    }
    bits_are_known = true;
}

static void reductions_are_the_same_bits(void **state)
{
    numbers_make();
    property_holds(same_bits, SCALED(30, 5));
}

/* ---- Halting ---- */

struct product {
    size_t zero; /* here, and maybe again later */
    atomic_size_t folded;
    bool slow;
};

static void product_fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    struct product *product = arg;
    struct affine *affine = accumulator;
    for (size_t i = begin; i < end && affine->a; i++)
        *affine = i >= product->zero && (i - product->zero) % 1000 == 0
                      ? (struct affine){0, i}
                      : then(*affine, affine_of(i));
    atomic_fetch_add(&product->folded, 1);
    if (product->slow)
        dawdle(begin);
}

static void product_combine(weft *w, void *left, const void *right, void *arg)
{
    struct affine *l = left;
    const struct affine *r = right;
    HOLDS(l->a != 0); /* what has halted is not combined with what follows */
    *l = r->a ? then(*l, *r) : *r;
}

static bool product_is_zero(weft *w, const void *accumulator, void *arg)
{
    return ((const struct affine *)accumulator)->a == 0;
}

/* The first zero is found, though there are many, and the range is endless. */
static void halting(weft *w, struct dice *dice)
{
    struct product product = {.zero = dice_size(dice, 200000), .slow = dice_below(dice, 2)};
    const struct affine identity = {1, 0};
    const weft_reducer reducer = {
        .size = sizeof(struct affine),
        .identity = &identity,
        .fold = product_fold,
        .combine = product_combine,
        .block = 1 + dice_size(dice, 1000),
        .halt = product_is_zero,
    };
    struct affine result;
    weft_reduce(w, 0, SIZE_MAX, &reducer, &product, &result);
    HOLDS(result.a == 0 && result.b == product.zero);
    weft_reduce_unordered(w, 0, SIZE_MAX, &reducer, &product, &result);
    HOLDS(result.a == 0 && result.b == product.zero); /* all to the left of it is there, too */
}

static void reductions_halt(void **state)
{
    property_holds(halting, SCALED(60, 5));
}

static void fold_fails(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    if (begin >= *(size_t *)arg)
        weft_fail(w, -EDOM);
}

static void errors(weft *w, struct dice *dice)
{
    size_t from = dice_size(dice, 100000);
    const weft_reducer reducer = {
        .size = 64, .fold = fold_fails, .combine = sum_combine, .block = 1 + dice_size(dice, 100)};
    char result[64];
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_reduce(w, 0, SIZE_MAX, &reducer, &from, result);
    HOLDS(weft_scope_close(w, &scope) == -EDOM);
    HOLDS(!weft_cancelled(w)); /* and nothing else has failed */
}

static void errors_end_reductions(void **state)
{
    property_holds(errors, SCALED(60, 5));
}

/* ---- Arrays ---- */

struct array {
    size_t in_size, size;
    unsigned char stop; /* a first byte that halts */
    bool slow;
};

/* Both are sequences of matrices in bytes: the product of 2x2 matrices modulo 256 is
 * associative, and not commutative. What is left over is added up. */
static void multiply(unsigned char *left, const unsigned char *right, size_t size)
{
    size_t i = 0;
    for (; i + 4 <= size; i += 4) {
        unsigned char *l = left + i;
        const unsigned char *r = right + i;
        unsigned char product[4] = {
            (unsigned char)(l[0] * r[0] + l[1] * r[2]), (unsigned char)(l[0] * r[1] + l[1] * r[3]),
            (unsigned char)(l[2] * r[0] + l[3] * r[2]), (unsigned char)(l[2] * r[1] + l[3] * r[3])};
        memcpy(l, product, 4);
    }
    for (; i < size; i++)
        left[i] = (unsigned char)(left[i] + right[i]);
}

static void array_combine(weft *w, void *left, const void *right, void *arg)
{
    const struct array *array = arg;
    multiply(left, right, array->size);
    if (array->slow)
        dawdle(*(const unsigned char *)right);
}

static void spread(unsigned char *out, const unsigned char *in, const struct array *array)
{
    for (size_t i = 0; i < array->size; i++)
        out[i] = (unsigned char)(in[i % array->in_size] * 2 + 1);
}

static void array_map(weft *w, const void *in, void *out, void *arg)
{
    spread(out, in, arg);
}

static void arrays(weft *w, struct dice *dice)
{
    struct array array = {.slow = dice_below(dice, 2)};
    bool maps = dice_below(dice, 2);
    array.in_size = 1 + dice_size(dice, 4095);
    array.size = maps ? 1 + dice_size(dice, 4095) : array.in_size;
    size_t n = dice_size(dice, 400000 / (array.in_size + array.size));
    unsigned char *in = malloc(n * array.in_size + 1), *result = malloc(array.size),
                  *expected = malloc(array.size), *element = malloc(array.size);
    HOLDS(in && result && expected && element);
    dice_fill(dice, in, n * array.in_size);
    dice_fill(dice, result, array.size);
    memcpy(expected, result, array.size);
    for (size_t i = 0; i < n; i++) {
        memcpy(element, in + i * array.in_size, maps ? 1 : array.size);
        if (maps)
            spread(element, in + i * array.in_size, &array);
        multiply(expected, element, array.size);
    }
    if (maps)
        weft_map_reduce(w, in, n, array.in_size, array_map, array_combine, &array, result,
                        array.size);
    else
        weft_array_reduce(w, in, n, array.size, array_combine, &array, result);
    HOLDS(memcmp(result, expected, array.size) == 0);
    free(in);
    free(result);
    free(expected);
    free(element);
}

static void reductions_of_arrays(void **state)
{
    property_holds(arrays, SCALED(60, 5));
}

/* The leftmost element that is not zero: anything after it is absorbed. */
static void first_of_two(weft *w, void *left, const void *right, void *arg)
{
    uint32_t *l = left;
    if (*l == 0)
        *l = *(const uint32_t *)right;
}

static void square(weft *w, const void *in, void *out, void *arg)
{
    uint32_t x = *(const uint32_t *)in;
    atomic_fetch_add((atomic_size_t *)arg, 1);
    *(uint32_t *)out = x * x;
}

static bool is_not_zero(weft *w, const void *accumulator, void *arg)
{
    return *(const uint32_t *)accumulator != 0;
}

static void arrays_halt(weft *w, struct dice *dice)
{
    size_t n = dice_size(dice, 100000), at = dice_below(dice, 2 * n + 1);
    uint32_t *in = calloc(n + 1, sizeof in[0]), first = 0, squared = 0;
    atomic_size_t calls = 0;
    HOLDS(in);
    for (size_t i = at; i < n; i++)
        in[i] = (uint32_t)(i % 1000 + 1);
    uint32_t expected = at < n ? in[at] : 0;
    weft_array_reduce_until(w, in, n, sizeof in[0], first_of_two, is_not_zero, NULL, &first);
    HOLDS(first == expected);
    weft_map_reduce_until(w, in, n, sizeof in[0], square, first_of_two, is_not_zero, &calls,
                          &squared, sizeof in[0]);
    HOLDS(squared == expected * expected);
    weft_map_reduce_until(w, in, n, sizeof in[0], square, first_of_two, NULL, &calls, &squared,
                          sizeof in[0]);
    free(in);
}

static void reductions_of_arrays_halt(void **state)
{
    property_holds(arrays_halt, SCALED(60, 5));
}

/* ---- Numbers ---- */

#define NUMBERS_OF(T, type, sum_type, smallest, largest)                             \
    static void numbers_##T(weft *w, struct dice *dice)                              \
    {                                                                                \
        size_t n = dice_size(dice, 100000), count = 0;                               \
        type *array = malloc((n + 1) * sizeof array[0]);                             \
        HOLDS(array);                                                                \
        uint64_t spread = dice_below(dice, 2) ? 5 : UINT64_MAX;                      \
        type value = (type)dice_below(dice, 5), min = largest, max = smallest;       \
        sum_type sum = 0;                                                            \
        for (size_t i = 0; i < n; i++) {                                             \
            type x = array[i] = (type)(dice_roll(dice) % spread % (1u << 30));       \
            sum = (sum_type)(sum + (sum_type)x);                                     \
            count += x == value;                                                     \
            min = x < min ? x : min;                                                 \
            max = x > max ? x : max;                                                 \
        }                                                                            \
        HOLDS(weft_sum_##T(w, array, n) == sum); /* small enough to be exact */      \
        HOLDS(weft_min_##T(w, array, n) == min && weft_max_##T(w, array, n) == max); \
        HOLDS(weft_count_##T(w, array, n, value) == count);                          \
        free(array);                                                                 \
    }

NUMBERS_OF(i8, int8_t, int64_t, INT8_MIN, INT8_MAX)
NUMBERS_OF(u8, uint8_t, uint64_t, 0, UINT8_MAX)
NUMBERS_OF(i16, int16_t, int64_t, INT16_MIN, INT16_MAX)
NUMBERS_OF(u16, uint16_t, uint64_t, 0, UINT16_MAX)
NUMBERS_OF(i32, int32_t, int64_t, INT32_MIN, INT32_MAX)
NUMBERS_OF(u32, uint32_t, uint64_t, 0, UINT32_MAX)
NUMBERS_OF(i64, int64_t, int64_t, INT64_MIN, INT64_MAX)
NUMBERS_OF(u64, uint64_t, uint64_t, 0, UINT64_MAX)
NUMBERS_OF(f32, float, double, -INFINITY, INFINITY)
NUMBERS_OF(f64, double, double, -INFINITY, INFINITY)

static void sums_and_extremes(void **state)
{
    static property_fn *const all[] = {numbers_i8,  numbers_u8,  numbers_i16, numbers_u16,
                                       numbers_i32, numbers_u32, numbers_i64, numbers_u64,
                                       numbers_f32, numbers_f64};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        property_holds(all[i], SCALED(20, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions_are_in_order), cmocka_unit_test(reductions_are_the_same_bits),
        cmocka_unit_test(reductions_halt),         cmocka_unit_test(errors_end_reductions),
        cmocka_unit_test(reductions_of_arrays),    cmocka_unit_test(reductions_of_arrays_halt),
        cmocka_unit_test(sums_and_extremes),
    };
    return RUN_ON_ALL_ROADS(tests);
}
