/* SPDX-License-Identifier: MIT */
/* weft/sort.h: sorting.
 *
 * Three kinds, from the most general to the fastest: weft_sort() for anything that a function
 * can compare, WEFT_SORT_DEFINE for one type with its comparison inlined, weft_sort_u64() and
 * its like for numbers. All run in a job, sort in parallel, and need no more time for any order
 * of the elements than for a random one: O(n log n) at worst, O(n) if they are sorted already,
 * either way round.
 *
 * Comparisons are called on several threads at once, also with copies of elements. If they
 * contradict themselves, the order is unspecified, but every element is still there, once. The
 * same holds if the computation fails or is cancelled meanwhile. */
#ifndef WEFT_SORT_H
#define WEFT_SORT_H

#include "parallel.h" /* weft_compare_fn */

#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Anything ---------------------------------------------------------------- */

/* In place; equal elements end up in any order. Elements of 4, 8, 12, 16, 20, 24, 32,
 * 40 or 48 bytes are moved as they are; for others a pointer each is sorted first, if there is
 * memory for that. */
WEFT_API void weft_sort(weft *w, void *base, size_t n, size_t size, weft_compare_fn *compare,
                        void *arg);

/* Equal elements keep their order. What is sorted already, in long runs, takes less time.
 * -ENOMEM: there was no memory for a second array, and nothing was moved; -EINVAL: no comparison.
 */
WEFT_API WEFT_MUST_USE int weft_sort_stable(weft *w, void *base, size_t n, size_t size,
                                            weft_compare_fn *compare, void *arg);

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
#define WEFT_SORT_DEFINE(name, type, less)                      \
    WEFT_SORTER_LOOPS_(name, type, less(*a_, *b_))              \
    WEFT_SORTER_VALUES_(name, name##_element)                   \
    WEFT_SORTER_TABLE_(name, name##_values)                     \
    static inline void name(weft *w_, type *base_, size_t n_)   \
    {                                                           \
        weft_sort_by(w_, base_, n_, &name##_sorter, (void *)0); \
    }

/* Defines `static int name(weft *w, type *base, size_t n)`, like weft_sort_stable(). */
#define WEFT_SORT_STABLE_DEFINE(name, type, less)                             \
    WEFT_SORTER_(name, type, less(*a_, *b_))                                  \
    static inline int name(weft *w_, type *base_, size_t n_)                  \
    {                                                                         \
        return weft_sort_stable_by(w_, base_, n_, &name##_sorter, (void *)0); \
    }

/* What follows is the library's business.
 *
 * A sorter is what depends on the type: small loops into which the comparison is inlined. The
 * two algorithms around them are in the library, once for all types. */
typedef struct weft_sorter {
    size_t size; /* of an element */
    size_t few;  /* small() takes at most so many, */
    bool (*less)(const void *a, const void *b, void *arg);
    size_t (*median)(const void *base, size_t i, size_t j, size_t k, void *arg); /* one of them */
    void (*small)(const void *from, void *to, size_t n, void *arg); /* stable; `to` may be `from` */
    /* Elements less than the pivot come first, or those that the pivot is not less than; how
     * many there are. At least one element; the pivot is not among them. */
    size_t (*split_less)(void *base, size_t n, const void *pivot, void *arg);
    size_t (*split_least)(void *base, size_t n, const void *pivot, void *arg);
    /* Stable; `to` overlaps neither. */
    void (*merge)(const void *left, size_t nl, const void *right, size_t nr, void *to, void *arg);
} weft_sorter;

WEFT_API void weft_sort_by(weft *w, void *base, size_t n, const weft_sorter *sorter, void *arg);
WEFT_API WEFT_MUST_USE int weft_sort_stable_by(weft *w, void *base, size_t n,
                                               const weft_sorter *sorter, void *arg);

/* x if c, else y, without a jump: compilers make one of ?: where it can't be predicted. */
#define WEFT_EITHER_(type, c, x, y) \
    ((const type *)((uintptr_t)(y) ^ (((uintptr_t)(x) ^ (uintptr_t)(y)) & -(uintptr_t)(c))))

/* So that what small() has on the stack is a few kilobytes. */
#define WEFT_FEW_(type) \
    (sizeof(type) <= 64 ? 32 : sizeof(type) <= 512 ? 2048 / sizeof(type) : (size_t)4)

/* All of it for one type, by a name that nothing in here hides. `before` is an expression: does *a_
 * come before *b_? None of the loops depends on its answers for staying inside, nor for losing
 * nothing. */
#define WEFT_SORTER_LOOPS_(name, type, before)                                                     \
    typedef type name##_element;                                                                   \
    static inline bool name##_less(const name##_element *a_, const name##_element *b_, void *arg_) \
    {                                                                                              \
        (void)arg_;                                                                                \
        return before;                                                                             \
    }                                                                                              \
    static bool name##_less_any(const void *a, const void *b, void *arg)                           \
    {                                                                                              \
        return name##_less((const name##_element *)a, (const name##_element *)b, arg);             \
    }                                                                                              \
    static size_t name##_median(const void *base, size_t i, size_t j, size_t k, void *arg)         \
    {                                                                                              \
        const name##_element *a = (const name##_element *)base;                                    \
        bool ij = name##_less(a + i, a + j, arg), ik = name##_less(a + i, a + k, arg);             \
        size_t other = name##_less(a + j, a + k, arg) == ij ? j : k;                               \
        return ij == ik ? other : i;                                                               \
    }                                                                                              \
    WEFT_SORTER_SPLIT_(name##_split_less, name##_element, name##_less(x, &pivot, arg))             \
    WEFT_SORTER_SPLIT_(name##_split_least, name##_element, !name##_less(&pivot, x, arg))           \
    WEFT_SORTER_MERGE_(name, name##_element)                                                       \
    WEFT_SORTER_SMALL_(name, name##_element)

#define WEFT_SORTER_TABLE_(name, few_of_them)                            \
    static const weft_sorter name##_sorter = {sizeof(name##_element),    \
                                              WEFT_FEW_(name##_element), \
                                              name##_less_any,           \
                                              name##_median,             \
                                              few_of_them,               \
                                              name##_split_less,         \
                                              name##_split_least,        \
                                              name##_merge};

#define WEFT_SORTER_(name, type, before)   \
    WEFT_SORTER_LOOPS_(name, type, before) \
    WEFT_SORTER_TABLE_(name, name##_small)

/* Of the elements seen so far, the first k go to the first part. One element is held, which
 * leaves a gap: what stands at k moves into the gap, the next element to k, and where that was
 * is the next gap. No jump depends on the comparison. */
#define WEFT_SORTER_SPLIT_(name, type, first)                               \
    static size_t name(void *base, size_t n, const void *middle, void *arg) \
    {                                                                       \
        type *a = (type *)base, pivot = *(const type *)middle, held = a[0]; \
        const type *x;                                                      \
        size_t k = 0;                                                       \
        (void)arg;                                                          \
        for (size_t i = 1; i < n; i++) {                                    \
            x = &a[i];                                                      \
            bool c = first;                                                 \
            a[i - 1] = a[k];                                                \
            a[k] = a[i];                                                    \
            k += c;                                                         \
        }                                                                   \
        x = &held;                                                          \
        bool c = first;                                                     \
        a[n - 1] = a[k];                                                    \
        a[k] = held;                                                        \
        return k + c;                                                       \
    }

/* Merging from both ends at once: two chains of comparisons that don't wait for each other. In
 * k steps neither end takes more than k from either run.
 *
 * If both runs are n / 2 long (the right one perhaps one more), all can be done in one go; the
 * ends meet, unless the comparison contradicts itself. Then, and if the runs are not alike, it is
 * done in goes that can't meet. */
#define WEFT_SORTER_MERGE_(name, type)                                                            \
    struct name##_ends {                                                                          \
        const type *l, *r, *l_last, *r_last;                                                      \
        type *to, *to_last;                                                                       \
    };                                                                                            \
    static inline void name##_step(struct name##_ends *e, void *arg)                              \
    {                                                                                             \
        bool c = name##_less(e->r, e->l, arg);                                                    \
        *e->to++ = *WEFT_EITHER_(type, c, e->r, e->l);                                            \
        e->r += c;                                                                                \
        e->l += !c;                                                                               \
    }                                                                                             \
    static inline void name##_step_back(struct name##_ends *e, void *arg)                         \
    {                                                                                             \
        bool c = name##_less(e->r_last, e->l_last, arg);                                          \
        *e->to_last-- = *WEFT_EITHER_(type, c, e->l_last, e->r_last);                             \
        e->l_last -= c;                                                                           \
        e->r_last -= !c;                                                                          \
    }                                                                                             \
    static inline bool name##_merge_halves(const type *l, const type *r, size_t n, type *to,      \
                                           void *arg)                                             \
    {                                                                                             \
        struct name##_ends e = {l, r, l + n / 2 - 1, r + (n - n / 2) - 1, to, to + n - 1};        \
        for (size_t k = n / 2; k > 0; k--) {                                                      \
            name##_step(&e, arg);                                                                 \
            name##_step_back(&e, arg);                                                            \
        }                                                                                         \
        bool from_right = e.l > e.l_last;                                                         \
        if (n % 2)                                                                                \
            *e.to = *WEFT_EITHER_(type, from_right, e.r, e.l);                                    \
        return e.l + (n % 2 && !from_right) == e.l_last + 1;                                      \
    }                                                                                             \
    static inline size_t name##_steps(const struct name##_ends *e)                                \
    {                                                                                             \
        ptrdiff_t l = e->l_last - e->l + 1, r = e->r_last - e->r + 1;                             \
        return (size_t)(l < r ? l : r);                                                           \
    }                                                                                             \
    static void name##_merge(const void *left, size_t nl, const void *right, size_t nr, void *to, \
                             void *arg)                                                           \
    {                                                                                             \
        const type *l = (const type *)left, *r = (const type *)right;                             \
        if (nr - nl <= 1 && name##_merge_halves(l, r, nl + nr, (type *)to, arg))                  \
            return;                                                                               \
        struct name##_ends e = {l,          r,          l + nl - 1,                               \
                                r + nr - 1, (type *)to, (type *)to + (nl + nr - 1)};              \
        for (size_t k; (k = name##_steps(&e)) > 0;) {                                             \
            name##_step(&e, arg);                                                                 \
            for (k = (k - 1) / 2; k > 0; k--) {                                                   \
                name##_step(&e, arg);                                                             \
                name##_step_back(&e, arg);                                                        \
            }                                                                                     \
        }                                                                                         \
        memcpy(e.to, e.l, (size_t)(e.l_last - e.l + 1) * sizeof(type));                           \
        e.to += e.l_last - e.l + 1;                                                               \
        memcpy(e.to, e.r, (size_t)(e.r_last - e.r + 1) * sizeof(type));                           \
    }

/* Up to four by a network, more by merging halves; all without jumps. The network has two sorted
 * pairs, a, b and c, d; the least and the greatest of all are known when the pairs' first and
 * second ones have been compared, and so are the two that are left, in the order they came in. */
#define WEFT_SORTER_SMALL_(name, type)                                                   \
    static inline void name##_four(const type *v, type *to, void *arg)                   \
    {                                                                                    \
        bool p = name##_less(v + 1, v, arg), q = name##_less(v + 3, v + 2, arg);         \
        const type *a = v + p, *b = v + !p, *c = v + 2 + q, *d = v + 2 + !q;             \
        bool s = name##_less(c, a, arg), t = name##_less(d, b, arg);                     \
        const type *least = WEFT_EITHER_(type, s, c, a);                                 \
        const type *most = WEFT_EITHER_(type, t, b, d);                                  \
        const type *x = WEFT_EITHER_(type, s, a, WEFT_EITHER_(type, t, c, b));           \
        const type *y = WEFT_EITHER_(type, t, d, WEFT_EITHER_(type, s, b, c));           \
        bool u = name##_less(y, x, arg);                                                 \
        type first = *least, second = *WEFT_EITHER_(type, u, y, x),                      \
             third = *WEFT_EITHER_(type, u, x, y), fourth = *most;                       \
        to[0] = first;                                                                   \
        to[1] = second;                                                                  \
        to[2] = third;                                                                   \
        to[3] = fourth;                                                                  \
    }                                                                                    \
    static inline void name##_three(const type *v, type *to, void *arg)                  \
    {                                                                                    \
        bool p = name##_less(v + 1, v, arg);                                             \
        const type *a = v + p, *b = v + !p, *c = v + 2;                                  \
        bool s = name##_less(c, a, arg), t = name##_less(c, b, arg) | s;                 \
        type first = *WEFT_EITHER_(type, s, c, a), third = *WEFT_EITHER_(type, t, b, c), \
             second = *WEFT_EITHER_(type, s, a, WEFT_EITHER_(type, t, c, b));            \
        to[0] = first;                                                                   \
        to[1] = second;                                                                  \
        to[2] = third;                                                                   \
    }                                                                                    \
    static inline void name##_two(const type *v, type *to, void *arg)                    \
    {                                                                                    \
        bool p = name##_less(v + 1, v, arg);                                             \
        type first = v[p], second = v[!p];                                               \
        to[0] = first;                                                                   \
        to[1] = second;                                                                  \
    }                                                                                    \
    static void name##_small(const void *from, void *to, size_t n, void *arg);           \
    static void name##_halve(const type *v, type *to, size_t n, void *arg)               \
    {                                                                                    \
        type halves[WEFT_FEW_(type)];                                                    \
        size_t half = n / 2;                                                             \
        name##_small(v, halves, half, arg);                                              \
        name##_small(v + half, halves + half, n - half, arg);                            \
        if (!name##_merge_halves(halves, halves + half, n, to, arg))                     \
            memcpy(to, halves, n * sizeof(type));                                        \
    }                                                                                    \
    static void name##_small(const void *from, void *to, size_t n, void *arg)            \
    {                                                                                    \
        const type *v = (const type *)from;                                              \
        type *t = (type *)to;                                                            \
        if (n > 4)                                                                       \
            name##_halve(v, t, n, arg);                                                  \
        else if (n == 4)                                                                 \
            name##_four(v, t, arg);                                                      \
        else if (n == 3)                                                                 \
            name##_three(v, t, arg);                                                     \
        else if (n == 2)                                                                 \
            name##_two(v, t, arg);                                                       \
        else if (n == 1)                                                                 \
            *t = *v;                                                                     \
    }

/* What fits into a register, and need not keep its order, is sorted faster by value: four or
 * eight by Batcher's network, five to seven by the smaller one and insertion. */
#define WEFT_SORTER_VALUES_(name, type)                                                       \
    static inline void name##_exchange(type *v, size_t i, size_t j, void *arg)                \
    {                                                                                         \
        type x = v[i], y = v[j];                                                              \
        bool c = name##_less(&y, &x, arg);                                                    \
        v[i] = c ? y : x;                                                                     \
        v[j] = c ? x : y;                                                                     \
    }                                                                                         \
    static inline void name##_network(type *v, void *arg)                                     \
    {                                                                                         \
        name##_exchange(v, 0, 1, arg);                                                        \
        name##_exchange(v, 2, 3, arg);                                                        \
        name##_exchange(v, 0, 2, arg);                                                        \
        name##_exchange(v, 1, 3, arg);                                                        \
        name##_exchange(v, 1, 2, arg);                                                        \
    }                                                                                         \
    static inline void name##_eight(const type *from, type *to, void *arg)                    \
    {                                                                                         \
        type v[8] = {from[0], from[1], from[2], from[3], from[4], from[5], from[6], from[7]}; \
        name##_network(v, arg);                                                               \
        name##_network(v + 4, arg);                                                           \
        for (size_t i = 0; i < 4; i++)                                                        \
            name##_exchange(v, i, i + 4, arg);                                                \
        name##_exchange(v, 2, 4, arg);                                                        \
        name##_exchange(v, 3, 5, arg);                                                        \
        for (size_t i = 1; i < 7; i += 2)                                                     \
            name##_exchange(v, i, i + 1, arg);                                                \
        to[0] = v[0], to[1] = v[1], to[2] = v[2], to[3] = v[3];                               \
        to[4] = v[4], to[5] = v[5], to[6] = v[6], to[7] = v[7];                               \
    }                                                                                         \
    static inline void name##_insert(type x, type *to, size_t n, void *arg)                   \
    {                                                                                         \
        for (; n > 0; n--) {                                                                  \
            type y = to[n - 1];                                                               \
            bool c = name##_less(&x, &y, arg);                                                \
            to[n] = c ? y : x;                                                                \
            x = c ? x : y;                                                                    \
        }                                                                                     \
        to[0] = x;                                                                            \
    }                                                                                         \
    static inline void name##_four_to_seven(const type *from, type *to, size_t n, void *arg)  \
    {                                                                                         \
        type v[4] = {from[0], from[1], from[2], from[3]};                                     \
        type more[3] = {from[n - 1], from[n - 2], from[n - 3]};                               \
        name##_network(v, arg);                                                               \
        to[0] = v[0], to[1] = v[1], to[2] = v[2], to[3] = v[3];                               \
        for (size_t i = 4; i < n; i++)                                                        \
            name##_insert(more[i - 4], to, i, arg);                                           \
    }                                                                                         \
    static void name##_few_values(const type *from, type *to, size_t n, void *arg)            \
    {                                                                                         \
        type halves[WEFT_FEW_(type)];                                                         \
        size_t half = n / 2;                                                                  \
        if (n < 4) {                                                                          \
            name##_small(from, to, n, arg);                                                   \
        } else if (n < 8) {                                                                   \
            name##_four_to_seven(from, to, n, arg);                                           \
        } else if (n == 8) {                                                                  \
            name##_eight(from, to, arg);                                                      \
        } else {                                                                              \
            name##_few_values(from, halves, half, arg);                                       \
            name##_few_values(from + half, halves + half, n - half, arg);                     \
            if (!name##_merge_halves(halves, halves + half, n, to, arg))                      \
                memcpy(to, halves, n * sizeof(type));                                         \
        }                                                                                     \
    }                                                                                         \
    static void name##_values(const void *from, void *to, size_t n, void *arg)                \
    {                                                                                         \
        if (WEFT_IN_REGISTER_(*(const type *)from))                                           \
            name##_few_values((const type *)from, (type *)to, n, arg);                        \
        else                                                                                  \
            name##_small(from, to, n, arg);                                                   \
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
