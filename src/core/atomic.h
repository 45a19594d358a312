/* SPDX-License-Identifier: MIT */
/* atomic.h: the closed list of atomic operations, memory order in the name. Nothing
 * else in the library touches <stdatomic.h>. An atomic is a struct, so that it can't be
 * read or written bare by accident; the operations work on any of them.
 *
 * Comments beside a synchronising access carry a tag that its partner carries too
 * ("release D1" there, "acquire D1" here); README.md in this folder lists the tags. */
#ifndef WEFT_CORE_ATOMIC_H
#define WEFT_CORE_ATOMIC_H

#ifdef WEFT_MODEL
#include "check/atomic.h" /* weft check: every operation is the model's */
#else
#include <stdatomic.h>
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct atomic_bool {
    _Atomic(bool) value;
};
struct atomic_i32 {
    _Atomic(int32_t) value;
};
struct atomic_u32 {
    _Atomic(uint32_t) value;
};
struct atomic_i64 {
    _Atomic(int64_t) value;
};
struct atomic_u64 {
    _Atomic(uint64_t) value;
};
struct atomic_size {
    _Atomic(size_t) value;
};
struct atomic_uptr {
    _Atomic(uintptr_t) value;
};
struct atomic_ptr {
    _Atomic(void *) value;
};

#ifndef WEFT_MODEL

#define atomic_load_relaxed(a) atomic_load_explicit(&(a)->value, memory_order_relaxed)
#define atomic_load_acquire(a) atomic_load_explicit(&(a)->value, memory_order_acquire)
#define atomic_load_seq_cst(a) atomic_load_explicit(&(a)->value, memory_order_seq_cst)

#define atomic_store_relaxed(a, v) atomic_store_explicit(&(a)->value, (v), memory_order_relaxed)
#define atomic_store_release(a, v) atomic_store_explicit(&(a)->value, (v), memory_order_release)
#define atomic_store_seq_cst(a, v) atomic_store_explicit(&(a)->value, (v), memory_order_seq_cst)

#define atomic_exchange_acquire(a, v) \
    atomic_exchange_explicit(&(a)->value, (v), memory_order_acquire)
#define atomic_exchange_release(a, v) \
    atomic_exchange_explicit(&(a)->value, (v), memory_order_release)
#define atomic_exchange_acq_rel(a, v) \
    atomic_exchange_explicit(&(a)->value, (v), memory_order_acq_rel)
#define atomic_exchange_seq_cst(a, v) \
    atomic_exchange_explicit(&(a)->value, (v), memory_order_seq_cst)

#define atomic_fetch_add_relaxed(a, v) \
    atomic_fetch_add_explicit(&(a)->value, (v), memory_order_relaxed)
#define atomic_fetch_add_seq_cst(a, v) \
    atomic_fetch_add_explicit(&(a)->value, (v), memory_order_seq_cst)
#define atomic_fetch_add_acq_rel(a, v) \
    atomic_fetch_add_explicit(&(a)->value, (v), memory_order_acq_rel)
#define atomic_fetch_sub_relaxed(a, v) \
    atomic_fetch_sub_explicit(&(a)->value, (v), memory_order_relaxed)
#define atomic_fetch_sub_acq_rel(a, v) \
    atomic_fetch_sub_explicit(&(a)->value, (v), memory_order_acq_rel)
#define atomic_fetch_or_acq_rel(a, v) \
    atomic_fetch_or_explicit(&(a)->value, (v), memory_order_acq_rel)

/* Compare-exchange: true if *a was *expected and is now v; otherwise *expected is what
 * was found. A failed one orders nothing unless its name says so. */
#define atomic_cas_relaxed(a, expected, v)                                                      \
    atomic_compare_exchange_strong_explicit(&(a)->value, (expected), (v), memory_order_relaxed, \
                                            memory_order_relaxed)
#define atomic_cas_acquire(a, expected, v)                                                      \
    atomic_compare_exchange_strong_explicit(&(a)->value, (expected), (v), memory_order_acquire, \
                                            memory_order_relaxed)
#define atomic_cas_release(a, expected, v)                                                      \
    atomic_compare_exchange_strong_explicit(&(a)->value, (expected), (v), memory_order_release, \
                                            memory_order_relaxed)
/* Acquires on failure too. */
#define atomic_cas_acq_rel(a, expected, v)                                                      \
    atomic_compare_exchange_strong_explicit(&(a)->value, (expected), (v), memory_order_acq_rel, \
                                            memory_order_acquire)
#define atomic_cas_seq_cst(a, expected, v)                                                      \
    atomic_compare_exchange_strong_explicit(&(a)->value, (expected), (v), memory_order_seq_cst, \
                                            memory_order_relaxed)

#if defined __SANITIZE_THREAD__
#define WEFT__TSAN 1
#elif defined __has_feature
#if __has_feature(thread_sanitizer)
#define WEFT__TSAN 1
#endif
#endif

static inline void atomic_fence_seq_cst(void)
{
#ifdef WEFT__TSAN
    /* ThreadSanitizer ignores fences. No happens-before edge in this library rests on one
     * (they order stores before loads, nothing more), so to the sanitizer this is a full
     * barrier without an edge: a read-modify-write of a variable nobody else sees. */
    struct atomic_u32 barrier = {0};
    (void)atomic_fetch_add_explicit(&barrier.value, 1, memory_order_seq_cst);
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* Marks what a thread looks at once more before it rests on what it saw first: weft check
 * leaves out one at a time. */
#define WEFT__RECHECK(found) (found)

/* A known bug of others, by its number in check/faults.c, that weft check puts in to see that it
 * is found. Never otherwise. */
#define WEFT__FAULT(number) false

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

/* What two threads write at the same time stays this far apart. */
#define WEFT__CACHE_LINE 64
#define WEFT__ALIGNED _Alignas(WEFT__CACHE_LINE)

#endif
