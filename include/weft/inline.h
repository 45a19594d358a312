/* SPDX-License-Identifier: MIT */
/* weft/inline.h: forking and merging, inlined by the compiler. Part of weft.h.
 *
 * Programs must not use names that end in an underscore, nor the members of struct weft: they
 * change from release to release. */
#ifndef WEFT_INLINE_H
#define WEFT_INLINE_H

#include "base.h"

#include <string.h>

#ifdef __cplusplus
#pragma GCC diagnostic push /* casts of C */
#pragma GCC diagnostic ignored "-Wold-style-cast"
extern "C" {
#endif

/* ---- The layout -------------------------------------------------------------- */

/* A context is a block of slots, aligned to its size, and `w` points to the first free
 * slot. The block's first line has the guard: a thread that wants the attention of the owner of the
 * context raises the guard above `w`, and the owner's forks take the slow road. A thief that wants
 * a slot sets `wanted_` in the slot, and the owner's merge takes the slow road.
 *
 * The slots reach to the end of the block. The slot after the last one, the first line of the next
 * block, is there, too. Its guard is always above it, and it is always wanted: so forks and merges
 * in it take the slow road, and a fork there returns the same context again. */
#ifdef __cplusplus
extern "C++" { /* it has templates */
#endif
struct weft {
    weft_fn *fn_; /* NULL: free */
    void *arg_;
    uint64_t words_[4]; /* the arguments of WEFT_FORK_IN; later the result */
    uintptr_t guard_;   /* used in the first line of a block */
    uintptr_t wanted_;  /* 0, or above any address: so merge's test is the same as fork's */
    uint64_t rest_[8];  /* the second cache line: the library's, once others want the slot */
#ifdef __cplusplus
    class WEFT_SETTING_ fork_guard; /* see guards.hpp */
    class WEFT_SETTING_ scope_guard;
#include "cxx/names.hpp"
#endif
};
#ifdef __cplusplus
}
#endif

#define WEFT_BLOCK_SIZE_ ((uintptr_t)4 << 20)

/* All of this, and the sizes of weft_task, weft_scope, weft_mutex and so on, are compiled into
 * programs. A release that changes any of it changes this number. Functions that enter a pool pass
 * the program's number, and the library compares it with its own. */
#define WEFT_LAYOUT_ 2u

struct weft_task;

WEFT_API WEFT_MUST_USE int weft_run_(weft_pool *pool, weft_fn *fn, void *arg, unsigned layout);
WEFT_API WEFT_MUST_USE int weft_submit_(weft_pool *pool, struct weft_task *task, weft_fn *fn,
                                        void *arg, unsigned layout);
WEFT_API WEFT_MUST_USE int weft_broadcast_(weft_pool *pool, weft_fn *fn, void *arg,
                                           unsigned layout);
WEFT_API WEFT_MUST_USE int weft_broadcast_detached_(weft_pool *pool, weft_fn *fn, void *arg,
                                                    unsigned layout);

#if defined __GNUC__
/* The library also exports these functions, for programs that find them by dlsym(3). */
#define WEFT_ENTRY_ WEFT_API WEFT_MUST_USE inline __attribute__((always_inline)) int

WEFT_ENTRY_ weft_run(weft_pool *pool_, weft_fn *fn_, void *arg_)
{
    return weft_run_(pool_, fn_, arg_, WEFT_LAYOUT_);
}

WEFT_ENTRY_ weft_submit(weft_pool *pool_, struct weft_task *task_, weft_fn *fn_, void *arg_)
{
    return weft_submit_(pool_, task_, fn_, arg_, WEFT_LAYOUT_);
}

WEFT_ENTRY_ weft_broadcast(weft_pool *pool_, weft_fn *fn_, void *arg_)
{
    return weft_broadcast_(pool_, fn_, arg_, WEFT_LAYOUT_);
}

WEFT_ENTRY_ weft_broadcast_detached(weft_pool *pool_, weft_fn *fn_, void *arg_)
{
    return weft_broadcast_detached_(pool_, fn_, arg_, WEFT_LAYOUT_);
}
#endif

/* ---- Fork and merge ---------------------------------------------------------- */

WEFT_API weft *weft_fork_slow_(weft *w); /* the slot before the inner context */
WEFT_API weft *weft_outer_slow_(weft *w);
WEFT_API bool weft_merge_slow_(weft *w);
WEFT_API void weft_right_failed_(weft *w); /* a right side that another thread took has failed, and
                                              cancels the left one; nothing else fails */

#if defined __GNUC__
#if defined __has_feature
#if __has_feature(thread_sanitizer)
#define WEFT_ATOMIC_LOADS_
#endif
#endif

/* The guard, or `wanted_`, is read after the slot is written. Only the compiler has to keep
 * that order: the thread that raises it makes every running thread of the process execute a
 * barrier (membarrier(2)) before it looks at the slot. So a relaxed load is enough. For x86-64 it
 * is assembler: from a relaxed load, compilers make two instructions where one that compares with
 * memory is enough. */
#if defined __x86_64__ && defined __LP64__ && defined __GCC_ASM_FLAG_OUTPUTS__ && \
    !defined __SANITIZE_THREAD__ && !defined WEFT_ATOMIC_LOADS_
#define WEFT_IS_ABOVE_(p, w)                                \
    (__extension__({                                        \
        bool above_;                                        \
        __asm__ volatile("cmp{q %1, %2| %2, %1}"            \
                         : "=@ccb"(above_)                  \
                         : "m"(*(p)), "r"((uintptr_t)(w))); \
        above_;                                             \
    }))
#else
#define WEFT_IS_ABOVE_(p, w) (__atomic_load_n((p), __ATOMIC_RELAXED) > (uintptr_t)(w))
#endif
#define WEFT_SLOW_(condition) \
    (__atomic_signal_fence(__ATOMIC_SEQ_CST), __builtin_expect(condition, 0))
#define WEFT_GUARD_(w) (&((const struct weft *)((uintptr_t)(w) & ~(WEFT_BLOCK_SIZE_ - 1)))->guard_)
#define WEFT_IS_CALLED_(w) WEFT_SLOW_(WEFT_IS_ABOVE_(WEFT_GUARD_(w), w))

WEFT_API inline weft *weft_fork(weft *w_, weft_fn *right_, void *arg_)
{
    __atomic_store_n(&w_->arg_, arg_, __ATOMIC_RELAXED);
    __atomic_store_n(&w_->fn_, right_, __ATOMIC_RELEASE);
    if (WEFT_IS_CALLED_(w_)) {
        weft *before_ = weft_fork_slow_(w_);
        __asm__("" : "+r"(before_)); /* or gcc copies w_ on the fast path, too */
        w_ = before_;
    }
    return w_ + 1;
}

WEFT_API WEFT_MUST_USE inline weft *weft_outer(weft *w_)
{
    bool ends_ = ((uintptr_t)w_ & (WEFT_BLOCK_SIZE_ - 1)) == 0;
    return __builtin_expect(ends_, 0) ? weft_outer_slow_(w_) : w_ - 1;
}

WEFT_API WEFT_MUST_USE inline bool weft_merge(weft *w_)
{
    __atomic_store_n(&w_->fn_, (weft_fn *)0, __ATOMIC_RELAXED);
    return WEFT_SLOW_(WEFT_IS_ABOVE_(&w_->wanted_, w_)) && weft_merge_slow_(w_);
}

#ifndef WEFT_THROWS_
WEFT_API inline void weft_join(weft *w_, weft_fn *left_, void *l_, weft_fn *right_, void *r_)
{
    left_(weft_fork(w_, right_, r_), l_);
    if (!weft_merge(w_))
        right_(w_, r_);
}
#endif
#endif

/* ---- Typed forks ------------------------------------------------------------- */

#if defined __GNUC__
#define WEFT_PERHAPS_ __attribute__((unused))
#else
#define WEFT_PERHAPS_
#endif
#define WEFT_IN_MOST_ sizeof(((weft *)0)->words_)
#define WEFT_IN_SIZE_(x) (sizeof(x) <= WEFT_IN_MOST_ ? sizeof(x) : 0)

#define WEFT_FORKABLE(type, function, arguments, ...)                                           \
    struct function##_arguments_ {                                                              \
        arguments                                                                               \
    };                                                                                          \
    struct function##_fork_ {                                                                   \
        type result;                                                                            \
        struct function##_arguments_ arguments_;                                                \
    };                                                                                          \
    static WEFT_PERHAPS_ inline type function##_call_(weft *w,                                  \
                                                      const struct function##_arguments_ *a)    \
    {                                                                                           \
        return __VA_ARGS__;                                                                     \
    }                                                                                           \
    static WEFT_PERHAPS_ inline void function##_forked_(weft *w_, void *fork_)                  \
    {                                                                                           \
        struct function##_fork_ *f_ = (struct function##_fork_ *)fork_;                         \
        f_->result = function##_call_(w_, &f_->arguments_);                                     \
    }                                                                                           \
    static WEFT_PERHAPS_ inline void function##_put_(weft *w_, struct function##_arguments_ a_) \
    {                                                                                           \
        if (!WEFT_DEBUG || w_)                                                                  \
            memcpy(w_->words_, &a_, WEFT_IN_SIZE_(a_));                                         \
    }                                                                                           \
    static WEFT_PERHAPS_ inline type function##_call_in_(weft *w_, const weft *slot_)           \
    {                                                                                           \
        struct function##_arguments_ a_;                                                        \
        memcpy(&a_, slot_->words_, WEFT_IN_SIZE_(a_));                                          \
        return function##_call_(w_, &a_);                                                       \
    }                                                                                           \
    static WEFT_PERHAPS_ inline void function##_forked_in_(weft *w_, void *slot_)               \
    {                                                                                           \
        type result_ = function##_call_in_(w_, (const weft *)slot_);                            \
        memcpy(((weft *)slot_)->words_, &result_, WEFT_IN_SIZE_(result_));                      \
    }                                                                                           \
    static WEFT_PERHAPS_ inline type function##_merged_in_(weft *w_, bool over_)                \
    {                                                                                           \
        if (!over_)                                                                             \
            return function##_call_in_(w_, w_);                                                 \
        type result_;                                                                           \
        memcpy(&result_, w_->words_, WEFT_IN_SIZE_(result_));                                   \
        return result_;                                                                         \
    }
/* C++ has no compound literals. */
/* clang-format off */
#ifdef __cplusplus
#define WEFT_VALUE_(type, ...) {__VA_ARGS__}
#else
#define WEFT_VALUE_(type, ...) (type){__VA_ARGS__}
#endif
/* clang-format on */
#define WEFT_FORK(w, function, right, ...)                                     \
    struct function##_fork_ right;                                             \
    right.arguments_ = WEFT_VALUE_(struct function##_arguments_, __VA_ARGS__); \
    weft *right##_in = weft_fork((w), function##_forked_, &right)
#define WEFT_MERGE(w, function, right) \
    (weft_merge(w) ? (right).result : function##_call_((w), &(right).arguments_))

#ifdef __cplusplus
#define WEFT_ASSERT_(condition, words) static_assert(condition, words)
#else
#define WEFT_ASSERT_(condition, words) _Static_assert(condition, words)
#endif
#define WEFT_FORK_IN(w, function, ...)                                                     \
    (__extension__({                                                                       \
        WEFT_ASSERT_(sizeof(struct function##_arguments_) <= WEFT_IN_MOST_,                \
                     "WEFT_FORK_IN: the arguments take more than the 32 bytes of a slot"); \
        WEFT_ASSERT_(sizeof(((struct function##_fork_ *)0)->result) <= WEFT_IN_MOST_,      \
                     "WEFT_FORK_IN: the result takes more than the 32 bytes of a slot");   \
        weft *weft_w_ = (w);                                                               \
        function##_put_(weft_w_, WEFT_VALUE_(struct function##_arguments_, __VA_ARGS__));  \
        weft_fork(weft_w_, function##_forked_in_, weft_w_);                                \
    }))
#define WEFT_MERGE_IN(w, function)                           \
    (__extension__({                                         \
        weft *weft_w_ = (w);                                 \
        function##_merged_in_(weft_w_, weft_merge(weft_w_)); \
    }))

/* ---- Checks ------------------------------------------------------------------ */

WEFT_API weft *weft_fork_checked_(weft *w, weft_fn *right, void *arg, const char *where);
WEFT_API WEFT_MUST_USE bool weft_merge_checked_(weft *w, const char *where);
WEFT_API WEFT_MUST_USE weft *weft_outer_checked_(weft *w, const char *where);
WEFT_API void weft_join_checked_(weft *w, weft_fn *left, void *l, weft_fn *right, void *r,
                                 const char *where);

#if WEFT_DEBUG
#define WEFT_STRING_OF_(x) #x
#define WEFT_STRING_(x) WEFT_STRING_OF_(x)
#define WEFT_WHERE_ __FILE__ ":" WEFT_STRING_(__LINE__)
/* Variadic, because a compound literal or a lambda may contain commas. */
#define weft_fork(...) weft_fork_checked_(__VA_ARGS__, WEFT_WHERE_)
#define weft_merge(...) weft_merge_checked_(__VA_ARGS__, WEFT_WHERE_)
#define weft_outer(...) weft_outer_checked_(__VA_ARGS__, WEFT_WHERE_)
#ifndef WEFT_THROWS_
#define weft_join(...) weft_join_checked_(__VA_ARGS__, WEFT_WHERE_)
#endif
#endif

#ifdef __cplusplus
}
#pragma GCC diagnostic pop
#endif

#endif
