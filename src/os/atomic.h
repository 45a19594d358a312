/* SPDX-License-Identifier: MIT */
/* atomic.h: the closed list of atomic operations, memory order in the name. Nothing
 * else in the library touches <stdatomic.h>. An atomic is a struct, so that it can't be
 * read or written bare by accident; the operations work on any of them.
 *
 * Comments beside a synchronising access carry a tag that its partner carries too
 * ("release D1" there, "acquire D1" here); the folder's README.md lists the tags. weft check has
 * a header of the same name, which it finds first. */
#ifndef WEFT_OS_ATOMIC_H
#define WEFT_OS_ATOMIC_H

#include "os/atomic_types.h"
#include "os/sanitize.h"

#include <stdatomic.h>

/* ThreadSanitizer is told of a release before the operation, and of an acquire after it; see
 * os/sanitize.h. It is also told of a compare-exchange that fails: it may assume an edge that does
 * not exist, but never misses one. The operation is written twice, so that the compiler can use the
 * processor's flags directly after it. */
#define WEFT__RELEASES(a, operation) (weft__tsan_releases(&(a)->value), (operation))
#define WEFT__TELLS(a, operation, before)          \
    (__extension__({                               \
        __typeof__(operation) found_;              \
        if (weft__tsan_is_outside()) {             \
            before;                                \
            found_ = (operation);                  \
            weft__tsan_tell_acquired(&(a)->value); \
        } else {                                   \
            found_ = (operation);                  \
        }                                          \
        found_;                                    \
    }))
#define WEFT__ACQUIRES(a, operation) WEFT__TELLS(a, operation, (void)0)
#define WEFT__HANDS_OVER(a, operation) \
    WEFT__TELLS(a, operation, weft__tsan_tell_releases(&(a)->value))

#define atomic_load_relaxed(a) atomic_load_explicit(&(a)->value, memory_order_relaxed)
#define atomic_load_acquire(a) \
    WEFT__ACQUIRES(a, atomic_load_explicit(&(a)->value, memory_order_acquire))
#define atomic_load_seq_cst(a) \
    WEFT__ACQUIRES(a, atomic_load_explicit(&(a)->value, memory_order_seq_cst))

#define atomic_store_relaxed(a, v) atomic_store_explicit(&(a)->value, (v), memory_order_relaxed)
#define atomic_store_release(a, v) \
    WEFT__RELEASES(a, atomic_store_explicit(&(a)->value, (v), memory_order_release))
/* For lazy forks. There are none while ThreadSanitizer is present. */
#define atomic_store_untold_release(a, v) \
    atomic_store_explicit(&(a)->value, (v), memory_order_release)
#define atomic_store_seq_cst(a, v) \
    WEFT__RELEASES(a, atomic_store_explicit(&(a)->value, (v), memory_order_seq_cst))

#define atomic_exchange_acquire(a, v) \
    WEFT__ACQUIRES(a, atomic_exchange_explicit(&(a)->value, (v), memory_order_acquire))
#define atomic_exchange_release(a, v) \
    WEFT__RELEASES(a, atomic_exchange_explicit(&(a)->value, (v), memory_order_release))
#define atomic_exchange_acq_rel(a, v) \
    WEFT__HANDS_OVER(a, atomic_exchange_explicit(&(a)->value, (v), memory_order_acq_rel))
#define atomic_exchange_seq_cst(a, v) \
    WEFT__HANDS_OVER(a, atomic_exchange_explicit(&(a)->value, (v), memory_order_seq_cst))

#define atomic_fetch_add_relaxed(a, v) \
    atomic_fetch_add_explicit(&(a)->value, (v), memory_order_relaxed)
#define atomic_fetch_add_seq_cst(a, v) \
    WEFT__HANDS_OVER(a, atomic_fetch_add_explicit(&(a)->value, (v), memory_order_seq_cst))
#define atomic_fetch_add_acq_rel(a, v) \
    WEFT__HANDS_OVER(a, atomic_fetch_add_explicit(&(a)->value, (v), memory_order_acq_rel))
#define atomic_fetch_sub_relaxed(a, v) \
    atomic_fetch_sub_explicit(&(a)->value, (v), memory_order_relaxed)
#define atomic_fetch_sub_acq_rel(a, v) \
    WEFT__HANDS_OVER(a, atomic_fetch_sub_explicit(&(a)->value, (v), memory_order_acq_rel))
#define atomic_fetch_or_relaxed(a, v) \
    atomic_fetch_or_explicit(&(a)->value, (v), memory_order_relaxed)
#define atomic_fetch_or_acq_rel(a, v) \
    WEFT__HANDS_OVER(a, atomic_fetch_or_explicit(&(a)->value, (v), memory_order_acq_rel))

/* Compare-exchange: true if *a was *expected and is now v; otherwise *expected is what
 * was found. A failed one orders nothing unless its name says so. */
#define WEFT__CAS(a, expected, v, success, failure) \
    atomic_compare_exchange_strong_explicit(&(a)->value, (expected), (v), success, failure)
#define atomic_cas_relaxed(a, expected, v) \
    WEFT__CAS(a, expected, v, memory_order_relaxed, memory_order_relaxed)
#define atomic_cas_acquire(a, expected, v) \
    WEFT__ACQUIRES(a, WEFT__CAS(a, expected, v, memory_order_acquire, memory_order_relaxed))
#define atomic_cas_release(a, expected, v) \
    WEFT__RELEASES(a, WEFT__CAS(a, expected, v, memory_order_release, memory_order_relaxed))
/* Acquires on failure too. */
#define atomic_cas_acq_rel(a, expected, v) \
    WEFT__HANDS_OVER(a, WEFT__CAS(a, expected, v, memory_order_acq_rel, memory_order_acquire))
#define atomic_cas_seq_cst(a, expected, v) \
    WEFT__HANDS_OVER(a, WEFT__CAS(a, expected, v, memory_order_seq_cst, memory_order_relaxed))

static inline void atomic_fence_seq_cst(void)
{
#ifdef WEFT__TSAN
    /* ThreadSanitizer ignores fences. No happens-before edge in this library rests on one
     * (they order stores before loads, nothing more), so to the sanitizer this is a full
     * barrier without an edge: a read-modify-write of a variable of this thread alone. */
    struct atomic_u32 barrier = {0};
    (void)atomic_fetch_add_explicit(&barrier.value, 1, memory_order_seq_cst);
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* For the compiler alone: another thread's barrier does the rest. */
static inline void atomic_fence_compiler(void)
{
    atomic_signal_fence(memory_order_seq_cst);
}

/* Marks a second look at something that the thread has seen before. weft check leaves out one such
 * look at a time. */
#define WEFT__RECHECK(found) (found)

/* For spinning on a value that another thread is about to change. */
static inline void weft__relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("isb");
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

#endif
