/* SPDX-License-Identifier: MIT */
/* lanes.c: reductions of a block, for lanes.sh to count instructions. There is no pool: what counts
 * is what the compiler makes of the loop. */
#include <string.h>
#include <weft/parallel.h>

#define ADD(a, b) ((a) + (b))
#define LARGER(a, b) ((b) > (a) ? (b) : (a))

static inline uint8_t both(uint8_t a, uint8_t b)
{
    return a & b;
}

static inline int32_t either(int32_t a, int32_t b)
{
    return a ^ b;
}

enum { BYTES = 1 << 16 };
static union {
    float f32[BYTES / sizeof(float)];
    double f64[BYTES / sizeof(double)];
    int32_t i32[BYTES / sizeof(int32_t)];
    uint8_t u8[BYTES];
} in;
static volatile double sink;

#define REDUCTION(name, T, type, combine)                                           \
    WEFT_FOLD_ROWS_(name##_rows, type, WEFT_SAME_, type, combine)                   \
    __attribute__((noinline)) static void name(void)                                \
    {                                                                               \
        /* Not where vectors are aligned. */                                        \
        sink = (double)name##_rows((type)sink, in.T + 1, BYTES / sizeof(type) - 1); \
    }

REDUCTION(add_f32, f32, float, ADD)
REDUCTION(add_i32, i32, int32_t, ADD)
REDUCTION(max_f32, f32, float, LARGER)
REDUCTION(max_f64, f64, double, LARGER)
REDUCTION(max_u8, u8, uint8_t, LARGER)
REDUCTION(and_u8, u8, uint8_t, both)
REDUCTION(xor_i32, i32, int32_t, either)

int main(int argc, char **argv)
{
    (void)argv;
    memset(&in, argc, sizeof in); /* so that the compiler does not know what is in it */
    add_f32();
    add_i32();
    max_f32();
    max_f64();
    max_u8();
    and_u8();
    xor_i32();
    return 0;
}
