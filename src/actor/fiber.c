/* SPDX-License-Identifier: MIT */
/* Fibers: a block of WEFT_BLOCK_SIZE holds all that an actor has on one executor.
 *
 *     header | slot | slot | ... -->     guard | reserve | spare     <-- ... stack
 *
 * One guard between the slots, which grow upwards, and the stack, which grows downwards, is enough
 * for both; neighbours' stacks and headers lie next to each other, so that a fiber costs the kernel
 * two mappings. Blocks come in slabs, are used again, and are not unmapped before the pool is
 * destroyed: a late waker finds a live word.
 *
 * What lies between guard and stack is closed, too, and opened by the handler of the fault. The
 * spare part is for delegates that begin on top of others: each has as much stack as an actor has,
 * so it overflows only where a single thread would have. The reserve is for the way out of an
 * overflow. */
#include "actor/fiber.h"

#include "actor/away.h"
#include "actor/deadlock.h"
#include "actor/delegate.h"
#include "actor/executor.h"
#include "actor/merge.h"
#include "actor/quantum.h"
#include "actor/unwind.h"
#include "os/fatal.h"
#include "os/fault.h"
#include "os/memory.h"
#include "os/thread.h"
#include "os/valgrind.h"
#include "sync/sync.h"

#include <stdio.h>
#include <sys/mman.h>

enum {
    SLOTS_END = 1 << 20, /* where the guard begins, */
    GUARD_SIZE = 64 << 10,
    RESERVE_BEGIN = SLOTS_END + GUARD_SIZE,
    RESERVE_SIZE = 64 << 10,
    SPARE_BEGIN = RESERVE_BEGIN + RESERVE_SIZE,
    STACK_BEGIN = SPARE_BEGIN + FIBER_SPARE,
    STACK_SIZE = FIBER_STACK,
    UNUSED = 512, /* at its top: valgrind follows no back trace where there is less above it */
    SLAB_BLOCKS = 16,
    KEPT = 32, /* free ones that an executor keeps for itself, with the memory they touched */
    KEPT_BYTES = 64 << 10, /* of the stack of any other free one */
};

/* Without a handler to open it, the spare part is open. */
static bool close_block(struct weft__actors *system, char *block)
{
    size_t end = system->rescues ? STACK_BEGIN : RESERVE_BEGIN;
    return mprotect(block + SLOTS_END, end - SLOTS_END, PROT_NONE) == 0;
}

_Static_assert(STACK_BEGIN + STACK_SIZE == WEFT_BLOCK_SIZE, "a block");

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
    if (!close_block(system, block)) /* -ENOMEM past vm.max_map_count */
        return NULL;
    slab->used++;
    system->fiber_count++;
    struct weft__fiber *fiber = (struct weft__fiber *)(void *)block;
    struct weft__context *context = &fiber->context;
    fiber->valgrind = weft__valgrind_stack(block + RESERVE_BEGIN, WEFT_BLOCK_SIZE - RESERVE_BEGIN);
    context->first = (weft *)(void *)((char *)block + sizeof *fiber);
    context->last = (weft *)(void *)(block + SLOTS_END) - 1;
    context->eager = true;
    context->ops = &weft__actor_ops;
    context->fork_count = weft__fork_count();
    weft__park_init(&fiber->park);
    fiber->park.set_for = weft__fiber_set_for;
    fiber->park.sleeper = context;
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
                                    bool is_root)
{
    struct weft__fiber *fiber = find(executor);
    if (!fiber)
        return NULL;
    weft__strand_make(&fiber->strand, (char *)fiber + RESERVE_BEGIN,
                      WEFT_BLOCK_SIZE - RESERVE_BEGIN - UNUSED, weft__fiber_main, fiber);
    fiber->actor = actor;
    fiber->is_root = is_root;
    fiber->turns = actor->share;
    fiber->full = true;
    fiber->top = NULL;
    fiber->arrivals = NULL;
    fiber->waits_at = NULL;
    fiber->used = 0;
    fiber->context.cleanups = NULL;
    fiber->context.held_mutexes = NULL;
    fiber->context.mutexes = fiber->blocks = 0;
    fiber->may_steal = fiber->takes_any = false;
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
    if (fiber->is_open) {
        fiber->is_open = false;
        (void)close_block(system, (char *)fiber); /* as it was: it needs no more mappings */
    }
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

static bool open_down_to(struct weft__fiber *fiber, size_t offset)
{
    fiber->is_open = true;
    return mprotect((char *)fiber + offset, STACK_BEGIN - offset, PROT_READ | PROT_WRITE) == 0;
}

/* On the fiber's own stack, below all that its frames have touched. Nothing else runs there: there
 * is room for the way out, and for what was deferred. */
static void leave(void *arg)
{
    struct weft__fiber *fiber = arg;
    fiber->top->careful = true;
    weft__unwind(weft__first_free(fiber->top->base), OUTCOME_OVERFLOW);
}

void weft__fiber_overflows(struct weft__fiber *fiber)
{
    if (weft__is_unwinding(fiber->top))
        return; /* that is what the reserve is for */
    if (open_down_to(fiber, RESERVE_BEGIN))
        leave(fiber);
    weft__fatal("an actor has overflowed its stack, and there is no memory for its end");
}

/* Where the fiber's frames end that may still be of use to its delegates. */
static char *end_of_frames(struct weft__fiber *fiber, char *sp)
{
    char *low = (char *)fiber + (fiber->is_open ? SPARE_BEGIN : STACK_BEGIN);
    return sp < low ? low : sp;
}

/* A delegate on top of others is to have as much as if it were alone. */
static bool is_entitled(const struct weft__fiber *fiber, const char *address)
{
    return !fiber->is_open && address >= (const char *)fiber + SPARE_BEGIN &&
           address >= fiber->top->stack - STACK_SIZE;
}

bool weft__fiber_rescue(const void *at, void *ucontext)
{
    const char *address = at;
    struct weft__fiber *fiber = (struct weft__fiber *)weft__fiber_here();
    if (!fiber || address < (char *)fiber + SLOTS_END || address >= (char *)fiber + STACK_BEGIN)
        return false;
    if (!fiber->top || weft__is_unwinding(fiber->top))
        return false;
    if (is_entitled(fiber, address))
        return open_down_to(fiber, SPARE_BEGIN);
    const char *whose = weft__code_owner(weft__fault_code(ucontext));
    if (whose)
        weft__fatal("an actor has overflowed its stack inside %s, which may hold a lock", whose);
    char *end = end_of_frames(fiber, weft__fault_stack(ucontext));
    return open_down_to(fiber, RESERVE_BEGIN) && weft__fault_divert(ucontext, end, leave, fiber);
}

/* ---- What the rest of the library does with fibers ---- */

static void fork_slow(weft *w)
{
    weft__fiber_need_room(weft__fiber_of(w));
    weft__actor_fork(w);
}

static bool merge_slow(weft *w)
{
    weft__fiber_need_room(weft__fiber_of(w));
    return weft__actor_merge(w);
}

static void poll_slow(weft *w)
{
    weft__fiber_need_room(weft__fiber_of(w));
    weft__actor_poll(w);
}

void weft__fiber_expect_here(const struct weft__fiber *fiber)
{
    if (fiber->blocks > 0)
        weft__fatal("an actor waits between weft_block_begin and weft_block_end");
}

void weft__fiber_suspend(struct weft__fiber *fiber)
{
    weft__fiber_expect_here(fiber);
    weft__arrivals_refuse(fiber);
    fiber->full = false;
    weft__fiber_switch_out(fiber, WHY_WAITS);
}

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

static void waits_for(struct weft__context *context, const char *what,
                      const struct weft__blocked *by)
{
    struct weft__fiber *fiber = (struct weft__fiber *)context;
    weft__fiber_waits_for(fiber, what);
    if (!by)
        return;
    weft__deadlock_blocked(fiber, by);
    if (by->object->name && fiber->is_root)
        note_name(&fiber->actor->counts, by->object->name);
}

static void waits_no_more(struct weft__context *context, const struct weft__blocked *by)
{
    weft__deadlock_roused((struct weft__fiber *)context, by);
}

static void wake(struct weft__context *context)
{
    weft__fiber_wake((struct weft__fiber *)context);
}

static bool ends(struct weft__context *context)
{
    return weft__is_ending((struct weft__fiber *)context);
}

static void end(struct weft__context *context, bool at_once)
{
    weft__check_ending((struct weft__fiber *)context, at_once);
}

static void room(struct weft__context *context)
{
    weft__fiber_need_room((struct weft__fiber *)context);
}

static struct weft__park *park(struct weft__context *context)
{
    return &((struct weft__fiber *)context)->park;
}

static unsigned index_of(weft *w)
{
    return weft__executor_of(weft__fiber_of(w))->index;
}

const struct weft__fiber_ops weft__actor_ops = {
    .fork = fork_slow,
    .merge = merge_slow,
    .poll = poll_slow,
    .yield = weft__fiber_yield,
    .suspend = suspend,
    .waits_for = waits_for,
    .waits_no_more = waits_no_more,
    .wake = wake,
    .park = park,
    .ends = ends,
    .end = end,
    .room = room,
    .block_begin = weft__away_begin,
    .block_end = weft__away_end,
    .index = index_of,
};
