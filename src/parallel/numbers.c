/* SPDX-License-Identifier: MIT */
/* Sums, smallest, largest and counts of arrays of numbers. A block is reduced in lanes, as by
 * WEFT_REDUCE_DEFINE, which is done at the speed of the cache; and blocks are so long that
 * combining them costs next to nothing. */
#include "parallel/reduce.h"

#include "core/misuse.h"

#include <math.h>

static void *reducer_arg(const void *numbers)
{
    return (void *)(uintptr_t)numbers; /* it is only read */
}

/* `lane` is the type in which a block is collected, `all` that of the accumulator. Both begin as
 * `none`, the result of no numbers. */
#define REDUCTION(name, T, type, lane, all, result, combine, none)                          \
    WEFT_FOLD_ROWS_(name##_rows_##T, type, (lane), lane, combine)                           \
    static void name##_##T(weft *w, size_t begin, size_t end, void *accumulator, void *arg) \
    {                                                                                       \
        all *to = accumulator;                                                              \
        (void)w;                                                                            \
        *to = (all)name##_rows_##T((lane)*to, (const type *)arg + begin, end - begin);      \
    }                                                                                       \
    static void name##_of_two_##T(weft *w, void *left, const void *right, void *arg)        \
    {                                                                                       \
        (void)w;                                                                            \
        (void)arg;                                                                          \
        *(all *)left = combine(*(const all *)left, *(const all *)right);                    \
    }                                                                                       \
    result weft_##name##_##T(weft *w, const type *numbers, size_t n)                        \
    {                                                                                       \
        static const all identity = none;                                                   \
        static const weft_reducer reducer = {sizeof(all),                                   \
                                             &identity,                                     \
                                             name##_##T,                                    \
                                             name##_of_two_##T,                             \
                                             WEFT_BLOCK_(sizeof(lane)),                     \
                                             NULL,                                          \
                                             NULL,                                          \
                                             NULL,                                          \
                                             NULL};                                         \
        all value;                                                                          \
        WEFT__EXPECT_CONTEXT(w);                                                            \
        WEFT__NEEDS_ARRAY(numbers, n, sizeof numbers[0]);                                   \
        weft_reduce(w, 0, n, &reducer, reducer_arg(numbers), &value);                       \
        return (result)value;                                                               \
    }

#define ADD(a, b) ((a) + (b))
#define SMALLER(a, b) ((b) < (a) ? (b) : (a)) /* a, if b is not a number */
#define LARGER(a, b) ((b) > (a) ? (b) : (a))

struct counted {
    const void *numbers;
    const void *value;
};

/* Lanes are for many numbers, but for not so many that a counter of 8 bits overflows. Numbers of 64
 * bits are counted one by one, since not all vectors of x86-64 can compare them. */
enum { LEAST_ROWS = 32, MOST_ROWS = 255 };

#define COUNT(T, type, counter)                                                              \
    static size_t count_rows_##T(const type *numbers, size_t rows, type value)               \
    {                                                                                        \
        counter lanes[WEFT_LANES_(sizeof(type))] = {0};                                      \
        size_t found = 0;                                                                    \
        for (; rows > 0; rows--, numbers += WEFT_LANES_(sizeof(type)))                       \
            WEFT_ROW_LOOP_ for (size_t l = 0; l < WEFT_LANES_(sizeof(type)); l++) lanes[l] = \
                (counter)(lanes[l] + (numbers[l] == value));                                 \
        for (size_t l = 0; l < WEFT_LANES_(sizeof(type)); l++)                               \
            found += lanes[l];                                                               \
        return found;                                                                        \
    }                                                                                        \
    static size_t count_##T(weft *w, size_t begin, size_t end, void *arg)                    \
    {                                                                                        \
        const struct counted *counted = arg;                                                 \
        const type *numbers = counted->numbers, value = *(const type *)counted->value;       \
        size_t found = 0, rows = (end - begin) / WEFT_LANES_(sizeof(type));                  \
        (void)w;                                                                             \
        while (sizeof(type) < 8 && rows >= LEAST_ROWS) {                                     \
            size_t some = rows < MOST_ROWS ? rows : MOST_ROWS;                               \
            found += count_rows_##T(numbers + begin, some, value);                           \
            begin += some * WEFT_LANES_(sizeof(type));                                       \
            rows -= some;                                                                    \
        }                                                                                    \
        for (; begin < end; begin++)                                                         \
            found += numbers[begin] == value;                                                \
        return found;                                                                        \
    }                                                                                        \
    size_t weft_count_##T(weft *w, const type *numbers, size_t n, type value)                \
    {                                                                                        \
        WEFT__EXPECT_CONTEXT(w);                                                             \
        WEFT__NEEDS_ARRAY(numbers, n, sizeof numbers[0]);                                    \
        return weft_count(w, 0, n, count_##T, &(struct counted){numbers, &value});           \
    }

/* Short integers are added up in 32 bits: no block is so long that they overflow. Other sums wrap
 * around, in types without a sign. */
#define NUMBERS(T, type, counter, smallest, largest, lane, all, total) \
    REDUCTION(sum, T, type, lane, all, total, ADD, 0)                  \
    REDUCTION(min, T, type, type, type, type, SMALLER, largest)        \
    REDUCTION(max, T, type, type, type, type, LARGER, smallest)        \
    COUNT(T, type, counter)

NUMBERS(i8, int8_t, uint8_t, INT8_MIN, INT8_MAX, int32_t, uint64_t, int64_t)
NUMBERS(u8, uint8_t, uint8_t, 0, UINT8_MAX, uint32_t, uint64_t, uint64_t)
NUMBERS(i16, int16_t, uint16_t, INT16_MIN, INT16_MAX, int32_t, uint64_t, int64_t)
NUMBERS(u16, uint16_t, uint16_t, 0, UINT16_MAX, uint32_t, uint64_t, uint64_t)
NUMBERS(i32, int32_t, uint32_t, INT32_MIN, INT32_MAX, uint64_t, uint64_t, int64_t)
NUMBERS(u32, uint32_t, uint32_t, 0, UINT32_MAX, uint64_t, uint64_t, uint64_t)
NUMBERS(i64, int64_t, uint64_t, INT64_MIN, INT64_MAX, uint64_t, uint64_t, int64_t)
NUMBERS(u64, uint64_t, uint64_t, 0, UINT64_MAX, uint64_t, uint64_t, uint64_t)
NUMBERS(f32, float, uint32_t, -INFINITY, INFINITY, double, double, double)
NUMBERS(f64, double, uint64_t, -INFINITY, INFINITY, double, double, double)
