/* SPDX-License-Identifier: MIT */
/* model.h: a machine that does everything C11 allows, for the library's own sources.
 *
 * Harness threads are fibers of one thread; every atomic operation, fence and futex call of
 * the library comes here. What a real machine decides by its timing is a *choice*: which
 * thread goes on, which store a load reads, where in a location's order a store lands, whether
 * a sleeper wakes for no reason. explore.c runs a harness again and again until all choices
 * are exhausted; memory.c knows which ones there are.
 *
 * Before the threads start and after they have ended, operations are plain ones. */
#ifndef CHECK_MODEL_H
#define CHECK_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum order { RELAXED, ACQUIRE, RELEASE, ACQ_REL, SEQ_CST };

enum operation { OP_LOAD, OP_STORE, OP_RMW, OP_CAS, OP_FENCE, OP_WAKE, OP_RECHECK };

/* A place in the source at which something happens. All stand in one section, one after the
 * other, so compilers must not align them any further. */
struct site {
    _Alignas(32) const char *file;
    int line;
    uint8_t operation, order; /* enum operation, enum order */
    const char *what;         /* the operand's text */
    const char *function;
};

enum rmw { RMW_EXCHANGE, RMW_ADD, RMW_SUB, RMW_OR };

uint64_t model_load(const void *at, unsigned size, enum order order, const struct site *site);
void model_store(void *at, unsigned size, uint64_t value, enum order order,
                 const struct site *site);
uint64_t model_rmw(void *at, unsigned size, enum rmw kind, uint64_t operand, enum order order,
                   const struct site *site);
bool model_cas(void *at, unsigned size, uint64_t *expected, uint64_t desired, enum order success,
               enum order failure, const struct site *site);
void model_fence(enum order order, const struct site *site);
void model_barrier_everywhere(const struct site *site); /* membarrier: a fence in every thread */

/* Waits while the word is `value`; may return for no reason. `ns`: it need not be woken if that
 * time passes; 0: it has to. */
void model_wait(void *at, unsigned size, uint64_t value, uint64_t ns);
void model_wake(const void *at, unsigned n, const struct site *site);

/* Something was looked at once more before a thread rests on it: true if `found`. */
bool model_recheck(bool found, const struct site *site);

/* A lock as one step, so that executions are fewer. The library's own lock is checked by
 * itself (harness_lock.c); what else uses it is checked with this one. */
void model_lock(void *at);
bool model_trylock(void *at);
void model_unlock(void *at);

/* The thread spins: others go first. */
void model_yield(void);

/* ---- For harnesses ---- */

/* Its owner has returned: whoever touches it from now on fails. */
void model_gone(const void *at, size_t size);

/* This execution has come to an end that it may have, although not all threads have. */
void model_done(void) __attribute__((noreturn));

void model_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
#define MODEL_ASSERT(condition) \
    ((condition) ? (void)0 : model_fail("%s:%d: not true: %s", __FILE__, __LINE__, #condition))

/* Memory that is there again at the same address in the next execution. Zeroed; of a block,
 * only the beginning is used. */
void *model_alloc(size_t size);
void *model_block(size_t size, size_t alignment);
void model_free(void *p); /* of model_alloc() */

/* The clock: 1, and what has passed while nobody could go on; or, in harnesses whose setup says so,
 * one more at each look. */
uint64_t model_clock(void);
void model_time_passes(void);

/* One of n, for what a machine decides by its timing. */
unsigned model_choose(unsigned n);

unsigned model_thread(void); /* 1 and up; 0 outside the threads */

/* 0: there are too many. What it returns is for nobody. */
unsigned model_start(void *(*fn)(void *), void *arg);
void model_join(unsigned thread);

/* As the compilers' hooks; see watch.c. */
void *__tsan_memset(void *at, int value, size_t size);
void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memmove(void *to, const void *from, size_t size);

uint64_t model_applied(enum rmw kind, uint64_t old, uint64_t operand);

#endif
