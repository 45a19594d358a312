/* SPDX-License-Identifier: MIT */
/* weft/define.h: what the _DEFINE macros of weft/parallel.h are made of. Programs must not use it.
 *
 * What depends on the type is a loop, made by a macro, into which the program's function is
 * inlined. The algorithm around the loop is in the library, once for all types. */
#ifndef WEFT_DEFINE_H
#define WEFT_DEFINE_H

#include "../weft.h"

#include <string.h>

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
WEFT_API void weft_scan_exclusive_by_(weft *w, size_t n, const weft_scanner_ *scanner,
                                      const void *identity, void *arg, void *total);

/* Copies the elements that are kept to `out`, from place `to` on, and returns how many. */
typedef size_t weft_sift_fn_(size_t begin, size_t end, size_t to, void *arg);
WEFT_API size_t weft_filter_by_(weft *w, size_t n, size_t size, weft_sift_fn_ *sift, void *arg,
                                void *out);

/* Copies the elements that are kept to one array, from place `yes` on, and the others to another
 * array, from place `no` on. Returns how many are kept. */
typedef size_t weft_part_fn_(size_t begin, size_t end, size_t yes, size_t no, void *arg);
WEFT_API size_t weft_partition_by_(weft *w, size_t n, size_t size, weft_part_fn_ *part, void *arg,
                                   void *yes, void *no);

/* The loops of a merge. */
typedef struct weft_merger_ {
    size_t size; /* of an element */
    bool (*less)(const void *a, const void *b, void *arg);
    /* Both have elements. */
    void (*merge)(const void *a, size_t a_n, const void *b, size_t b_n, void *out, void *arg);
} weft_merger_;

WEFT_API void weft_merge_sorted_by_(weft *w, const void *a, size_t a_n, const void *b, size_t b_n,
                                    const weft_merger_ *merger, void *arg, void *out);

/* Adds the elements to `lanes` tables of counts, 1 or WEFT_TABLES_, which lie one after the other.
 */
typedef void weft_tally_fn_(size_t begin, size_t end, size_t *counts, size_t bins, size_t lanes,
                            const void *in);
WEFT_API void weft_histogram_by_(weft *w, const void *in, size_t n, weft_tally_fn_ *tally,
                                 size_t *counts, size_t bins);
#define WEFT_TABLES_ 4

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

/* What is carried along is aligned as by malloc(). */
#if defined __GNUC__
#define WEFT_EXPECT_ALIGNMENT_(type) \
    WEFT_ASSERT_(__alignof__(type) <= __alignof__(max_align_t), "a type of usual alignment");
#else
#define WEFT_EXPECT_ALIGNMENT_(type)
#endif

/* What both kinds of scans have. */
#define WEFT_SCANNER_REPAIR_(name, type, combine)                                         \
    WEFT_EXPECT_ALIGNMENT_(type)                                                          \
    struct name##_arrays_ {                                                               \
        type *out_;                                                                       \
        const type *in_;                                                                  \
    };                                                                                    \
    static void name##_repair_(weft *w_, size_t begin_, size_t end_, const void *before_, \
                               void *arg_)                                                \
    {                                                                                     \
        const struct name##_arrays_ a_ = *(const struct name##_arrays_ *)arg_;            \
        const type all_ = *(const type *)before_;                                         \
        (void)w_;                                                                         \
        for (size_t i_ = begin_; i_ < end_; i_++)                                         \
            a_.out_[i_] = combine(all_, a_.out_[i_]);                                     \
    }                                                                                     \
    static void name##_combine_(weft *w_, void *left_, const void *right_, void *arg_)    \
    {                                                                                     \
        (void)w_;                                                                         \
        (void)arg_;                                                                       \
        *(type *)left_ = combine(*(const type *)left_, *(const type *)right_);            \
    }

#define WEFT_SCANNER_(name, type, combine)                                                        \
    WEFT_SCANNER_REPAIR_(name, type, combine)                                                     \
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

#define WEFT_VISITOR_(name, type, fn)                                           \
    static void name##_range_(weft *w_, size_t begin_, size_t end_, void *arg_) \
    {                                                                           \
        type *base_ = (type *)arg_;                                             \
        (void)w_;                                                               \
        for (size_t i_ = begin_; i_ < end_; i_++)                               \
            fn(&base_[i_]);                                                     \
    }

#define WEFT_FINDER_(name, type, test, arg_type)                                    \
    struct name##_search_ {                                                         \
        const type *in_;                                                            \
        arg_type value_;                                                            \
    };                                                                              \
    static size_t name##_range_(weft *w_, size_t begin_, size_t end_, void *arg_)   \
    {                                                                               \
        const struct name##_search_ *search_ = (const struct name##_search_ *)arg_; \
        const type *in_ = search_->in_;                                             \
        arg_type value_ = search_->value_;                                          \
        (void)w_;                                                                   \
        WEFT_UNROLL_ for (size_t i_ = begin_; i_ < end_;                            \
                          i_++) if (test(in_[i_], value_)) return i_;               \
        return end_;                                                                \
    }

/* `out` may be `in`: an element is read before its place is written. */
#define WEFT_SCANNER_EXCLUSIVE_(name, type, combine)                                              \
    WEFT_SCANNER_REPAIR_(name, type, combine)                                                     \
    static void name##_scan_(weft *w_, size_t begin_, size_t end_, void *carry_, bool has_carry_, \
                             void *arg_)                                                          \
    {                                                                                             \
        const struct name##_arrays_ a_ = *(const struct name##_arrays_ *)arg_;                    \
        type all_ = *(const type *)carry_;                                                        \
        (void)w_;                                                                                 \
        (void)has_carry_;                                                                         \
        WEFT_UNROLL_ for (size_t i_ = begin_; i_ < end_; i_++)                                    \
        {                                                                                         \
            const type element_ = a_.in_[i_];                                                     \
            a_.out_[i_] = all_;                                                                   \
            all_ = combine(all_, element_);                                                       \
        }                                                                                         \
        *(type *)carry_ = all_;                                                                   \
    }

/* As WEFT_SIFTER_: an element is written to both results, and overwritten in one. */
#define WEFT_PARTER_(name, type, keep)                                                          \
    struct name##_arrays_ {                                                                     \
        type *yes_, *no_;                                                                       \
        const type *in_;                                                                        \
    };                                                                                          \
    static size_t name##_part_(size_t begin_, size_t end_, size_t yes_, size_t no_, void *arg_) \
    {                                                                                           \
        const struct name##_arrays_ a_ = *(const struct name##_arrays_ *)arg_;                  \
        type *next_ = a_.yes_ + yes_, *other_ = a_.no_ + no_;                                   \
        WEFT_UNROLL_ for (size_t i_ = begin_; i_ < end_; i_++)                                  \
        {                                                                                       \
            const type element_ = a_.in_[i_];                                                   \
            const size_t kept_ = (keep(element_)) ? (size_t)1 : 0;                              \
            *next_ = *other_ = element_;                                                        \
            next_ += kept_;                                                                     \
            other_ += 1 - kept_;                                                                \
        }                                                                                       \
        return (size_t)(next_ - (a_.yes_ + yes_));                                              \
    }

/* In place, no element is written to its own place: the thread to the right may read the last one.
 * That would happen only as long as no element was dropped, which is the first loop. */
#define WEFT_UNIQUER_(name, type, equal)                                           \
    struct name##_arrays_ {                                                        \
        type *out_;                                                                \
        const type *in_;                                                           \
    };                                                                             \
    static size_t name##_sift_(size_t begin_, size_t end_, size_t to_, void *arg_) \
    {                                                                              \
        const struct name##_arrays_ a_ = *(const struct name##_arrays_ *)arg_;     \
        size_t i_ = begin_, next_ = to_;                                           \
        if (i_ == 0) {                                                             \
            if (a_.out_ != a_.in_)                                                 \
                a_.out_[0] = a_.in_[0];                                            \
            i_ = next_ = 1;                                                        \
        }                                                                          \
        if (a_.out_ == a_.in_)                                                     \
            while (i_ == next_ && i_ < end_) {                                     \
                next_ += (equal(a_.in_[i_ - 1], a_.in_[i_])) ? 0 : (size_t)1;      \
                i_++;                                                              \
            }                                                                      \
        type before_ = a_.in_[i_ - 1];                                             \
        WEFT_UNROLL_ for (; i_ < end_; i_++)                                       \
        {                                                                          \
            const type element_ = a_.in_[i_];                                      \
            a_.out_[next_] = element_;                                             \
            next_ += (equal(before_, element_)) ? 0 : (size_t)1;                   \
            before_ = element_;                                                    \
        }                                                                          \
        return next_ - to_;                                                        \
    }

/* x if c, else y, without a jump: from ?: compilers make a jump, which can't be predicted. */
#define WEFT_EITHER_(type, c, x, y) \
    ((const type *)((uintptr_t)(y) ^ (((uintptr_t)(x) ^ (uintptr_t)(y)) & -(uintptr_t)(c))))

/* Merging from both ends at once: two chains of comparisons that don't wait for each other. In
 * k steps neither end takes more than k from either run.
 *
 * If both runs are n / 2 long (the right one perhaps one more), one loop is enough: the two ends
 * meet, unless the comparison contradicts itself. Then, and if the lengths differ, it takes several
 * loops, each so short that the ends can't meet. Neither run is empty. */
#define WEFT_MERGE_LOOPS_(name, type)                                                             \
    struct name##_ends_ {                                                                         \
        const type *l_, *r_, *l_last_, *r_last_;                                                  \
        type *to_, *to_last_;                                                                     \
    };                                                                                            \
    static inline void name##_step_(struct name##_ends_ *e_, void *arg_)                          \
    {                                                                                             \
        bool c_ = name##_less_(e_->r_, e_->l_, arg_);                                             \
        *e_->to_++ = *WEFT_EITHER_(type, c_, e_->r_, e_->l_);                                     \
        e_->r_ += c_;                                                                             \
        e_->l_ += !c_;                                                                            \
    }                                                                                             \
    static inline void name##_step_back_(struct name##_ends_ *e_, void *arg_)                     \
    {                                                                                             \
        bool c_ = name##_less_(e_->r_last_, e_->l_last_, arg_);                                   \
        *e_->to_last_-- = *WEFT_EITHER_(type, c_, e_->l_last_, e_->r_last_);                      \
        e_->l_last_ -= c_;                                                                        \
        e_->r_last_ -= !c_;                                                                       \
    }                                                                                             \
    static inline bool name##_merge_halves_(const type *l_, const type *r_, size_t n_, type *to_, \
                                            void *arg_)                                           \
    {                                                                                             \
        struct name##_ends_ e_ = {l_,  r_,          l_ + n_ / 2 - 1, r_ + (n_ - n_ / 2) - 1,      \
                                  to_, to_ + n_ - 1};                                             \
        for (size_t k_ = n_ / 2; k_ > 0; k_--) {                                                  \
            name##_step_(&e_, arg_);                                                              \
            name##_step_back_(&e_, arg_);                                                         \
        }                                                                                         \
        bool from_right_ = e_.l_ > e_.l_last_;                                                    \
        if (n_ % 2)                                                                               \
            *e_.to_ = *WEFT_EITHER_(type, from_right_, e_.r_, e_.l_);                             \
        return e_.l_ + (n_ % 2 && !from_right_) == e_.l_last_ + 1;                                \
    }                                                                                             \
    static inline size_t name##_steps_(const struct name##_ends_ *e_)                             \
    {                                                                                             \
        ptrdiff_t l_ = e_->l_last_ - e_->l_ + 1, r_ = e_->r_last_ - e_->r_ + 1;                   \
        return (size_t)(l_ < r_ ? l_ : r_);                                                       \
    }                                                                                             \
    static void name##_merge_(const void *left_, size_t nl_, const void *right_, size_t nr_,      \
                              void *to_, void *arg_)                                              \
    {                                                                                             \
        const type *l_ = (const type *)left_, *r_ = (const type *)right_;                         \
        if (nr_ - nl_ <= 1 && name##_merge_halves_(l_, r_, nl_ + nr_, (type *)to_, arg_))         \
            return;                                                                               \
        struct name##_ends_ e_ = {l_,           r_,          l_ + nl_ - 1,                        \
                                  r_ + nr_ - 1, (type *)to_, (type *)to_ + (nl_ + nr_ - 1)};      \
        for (size_t k_; (k_ = name##_steps_(&e_)) > 0;) {                                         \
            name##_step_(&e_, arg_);                                                              \
            for (k_ = (k_ - 1) / 2; k_ > 0; k_--) {                                               \
                name##_step_(&e_, arg_);                                                          \
                name##_step_back_(&e_, arg_);                                                     \
            }                                                                                     \
        }                                                                                         \
        memcpy(e_.to_, e_.l_, (size_t)(e_.l_last_ - e_.l_ + 1) * sizeof(type));                   \
        e_.to_ += e_.l_last_ - e_.l_ + 1;                                                         \
        memcpy(e_.to_, e_.r_, (size_t)(e_.r_last_ - e_.r_ + 1) * sizeof(type));                   \
    }

#define WEFT_MERGER_(name, type, first)                                         \
    static inline bool name##_less_(const type *a_, const type *b_, void *arg_) \
    {                                                                           \
        (void)arg_;                                                             \
        return first(*a_, *b_);                                                 \
    }                                                                           \
    static bool name##_less_any_(const void *a_, const void *b_, void *arg_)    \
    {                                                                           \
        return name##_less_((const type *)a_, (const type *)b_, arg_);          \
    }                                                                           \
    WEFT_MERGE_LOOPS_(name, type)                                               \
    static const weft_merger_ name##_merger_ = {sizeof(type), name##_less_any_, name##_merge_};

/* If neighbours are in the same bin, each waits for the store of the one before. With several
 * tables they don't. */
#define WEFT_TALLIER_(name, type, bin)                                                            \
    static inline void name##_add_(size_t *counts_, size_t bins_, size_t bin_)                    \
    {                                                                                             \
        if (bin_ < bins_)                                                                         \
            counts_[bin_]++;                                                                      \
    }                                                                                             \
    static void name##_tally_(size_t begin_, size_t end_, size_t *counts_, size_t bins_,          \
                              size_t lanes_, const void *arg_)                                    \
    {                                                                                             \
        const type *in_ = (const type *)arg_;                                                     \
        size_t i_ = begin_;                                                                       \
        if (lanes_ == WEFT_TABLES_)                                                               \
            for (; end_ - i_ >= WEFT_TABLES_; i_ += WEFT_TABLES_) {                               \
                name##_add_(counts_, bins_, (size_t)(bin(in_[i_])));                              \
                name##_add_(counts_ + bins_, bins_, (size_t)(bin(in_[i_ + 1])));                  \
                name##_add_(counts_ + 2 * bins_, bins_, (size_t)(bin(in_[i_ + 2])));              \
                name##_add_(counts_ + 3 * bins_, bins_, (size_t)(bin(in_[i_ + 3])));              \
            }                                                                                     \
        WEFT_UNROLL_ for (; i_ < end_; i_++) name##_add_(counts_, bins_, (size_t)(bin(in_[i_]))); \
    }

/* Reductions of blocks. Values are collected in as many lanes as fit into 128 bytes, a power of
 * two: row after row of elements, each of them into its lane. Then the upper half of the lanes is
 * combined with the lower half, until one lane is left. A block that does not fill a row is
 * combined from left to right. All of that depends on the type and n alone.
 *
 * Compilers take the loop over a row for what it is, one operation on a few vectors. gcc keeps the
 * lanes in registers if that loop is unrolled after it was vectorised; 8 is what 128 bytes are in
 * the smallest vectors, and a larger number would unroll it before. clang unrolls it before anyway,
 * and then misses most of the vectors. So it must not, and goes through eight rows at once: then it
 * does not matter that the lanes are in memory. */
#if defined __clang__
#define WEFT_ROW_LOOP_ _Pragma("clang loop unroll(disable)")
#define WEFT_EIGHT_ROWS_(in_type, map, type, combine)                 \
    for (; n_ - i_ >= 8 * count_; i_ += 8 * count_) {                 \
        const in_type *row_ = in_ + i_;                               \
        WEFT_ROW_LOOP_ for (size_t l_ = 0; l_ < count_; l_++)         \
        {                                                             \
            type value_ = combine(lanes_[l_], map(row_[l_]));         \
            value_ = combine(value_, map(row_[l_ + count_]));         \
            value_ = combine(value_, map(row_[l_ + 2 * count_]));     \
            value_ = combine(value_, map(row_[l_ + 3 * count_]));     \
            value_ = combine(value_, map(row_[l_ + 4 * count_]));     \
            value_ = combine(value_, map(row_[l_ + 5 * count_]));     \
            value_ = combine(value_, map(row_[l_ + 6 * count_]));     \
            lanes_[l_] = combine(value_, map(row_[l_ + 7 * count_])); \
        }                                                             \
    }
#elif defined __GNUC__
#define WEFT_ROW_LOOP_ _Pragma("GCC unroll 8")
#else
#define WEFT_ROW_LOOP_
#endif
#ifndef WEFT_EIGHT_ROWS_
#define WEFT_EIGHT_ROWS_(in_type, map, type, combine)
#endif

#define WEFT_SAME_(element_) (element_)

/* For values of `size` bytes; and 512 rows are a block. */
#define WEFT_LANES_(size)         \
    ((size) <= 1    ? (size_t)128 \
     : (size) <= 2  ? (size_t)64  \
     : (size) <= 4  ? (size_t)32  \
     : (size) <= 8  ? (size_t)16  \
     : (size) <= 16 ? (size_t)8   \
     : (size) <= 32 ? (size_t)4   \
     : (size) <= 64 ? (size_t)2   \
                    : (size_t)1)
#define WEFT_BLOCK_(size) (512 * WEFT_LANES_(size))

#define WEFT_FOLD_ROWS_(name, in_type, map, type, combine)                     \
    static inline type name(type all_, const in_type *in_, size_t n_)          \
    {                                                                          \
        type lanes_[WEFT_LANES_(sizeof(type))];                                \
        const size_t count_ = WEFT_LANES_(sizeof(type));                       \
        size_t i_ = 0;                                                         \
        if (n_ < count_) {                                                     \
            for (; i_ < n_; i_++)                                              \
                all_ = combine(all_, map(in_[i_]));                            \
            return all_;                                                       \
        }                                                                      \
        for (size_t l_ = 0; l_ < count_; l_++)                                 \
            lanes_[l_] = all_;                                                 \
        WEFT_EIGHT_ROWS_(in_type, map, type, combine)                          \
        for (; n_ - i_ >= count_; i_ += count_) {                              \
            const in_type *row_ = in_ + i_;                                    \
            WEFT_ROW_LOOP_ for (size_t l_ = 0; l_ < count_; l_++) lanes_[l_] = \
                combine(lanes_[l_], map(row_[l_]));                            \
        }                                                                      \
        for (size_t l_ = 0; i_ < n_; i_++, l_++)                               \
            lanes_[l_] = combine(lanes_[l_], map(in_[i_]));                    \
        WEFT_FOLD_HALF_(combine, count_ / 2)                                   \
        WEFT_FOLD_HALF_(combine, count_ / 4)                                   \
        WEFT_FOLD_HALF_(combine, count_ / 8)                                   \
        for (size_t half_ = count_ / 16; half_ > 0; half_ /= 2)                \
            WEFT_FOLD_HALF_(combine, half_)                                    \
        return lanes_[0];                                                      \
    }

#define WEFT_FOLD_HALF_(combine, half)     \
    for (size_t l_ = 0; l_ < (half); l_++) \
        lanes_[l_] = combine(lanes_[l_], lanes_[l_ + (half)]);

#define WEFT_REDUCER_(name, in_type, map, type, combine)                                           \
    WEFT_FOLD_ROWS_(name##_rows_, in_type, map, type, combine)                                     \
    WEFT_EXPECT_ALIGNMENT_(type)                                                                   \
    struct name##_array_ {                                                                         \
        const in_type *in_;                                                                        \
    };                                                                                             \
    static void name##_fold_(weft *w_, size_t begin_, size_t end_, void *accumulator_, void *arg_) \
    {                                                                                              \
        const in_type *in_ = ((const struct name##_array_ *)arg_)->in_;                            \
        (void)w_;                                                                                  \
        *(type *)accumulator_ =                                                                    \
            name##_rows_(*(const type *)accumulator_, in_ + begin_, end_ - begin_);                \
    }                                                                                              \
    static void name##_combine_(weft *w_, void *left_, const void *right_, void *arg_)             \
    {                                                                                              \
        (void)w_;                                                                                  \
        (void)arg_;                                                                                \
        *(type *)left_ = combine(*(const type *)left_, *(const type *)right_);                     \
    }

#ifdef __cplusplus
}
#endif

#endif
