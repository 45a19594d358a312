/* SPDX-License-Identifier: MIT */
/* Fibers: a block of WEFT_BLOCK_SIZE holds all that an actor has on one executor.
 *
 *     header | slot | slot | ... -->        guard        <-- ... stack
 *
 * One guard between the slots, which grow upwards, and the stack, which grows downwards, is enough
 * for both; neighbours' stacks and headers lie next to each other, so that a fiber costs the kernel
 * two mappings. Blocks come in slabs, are used again, and are not unmapped before the pool is
 * destroyed: a late waker finds a live word. */
#include "actor/answer.h"
#include "core/fatal.h"
#include "os/memory.h"
#include "os/thread.h"
#include "os/valgrind.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

enum {
    SLOTS_END = 1 << 20, /* where the guard begins, */
    GUARD_SIZE = 64 << 10,
    STACK_BEGIN = SLOTS_END + GUARD_SIZE,
    STACK_SIZE = WEFT_BLOCK_SIZE - STACK_BEGIN,
    UNUSED = 512, /* at its top: valgrind follows no back trace where there is less above it */
    SLAB_BLOCKS = 16,
    KEPT = 32, /* free ones that an executor keeps for itself, with the memory they touched */
    KEPT_BYTES = 64 << 10, /* of the stack of any other free one */
};

struct weft__slab {
    struct weft__slab *next;
    char *blocks;
    unsigned used;
};

static bool has_block(struct weft__slab *slab)
{
    return slab && slab->used < SLAB_BLOCKS;
}

/* Under the lock. */
static struct weft__fiber *make(struct weft__actors *system)
{
    struct weft__slab *slab = system->slabs;
    if (!has_block(slab)) {
        slab = weft__alloc(sizeof *slab);
        if (!slab)
            return NULL;
        slab->blocks = weft__map(SLAB_BLOCKS * WEFT_BLOCK_SIZE);
        if (!slab->blocks) {
            weft__free(slab);
            return NULL;
        }
        slab->next = system->slabs;
        system->slabs = slab;
    }
    char *block = slab->blocks + slab->used * WEFT_BLOCK_SIZE;
    /* -ENOMEM past vm.max_map_count */
    if (mprotect(block + SLOTS_END, GUARD_SIZE, PROT_NONE))
        return NULL;
    slab->used++;
    system->fiber_count++;
    struct weft__fiber *fiber = (struct weft__fiber *)(void *)block;
    struct weft__context *context = &fiber->context;
    fiber->valgrind = weft__valgrind_stack(block + STACK_BEGIN, STACK_SIZE);
    context->first = (weft *)(void *)((char *)block + sizeof *fiber);
    context->last = (weft *)(void *)(block + SLOTS_END) - 1;
    context->eager = true;
    context->ops = &weft__actor_ops;
    context->fork_count = weft__fork_count();
    weft__park_init(&fiber->park);
    fiber->park.fiber = context;
    atomic_store_relaxed(&context->oldest, context->first); /* relaxed: nobody has it yet */
    return fiber;
}

static struct weft__fiber *find(struct weft__executor *executor)
{
    struct weft__actors *system = executor->system;
    struct weft__fiber *fiber = executor->free;
    if (fiber) {
        executor->free = fiber->next;
        executor->free_count--;
        return fiber;
    }
    weft__lock_take(&system->fiber_lock);
    fiber = system->free;
    if (fiber)
        system->free = fiber->next;
    else
        fiber = make(system);
    weft__lock_drop(&system->fiber_lock);
    return fiber;
}

struct weft__fiber *weft__fiber_get(struct weft__executor *executor, struct weft_actor *actor,
                                    bool held)
{
    struct weft__fiber *fiber = find(executor);
    if (!fiber)
        return NULL;
    weft__strand_make(&fiber->strand, (char *)fiber + STACK_BEGIN, STACK_SIZE - UNUSED,
                      weft__fiber_main, fiber);
    fiber->actor = actor;
    fiber->held = held;
    fiber->left = actor->share;
    fiber->full = true;
    fiber->top = NULL;
    fiber->arrivals = NULL;
    fiber->waits_at = NULL;
    fiber->used = 0;
    fiber->context.library = fiber->context.mutexes = fiber->blocks = 0;
    fiber->may_steal = false;
    fiber->young_quanta = 0;
    atomic_store_relaxed(&fiber->merging, false); /* relaxed, all: whoever gets it is told */
    atomic_store_relaxed(&fiber->executor, executor);
    atomic_store_release(&fiber->woken, false); /* release A6: late wakers see its executor */
    return fiber;
}

void weft__fiber_put(struct weft__executor *executor, struct weft__fiber *fiber)
{
    struct weft__actors *system = executor->system;
    weft__strand_drop(&fiber->strand);
    if (executor->free_count < KEPT) {
        executor->free_count++;
        fiber->next = executor->free;
        executor->free = fiber;
        return;
    }
    madvise((char *)fiber + STACK_BEGIN, STACK_SIZE - KEPT_BYTES, MADV_DONTNEED);
    weft__lock_take(&system->fiber_lock);
    fiber->next = system->free;
    system->free = fiber;
    weft__lock_drop(&system->fiber_lock);
}

static void free_slab(struct weft__slab *slab)
{
    for (unsigned i = 0; i < slab->used; i++) {
        char *block = slab->blocks + i * WEFT_BLOCK_SIZE;
        weft__valgrind_no_stack(((struct weft__fiber *)(void *)block)->valgrind);
    }
    weft__unmap(slab->blocks, SLAB_BLOCKS * WEFT_BLOCK_SIZE);
    weft__free(slab);
}

void weft__fibers_unmap(struct weft__actors *system)
{
    /* acquire A9: late wakers are out. There are a few instructions between them and that. */
    while (atomic_load_acquire(&weft__fiber_wakers) > 0)
        weft__thread_yield();
    while (system->slabs) {
        struct weft__slab *slab = system->slabs;
        system->slabs = slab->next;
        free_slab(slab);
    }
}

/* ---- Overflow ---- */

/* In the handler, on its own stack: where the fiber's was when it hit the guard, nothing was going
 * on but the program's own code. Delegates may still use its frames: they have to end before it
 * unwinds, and nothing else can be done on this thread meanwhile. */
bool weft__fiber_rescue(const void *address)
{
    enum { PATIENCE_NS = 2000000000 };
    struct weft__context *context = weft__fiber_here();
    const char *guard = (const char *)context + SLOTS_END;
    if (!context || (const char *)address < guard || (const char *)address >= guard + GUARD_SIZE)
        return false;
    struct weft__fiber *fiber = (struct weft__fiber *)context;
    struct weft__member *member = fiber->top;
    uint64_t until = weft_now() + PATIENCE_NS;
    while (!weft__answer_all_have_come(member))
        if (weft_now() > until)
            return false;
    sigset_t faults;
    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    sigaddset(&faults, SIGBUS);
    pthread_sigmask(SIG_UNBLOCK, &faults, NULL);
    weft__unwind_now(member, OUTCOME_OVERFLOW);
}

/* ---- What the rest of the library does with fibers ---- */

static void suspend(struct weft__context *context)
{
    weft__fiber_suspend((struct weft__fiber *)context);
}

static __attribute__((noinline)) void note_name(struct weft__actor_counts *counts, const char *name)
{
    uint64_t words[sizeof counts->waits_name / sizeof(uint64_t)] = {0};
    snprintf((char *)words, sizeof words, "%s", name);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        atomic_store_relaxed(&counts->waits_name[i], words[i]); /* relaxed: for people */
}

static void waits_for(struct weft__context *context, const char *what, const char *name)
{
    struct weft__fiber *fiber = (struct weft__fiber *)context;
    weft__fiber_waits_for(fiber, what);
    if (name && fiber->held)
        note_name(&fiber->actor->counts, name);
}

static void wake(struct weft__context *context)
{
    weft__fiber_wake((struct weft__fiber *)context);
}

static struct weft__park *park(struct weft__context *context)
{
    return &((struct weft__fiber *)context)->park;
}

static unsigned index_of(weft *w)
{
    return weft__executor_of(weft__fiber_of(w))->index;
}

/* Its thread goes with it; somebody else drives the executor from now on. */
static void block_begin(weft *w)
{
    struct weft__fiber *fiber = weft__fiber_of(w);
    if (fiber->blocks++ > 0)
        return;
    weft__give_back_arrivals(fiber);
    fiber->full = false;
    fiber->state = FIBER_AWAY;
    weft__executor_detach(weft__executor_of(fiber));
    weft__block_outside(fiber->context.worker);
}

static void block_end(weft *w)
{
    struct weft__fiber *fiber = weft__fiber_of(w);
    if (weft__fiber_here() != &fiber->context)
        weft__fatal("weft_block_end for an actor was called by another one, or by a job");
    if (fiber->blocks == 0)
        weft__fatal("weft_block_end without weft_block_begin");
    if (--fiber->blocks > 0)
        return;
    weft__block_outside_ends(fiber->context.worker);
    weft__fiber_switch_out(fiber, WHY_DETACHED);
}

const struct weft__fiber_ops weft__actor_ops = {
    .fork = weft__actor_fork,
    .merge = weft__actor_merge,
    .poll = weft__actor_poll,
    .yield = weft__fiber_yield,
    .suspend = suspend,
    .waits_for = waits_for,
    .wake = wake,
    .park = park,
    .block_begin = block_begin,
    .block_end = block_end,
    .index = index_of,
};
