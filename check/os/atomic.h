/* SPDX-License-Identifier: MIT */
/* atomic.h: the library's atomic operations, each a call of the model's. The checked sources find
 * it before src/os/atomic.h. */
#ifndef CHECK_ATOMIC_H
#define CHECK_ATOMIC_H

#include "model.h"

#include <pthread.h> /* before their functions get other names */
#include <string.h>

/* In place of the compiler's qualifier: the model has the only copy of the truth. */
#undef _Atomic
#define _Atomic(type) type
#include "os/atomic_types.h"

/* All are in one section, so that those can be told that no harness comes by. */
#define CHECK_SITE(what, operation, order)                                              \
    (__extension__({                                                                    \
        static const struct site site_ __attribute__((section("weft_sites"), used)) = { \
            __FILE__, __LINE__, operation, order, what, __func__};                      \
        &site_;                                                                         \
    }))
#define CHECK_AT(a) (void *)(uintptr_t) & (a)->value, (unsigned)sizeof((a)->value)
#define CHECK_VALUE(a, v)                    \
    (__extension__({                         \
        __typeof__((a)->value) value_ = (v); \
        (uint64_t)(uintptr_t) value_;        \
    }))
#define CHECK_TYPED(a, v) (__extension__({ (__typeof__((a)->value))(uintptr_t)(v); }))

#define CHECK_LOAD(a, order) \
    CHECK_TYPED(a, model_load(CHECK_AT(a), order, CHECK_SITE(#a, OP_LOAD, order)))
#define CHECK_STORE(a, v, order) \
    model_store(CHECK_AT(a), CHECK_VALUE(a, v), order, CHECK_SITE(#a, OP_STORE, order))
#define CHECK_RMW(a, v, kind, order) \
    CHECK_TYPED(                     \
        a, model_rmw(CHECK_AT(a), kind, CHECK_VALUE(a, v), order, CHECK_SITE(#a, OP_RMW, order)))
#define CHECK_CAS(a, expected, v, success, failure)                                     \
    (__extension__({                                                                    \
        __typeof__(expected) expected_ = (expected);                                    \
        uint64_t old_ = (uint64_t)(uintptr_t)*expected_;                                \
        bool done_ = model_cas(CHECK_AT(a), &old_, CHECK_VALUE(a, v), success, failure, \
                               CHECK_SITE(#a, OP_CAS, success));                        \
        if (!done_)                                                                     \
            *expected_ = (__typeof__(*expected_))(uintptr_t)old_;                       \
        done_;                                                                          \
    }))

#define atomic_load_relaxed(a) CHECK_LOAD(a, RELAXED)
#define atomic_load_acquire(a) CHECK_LOAD(a, ACQUIRE)
#define atomic_load_seq_cst(a) CHECK_LOAD(a, SEQ_CST)
#define atomic_store_relaxed(a, v) CHECK_STORE(a, v, RELAXED)
#define atomic_store_release(a, v) CHECK_STORE(a, v, RELEASE)
#define atomic_store_untold_release(a, v) CHECK_STORE(a, v, RELEASE)
#define atomic_store_seq_cst(a, v) CHECK_STORE(a, v, SEQ_CST)
#define atomic_exchange_acquire(a, v) CHECK_RMW(a, v, RMW_EXCHANGE, ACQUIRE)
#define atomic_exchange_release(a, v) CHECK_RMW(a, v, RMW_EXCHANGE, RELEASE)
#define atomic_exchange_acq_rel(a, v) CHECK_RMW(a, v, RMW_EXCHANGE, ACQ_REL)
#define atomic_exchange_seq_cst(a, v) CHECK_RMW(a, v, RMW_EXCHANGE, SEQ_CST)
#define atomic_fetch_add_relaxed(a, v) CHECK_RMW(a, v, RMW_ADD, RELAXED)
#define atomic_fetch_add_acq_rel(a, v) CHECK_RMW(a, v, RMW_ADD, ACQ_REL)
#define atomic_fetch_sub_relaxed(a, v) CHECK_RMW(a, v, RMW_SUB, RELAXED)
#define atomic_fetch_sub_acq_rel(a, v) CHECK_RMW(a, v, RMW_SUB, ACQ_REL)
#define atomic_fetch_or_relaxed(a, v) CHECK_RMW(a, v, RMW_OR, RELAXED)
#define atomic_fetch_or_acq_rel(a, v) CHECK_RMW(a, v, RMW_OR, ACQ_REL)
#define atomic_cas_relaxed(a, expected, v) CHECK_CAS(a, expected, v, RELAXED, RELAXED)
#define atomic_cas_acquire(a, expected, v) CHECK_CAS(a, expected, v, ACQUIRE, RELAXED)
#define atomic_cas_release(a, expected, v) CHECK_CAS(a, expected, v, RELEASE, RELAXED)
#define atomic_cas_acq_rel(a, expected, v) CHECK_CAS(a, expected, v, ACQ_REL, ACQUIRE)
#define atomic_cas_seq_cst(a, expected, v) CHECK_CAS(a, expected, v, SEQ_CST, RELAXED)
#define atomic_fence_seq_cst() model_fence(SEQ_CST, CHECK_SITE("fence", OP_FENCE, SEQ_CST))
#define atomic_fence_compiler() \
    ((void)0) /* threads of the model do what the program says, in order */

/* What weft/inline.h has for compilers that know the library only from there. */
#define CHECK_ORDER(order)                   \
    ((order) == __ATOMIC_RELAXED   ? RELAXED \
     : (order) == __ATOMIC_ACQUIRE ? ACQUIRE \
     : (order) == __ATOMIC_RELEASE ? RELEASE \
                                   : SEQ_CST)
#define __atomic_load_n(p, order)                                                            \
    ((__typeof__(*(p)))(uintptr_t)model_load((p), (unsigned)sizeof *(p), CHECK_ORDER(order), \
                                             CHECK_SITE(#p, OP_LOAD, CHECK_ORDER(order))))
#define __atomic_store_n(p, v, order)                                                     \
    model_store((p), (unsigned)sizeof *(p), (uint64_t)(uintptr_t)(v), CHECK_ORDER(order), \
                CHECK_SITE(#p, OP_STORE, CHECK_ORDER(order)))

#define WEFT__RECHECK(found) model_recheck((found), CHECK_SITE(#found, OP_RECHECK, RELAXED))
#define WEFT__LOCK_SPINS (model_choose(2) ? 1 : 0)
#define WEFT__MUTEX_SPINS 0  /* who spins lets all others go first, and would never wait */
#define WEFT__MUTEX_PASSES 2 /* few enough to be come to */
#define WEFT__MUTEX_VAIN 1
#define WEFT__ANSWER_SPINS (model_choose(2) ? 1 : 0) /* the owner has a chance, or none */

/* Each of the model's threads has its own; see watch.c. */
#define _Thread_local __attribute__((section("weft_locals")))
#define WEFT__TLS_FAST
#define memset __tsan_memset
#define memcpy __tsan_memcpy
#define memmove __tsan_memmove
#define pthread_join(thread, result) model_join((unsigned)(thread))
#define pthread_detach(thread) ((void)(thread))

static inline void weft__relax(void)
{
    model_yield();
}

#endif
