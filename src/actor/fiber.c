/* SPDX-License-Identifier: MIT */
#include "actor/fiber.h"

#include "actor/delegate.h"
#include "actor/ops.h"
#include "core/inplace.h"
#include "os/memory.h"
#include "os/thread.h"
#include "os/valgrind.h"

#include <sys/mman.h>

enum {
    UNUSED = 512, /* above the first frame: valgrind needs so much to follow a back trace */
    SLAB_BLOCKS = 16,
    KEPT = 32, /* free fibers that an executor keeps for itself, with the memory they touched */
    KEPT_BYTES = 64 << 10, /* of the stack of any other free fiber */
};

/* Each block ends in the first line of the next one. */
#define SLAB_SIZE (SLAB_BLOCKS * WEFT_BLOCK_SIZE_ + sizeof(struct weft))

/* Without a handler to open it, the spare part is open. */
static bool close_block(struct weft__actors *system, char *block)
{
    size_t end = system->rescues ? FIBER_STACK_BEGIN : FIBER_RESERVE_BEGIN;
    return mprotect(block + FIBER_GUARD_BEGIN, end - FIBER_GUARD_BEGIN, PROT_NONE) == 0;
}

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
        slab->blocks = weft__map(SLAB_SIZE, WEFT_BLOCK_SIZE_);
        if (!slab->blocks) {
            weft__free(slab);
            return NULL;
        }
        slab->next = system->slabs;
        system->slabs = slab;
    }
    char *block = slab->blocks + slab->used * WEFT_BLOCK_SIZE_;
    if (!close_block(system, block)) /* -ENOMEM past vm.max_map_count */
        return NULL;
    slab->used++;
    system->fiber_count++;
    struct weft__fiber *fiber = (struct weft__fiber *)(void *)block;
    struct weft__context *context = &fiber->context;
    fiber->valgrind =
        weft__valgrind_stack(block + FIBER_RESERVE_BEGIN, FIBER_SLOTS_BEGIN - FIBER_RESERVE_BEGIN);
    weft__context_has_slots(context, (weft *)(void *)(block + FIBER_SLOTS_BEGIN));
    context->eager = true;
    context->ops = &weft__actor_ops;
    context->fork_count = weft__fork_count();
    weft__park_init(&fiber->park);
    fiber->park.set_for = weft__fiber_set_for;
    fiber->park.sleeper = context;
    atomic_store_relaxed(&context->oldest, context->first); /* relaxed: not used yet */
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
    weft__strand_make(&fiber->strand, (char *)fiber + FIBER_RESERVE_BEGIN,
                      FIBER_SLOTS_BEGIN - FIBER_RESERVE_BEGIN - UNUSED, weft__fiber_main, fiber);
    fiber->actor = actor;
    fiber->is_root = is_root;
    fiber->quanta_due = actor->share;
    fiber->full = true;
    fiber->is_new = is_root;
    fiber->gave_way = false;
    fiber->top = NULL;
    fiber->arrivals = NULL;
    fiber->waits_at = NULL;
    fiber->called = fiber->context.first;
    fiber->used = 0;
    fiber->context.cleanups = NULL;
    fiber->context.held_mutexes = NULL;
    fiber->context.mutexes = fiber->blocks = 0;
    fiber->may_steal = fiber->takes_any = false;
    fiber->young_quanta = 0;
    atomic_store_relaxed(&fiber->merging, false); /* relaxed, all: published with the fiber */
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
    madvise((char *)fiber + FIBER_STACK_BEGIN, FIBER_STACK - KEPT_BYTES, MADV_DONTNEED);
    weft__lock_take(&system->fiber_lock);
    fiber->next = system->free;
    system->free = fiber;
    weft__lock_drop(&system->fiber_lock);
}

static void free_slab(struct weft__slab *slab)
{
    for (unsigned i = 0; i < slab->used; i++) {
        char *block = slab->blocks + i * WEFT_BLOCK_SIZE_;
        struct weft__fiber *fiber = (struct weft__fiber *)(void *)block;
        weft__valgrind_no_stack(fiber->valgrind);
        weft__kept_free(&fiber->context);
    }
    weft__unmap(slab->blocks, SLAB_SIZE);
    weft__free(slab);
}

void weft__fibers_unmap(struct weft__actors *system)
{
    /* acquire A9: late wakers are out. They need a few instructions for that. */
    while (atomic_load_acquire(&weft__fiber_wakers) > 0)
        weft__thread_yield();
    while (system->slabs) {
        struct weft__slab *slab = system->slabs;
        system->slabs = slab->next;
        free_slab(slab);
    }
}
