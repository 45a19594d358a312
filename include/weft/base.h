/* SPDX-License-Identifier: MIT */
/* weft/base.h: what all headers of weft are written with. Part of weft.h. */
#ifndef WEFT_BASE_H
#define WEFT_BASE_H

#if !defined __linux__ || !defined __LP64__
#error "weft needs Linux on a 64-bit processor"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined __GNUC__
#define WEFT_API __attribute__((visibility("default")))
#define WEFT_MUST_USE __attribute__((warn_unused_result)) /* to ignore the result is a mistake */
#define WEFT_INLINE_ inline
#else
#define WEFT_API
#define WEFT_MUST_USE
#define WEFT_INLINE_
#endif

#ifdef __cplusplus
#define WEFT_ALIGNAS(n) alignas(n)
#elif !defined __STDC_VERSION__ || __STDC_VERSION__ < 201112L /* C99 */
#define WEFT_ALIGNAS(n) __attribute__((aligned(n)))
#else
#define WEFT_ALIGNAS(n) _Alignas(n)
#endif

#if defined __cplusplus && defined __cpp_exceptions
#define WEFT_THROWS_ /* functions may be left by an exception */
#define WEFT_SETTING_
#elif defined __cplusplus
#define WEFT_SETTING_ __attribute__((abi_tag("no_exceptions"))) /* see cxx/names.hpp */
#endif

/* Fork misuse is checked where this is 1: in unoptimised builds of the program that
 * includes this header, or wherever it is defined so on the compiler's command line. */
#ifndef WEFT_DEBUG
#if defined NDEBUG || defined __OPTIMIZE__
#define WEFT_DEBUG 0
#else
#define WEFT_DEBUG 1
#endif
#endif

/* None, or any; in configurations, where zero means the default, and in infos. */
#define WEFT_NONE (-1)

/* A time that never comes: a wait until then has no limit, and ends early only if its computation
 * is cancelled; see weft(3). */
#define WEFT_FOREVER UINT64_MAX

/* Configurations and infos begin with their size, so that the library can tell those of another
 * release. Each has a macro that sets it. */
#ifdef __cplusplus
template <typename type> static inline type weft_sized_()
{
    type sized = type();
    sized.size = sizeof sized;
    return sized;
}
#define WEFT_SIZED_(type) weft_sized_<type>()
#else
/* clang-format off */
#define WEFT_SIZED_(type) {.size = sizeof(type)}
/* clang-format on */
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft weft; /* the context: passed along, never stored */
typedef struct weft_pool weft_pool;
typedef void weft_fn(weft *w, void *arg);

#ifdef __cplusplus
}
#endif

#endif
