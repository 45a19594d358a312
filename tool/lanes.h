/* SPDX-License-Identifier: MIT */
/* lanes.h: four floats side by side. A pixel has four samples, so one vector carries one
 * pixel; the compiler's vector types turn into SSE, NEON or plain code as it likes. A
 * mask has all bits set in the lanes that are meant. */
#ifndef TOOL_LANES_H
#define TOOL_LANES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#if defined __SSE2__
#include <emmintrin.h>
#endif

#define LANES 4

typedef float lanes __attribute__((vector_size(16)));
typedef int32_t mask __attribute__((vector_size(16)));
typedef uint32_t lanes_u32 __attribute__((vector_size(16)));
typedef int64_t mask_halves __attribute__((vector_size(16)));

struct vec3 {
    lanes x, y, z;
};

static inline lanes lanes_all(float v)
{
    return (lanes){v, v, v, v};
}

static inline bool mask_any(mask m)
{
    mask_halves h = (mask_halves)m;
    return (h[0] | h[1]) != 0;
}

static inline lanes lanes_select(mask m, lanes yes, lanes no)
{
    return (lanes)((m & (mask)yes) | (~m & (mask)no));
}

static inline lanes lanes_min(lanes a, lanes b)
{
#if defined __SSE2__
    return (lanes)_mm_min_ps((__m128)a, (__m128)b);
#else
    return lanes_select(a < b, a, b);
#endif
}

static inline lanes lanes_max(lanes a, lanes b)
{
#if defined __SSE2__
    return (lanes)_mm_max_ps((__m128)a, (__m128)b);
#else
    return lanes_select(a > b, a, b);
#endif
}

static inline lanes lanes_sqrt(lanes a)
{
#if defined __SSE2__
    return (lanes)_mm_sqrt_ps((__m128)a);
#else
    return (lanes){sqrtf(a[0]), sqrtf(a[1]), sqrtf(a[2]), sqrtf(a[3])};
#endif
}

static inline lanes lanes_abs(lanes a)
{
    return (lanes)((mask)a & 0x7fffffff);
}

static inline lanes lanes_clamp(lanes a, float lo, float hi)
{
    return lanes_min(lanes_max(a, lanes_all(lo)), lanes_all(hi));
}

static inline lanes lanes_floor(lanes a)
{
    lanes whole = __builtin_convertvector(__builtin_convertvector(a, mask), lanes);
    return whole - lanes_select(whole > a, lanes_all(1.0f), lanes_all(0.0f));
}

static inline lanes lanes_mix(lanes a, lanes b, lanes t)
{
    return a + (b - a) * t;
}

/* 0 at lo, 1 at hi, a smooth S between; lo may be the larger one. */
static inline lanes lanes_smoothstep(float lo, float hi, lanes a)
{
    lanes t = lanes_clamp((a - lo) * (1.0f / (hi - lo)), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

/* Natural logarithm of positive normal numbers to four digits: exponent from the bits,
 * mantissa by the series of atanh, whose argument is at most 1/3. */
static inline lanes lanes_log(lanes a)
{
    mask bits = (mask)a;
    lanes exponent = __builtin_convertvector((bits >> 23) - 127, lanes);
    lanes m = (lanes)((bits & 0x007fffff) | 0x3f800000);
    lanes s = (m - 1.0f) / (m + 1.0f), s2 = s * s;
    return exponent * 0.69314718f + 2.0f * s * (1.0f + s2 * (1.0f / 3.0f + s2 * 0.2f));
}

static inline lanes lanes_exp(lanes a)
{
    return (lanes){expf(a[0]), expf(a[1]), expf(a[2]), expf(a[3])};
}

static inline lanes lanes_pow(lanes a, float e)
{
    return (lanes){powf(a[0], e), powf(a[1], e), powf(a[2], e), powf(a[3], e)};
}

static inline struct vec3 vec3_all(float x, float y, float z)
{
    return (struct vec3){lanes_all(x), lanes_all(y), lanes_all(z)};
}

static inline struct vec3 vec3_add(struct vec3 a, struct vec3 b)
{
    return (struct vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline struct vec3 vec3_scale(struct vec3 a, lanes s)
{
    return (struct vec3){a.x * s, a.y * s, a.z * s};
}

static inline struct vec3 vec3_times(struct vec3 a, struct vec3 b)
{
    return (struct vec3){a.x * b.x, a.y * b.y, a.z * b.z};
}

static inline struct vec3 vec3_along(struct vec3 origin, struct vec3 direction, lanes t)
{
    return vec3_add(origin, vec3_scale(direction, t));
}

static inline lanes vec3_dot(struct vec3 a, struct vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline struct vec3 vec3_normalize(struct vec3 a)
{
    return vec3_scale(a, 1.0f / lanes_sqrt(vec3_dot(a, a)));
}

static inline struct vec3 vec3_select(mask m, struct vec3 yes, struct vec3 no)
{
    return (struct vec3){lanes_select(m, yes.x, no.x), lanes_select(m, yes.y, no.y),
                         lanes_select(m, yes.z, no.z)};
}

static inline struct vec3 vec3_mix(struct vec3 a, struct vec3 b, lanes t)
{
    return (struct vec3){lanes_mix(a.x, b.x, t), lanes_mix(a.y, b.y, t), lanes_mix(a.z, b.z, t)};
}

#endif
