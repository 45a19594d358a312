/* SPDX-License-Identifier: MIT */
/* weft/parallel.h: loops, reductions and what is made of them.
 *
 * Everything here splits by itself. A loop runs on the thread that calls it, stretch by
 * stretch, and an idle worker takes half of the rest; the length of a stretch is learnt
 * from the clock. So there is no grain to choose, and a short loop costs a few nanoseconds
 * more than a plain one. Functions get ranges where that lets the compiler make a fast loop.
 *
 * All of it runs in a job. Once the computation has failed or was cancelled (weft_fail), calls that
 * have not started never do, and results are not complete. Functions that run at the same time
 * must not write what others use.
 *
 * The order of arguments is the same everywhere, also in weft/sort.h, lines.h, ordmap.h and
 * pipeline.h: `w`; what is read; how many; the size of one; other inputs; the function; its `arg`;
 * and the result last, followed by its own size or length, if it has one. A function of the caller
 * gets `w` first, then what it reads, what it writes, and `arg` last. A comparison gets no `w`: it
 * is that of qsort_r().
 *
 * If there is no memory, the computation fails with -ENOMEM, as by weft_fail(), and results are not
 * complete. Only functions that return an int return -ENOMEM instead: they make nothing, and the
 * computation goes on. If a failure should end one call only, make that call in a scope:
 *
 *     weft_scope_open(w, &scope);
 *     weft_reduce(w, 0, n, &reducer, arg, &result);
 *     int error = weft_scope_close(w, &scope);
 */
#ifndef WEFT_PARALLEL_H
#define WEFT_PARALLEL_H

#include "../weft.h"
#include "define.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Loops ------------------------------------------------------------------- */

/* The body does the elements from begin to end - 1, in any order. */
typedef void weft_range_fn(weft *w, size_t begin, size_t end, void *arg);

/* Calls body for ranges that make up [begin, end), each element in one of them. An empty
 * range is no call. `end` before `begin` is empty, too; where WEFT_DEBUG is 1, it aborts. */
WEFT_API void weft_for(weft *w, size_t begin, size_t end, weft_range_fn *body, void *arg);

/* The same with ranges of at least `min` elements, if there are so many. */
WEFT_API void weft_for_min(weft *w, size_t begin, size_t end, size_t min, weft_range_fn *body,
                           void *arg);

/* The same on at most `width` threads at a time, the caller among them, for a loop that should
 * leave the rest of the machine to others. 0: no limit. What the body itself forks is not limited.
 */
WEFT_API void weft_for_width(weft *w, size_t begin, size_t end, unsigned width, weft_range_fn *body,
                             void *arg);

/* weft_for() for a loop that is run again and again over the same range, such as a step of a
 * simulation: each thread begins with what it had the last time, which may still be in its cache.
 * Whatever a thread has not begun is taken by others who have time, so no thread waits for one that
 * is busy elsewhere. `again` starts as WEFT_AGAIN_INIT, and is used by one loop at a time; if range
 * or body change, that is no mistake. */
typedef struct weft_again {
    WEFT_ALIGNAS(8) unsigned char opaque[1048];
} weft_again;

/* clang-format off */
#define WEFT_AGAIN_INIT {{0}}
/* clang-format on */

WEFT_API void weft_for_again(weft *w, weft_again *again, size_t begin, size_t end,
                             weft_range_fn *body, void *arg);

/* A part of a plane or of space: from begin to end - 1 in each dimension. The last dimension is the
 * one whose elements are neighbours in memory. In two dimensions the third is not used. */
typedef struct weft_box {
    size_t begin[3], end[3];
} weft_box;

typedef void weft_box_fn(weft *w, const weft_box *box, void *arg);

/* Calls body for boxes that make up `box`. */
WEFT_API void weft_for_2d(weft *w, const weft_box *box, weft_box_fn *body, void *arg);
WEFT_API void weft_for_3d(weft *w, const weft_box *box, weft_box_fn *body, void *arg);

/* Calls fn for each of the n elements at base, base + stride, base + 2 * stride and so on, in
 * bytes. */
typedef void weft_element_fn(weft *w, void *element, void *arg);
WEFT_API void weft_for_each(weft *w, void *base, size_t n, ptrdiff_t stride, weft_element_fn *fn,
                            void *arg);

/* The same for an array of one type, with fn inlined: `static void name(weft *w, type *base,
 * size_t n)`, which is as fast as a plain loop. `fn` is a macro or function of a pointer to an
 * element; `type` is a name:
 *
 *     static inline void fall(struct body *body) { body->speed += 9.81 * step; }
 *     WEFT_FOR_EACH_DEFINE(all_fall, struct body, fall)
 *
 *     all_fall(w, bodies, n);
 */
#define WEFT_FOR_EACH_DEFINE(name, type, fn)                  \
    WEFT_VISITOR_(name, type, fn)                             \
    static inline void name(weft *w_, type *base_, size_t n_) \
    {                                                         \
        weft_for(w_, 0, n_, name##_range_, base_);            \
    }

/* Calls fn for each element of `in`, to make the same element of `out`. `out` may be `in` if the
 * sizes are the same. */
typedef void weft_map_fn(weft *w, const void *in, void *out, void *arg);
WEFT_API void weft_map(weft *w, const void *in, size_t n, size_t in_size, weft_map_fn *fn,
                       void *arg, void *out, size_t out_size);

/* The same for two types, with fn inlined: `static void name(weft *w, const in_type *in,
 * size_t n, out_type *out)`, which is as fast as a plain loop. `fn` is a macro or function of one
 * element; types are names:
 *
 *     static inline float half(int number) { return (float)number / 2; }
 *     WEFT_MAP_DEFINE(halves, int, half, float)
 *
 *     halves(w, in, n, out);
 */
#define WEFT_MAP_DEFINE(name, in_type, fn, out_type)                                 \
    WEFT_MAPPER_(name, in_type, fn, out_type)                                        \
    static inline void name(weft *w_, const in_type *in_, size_t n_, out_type *out_) \
    {                                                                                \
        struct name##_arrays_ arrays_ = {out_, in_};                                 \
        weft_for(w_, 0, n_, name##_range_, &arrays_);                                \
    }

/* ---- Reductions -------------------------------------------------------------- */

/* How to make one value of many. The value is collected in an accumulator of `size` bytes,
 * aligned as by malloc(). `fold` adds the elements from begin to end - 1 to it, in that order;
 * `combine` adds the accumulator of the elements to the right of it. `combine` has to be
 * associative, and the identity combined with a value must be that value.
 *
 * Accumulators that own memory, such as hash tables, have `make`, `drop` and `move`; each may be
 * NULL. An accumulator begins as a copy of the identity; then `make` is called for it, once, by the
 * thread that uses it first. It ends in one of three ways: it is `result`, which belongs to the
 * caller of the reduction; or it was the right side of `move`; or it is dropped, after it was
 * combined, or without, if it is not needed any more: because the reduction has halted, or the
 * computation has failed. `result` is always made, even if there are no elements or no memory. (If
 * an actor ends in the middle of a reduction, `result` is dropped like the others.) */
typedef struct weft_reducer {
    size_t size;
    const void *identity; /* what an accumulator begins as; NULL: zeros */
    void (*fold)(weft *w, size_t begin, size_t end, void *accumulator, void *arg);
    void (*combine)(weft *w, void *left, const void *right, void *arg);
    size_t block; /* elements in one call of fold, which is not split; 0: WEFT_REDUCE_BLOCK. If
                     an element takes more than a few nanoseconds, fewer are better, down to 1 */
    bool (*halt)(weft *w, const void *accumulator, void *arg); /* true: elements to the right of
                                                                  these don't matter. NULL: never */
    void (*make)(weft *w, void *accumulator, void *arg);
    void (*drop)(weft *w, void *accumulator, void *arg);
    /* In place of `combine`, which may be NULL then: `left` takes what `right` has. `right` is not
     * dropped afterwards, so what it still has is freed here. */
    void (*move)(weft *w, void *left, void *right, void *arg);
} weft_reducer;

#define WEFT_REDUCE_BLOCK 8192

/* Makes one value of the elements from begin to end - 1. The result is the same, bit for bit,
 * for any number of workers: blocks of fixed length are folded, each beginning with the
 * identity, and combined in a fixed order. If `halt` was true, the result has no blocks to the
 * right of that place. */
WEFT_API void weft_reduce(weft *w, size_t begin, size_t end, const weft_reducer *reducer, void *arg,
                          void *result);

/* The same, but rounding may depend on how the work was spread: `block` is not used, and there is
 * one accumulator for each part that a thread takes.
 *
 * With `make`, `drop` or `move` there is one accumulator for each thread that takes part, and
 * `result` is that of the caller's thread. What a thread collects comes from anywhere in the range:
 * so `combine` or `move` has to be commutative, too, and once `halt` is true of any accumulator, no
 * more is folded. When all is folded, the accumulators are combined by several threads; if the
 * computation has failed by then, they are dropped instead. */
WEFT_API void weft_reduce_unordered(weft *w, size_t begin, size_t end, const weft_reducer *reducer,
                                    void *arg, void *result);

/* Arrays. `result`, as it is on entry, and all elements, or what `map` makes of them, are combined
 * from left to right, as by weft_reduce(). The result has the size of an element; or `size`, if
 * they are mapped. */
typedef void weft_combine_fn(weft *w, void *left, const void *right, void *arg);

WEFT_API void weft_array_reduce(weft *w, const void *in, size_t n, size_t size,
                                weft_combine_fn *combine, void *arg, void *result);
WEFT_API void weft_map_reduce(weft *w, const void *in, size_t n, size_t in_size, weft_map_fn *map,
                              weft_combine_fn *combine, void *arg, void *result, size_t size);

/* The same until `halt` is true. It is asked about `result` as it is on entry, and about the
 * combination of some neighbouring elements; elements that follow these are not combined. NULL:
 * never. */
typedef bool weft_halt_fn(weft *w, const void *accumulator, void *arg);

WEFT_API void weft_array_reduce_until(weft *w, const void *in, size_t n, size_t size,
                                      weft_combine_fn *combine, weft_halt_fn *halt, void *arg,
                                      void *result);
WEFT_API void weft_map_reduce_until(weft *w, const void *in, size_t n, size_t in_size,
                                    weft_map_fn *map, weft_combine_fn *combine, weft_halt_fn *halt,
                                    void *arg, void *result, size_t size);

/* The same for one type, with combine inlined: `static type name(weft *w, const type *in, size_t
 * n)` is as fast as the processor's vectors, many times as fast if combine is short. Mapped:
 * `static type name(weft *w, const in_type *in, size_t n)`. `combine` is a macro or function of two
 * values, `map` of one element, and the types are names:
 *
 *     static inline float add(float a, float b) { return a + b; }
 *     static inline float square(float x) { return x * x; }
 *     WEFT_REDUCE_DEFINE(sum, float, add, 0)
 *     WEFT_MAP_REDUCE_DEFINE(sum_of_squares, float, square, float, add, 0)
 *
 *     float mean = sum(w, in, n) / (float)n;
 *
 * `combine` has to be associative, except for rounding, and the order of its two values must not
 * matter: neighbouring elements are combined side by side. The result of none is `identity`. The
 * result is the same, bit for bit, for any number of workers and however it is compiled, as long as
 * the compiler keeps to the arithmetic that is written (no -ffast-math; and no -ffp-contract, where
 * map multiplies and combine adds).
 *
 * A block of 64 KB of values is not split; if an element takes more than some 10 ns, call
 * weft_map_reduce() instead. */
#define WEFT_REDUCE_DEFINE(name, type, combine, identity) \
    WEFT_MAP_REDUCE_DEFINE(name, type, WEFT_SAME_, type, combine, identity)

#define WEFT_MAP_REDUCE_DEFINE(name, in_type, map, type, combine, identity) \
    WEFT_REDUCER_(name, in_type, map, type, combine)                        \
    static inline type name(weft *w_, const in_type *in_, size_t n_)        \
    {                                                                       \
        const type identity_ = identity;                                    \
        const weft_reducer reducer_ = {sizeof(type),                        \
                                       &identity_,                          \
                                       name##_fold_,                        \
                                       name##_combine_,                     \
                                       WEFT_BLOCK_(sizeof(type)),           \
                                       NULL,                                \
                                       NULL,                                \
                                       NULL,                                \
                                       NULL};                               \
        struct name##_array_ array_ = {in_};                                \
        type result_;                                                       \
        weft_reduce(w_, 0, n_, &reducer_, &array_, &result_);               \
        return result_;                                                     \
    }

/* Numbers. weft_sum_T, _min_T, _max_T and _count_T for T i8, u8, i16, u16, i32, u32, i64, u64,
 * f32 and f64. The sum of integers has 64 bits and wraps around; that of f32 and f64 is an f64,
 * the same for any number of workers. The minimum of no numbers is the largest number of the type,
 * the maximum of none the smallest; both ignore NaNs. `count` is how many are equal to `value`. */
WEFT_API int64_t weft_sum_i8(weft *w, const int8_t *numbers, size_t n);
WEFT_API uint64_t weft_sum_u8(weft *w, const uint8_t *numbers, size_t n);
WEFT_API int64_t weft_sum_i16(weft *w, const int16_t *numbers, size_t n);
WEFT_API uint64_t weft_sum_u16(weft *w, const uint16_t *numbers, size_t n);
WEFT_API int64_t weft_sum_i32(weft *w, const int32_t *numbers, size_t n);
WEFT_API uint64_t weft_sum_u32(weft *w, const uint32_t *numbers, size_t n);
WEFT_API int64_t weft_sum_i64(weft *w, const int64_t *numbers, size_t n);
WEFT_API uint64_t weft_sum_u64(weft *w, const uint64_t *numbers, size_t n);
WEFT_API double weft_sum_f32(weft *w, const float *numbers, size_t n);
WEFT_API double weft_sum_f64(weft *w, const double *numbers, size_t n);

WEFT_API int8_t weft_min_i8(weft *w, const int8_t *numbers, size_t n);
WEFT_API uint8_t weft_min_u8(weft *w, const uint8_t *numbers, size_t n);
WEFT_API int16_t weft_min_i16(weft *w, const int16_t *numbers, size_t n);
WEFT_API uint16_t weft_min_u16(weft *w, const uint16_t *numbers, size_t n);
WEFT_API int32_t weft_min_i32(weft *w, const int32_t *numbers, size_t n);
WEFT_API uint32_t weft_min_u32(weft *w, const uint32_t *numbers, size_t n);
WEFT_API int64_t weft_min_i64(weft *w, const int64_t *numbers, size_t n);
WEFT_API uint64_t weft_min_u64(weft *w, const uint64_t *numbers, size_t n);
WEFT_API float weft_min_f32(weft *w, const float *numbers, size_t n);
WEFT_API double weft_min_f64(weft *w, const double *numbers, size_t n);

WEFT_API int8_t weft_max_i8(weft *w, const int8_t *numbers, size_t n);
WEFT_API uint8_t weft_max_u8(weft *w, const uint8_t *numbers, size_t n);
WEFT_API int16_t weft_max_i16(weft *w, const int16_t *numbers, size_t n);
WEFT_API uint16_t weft_max_u16(weft *w, const uint16_t *numbers, size_t n);
WEFT_API int32_t weft_max_i32(weft *w, const int32_t *numbers, size_t n);
WEFT_API uint32_t weft_max_u32(weft *w, const uint32_t *numbers, size_t n);
WEFT_API int64_t weft_max_i64(weft *w, const int64_t *numbers, size_t n);
WEFT_API uint64_t weft_max_u64(weft *w, const uint64_t *numbers, size_t n);
WEFT_API float weft_max_f32(weft *w, const float *numbers, size_t n);
WEFT_API double weft_max_f64(weft *w, const double *numbers, size_t n);

WEFT_API size_t weft_count_i8(weft *w, const int8_t *numbers, size_t n, int8_t value);
WEFT_API size_t weft_count_u8(weft *w, const uint8_t *numbers, size_t n, uint8_t value);
WEFT_API size_t weft_count_i16(weft *w, const int16_t *numbers, size_t n, int16_t value);
WEFT_API size_t weft_count_u16(weft *w, const uint16_t *numbers, size_t n, uint16_t value);
WEFT_API size_t weft_count_i32(weft *w, const int32_t *numbers, size_t n, int32_t value);
WEFT_API size_t weft_count_u32(weft *w, const uint32_t *numbers, size_t n, uint32_t value);
WEFT_API size_t weft_count_i64(weft *w, const int64_t *numbers, size_t n, int64_t value);
WEFT_API size_t weft_count_u64(weft *w, const uint64_t *numbers, size_t n, uint64_t value);
WEFT_API size_t weft_count_f32(weft *w, const float *numbers, size_t n, float value);
WEFT_API size_t weft_count_f64(weft *w, const double *numbers, size_t n, double value);

/* ---- Searching --------------------------------------------------------------- */

/* Returns a place in [begin, end) where the thing is, or `end` if there is none: the last place for
 * weft_find_last(), otherwise the first. */
typedef size_t weft_find_fn(weft *w, size_t begin, size_t end, void *arg);

/* The first place, the last, or any; `end`: there is none. Once a place is found, ranges that can't
 * matter any more are not searched. */
WEFT_API size_t weft_find_first(weft *w, size_t begin, size_t end, weft_find_fn *find, void *arg);
WEFT_API size_t weft_find_last(weft *w, size_t begin, size_t end, weft_find_fn *find, void *arg);
WEFT_API size_t weft_find_any(weft *w, size_t begin, size_t end, weft_find_fn *find, void *arg);

/* The first element of an array for which `test`, a macro or function of an element and of a value
 * to compare it with, is true: `static size_t name(weft *w, const type *in, size_t n, arg_type
 * arg)` returns its place, or n:
 *
 *     static inline bool is_later(struct event event, long when) { return event.when > when; }
 *     WEFT_FIND_DEFINE(first_later, struct event, is_later, long)
 *
 *     size_t next = first_later(w, events, n, now);
 */
#define WEFT_FIND_DEFINE(name, type, test, arg_type)                               \
    WEFT_FINDER_(name, type, test, arg_type)                                       \
    static inline size_t name(weft *w_, const type *in_, size_t n_, arg_type arg_) \
    {                                                                              \
        struct name##_search_ search_ = {in_, arg_};                               \
        return weft_find_first(w_, 0, n_, name##_range_, &search_);                \
    }

/* Is `test` true of any of the ranges that make up [begin, end); of all of them? */
typedef bool weft_test_fn(weft *w, size_t begin, size_t end, void *arg);
WEFT_API bool weft_any(weft *w, size_t begin, size_t end, weft_test_fn *test, void *arg);
WEFT_API bool weft_all(weft *w, size_t begin, size_t end, weft_test_fn *test, void *arg);

/* The sum of what `count` returns for these ranges. */
typedef size_t weft_count_fn(weft *w, size_t begin, size_t end, void *arg);
WEFT_API size_t weft_count(weft *w, size_t begin, size_t end, weft_count_fn *count, void *arg);

/* ---- Arrays ------------------------------------------------------------------ */

/* Arrays have n elements of `size` bytes. `out` may be `in`, but must not overlap it otherwise. */

/* Element i of `out` is the combination of the elements 0 to i of `in`. Exclusive: of the identity
 * and the elements 0 to i - 1; and `total`, if not NULL, is the combination of all. combine has to
 * be associative; if it rounds, the result depends on how the work was spread. */
WEFT_API void weft_scan_inclusive(weft *w, const void *in, size_t n, size_t size,
                                  weft_combine_fn *combine, void *arg, void *out);
WEFT_API void weft_scan_exclusive(weft *w, const void *in, size_t n, size_t size,
                                  const void *identity, weft_combine_fn *combine, void *arg,
                                  void *out, void *total);

/* The same for one type, with combine inlined: `static void name(weft *w, const type *in,
 * size_t n, type *out)` is an inclusive scan, several times as fast if combine is short.
 * `combine` is a macro or function of two elements; `type` a name:
 *
 *     static inline long add(long a, long b) { return a + b; }
 *     WEFT_SCAN_DEFINE(sums, long, add)
 *
 *     sums(w, in, n, out);
 */
#define WEFT_SCAN_DEFINE(name, type, combine)                                              \
    WEFT_SCANNER_(name, type, combine)                                                     \
    static inline void name(weft *w_, const type *in_, size_t n_, type *out_)              \
    {                                                                                      \
        static const weft_scanner_ scanner_ = {sizeof(type), name##_scan_, name##_repair_, \
                                               name##_combine_};                           \
        struct name##_arrays_ arrays_ = {out_, in_};                                       \
        weft_scan_by_(w_, n_, &scanner_, &arrays_);                                        \
    }

/* The exclusive scan: `static void name(weft *w, const type *in, size_t n, type *out, type
 * *total)`. `identity` is an expression. */
#define WEFT_SCAN_EXCLUSIVE_DEFINE(name, type, identity, combine)                           \
    WEFT_SCANNER_EXCLUSIVE_(name, type, combine)                                            \
    static inline void name(weft *w_, const type *in_, size_t n_, type *out_, type *total_) \
    {                                                                                       \
        static const weft_scanner_ scanner_ = {sizeof(type), name##_scan_, name##_repair_,  \
                                               name##_combine_};                            \
        const type first_ = identity;                                                       \
        struct name##_arrays_ arrays_ = {out_, in_};                                        \
        weft_scan_exclusive_by_(w_, n_, &scanner_, &first_, &arrays_, total_);              \
    }

/* Copies elements in their order to `out`, which has room for n, and returns how many: elements
 * for which `keep` is true; whose flag is set; that are not equal to the element before. The rest
 * of `out` is undefined. */
typedef bool weft_keep_fn(weft *w, const void *element, void *arg);
typedef bool weft_equal_fn(weft *w, const void *a, const void *b, void *arg);
WEFT_API size_t weft_filter(weft *w, const void *in, size_t n, size_t size, weft_keep_fn *keep,
                            void *arg, void *out);
WEFT_API size_t weft_pack(weft *w, const void *in, size_t n, size_t size, const bool *flags,
                          void *out);
WEFT_API size_t weft_unique(weft *w, const void *in, size_t n, size_t size, weft_equal_fn *equal,
                            void *arg, void *out);

/* `static size_t name(weft *w, const type *in, size_t n, type *out)`, as WEFT_SCAN_DEFINE:
 * weft_filter() with `keep`, a macro or function of one element. */
#define WEFT_FILTER_DEFINE(name, type, keep)                                        \
    WEFT_SIFTER_(name, type, keep)                                                  \
    static inline size_t name(weft *w_, const type *in_, size_t n_, type *out_)     \
    {                                                                               \
        struct name##_arrays_ arrays_ = {out_, in_};                                \
        return weft_filter_by_(w_, n_, sizeof(type), name##_sift_, &arrays_, out_); \
    }

/* weft_unique() with `equal`, a macro or function of two elements. */
#define WEFT_UNIQUE_DEFINE(name, type, equal)                                       \
    WEFT_UNIQUER_(name, type, equal)                                                \
    static inline size_t name(weft *w_, const type *in_, size_t n_, type *out_)     \
    {                                                                               \
        struct name##_arrays_ arrays_ = {out_, in_};                                \
        return weft_filter_by_(w_, n_, sizeof(type), name##_sift_, &arrays_, out_); \
    }

/* The same with two results: the elements that are kept in `yes`, the others in `no`. One of these
 * arrays may be `in`. Returns how many are in `yes`. */
WEFT_API size_t weft_partition(weft *w, const void *in, size_t n, size_t size, weft_keep_fn *keep,
                               void *arg, void *yes, void *no);

/* `static size_t name(weft *w, const type *in, size_t n, type *yes, type *no)`. */
#define WEFT_PARTITION_DEFINE(name, type, keep)                                             \
    WEFT_PARTER_(name, type, keep)                                                          \
    static inline size_t name(weft *w_, const type *in_, size_t n_, type *yes_, type *no_)  \
    {                                                                                       \
        struct name##_arrays_ arrays_ = {yes_, no_, in_};                                   \
        return weft_partition_by_(w_, n_, sizeof(type), name##_part_, &arrays_, yes_, no_); \
    }

/* Negative, zero or positive if a comes before b, is equal, or comes after it. It gets no context:
 * what qsort_r() takes can be used here. */
typedef int weft_compare_fn(const void *a, const void *b, void *arg);

/* Merges two sorted arrays; of equal elements those of a come first. `out` overlaps neither. */
WEFT_API void weft_merge_sorted(weft *w, const void *a, size_t a_n, const void *b, size_t b_n,
                                size_t size, weft_compare_fn *compare, void *arg, void *out);

/* `static void name(weft *w, const type *a, size_t a_n, const type *b, size_t b_n, type *out)`.
 * `less` is a macro or function of two elements: true if the first comes before the second. */
#define WEFT_MERGE_SORTED_DEFINE(name, type, less)                                              \
    WEFT_MERGER_(name, type, less)                                                              \
    static inline void name(weft *w_, const type *a_, size_t a_n_, const type *b_, size_t b_n_, \
                            type *out_)                                                         \
    {                                                                                           \
        weft_merge_sorted_by_(w_, a_, a_n_, b_, b_n_, &name##_merger_, (void *)0, out_);        \
    }

/* counts[k] is how many elements there are for which `bin` is k, for k below `bins`. */
typedef size_t weft_bin_fn(weft *w, const void *element, void *arg);
WEFT_API void weft_histogram(weft *w, const void *in, size_t n, size_t size, weft_bin_fn *bin,
                             void *arg, size_t *counts, size_t bins);

/* `static void name(weft *w, const type *in, size_t n, size_t *counts, size_t bins)`. `bin` is a
 * macro or function of one element. */
#define WEFT_HISTOGRAM_DEFINE(name, type, bin)                                                   \
    WEFT_TALLIER_(name, type, bin)                                                               \
    static inline void name(weft *w_, const type *in_, size_t n_, size_t *counts_, size_t bins_) \
    {                                                                                            \
        weft_histogram_by_(w_, in_, n_, name##_tally_, counts_, bins_);                          \
    }

/* ---- State ------------------------------------------------------------------- */

/* What a body has for itself on each thread that takes part: `size` bytes of zeros. `make` is
 * called once for each state, before its first use; `drop` for one state after the other, by the
 * caller of the loop, when the loop is over, also if the computation has failed. Both may be NULL.
 * No two calls use a state at the same time: if a body waits, and its thread runs another part of
 * the loop meanwhile, that part has a state of its own. */
typedef struct weft_state {
    size_t size;
    void (*make)(weft *w, void *state, void *arg);
    void (*drop)(weft *w, void *state, void *arg);
} weft_state;

typedef void weft_state_fn(weft *w, size_t begin, size_t end, void *state, void *arg);

/* weft_for() with a state. */
WEFT_API void weft_for_with(weft *w, size_t begin, size_t end, const weft_state *state,
                            weft_state_fn *body, void *arg);

/* weft_for_2d(), weft_for_3d() and weft_for_each() with a state; weft/lines.h has
 * weft_for_lines_with(). */
typedef void weft_box_state_fn(weft *w, const weft_box *box, void *state, void *arg);
typedef void weft_element_state_fn(weft *w, void *element, void *state, void *arg);
WEFT_API void weft_for_2d_with(weft *w, const weft_box *box, const weft_state *state,
                               weft_box_state_fn *body, void *arg);
WEFT_API void weft_for_3d_with(weft *w, const weft_box *box, const weft_state *state,
                               weft_box_state_fn *body, void *arg);
WEFT_API void weft_for_each_with(weft *w, void *base, size_t n, ptrdiff_t stride,
                                 const weft_state *state, weft_element_state_fn *fn, void *arg);

/* Programs must not use what follows. */
WEFT_API void weft_for_checked_(weft *w, size_t begin, size_t end, weft_range_fn *body, void *arg,
                                const char *where);

#ifdef __cplusplus
}
#endif

#if WEFT_DEBUG
#define weft_for(...) weft_for_checked_(__VA_ARGS__, WEFT_WHERE_)
#endif

#endif
