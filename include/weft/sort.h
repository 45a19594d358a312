/* SPDX-License-Identifier: MIT */
/* weft/sort.h: sorting.
 *
 * Three kinds, from the most general to the fastest: weft_sort() for anything that a function
 * can compare, WEFT_SORT_DEFINE for one type with its comparison inlined, weft_sort_u64() and
 * its like for numbers. All run in a job, sort in parallel, and need no more time for any order
 * of the elements than for a random one: O(n log n) at worst, O(n) if they are sorted already,
 * either way round.
 *
 * Comparisons are those of qsort_r(), and so get no context. They are called on several threads at
 * once, also with copies of elements. If they contradict themselves, the order is unspecified, but
 * every element is still there, once. The same holds if the computation fails or is cancelled
 * meanwhile: for lack of memory, too, as weft/parallel.h says. */
#ifndef WEFT_SORT_H
#define WEFT_SORT_H

#include "parallel.h" /* weft_compare_fn */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Anything ---------------------------------------------------------------- */

/* In place; equal elements end up in any order. Elements of 4, 8, 12, 16, 20, 24, 32,
 * 40 or 48 bytes are moved as they are; for other sizes, pointers to the elements are sorted first,
 * if there is memory for that. */
WEFT_API void weft_sort(weft *w, void *base, size_t n, size_t size, weft_compare_fn *compare,
                        void *arg);

/* Equal elements keep their order. What is sorted already, in long runs, takes less time. Fails
 * with -ENOMEM if there is no memory for a second array; then nothing was moved. */
WEFT_API void weft_sort_stable(weft *w, void *base, size_t n, size_t size, weft_compare_fn *compare,
                               void *arg);

/* ---- Numbers ----------------------------------------------------------------- */

/* By their digits, in place, with half a megabyte of memory for each worker; if there is none,
 * by comparing. Floating-point numbers are in the total order of IEEE 754: -NaN, -infinity, ...,
 * -0, +0, ..., infinity, NaN; not a bit of any is changed. */
WEFT_API void weft_sort_u32(weft *w, uint32_t *base, size_t n);
WEFT_API void weft_sort_i32(weft *w, int32_t *base, size_t n);
WEFT_API void weft_sort_u64(weft *w, uint64_t *base, size_t n);
WEFT_API void weft_sort_i64(weft *w, int64_t *base, size_t n);
WEFT_API void weft_sort_f32(weft *w, float *base, size_t n);
WEFT_API void weft_sort_f64(weft *w, double *base, size_t n);

/* ---- One type ---------------------------------------------------------------- */

/* Defines `static void name(weft *w, type *base, size_t n)`, which sorts in place like
 * weft_sort(). `less` is a macro or function of two elements:
 *
 *     static inline bool nearer(struct place a, struct place b) { return a.way < b.way; }
 *     WEFT_SORT_DEFINE(sort_places, struct place, nearer)
 *
 *     sort_places(w, places, n);
 */
#define WEFT_SORT_DEFINE(name, type, less)                        \
    WEFT_SORTER_LOOPS_(name, type, less(*a_, *b_))                \
    WEFT_SORTER_VALUES_(name, name##_element_)                    \
    WEFT_SORTER_TABLE_(name, name##_values_)                      \
    static inline void name(weft *w_, type *base_, size_t n_)     \
    {                                                             \
        weft_sort_by_(w_, base_, n_, &name##_sorter_, (void *)0); \
    }

/* Defines `static void name(weft *w, type *base, size_t n)`, like weft_sort_stable(). */
#define WEFT_SORT_STABLE_DEFINE(name, type, less)                        \
    WEFT_SORTER_(name, type, less(*a_, *b_))                             \
    static inline void name(weft *w_, type *base_, size_t n_)            \
    {                                                                    \
        weft_sort_stable_by_(w_, base_, n_, &name##_sorter_, (void *)0); \
    }

/* Programs must not use what follows.
 *
 * A sorter is what depends on the type: small loops into which the comparison is inlined. The
 * two algorithms around them are in the library, once for all types. */
typedef struct weft_sorter_ {
    size_t size; /* of an element */
    size_t few;  /* elements at most for small() */
    bool (*less)(const void *a, const void *b, void *arg);
    size_t (*median)(const void *base, size_t i, size_t j, size_t k, void *arg); /* one of them */
    void (*small)(const void *from, void *to, size_t n, void *arg); /* stable; `to` may be `from` */
    /* Elements less than the pivot come first, or those that the pivot is not less than; how
     * many there are. At least one element; the pivot is not among them. */
    size_t (*split_less)(void *base, size_t n, const void *pivot, void *arg);
    size_t (*split_least)(void *base, size_t n, const void *pivot, void *arg);
    /* Stable; `to` overlaps neither. */
    void (*merge)(const void *left, size_t nl, const void *right, size_t nr, void *to, void *arg);
} weft_sorter_;

WEFT_API void weft_sort_by_(weft *w, void *base, size_t n, const weft_sorter_ *sorter, void *arg);
WEFT_API void weft_sort_stable_by_(weft *w, void *base, size_t n, const weft_sorter_ *sorter,
                                   void *arg);

/* Limits the stack of small() to a few kilobytes. */
#define WEFT_FEW_(type) \
    (sizeof(type) <= 64 ? 32 : sizeof(type) <= 512 ? 2048 / sizeof(type) : (size_t)4)

/* All loops for one type, under a typedef name that no parameter hides. `before` is an expression:
 * does *a_ come before *b_? Whatever it answers, the loops stay inside the arrays and lose no
 * element. */
#define WEFT_SORTER_LOOPS_(name, type, before)                                                   \
    typedef type name##_element_;                                                                \
    static inline bool name##_less_(const name##_element_ *a_, const name##_element_ *b_,        \
                                    void *arg_)                                                  \
    {                                                                                            \
        (void)arg_;                                                                              \
        return before;                                                                           \
    }                                                                                            \
    static bool name##_less_any_(const void *a_, const void *b_, void *arg_)                     \
    {                                                                                            \
        return name##_less_((const name##_element_ *)a_, (const name##_element_ *)b_, arg_);     \
    }                                                                                            \
    static size_t name##_median_(const void *base_, size_t i_, size_t j_, size_t k_, void *arg_) \
    {                                                                                            \
        const name##_element_ *a_ = (const name##_element_ *)base_;                              \
        bool ij_ = name##_less_(a_ + i_, a_ + j_, arg_),                                         \
             ik_ = name##_less_(a_ + i_, a_ + k_, arg_);                                         \
        size_t other_ = name##_less_(a_ + j_, a_ + k_, arg_) == ij_ ? j_ : k_;                   \
        return ij_ == ik_ ? other_ : i_;                                                         \
    }                                                                                            \
    WEFT_SORTER_SPLIT_(name##_split_less_, name##_element_, name##_less_(x_, &pivot_, arg_))     \
    WEFT_SORTER_SPLIT_(name##_split_least_, name##_element_, !name##_less_(&pivot_, x_, arg_))   \
    WEFT_MERGE_LOOPS_(name, name##_element_)                                                     \
    WEFT_SORTER_SMALL_(name, name##_element_)

#define WEFT_SORTER_TABLE_(name, few_of_them)                               \
    static const weft_sorter_ name##_sorter_ = {sizeof(name##_element_),    \
                                                WEFT_FEW_(name##_element_), \
                                                name##_less_any_,           \
                                                name##_median_,             \
                                                few_of_them,                \
                                                name##_split_less_,         \
                                                name##_split_least_,        \
                                                name##_merge_};

#define WEFT_SORTER_(name, type, before)   \
    WEFT_SORTER_LOOPS_(name, type, before) \
    WEFT_SORTER_TABLE_(name, name##_small_)

/* The first k elements are the first part, as far as the loop has come. `held_` is one element,
 * which leaves a gap: the element at k moves into the gap, the next element to k, and the next
 * element's old place is the next gap. No jump depends on the comparison. */
#define WEFT_SORTER_SPLIT_(name, type, first)                                     \
    static size_t name(void *base_, size_t n_, const void *middle_, void *arg_)   \
    {                                                                             \
        type *a_ = (type *)base_, pivot_ = *(const type *)middle_, held_ = a_[0]; \
        const type *x_;                                                           \
        size_t k_ = 0;                                                            \
        (void)arg_;                                                               \
        for (size_t i_ = 1; i_ < n_; i_++) {                                      \
            x_ = &a_[i_];                                                         \
            bool c_ = first;                                                      \
            a_[i_ - 1] = a_[k_];                                                  \
            a_[k_] = a_[i_];                                                      \
            k_ += c_;                                                             \
        }                                                                         \
        x_ = &held_;                                                              \
        bool c_ = first;                                                          \
        a_[n_ - 1] = a_[k_];                                                      \
        a_[k_] = held_;                                                           \
        return k_ + c_;                                                           \
    }

/* A function that is used before it is defined. In a class of C++ it must not be declared. */
#define WEFT_AHEAD_(declaration) declaration

/* Up to four by a network, more by merging halves; all without jumps. The network has two sorted
 * pairs, a, b and c, d; the least and the greatest of all are known when the pairs' first and
 * second ones have been compared, and so are the two that are left, in the order they came in. */
#define WEFT_SORTER_SMALL_(name, type)                                                           \
    static inline void name##_four_(const type *v_, type *to_, void *arg_)                       \
    {                                                                                            \
        bool p_ = name##_less_(v_ + 1, v_, arg_), q_ = name##_less_(v_ + 3, v_ + 2, arg_);       \
        const type *a_ = v_ + p_, *b_ = v_ + !p_, *c_ = v_ + 2 + q_, *d_ = v_ + 2 + !q_;         \
        bool s_ = name##_less_(c_, a_, arg_), t_ = name##_less_(d_, b_, arg_);                   \
        const type *least_ = WEFT_EITHER_(type, s_, c_, a_);                                     \
        const type *most_ = WEFT_EITHER_(type, t_, b_, d_);                                      \
        const type *x_ = WEFT_EITHER_(type, s_, a_, WEFT_EITHER_(type, t_, c_, b_));             \
        const type *y_ = WEFT_EITHER_(type, t_, d_, WEFT_EITHER_(type, s_, b_, c_));             \
        bool u_ = name##_less_(y_, x_, arg_);                                                    \
        type first_ = *least_, second_ = *WEFT_EITHER_(type, u_, y_, x_),                        \
             third_ = *WEFT_EITHER_(type, u_, x_, y_), fourth_ = *most_;                         \
        to_[0] = first_;                                                                         \
        to_[1] = second_;                                                                        \
        to_[2] = third_;                                                                         \
        to_[3] = fourth_;                                                                        \
    }                                                                                            \
    static inline void name##_three_(const type *v_, type *to_, void *arg_)                      \
    {                                                                                            \
        bool p_ = name##_less_(v_ + 1, v_, arg_);                                                \
        const type *a_ = v_ + p_, *b_ = v_ + !p_, *c_ = v_ + 2;                                  \
        bool s_ = name##_less_(c_, a_, arg_), t_ = name##_less_(c_, b_, arg_) | s_;              \
        type first_ = *WEFT_EITHER_(type, s_, c_, a_), third_ = *WEFT_EITHER_(type, t_, b_, c_), \
             second_ = *WEFT_EITHER_(type, s_, a_, WEFT_EITHER_(type, t_, c_, b_));              \
        to_[0] = first_;                                                                         \
        to_[1] = second_;                                                                        \
        to_[2] = third_;                                                                         \
    }                                                                                            \
    static inline void name##_two_(const type *v_, type *to_, void *arg_)                        \
    {                                                                                            \
        bool p_ = name##_less_(v_ + 1, v_, arg_);                                                \
        type first_ = v_[p_], second_ = v_[!p_];                                                 \
        to_[0] = first_;                                                                         \
        to_[1] = second_;                                                                        \
    }                                                                                            \
    WEFT_AHEAD_(static void name##_small_(const void *, void *, size_t, void *);)                \
    static void name##_halve_(const type *v_, type *to_, size_t n_, void *arg_)                  \
    {                                                                                            \
        type halves_[WEFT_FEW_(type)];                                                           \
        size_t half_ = n_ / 2;                                                                   \
        name##_small_(v_, halves_, half_, arg_);                                                 \
        name##_small_(v_ + half_, halves_ + half_, n_ - half_, arg_);                            \
        if (!name##_merge_halves_(halves_, halves_ + half_, n_, to_, arg_))                      \
            memcpy(to_, halves_, n_ * sizeof(type));                                             \
    }                                                                                            \
    static void name##_small_(const void *from_, void *to_, size_t n_, void *arg_)               \
    {                                                                                            \
        const type *v_ = (const type *)from_;                                                    \
        type *t_ = (type *)to_;                                                                  \
        if (n_ > 4)                                                                              \
            name##_halve_(v_, t_, n_, arg_);                                                     \
        else if (n_ == 4)                                                                        \
            name##_four_(v_, t_, arg_);                                                          \
        else if (n_ == 3)                                                                        \
            name##_three_(v_, t_, arg_);                                                         \
        else if (n_ == 2)                                                                        \
            name##_two_(v_, t_, arg_);                                                           \
        else if (n_ == 1)                                                                        \
            *t_ = *v_;                                                                           \
    }

/* What fits into a register, and need not keep its order, is sorted faster by value: four or
 * eight by Batcher's network, five to seven by the smaller one and insertion. */
#define WEFT_SORTER_VALUES_(name, type)                                                           \
    static inline void name##_exchange_(type *v_, size_t i_, size_t j_, void *arg_)               \
    {                                                                                             \
        type x_ = v_[i_], y_ = v_[j_];                                                            \
        bool c_ = name##_less_(&y_, &x_, arg_);                                                   \
        v_[i_] = c_ ? y_ : x_;                                                                    \
        v_[j_] = c_ ? x_ : y_;                                                                    \
    }                                                                                             \
    static inline void name##_network_(type *v_, void *arg_)                                      \
    {                                                                                             \
        name##_exchange_(v_, 0, 1, arg_);                                                         \
        name##_exchange_(v_, 2, 3, arg_);                                                         \
        name##_exchange_(v_, 0, 2, arg_);                                                         \
        name##_exchange_(v_, 1, 3, arg_);                                                         \
        name##_exchange_(v_, 1, 2, arg_);                                                         \
    }                                                                                             \
    static inline void name##_eight_(const type *from_, type *to_, void *arg_)                    \
    {                                                                                             \
        type v_[8] = {from_[0], from_[1], from_[2], from_[3],                                     \
                      from_[4], from_[5], from_[6], from_[7]};                                    \
        name##_network_(v_, arg_);                                                                \
        name##_network_(v_ + 4, arg_);                                                            \
        for (size_t i_ = 0; i_ < 4; i_++)                                                         \
            name##_exchange_(v_, i_, i_ + 4, arg_);                                               \
        name##_exchange_(v_, 2, 4, arg_);                                                         \
        name##_exchange_(v_, 3, 5, arg_);                                                         \
        for (size_t i_ = 1; i_ < 7; i_ += 2)                                                      \
            name##_exchange_(v_, i_, i_ + 1, arg_);                                               \
        to_[0] = v_[0], to_[1] = v_[1], to_[2] = v_[2], to_[3] = v_[3];                           \
        to_[4] = v_[4], to_[5] = v_[5], to_[6] = v_[6], to_[7] = v_[7];                           \
    }                                                                                             \
    static inline void name##_insert_(type x_, type *to_, size_t n_, void *arg_)                  \
    {                                                                                             \
        for (; n_ > 0; n_--) {                                                                    \
            type y_ = to_[n_ - 1];                                                                \
            bool c_ = name##_less_(&x_, &y_, arg_);                                               \
            to_[n_] = c_ ? y_ : x_;                                                               \
            x_ = c_ ? x_ : y_;                                                                    \
        }                                                                                         \
        to_[0] = x_;                                                                              \
    }                                                                                             \
    static inline void name##_four_to_seven_(const type *from_, type *to_, size_t n_, void *arg_) \
    {                                                                                             \
        type v_[4] = {from_[0], from_[1], from_[2], from_[3]};                                    \
        type more_[3] = {from_[n_ - 1], from_[n_ - 2], from_[n_ - 3]};                            \
        name##_network_(v_, arg_);                                                                \
        to_[0] = v_[0], to_[1] = v_[1], to_[2] = v_[2], to_[3] = v_[3];                           \
        for (size_t i_ = 4; i_ < n_; i_++)                                                        \
            name##_insert_(more_[i_ - 4], to_, i_, arg_);                                         \
    }                                                                                             \
    static void name##_few_values_(const type *from_, type *to_, size_t n_, void *arg_)           \
    {                                                                                             \
        type halves_[WEFT_FEW_(type)];                                                            \
        size_t half_ = n_ / 2;                                                                    \
        if (n_ < 4) {                                                                             \
            name##_small_(from_, to_, n_, arg_);                                                  \
        } else if (n_ < 8) {                                                                      \
            name##_four_to_seven_(from_, to_, n_, arg_);                                          \
        } else if (n_ == 8) {                                                                     \
            name##_eight_(from_, to_, arg_);                                                      \
        } else {                                                                                  \
            name##_few_values_(from_, halves_, half_, arg_);                                      \
            name##_few_values_(from_ + half_, halves_ + half_, n_ - half_, arg_);                 \
            if (!name##_merge_halves_(halves_, halves_ + half_, n_, to_, arg_))                   \
                memcpy(to_, halves_, n_ * sizeof(type));                                          \
        }                                                                                         \
    }                                                                                             \
    static void name##_values_(const void *from_, void *to_, size_t n_, void *arg_)               \
    {                                                                                             \
        if (WEFT_IN_REGISTER_(*(const type *)from_))                                              \
            name##_few_values_((const type *)from_, (type *)to_, n_, arg_);                       \
        else                                                                                      \
            name##_small_(from_, to_, n_, arg_);                                                  \
    }

/* A number or a pointer, not a structure. */
#if defined __GNUC__
#define WEFT_IN_REGISTER_(x) (sizeof(x) <= 8 && __builtin_classify_type(x) < 12)
#else
#define WEFT_IN_REGISTER_(x) false
#endif

#ifdef __cplusplus
}
#endif

#endif
