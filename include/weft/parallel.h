/* SPDX-License-Identifier: MIT */
/* weft/parallel.h: loops, reductions and what is made of them.
 *
 * Everything here splits by itself. A loop runs on the thread that calls it, stretch by
 * stretch, and whoever is idle takes half of what is left; how long a stretch is, is learnt
 * from the clock. So there is no grain to choose, and a short loop costs a few nanoseconds
 * more than a plain one. Functions get ranges wherever that lets the compiler make a fast loop
 * of them.
 *
 * All of it runs in a job. Once the computation has failed or was cancelled (weft_fail), what
 * has not started never does, and results are not complete. Functions that run at the same time
 * must not write what others use.
 *
 * The order of arguments is the same everywhere, also in weft/sort.h, lines.h, ordmap.h and
 * pipeline.h: `w`; what is read; how many; the size of one; what else there is to know; the
 * function; its `arg`; and the result last, followed by its own size or length, if it has one. A
 * function of the caller's gets `w` first, then what it reads, what it writes, and `arg` last. A
 * comparison gets no `w`: it is that of qsort_r().
 *
 * No memory: the computation fails with -ENOMEM, as by weft_fail(), and results are not complete.
 * Only functions that return an int return -ENOMEM instead: what they make is not there then, and
 * the computation goes on. Where a failure should end one call only, that call is made in a scope:
 *
 *     weft_scope_open(w, &scope);
 *     weft_reduce(w, 0, n, &reducer, arg, &result);
 *     int error = weft_scope_close(w, &scope);
 */
#ifndef WEFT_PARALLEL_H
#define WEFT_PARALLEL_H

#include "../weft.h"

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

/* A part of a plane or of space: from begin to end - 1 in each dimension, the one that lies
 * closest together in memory last. In two dimensions the third is not used. */
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

/* Calls fn for each element of `in` and the one of `out` that is made of it. `out` may be `in`
 * if the sizes are the same. */
typedef void weft_map_fn(weft *w, const void *in, void *out, void *arg);
WEFT_API void weft_map(weft *w, const void *in, size_t n, size_t in_size, weft_map_fn *fn,
                       void *arg, void *out, size_t out_size);

/* The same for two types, with what is done inlined: `static void name(weft *w, const in_type *in,
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
 * `combine` adds what was collected to the right of it. That has to be associative, and to
 * begin with the identity must change nothing. */
typedef struct weft_reducer {
    size_t size;
    const void *identity; /* what an accumulator begins as; NULL: zeros */
    void (*fold)(weft *w, size_t begin, size_t end, void *accumulator, void *arg);
    void (*combine)(weft *w, void *left, const void *right, void *arg);
    size_t block; /* elements in one call of fold, which is not split; 0: WEFT_REDUCE_BLOCK. If
                     one takes more than a few nanoseconds, fewer are better, down to 1 */
    bool (*halt)(weft *w, const void *accumulator, void *arg); /* true: nothing to the right of
                                                                  this matters. NULL: all does */
} weft_reducer;

#define WEFT_REDUCE_BLOCK 8192

/* The elements from begin to end - 1, made one value. The result is the same, bit for bit,
 * for any number of workers: blocks of fixed length are folded, each beginning with the
 * identity, and combined in a fixed order. Where `halt` said true, the blocks to the left of
 * that are in the result, and none to the right. */
WEFT_API void weft_reduce(weft *w, size_t begin, size_t end, const weft_reducer *reducer, void *arg,
                          void *result);

/* The same, where rounding may depend on who did what: elements are folded as they come, `block`
 * says nothing, and there is one accumulator for each part that somebody takes. */
WEFT_API void weft_reduce_unordered(weft *w, size_t begin, size_t end, const weft_reducer *reducer,
                                    void *arg, void *result);

/* Arrays. `result` is, on entry, what comes before the first element; it, and all elements, or
 * what `map` makes of them, are combined from left to right, as by weft_reduce(). The result has
 * the elements' size; or `size`, if they are mapped. */
typedef void weft_combine_fn(weft *w, void *left, const void *right, void *arg);

WEFT_API void weft_array_reduce(weft *w, const void *in, size_t n, size_t size,
                                weft_combine_fn *combine, void *arg, void *result);
WEFT_API void weft_map_reduce(weft *w, const void *in, size_t n, size_t in_size, weft_map_fn *map,
                              weft_combine_fn *combine, void *arg, void *result, size_t size);

/* The same until `halt` is true: it is asked about `result` as it is on entry, and about the
 * combination of some neighbouring elements, and what follows these is left out. NULL: never. */
typedef bool weft_halt_fn(weft *w, const void *accumulator, void *arg);

WEFT_API void weft_array_reduce_until(weft *w, const void *in, size_t n, size_t size,
                                      weft_combine_fn *combine, weft_halt_fn *halt, void *arg,
                                      void *result);
WEFT_API void weft_map_reduce_until(weft *w, const void *in, size_t n, size_t in_size,
                                    weft_map_fn *map, weft_combine_fn *combine, weft_halt_fn *halt,
                                    void *arg, void *result, size_t size);

/* Numbers. weft_sum_T, _min_T, _max_T and _count_T for T i8, u8, i16, u16, i32, u32, i64, u64,
 * f32 and f64. The sum of integers has 64 bits and wraps around; that of f32 and f64 is an f64,
 * the same for any number of workers. The smallest of no numbers is the largest there is, and
 * the other way round; NaNs are left out of both. `count` says how many are equal to `value`. */
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

/* Where in [begin, end) what is looked for is, or `end` if it is not there. For weft_find_last
 * the last place, otherwise the first one. */
typedef size_t weft_find_fn(weft *w, size_t begin, size_t end, void *arg);

/* The first place, the last one, or any; `end`: there is none. As soon as one is found, what
 * can't matter any more is left out. */
WEFT_API size_t weft_find_first(weft *w, size_t begin, size_t end, weft_find_fn *find, void *arg);
WEFT_API size_t weft_find_last(weft *w, size_t begin, size_t end, weft_find_fn *find, void *arg);
WEFT_API size_t weft_find_any(weft *w, size_t begin, size_t end, weft_find_fn *find, void *arg);

/* Is `test` true of any of the ranges that make up [begin, end); of all of them? */
typedef bool weft_test_fn(weft *w, size_t begin, size_t end, void *arg);
WEFT_API bool weft_any(weft *w, size_t begin, size_t end, weft_test_fn *test, void *arg);
WEFT_API bool weft_all(weft *w, size_t begin, size_t end, weft_test_fn *test, void *arg);

/* The sum of what `count` says of these ranges. */
typedef size_t weft_count_fn(weft *w, size_t begin, size_t end, void *arg);
WEFT_API size_t weft_count(weft *w, size_t begin, size_t end, weft_count_fn *count, void *arg);

/* ---- Arrays ------------------------------------------------------------------ */

/* Arrays have n elements of `size` bytes. `out` may be `in`, but must not overlap it otherwise. */

/* Each element of `out` is all elements of `in` up to that one, combined; exclusive: without
 * that one, beginning with the identity, and `total`, if not NULL, is all of them. combine has
 * to be associative; where it rounds, the result depends on who did what. */
WEFT_API void weft_scan_inclusive(weft *w, const void *in, size_t n, size_t size,
                                  weft_combine_fn *combine, void *arg, void *out);
WEFT_API void weft_scan_exclusive(weft *w, const void *in, size_t n, size_t size,
                                  const void *identity, weft_combine_fn *combine, void *arg,
                                  void *out, void *total);

/* The same for one type, with what is done inlined: `static void name(weft *w, const type *in,
 * size_t n, type *out)` is an inclusive scan, several times as fast where that is little.
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

/* Copies elements in their order to `out`, which has room for n, and returns how many: those
 * for which `keep` is true; for which the flag is set; which are not equal to the one before
 * them. Behind them `out` is not defined. */
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

/* The same for those that are kept, in `yes`, and those that are not, in `no`. One of these may
 * be `in`. Returns how many are in `yes`. */
WEFT_API size_t weft_partition(weft *w, const void *in, size_t n, size_t size, weft_keep_fn *keep,
                               void *arg, void *yes, void *no);

/* Negative, zero or positive if a comes before b, is as good, or comes after it. Without a
 * context: what qsort_r() takes can be used here. */
typedef int weft_compare_fn(const void *a, const void *b, void *arg);

/* Two sorted arrays, merged; of equal elements those of a come first. `out` is neither of them. */
WEFT_API void weft_merge_sorted(weft *w, const void *a, size_t a_n, const void *b, size_t b_n,
                                size_t size, weft_compare_fn *compare, void *arg, void *out);

/* counts[k] is how many elements there are for which `bin` is k, for k below `bins`. */
typedef size_t weft_bin_fn(weft *w, const void *element, void *arg);
WEFT_API void weft_histogram(weft *w, const void *in, size_t n, size_t size, weft_bin_fn *bin,
                             void *arg, size_t *counts, size_t bins);

/* ---- State ------------------------------------------------------------------- */

/* What a body has for itself on each worker that takes part: `size` bytes, zeros at first, then
 * made once, and dropped by the caller of the loop, one after the other, when the loop is over.
 * Both may be NULL. */
typedef struct weft_state {
    size_t size;
    void (*make)(weft *w, void *state, void *arg);
    void (*drop)(weft *w, void *state, void *arg);
} weft_state;

typedef void weft_state_fn(weft *w, size_t begin, size_t end, void *state, void *arg);

/* weft_for() with it. */
WEFT_API void weft_for_with(weft *w, size_t begin, size_t end, const weft_state *state,
                            weft_state_fn *body, void *arg);

/* ---- What follows is the library's business ---------------------------------- */

/* The loops of a scan. `carry` is what came before `begin`, if anything, and then what came
 * before `end`. */
typedef struct weft_scanner_ {
    size_t size; /* of the carry */
    void (*scan)(weft *w, size_t begin, size_t end, void *carry, bool has_carry, void *arg);
    void (*repair)(weft *w, size_t begin, size_t end, const void *before, void *arg);
    weft_combine_fn *combine;
} weft_scanner_;

WEFT_API void weft_scan_by_(weft *w, size_t n, const weft_scanner_ *scanner, void *arg);

/* Copies those of the elements that are kept to `out`, from `to` on, and says how many. */
typedef size_t weft_sift_fn_(size_t begin, size_t end, size_t to, void *arg);
WEFT_API size_t weft_filter_by_(weft *w, size_t n, size_t size, weft_sift_fn_ *sift, void *arg,
                                void *out);

/* In place is a loop of its own: to compilers that is an overlap like any other, where some go on
 * element by element. */
#define WEFT_MAPPER_(name, in_type, fn, out_type)                               \
    struct name##_arrays_ {                                                     \
        out_type *out_;                                                         \
        const in_type *in_;                                                     \
    };                                                                          \
    static void name##_range_(weft *w_, size_t begin_, size_t end_, void *arg_) \
    {                                                                           \
        const struct name##_arrays_ a_ = *(const struct name##_arrays_ *)arg_;  \
        const in_type *same_ = (const in_type *)(const void *)a_.out_;          \
        (void)w_;                                                               \
        if (same_ == a_.in_)                                                    \
            for (size_t i_ = begin_; i_ < end_; i_++)                           \
                a_.out_[i_] = fn(same_[i_]);                                    \
        else                                                                    \
            for (size_t i_ = begin_; i_ < end_; i_++)                           \
                a_.out_[i_] = fn(a_.in_[i_]);                                   \
    }

/* Else what these loops take depends on how they happen to lie in cache lines. */
#if defined __GNUC__
#define WEFT_UNROLL_ _Pragma("GCC unroll 4")
#else
#define WEFT_UNROLL_
#endif

#define WEFT_SCANNER_(name, type, combine)                                                        \
    struct name##_arrays_ {                                                                       \
        type *out_;                                                                               \
        const type *in_;                                                                          \
    };                                                                                            \
    static void name##_scan_(weft *w_, size_t begin_, size_t end_, void *carry_, bool has_carry_, \
                             void *arg_)                                                          \
    {                                                                                             \
        const struct name##_arrays_ a_ = *(const struct name##_arrays_ *)arg_;                    \
        type all_ = a_.in_[begin_];                                                               \
        (void)w_;                                                                                 \
        if (has_carry_)                                                                           \
            all_ = combine(*(const type *)carry_, all_);                                          \
        a_.out_[begin_] = all_;                                                                   \
        WEFT_UNROLL_ for (size_t i_ = begin_ + 1; i_ < end_; i_++) a_.out_[i_] = all_ =           \
            combine(all_, a_.in_[i_]);                                                            \
        *(type *)carry_ = all_;                                                                   \
    }                                                                                             \
    static void name##_repair_(weft *w_, size_t begin_, size_t end_, const void *before_,         \
                               void *arg_)                                                        \
    {                                                                                             \
        const struct name##_arrays_ a_ = *(const struct name##_arrays_ *)arg_;                    \
        const type all_ = *(const type *)before_;                                                 \
        (void)w_;                                                                                 \
        for (size_t i_ = begin_; i_ < end_; i_++)                                                 \
            a_.out_[i_] = combine(all_, a_.out_[i_]);                                             \
    }                                                                                             \
    static void name##_combine_(weft *w_, void *left_, const void *right_, void *arg_)            \
    {                                                                                             \
        (void)w_;                                                                                 \
        (void)arg_;                                                                               \
        *(type *)left_ = combine(*(const type *)left_, *(const type *)right_);                    \
    }

/* Without a branch that depends on the answer: what is dropped is overwritten by the next one. */
#define WEFT_SIFTER_(name, type, keep)                                             \
    struct name##_arrays_ {                                                        \
        type *out_;                                                                \
        const type *in_;                                                           \
    };                                                                             \
    static size_t name##_sift_(size_t begin_, size_t end_, size_t to_, void *arg_) \
    {                                                                              \
        const struct name##_arrays_ a_ = *(const struct name##_arrays_ *)arg_;     \
        size_t next_ = to_;                                                        \
        WEFT_UNROLL_ for (size_t i_ = begin_; i_ < end_; i_++)                     \
        {                                                                          \
            const type element_ = a_.in_[i_];                                      \
            a_.out_[next_] = element_;                                             \
            next_ += (keep(element_)) ? (size_t)1 : 0;                             \
        }                                                                          \
        return next_ - to_;                                                        \
    }

WEFT_API void weft_for_checked_(weft *w, size_t begin, size_t end, weft_range_fn *body, void *arg,
                                const char *where);

#ifdef __cplusplus
}
#endif

#if WEFT_DEBUG
#define weft_for(...) weft_for_checked_(__VA_ARGS__, WEFT_WHERE_)
#endif

#endif
