/* SPDX-License-Identifier: MIT */
/* litmus.h: the language of small programs whose possible outcomes are known. */
#ifndef CHECK_LITMUS_H
#define CHECK_LITMUS_H

#include "harnesses.h"
#include "os/atomic.h"

/* Places without lines: nothing here is for mutants, of which there is a limited number. */
#undef CHECK_SITE
#define CHECK_SITE(what, operation, order)                                            \
    (__extension__({                                                                  \
        static const struct site site_ = {__FILE__, 0, operation, order, what, NULL}; \
        &site_;                                                                       \
    }))

static struct atomic_u32 w, x, y, z;
static uint32_t seen[6] __attribute__((used)); /* loads stay, also where no outcome looks at it */
static int plain;

static void setup(void)
{
    atomic_store_relaxed(&w, 0);
    atomic_store_relaxed(&x, 0);
    atomic_store_relaxed(&y, 0);
    atomic_store_relaxed(&z, 0);
    plain = 0;
    for (unsigned i = 0; i < 6; i++)
        seen[i] = 0;
}

/* A thread is written as one line. */
#define THREAD(name, ...)                          \
    __attribute__((unused)) static void name(void) \
    {                                              \
        __VA_ARGS__;                               \
    }
/* Finds out whether the outcome can be seen. */
#define OUTCOME(name, condition)    \
    static void name(void)          \
    {                               \
        MODEL_ASSERT(!(condition)); \
    }

/* Writes, reads, exchanges, additions; nothing said: relaxed. Those with one operand read. */
#define W(a, v) atomic_store_relaxed(&a, v)
#define W_REL(a, v) atomic_store_release(&a, v)
#define W_SC(a, v) atomic_store_seq_cst(&a, v)
#define R(a) atomic_load_relaxed(&a)
#define R_ACQ(a) atomic_load_acquire(&a)
#define R_SC(a) atomic_load_seq_cst(&a)
#define X_ACQ(a, v) atomic_exchange_acquire(&a, v)
#define X_REL(a, v) atomic_exchange_release(&a, v)
#define X_AR(a, v) atomic_exchange_acq_rel(&a, v)
#define X_SC(a, v) atomic_exchange_seq_cst(&a, v)
#define ADD(a, v) atomic_fetch_add_relaxed(&a, v)
#define ADD_AR(a, v) atomic_fetch_add_acq_rel(&a, v)
#define ADD0(a) ADD(a, 0)
#define ADD0_AR(a) ADD_AR(a, 0)
#define TAKE_ACQ(a) X_ACQ(a, 9)
#define TAKE_REL(a) X_REL(a, 9)
/* The value that a compare-exchange has read; from 0 it succeeds, from 7 it never does. */
#define CAS(order, a, from, to)                     \
    (__extension__({                                \
        uint32_t read_ = (from);                    \
        (void)atomic_cas_##order(&a, &read_, (to)); \
        read_;                                      \
    }))
#define C_REL(a, v) CAS(release, a, 0, v)
#define C_SC(a, v) CAS(seq_cst, a, 0, v)
#define FAIL_AR(a) CAS(acq_rel, a, 7, 8)
#define FAIL_SC(a) CAS(seq_cst, a, 7, 8)
#define F atomic_fence_seq_cst()
#define MB model_barrier_everywhere(NULL)
#define NO (void)0
#define LOCK(a) model_lock(&a.value)
#define UNLOCK(a) model_unlock(&a.value)

/* The words of a failure; NULL: the outcome is forbidden. */
#define SEEN "not true"
#define RACE "data race"
#define GONE "whose owner has returned"
#define LOST "a wake-up is lost"
#define ENDLESS "goes on for ever"

static const struct rules prompt = {0};

#define TEST(id, text, end, words, ...)                                                   \
    {                                                                                     \
        .name = id, .what = text, .setup = setup, .thread = {__VA_ARGS__}, .finish = end, \
        .fails = words, .rules = &prompt                                                  \
    }

#endif
