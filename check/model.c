/* SPDX-License-Identifier: MIT */
/* What the library calls. Outside the threads, everything is plain. */
#include "model.h"

#include "choose.h"
#include "mutate.h"
#include "schedule.h"
#include "watch.h"

#include <string.h>

static uint64_t peek(const void *at, unsigned size)
{
    uint64_t value = 0;
    memcpy(&value, at, size);
    return value;
}

static void poke(void *at, unsigned size, uint64_t value)
{
    watch_remember(at, size);
    memcpy(at, &value, size);
}

uint64_t model_load(const void *at, unsigned size, enum order order, const struct site *site)
{
    if (!model_thread())
        return peek(at, size);
    order = mutate_order(site, OP_LOAD, order);
    schedule_step(TOUCH_READ, at);
    return memory_load(model_thread(), schedule_location(at, size), order, site);
}

void model_store(void *at, unsigned size, uint64_t value, enum order order, const struct site *site)
{
    if (!model_thread()) {
        poke(at, size, value);
        return;
    }
    order = mutate_order(site, OP_STORE, order);
    schedule_step(TOUCH_WRITE, at);
    memory_store(model_thread(), schedule_location(at, size), value, order, site);
}

uint64_t model_applied(enum rmw kind, uint64_t old, uint64_t operand)
{
    switch (kind) {
    case RMW_ADD:
        return old + operand;
    case RMW_SUB:
        return old - operand;
    case RMW_OR:
        return old | operand;
    default:
        return operand;
    }
}

uint64_t model_rmw(void *at, unsigned size, enum rmw kind, uint64_t operand, enum order order,
                   const struct site *site)
{
    if (!model_thread()) {
        uint64_t old = peek(at, size);
        poke(at, size, model_applied(kind, old, operand));
        return old;
    }
    order = mutate_order(site, OP_RMW, order);
    schedule_step(TOUCH_WRITE, at);
    return memory_rmw(model_thread(), schedule_location(at, size), kind, operand, order, site);
}

bool model_cas(void *at, unsigned size, uint64_t *expected, uint64_t desired, enum order success,
               enum order failure, const struct site *site)
{
    if (!model_thread()) {
        uint64_t old = peek(at, size);
        bool same = old == *expected;
        if (same)
            poke(at, size, desired);
        *expected = old;
        return same;
    }
    success = mutate_order(site, OP_CAS, success);
    if (failure == ACQUIRE && (success == RELEASE || success == RELAXED))
        failure = RELAXED;
    schedule_step(TOUCH_WRITE, at);
    return memory_cas(model_thread(), schedule_location(at, size), expected, desired, success,
                      failure, site);
}

void model_fence(enum order order, const struct site *site)
{
    if (!model_thread())
        return;
    order = mutate_order(site, OP_FENCE, order);
    if (mutate_dropped(site))
        return;
    schedule_step(TOUCH_FENCE, NULL);
    memory_fence(model_thread(), order, site);
}

void model_barrier_everywhere(const struct site *site)
{
    if (!model_thread())
        return;
    mutate_order(site, OP_FENCE, SEQ_CST);
    if (mutate_dropped(site))
        return;
    schedule_step(TOUCH_ALL, NULL);
    memory_barrier(site);
}

/* ---- Futexes ---- */

void model_wait(void *at, unsigned size, uint64_t value, uint64_t ns)
{
    if (!model_thread())
        model_fail("a wait outside the threads");
    schedule_step(TOUCH_WRITE, at);
    int location = schedule_location(at, size);
    if (memory_newest(model_thread(), location, EVENT_SLEEP) != value)
        return;
    if (!choose_spurious())
        schedule_wait(location, ns);
    memory_event(model_thread(), EVENT_WOKEN, location, NULL);
}

void model_wake(const void *at, unsigned n, const struct site *site)
{
    if (!model_thread())
        return;
    mutate_order(site, OP_WAKE, RELAXED);
    if (mutate_dropped(site))
        return;
    schedule_step(TOUCH_WRITE, at);
    int location = memory_location(at, sizeof(uint32_t)); /* the memory itself may be gone */
    memory_event(model_thread(), EVENT_WAKE, location, site);
    unsigned list[THREADS_MAX], count;
    for (; n > 0 && (count = schedule_waiting(location, list)) > 0; n--)
        schedule_ready(list[choose_any(count)]);
}

bool model_recheck(bool found, const struct site *site)
{
    mutate_order(site, OP_RECHECK, RELAXED);
    return found && !mutate_dropped(site);
}

/* ---- Locks: the word is 1 while somebody has it ---- */

static const struct site lock_site = {.file = "lock.h", .what = "lock"};

void model_lock(void *at)
{
    if (!model_thread()) {
        poke(at, sizeof(uint32_t), 1);
        return;
    }
    schedule_step(TOUCH_WRITE, at);
    int location = schedule_location(at, sizeof(uint32_t));
    while (memory_peek(location) != 0)
        schedule_wait(location, 0);
    memory_lock(model_thread(), location, &lock_site);
}

bool model_trylock(void *at)
{
    if (!model_thread()) {
        poke(at, sizeof(uint32_t), 1);
        return true;
    }
    schedule_step(TOUCH_WRITE, at);
    int location = schedule_location(at, sizeof(uint32_t));
    bool is_free = memory_peek(location) == 0;
    if (is_free)
        memory_lock(model_thread(), location, &lock_site);
    else
        (void)memory_newest(model_thread(), location, EVENT_LOAD);
    return is_free;
}

void model_unlock(void *at)
{
    if (!model_thread()) {
        poke(at, sizeof(uint32_t), 0);
        return;
    }
    schedule_step(TOUCH_WRITE, at);
    int location = schedule_location(at, sizeof(uint32_t));
    memory_unlock(model_thread(), location, &lock_site);
    unsigned list[THREADS_MAX], n = schedule_waiting(location, list);
    while (n > 0)
        schedule_ready(list[--n]);
}

static uint64_t clock_word;

uint64_t model_clock(void)
{
    static const struct site site = {.file = "clock", .what = "clock"};
    if (!clock_word || !model_thread())
        return 1 + now.passed;
    return model_rmw(&clock_word, sizeof clock_word, RMW_ADD, 1, RELAXED, &site);
}

void model_time_passes(void)
{
    watch_remember(&clock_word, sizeof clock_word);
    clock_word = 1;
}

unsigned model_choose(unsigned n)
{
    return model_thread() ? choose_any(n) : 0;
}

/* ---- Threads ---- */

struct start {
    void *(*run)(void *);
    void *arg;
};

static void run(void *p)
{
    const struct start *start = p;
    (void)start->run(start->arg);
}

unsigned model_start(void *(*fn)(void *), void *arg)
{
    struct start *start = model_alloc(sizeof *start);
    *start = (struct start){fn, arg};
    return schedule_start(run, start);
}

void model_join(unsigned thread)
{
    schedule_join(thread);
}
