/* SPDX-License-Identifier: MIT */
/* The os layer, as the model has it: no time passes, there is one CPU, and nobody sleeps but in
 * a futex. Memory and threads run out where the harness says so. What wakes and what stops
 * everybody is in the headers, where it has a place in the source. */
#include "choose.h"
#include "harnesses.h"
#include "os/atomic.h"
#include "os/clock.h"
#include "os/fatal.h"
#include "os/futex.h"
#include "os/membarrier.h"
#include "os/memory.h"
#include "os/overflow.h"
#include "os/roster.h"
#include "os/syscall.h"
#include "os/thread.h"
#include "os/topology.h"
#include "os/unload.h"
#include "schedule.h"

#include <errno.h>
#include <stdarg.h>

void weft__fatal(const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    model_fail("weft: %s", text);
}

/* ---- Sleep, time ---- */

void weft__futex_wait(struct atomic_u32 *word, uint32_t value)
{
    model_wait(word, sizeof word->value, value, 0);
}

/* A time-out is a wake-up for no reason: bounded as those are. In some harnesses it comes, too,
 * when nothing else happens. */
void weft__futex_wait_for(struct atomic_u32 *word, uint32_t value, uint64_t ns)
{
    model_wait(word, sizeof word->value, value, ns);
}

struct atomic_bool weft__membarrier_lost;

void weft__keep_loaded(void)
{
}

void weft__roster_add(struct weft__listed *entry)
{
}

void weft__roster_remove(struct weft__listed *entry)
{
}

void weft__roster_forked(void)
{
}

bool weft__membarrier_init(void)
{
    return true;
}

uint64_t weft__clock_now(void)
{
    return model_clock();
}

void weft__clock_sleep(uint64_t ns)
{
    (void)ns;
    model_yield();
}

/* ---- Memory ---- */

void *weft__alloc(size_t size)
{
    return choose_failure() ? NULL : model_alloc(size);
}

void *weft__scratch(size_t size)
{
    return weft__alloc(size);
}

void weft__free(void *p)
{
    if (p)
        model_free(p);
}

void *weft__map(size_t size, size_t alignment)
{
    return choose_failure() ? NULL : model_block(size, alignment);
}

void weft__unmap(void *p, size_t size)
{
    model_gone(p, size);
}

/* ---- Threads ---- */

int weft__thread_start(pthread_t *thread, size_t stack_size, int cpu, void *(*run)(void *),
                       void *arg)
{
    (void)stack_size;
    (void)cpu;
    if (choose_failure())
        return -EPERM;
    unsigned number = model_start(run, arg);
    if (number == 0)
        model_fail("more than %d threads", THREADS_MAX - 1);
    *thread = number;
    return 0;
}

void weft__thread_enter(const char *name, unsigned index, bool explain_overflow)
{
    (void)name;
    (void)index;
    (void)explain_overflow;
}

void weft__thread_leave(void)
{
}

void weft__thread_be_punctual(void)
{
}

void weft__thread_pin(int cpu)
{
    (void)cpu;
}

void weft__thread_unpin(void)
{
}

bool weft__syscall_of(int thread, char *text, size_t size)
{
    (void)thread;
    (void)text;
    (void)size;
    return false;
}

int weft__thread_number(void)
{
    return 0;
}

int weft__thread_cpu(void)
{
    return -1;
}

void weft__pin_set(struct weft__pin *pin, int thread, int cpu)
{
    (void)cpu;
    if (pin->thread == 0)
        thread_moves(true);
    pin->thread = thread;
}

void weft__pin_clear(struct weft__pin *pin)
{
    if (pin->thread != 0)
        thread_moves(false);
    pin->thread = 0;
}

/* Between two searches, perhaps for the last time: nobody is waited for. */
bool weft__thread_yield(void)
{
    if (!choose_impatience())
        model_yield();
    return true;
}

uint64_t weft__thread_cpu_time(pthread_t thread)
{
    (void)thread;
    return 0;
}

struct weft__stack weft__thread_stack(void)
{
    struct weft__stack stack;
    schedule_stack(&stack.low, &stack.high);
    return stack;
}

uint32_t weft__forks;

int weft__fork_watch(void (*in_child)(void))
{
    (void)in_child;
    return 0;
}

void weft__overflow_watch(weft__nested *nested)
{
    (void)nested;
}

void weft__overflow_visit(const char *low, const char *high)
{
    (void)low;
    (void)high;
}

/* ---- Processors ---- */

int weft__cpus_allowed(struct weft__cpus *cpus)
{
    static int only;
    *cpus = (struct weft__cpus){1, &only};
    return 0;
}

void weft__cpus_free(struct weft__cpus *cpus)
{
    (void)cpus;
}

unsigned weft__workers_auto(void)
{
    return 1;
}
