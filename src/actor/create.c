/* SPDX-License-Identifier: MIT */
#include "actor/create.h"

#include "actor/info.h"
#include "actor/mailbox.h"
#include "actor/system.h"
#include "core/misuse.h"
#include "core/sized.h"
#include "os/memory.h"
#include "os/trace.h"

#include <errno.h>
#include <string.h>

enum { SHARE_MAX = 100 };

static const size_t default_memory = (size_t)64 << 20;

/* What it may allocate: its memory less its stack and its mailbox; 0: too little memory. */
static size_t limit_of(const weft_actor_config *config)
{
    size_t memory = config->memory ? config->memory : default_memory;
    if (memory / ARENA_ALIGNMENT > UINT32_MAX) /* the range of `lineage` in a slot */
        memory = (size_t)UINT32_MAX * ARENA_ALIGNMENT;
    size_t others = WEFT_ACTOR_STACK + weft__mailbox_bytes(config->mailbox);
    return memory > others ? memory - others : 0;
}

static bool is_fine(const struct weft__actors *system, const weft_actor_config *config)
{
    return config->share <= SHARE_MAX && config->mailbox <= SIZE_MAX / sizeof(void *) / 2 &&
           config->pin >= WEFT_NONE && config->pin <= (int)system->executor_count &&
           (unsigned)config->steal <= WEFT_STEAL_LIVE;
}

static void configure(struct weft_actor *actor, const weft_actor_config *config)
{
    static const char usual[] = "actor"; /* strncpy() would be a call; this is two instructions */
    if (config->name)
        strncpy(actor->name, config->name, sizeof actor->name - 1); /* the rest is zeros */
    else
        memcpy(actor->name, usual, sizeof usual);
    actor->cabal_max = config->cabal_max && config->cabal_max < actor->executors ? config->cabal_max
                                                                                 : actor->executors;
    actor->share = config->share ? config->share : 1;
    actor->strict = config->steal == WEFT_STEAL_STRICT;
    actor->mailbox = config->mailbox ? config->mailbox : MAILBOX_USUAL;
    actor->supervisor = config->supervisor;
    actor->drop = config->drop;
    actor->data = config->data;
    atomic_store_relaxed(&actor->pin, config->pin > 0
                                          ? config->pin - 1
                                          : WEFT_NONE); /* relaxed: no other thread has it yet */
}

/* Puts it into the system's list, until weft__actor_delist(). */
static int enlist(struct weft_actor *actor)
{
    struct weft__actors *system = actor->system;
    weft__lock_take(&system->lock);
    int error = system->closed ? -ESHUTDOWN : 0;
    if (!error) {
        actor->next = system->actors;
        if (actor->next)
            actor->next->prev = actor;
        system->actors = actor;
        system->actor_count++;
    }
    weft__lock_drop(&system->lock);
    return error;
}

void weft__actor_delist(struct weft_actor *actor)
{
    struct weft__actors *system = actor->system;
    weft__lock_take(&system->lock);
    if (actor->prev)
        actor->prev->next = actor->next;
    else
        system->actors = actor->next;
    if (actor->next)
        actor->next->prev = actor->prev;
    system->actor_count--;
    weft__lock_drop(&system->lock);
}

/* In the statistics page. relaxed, all: for other processes, which see the id last. */
static void show(struct weft_actor *actor)
{
    struct weft__actor_shown *shown = actor->shown = weft__stats_take_actor();
    actor->counts = shown ? &shown->counts : &actor->own_counts;
    if (!shown)
        return;
    memcpy(shown->name, actor->name, sizeof shown->name);
    atomic_store_relaxed(&shown->address, (uintptr_t)actor);
    atomic_store_relaxed(&shown->fiber, 0);
    atomic_store_relaxed(&shown->pool, (uintptr_t)actor->system->pool);
    atomic_store_relaxed(&shown->fn, (uintptr_t)actor->fn);
    atomic_store_relaxed(&shown->memory_limit, weft__actor_limit(actor));
    weft__stats_show(&shown->id);
}

int weft__actor_make(struct weft_actor **out, struct weft__actors *system, weft_actor_fn *fn,
                     void *arg, const weft_actor_config *config)
{
    static const weft_actor_config standard = WEFT_ACTOR_CONFIG_INIT;
    weft_actor_config other; /* for a config of another release */
    if (!config) {
        config = &standard;
    } else if (config->size != sizeof other) {
        int error = weft__sized_read(&other, sizeof other, config);
        if (error)
            return error;
        config = &other;
    }
    size_t limit = is_fine(system, config) ? limit_of(config) : 0;
    if (limit == 0)
        return -EINVAL;
    struct weft_actor *actor = weft__small(sizeof *actor); /* aligned memory takes longer */
    if (!actor)
        return -ENOMEM;
    memset(actor, 0, offsetof(struct weft_actor, root.entry)); /* that is large, and comes last */
    actor->system = system;
    actor->executors = system->executor_count;
    actor->fn = fn;
    actor->arg = arg;
    actor->limit = limit;
    configure(actor, config);
    atomic_store_relaxed(&actor->refs, 2); /* relaxed, both: no other thread has it yet */
    atomic_store_relaxed(&actor->handle, HANDLE_KEPT);
    actor->sync.name = actor->name;
    atomic_store_relaxed(&actor->sync.outside, true); /* relaxed, as above: any thread may send */
    weft__group_begin(&actor->group, NULL);
    show(actor);
    int error = enlist(actor);
    if (error) {
        weft__stats_give_actor(actor->shown);
        weft__free(actor);
    }
    if (error)
        return error;
    *out = actor;
    WEFT__TRACE_TEXT(ACTOR, (uintptr_t)actor, actor->name);
    return 0;
}

/* The library's own copy of what weft/actor.h puts in place. */
extern int weft_actor_create(weft_actor **out, weft_pool *pool, weft_actor_fn *fn, void *arg,
                             const weft_actor_config *config);

int weft_actor_create_(weft_actor **out, weft_pool *pool, weft_actor_fn *fn, void *arg,
                       const weft_actor_config *config, unsigned layout)
{
    weft__expect_layout(layout, "weft_actor_create");
    if (!out || !fn)
        return -EINVAL;
    *out = NULL;
    int error = weft__pool_enter_threads(&pool); /* until the actor is over */
    if (error)
        return error;
    struct weft__actors *system = weft__actors_of(pool, NULL, &error);
    if (system)
        error = weft__actor_make(out, system, fn, arg, config);
    if (error)
        weft__pool_leave(pool);
    return error;
}
