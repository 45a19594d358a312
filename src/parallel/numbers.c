/* SPDX-License-Identifier: MIT */
/* Sums, smallest, largest and counts of arrays of numbers. Blocks are so long that combining them
 * costs next to nothing, even where a block is added up at the speed of the cache. */
#include "parallel/reduce.h"

#include "core/misuse.h"

#include <float.h>
#include <math.h>

enum { BLOCK = 8192, LANES = 8 };

struct counted {
    const void *numbers;
    const void *value;
};

static void *reducer_arg(const void *numbers)
{
    return (void *)(uintptr_t)numbers; /* it is only read */
}

#define SUM_OF_INTEGERS(T, type, sum)                                                    \
    static void sum_##T(weft *w, size_t begin, size_t end, void *accumulator, void *arg) \
    {                                                                                    \
        const type *numbers = arg;                                                       \
        uint64_t all = 0; /* wraps around where a signed one would overflow */           \
        (void)w;                                                                         \
        for (size_t i = begin; i < end; i++)                                             \
            all += (uint64_t)numbers[i];                                                 \
        *(uint64_t *)accumulator += all;                                                 \
    }                                                                                    \
    static void add_##T(weft *w, void *left, const void *right, void *arg)               \
    {                                                                                    \
        (void)w;                                                                         \
        (void)arg;                                                                       \
        *(uint64_t *)left += *(const uint64_t *)right;                                   \
    }

/* Several sums side by side, since each addition to one sum has to wait for the addition before. */
#define SUM_OF_FLOATS(T, type, sum)                                                      \
    static void sum_##T(weft *w, size_t begin, size_t end, void *accumulator, void *arg) \
    {                                                                                    \
        const type *numbers = (const type *)arg + begin;                                 \
        size_t n = end - begin, i = 0;                                                   \
        double all = 0, lanes[LANES] = {0};                                              \
        (void)w;                                                                         \
        for (; n - i >= LANES; i += LANES)                                               \
            for (size_t lane = 0; lane < LANES; lane++)                                  \
                lanes[lane] += (double)numbers[i + lane];                                \
        for (; i < n; i++)                                                               \
            all += (double)numbers[i];                                                   \
        for (size_t step = n < LANES ? 0 : LANES / 2; step > 0; step /= 2)               \
            for (size_t lane = 0; lane < step; lane++)                                   \
                lanes[lane] += lanes[lane + step];                                       \
        *(double *)accumulator += lanes[0] + all;                                        \
    }                                                                                    \
    static void add_##T(weft *w, void *left, const void *right, void *arg)               \
    {                                                                                    \
        (void)w;                                                                         \
        (void)arg;                                                                       \
        *(double *)left += *(const double *)right;                                       \
    }

#define EXTREME(name, T, type, none, operator)                                              \
    static void name##_##T(weft *w, size_t begin, size_t end, void *accumulator, void *arg) \
    {                                                                                       \
        const type *numbers = arg;                                                          \
        type best = *(type *)accumulator;                                                   \
        (void)w;                                                                            \
        for (size_t i = begin; i < end; i++)                                                \
            best = numbers[i] operator best ? numbers[i] : best;                            \
        *(type *)accumulator = best;                                                        \
    }                                                                                       \
    static void name##_of_two_##T(weft *w, void *left, const void *right, void *arg)        \
    {                                                                                       \
        type l = *(type *)left, r = *(const type *)right;                                   \
        (void)w;                                                                            \
        (void)arg;                                                                          \
        *(type *)left = r operator l ? r : l;                                               \
    }                                                                                       \
    type weft_##name##_##T(weft *w, const type *numbers, size_t n)                          \
    {                                                                                       \
        static const type identity = none;                                                  \
        static const weft_reducer reducer = {.size = sizeof(type),                          \
                                             .identity = &identity,                         \
                                             .fold = name##_##T,                            \
                                             .combine = name##_of_two_##T,                  \
                                             .block = BLOCK};                               \
        type best;                                                                          \
        WEFT__EXPECT_CONTEXT(w);                                                            \
        WEFT__NEEDS_ARRAY(numbers, n, sizeof numbers[0]);                                   \
        weft_reduce(w, 0, n, &reducer, reducer_arg(numbers), &best);                        \
        return best;                                                                        \
    }

#define NUMBERS(T, type, sum, kind, smallest, largest)                                   \
    SUM_OF_##kind(T, type, sum) sum weft_sum_##T(weft *w, const type *numbers, size_t n) \
    {                                                                                    \
        static const weft_reducer reducer = {                                            \
            .size = sizeof(sum), .fold = sum_##T, .combine = add_##T, .block = BLOCK};   \
        sum all;                                                                         \
        WEFT__EXPECT_CONTEXT(w);                                                         \
        WEFT__NEEDS_ARRAY(numbers, n, sizeof numbers[0]);                                \
        weft_reduce(w, 0, n, &reducer, reducer_arg(numbers), &all);                      \
        return all;                                                                      \
    }                                                                                    \
    EXTREME(min, T, type, largest, <)                                                    \
    EXTREME(max, T, type, smallest, >)                                                   \
    static size_t count_##T(weft *w, size_t begin, size_t end, void *arg)                \
    {                                                                                    \
        const struct counted *counted = arg;                                             \
        const type *numbers = counted->numbers;                                          \
        type value = *(const type *)counted->value;                                      \
        size_t found = 0;                                                                \
        (void)w;                                                                         \
        for (size_t i = begin; i < end; i++)                                             \
            found += numbers[i] == value;                                                \
        return found;                                                                    \
    }                                                                                    \
    size_t weft_count_##T(weft *w, const type *numbers, size_t n, type value)            \
    {                                                                                    \
        WEFT__EXPECT_CONTEXT(w);                                                         \
        WEFT__NEEDS_ARRAY(numbers, n, sizeof numbers[0]);                                \
        return weft_count(w, 0, n, count_##T, &(struct counted){numbers, &value});       \
    }

NUMBERS(i8, int8_t, int64_t, INTEGERS, INT8_MIN, INT8_MAX)
NUMBERS(u8, uint8_t, uint64_t, INTEGERS, 0, UINT8_MAX)
NUMBERS(i16, int16_t, int64_t, INTEGERS, INT16_MIN, INT16_MAX)
NUMBERS(u16, uint16_t, uint64_t, INTEGERS, 0, UINT16_MAX)
NUMBERS(i32, int32_t, int64_t, INTEGERS, INT32_MIN, INT32_MAX)
NUMBERS(u32, uint32_t, uint64_t, INTEGERS, 0, UINT32_MAX)
NUMBERS(i64, int64_t, int64_t, INTEGERS, INT64_MIN, INT64_MAX)
NUMBERS(u64, uint64_t, uint64_t, INTEGERS, 0, UINT64_MAX)
NUMBERS(f32, float, double, FLOATS, -INFINITY, INFINITY)
NUMBERS(f64, double, double, FLOATS, -INFINITY, INFINITY)
