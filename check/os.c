/* SPDX-License-Identifier: MIT */
/* The os layer, as the model has it: no time passes, and nobody sleeps but in a futex. */
#include "core/atomic.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/membarrier.h"
#include "os/memory.h"
#include "os/thread.h"

void weft__futex_wait(struct atomic_u32 *word, uint32_t value)
{
    model_wait(word, sizeof word->value, value);
}

/* A time-out is a wake-up for no reason: bounded as those are. */
void weft__futex_wait_for(struct atomic_u32 *word, uint32_t value, uint64_t ns)
{
    (void)ns;
    model_wait(word, sizeof word->value, value);
}

void weft__futex_wake(struct atomic_u32 *word, unsigned n)
{
    model_wake(word, n);
}

bool weft__membarrier_init(void)
{
    return true;
}

void weft__membarrier(void)
{
    model_barrier_everywhere();
}

uint64_t weft__clock_now(void)
{
    return 1;
}

void *weft__alloc(size_t size)
{
    return model_alloc(size);
}

void weft__free(void *p)
{
    (void)p;
}

void weft__thread_pin(int cpu)
{
    (void)cpu;
}

void weft__thread_unpin(void)
{
}

int weft__thread_cpu(void)
{
    return -1;
}

void weft__thread_yield(void)
{
    model_yield();
}
