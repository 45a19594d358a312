/* SPDX-License-Identifier: MIT */
/* weft/define.h: what the _DEFINE macros of weft/parallel.h are made of. Programs must not use it.
 *
 * What depends on the type is a loop, made by a macro, into which the program's function is
 * inlined. The algorithm around the loop is in the library, once for all types. */
#ifndef WEFT_DEFINE_H
#define WEFT_DEFINE_H

#include "../weft.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The loops of a scan. `carry` is the combination of the elements before `begin`, if there are any;
 * `scan` makes it that of the elements before `end`. */
typedef struct weft_scanner_ {
    size_t size; /* of the carry */
    void (*scan)(weft *w, size_t begin, size_t end, void *carry, bool has_carry, void *arg);
    void (*repair)(weft *w, size_t begin, size_t end, const void *before, void *arg);
    void (*combine)(weft *w, void *left, const void *right, void *arg);
} weft_scanner_;

WEFT_API void weft_scan_by_(weft *w, size_t n, const weft_scanner_ *scanner, void *arg);

/* Copies the elements that are kept to `out`, from place `to` on, and returns how many. */
typedef size_t weft_sift_fn_(size_t begin, size_t end, size_t to, void *arg);
WEFT_API size_t weft_filter_by_(weft *w, size_t n, size_t size, weft_sift_fn_ *sift, void *arg,
                                void *out);

/* In place is a loop of its own: compilers take it for any overlap, and some don't vectorise that.
 */
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

/* Without it, the speed of these loops depends on their place in cache lines. */
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

/* No branch depends on `keep`: an element that is not kept is overwritten by the next. */
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

#ifdef __cplusplus
}
#endif

#endif
