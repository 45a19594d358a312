/* SPDX-License-Identifier: MIT */
/* An actor's life, as seen from outside: made, started, killed, over, freed. */
#include "actor/actor.h"
#include "core/fatal.h"
#include "core/misuse.h"
#include "core/wait.h"
#include "os/memory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { MAILBOX = 16, SHARE_MAX = 100 };

static const size_t default_memory = (size_t)64 << 20;

void weft__actor_is_gone(const char *function)
{
    weft__fatal("%s: the actor was released and is gone, or never was one", function);
}

/* ---- Making ---- */

static int check(const struct weft__actors *system, const weft_actor_config *config)
{
    if (config->size != sizeof *config)
        return -EINVAL;
    if (config->memory && config->memory <= WEFT_ACTOR_STACK)
        return -EINVAL;
    if (config->share > SHARE_MAX || config->mailbox > SIZE_MAX / sizeof(void *) / 2 ||
        config->pin < 0 || (unsigned)config->pin > system->executor_count ||
        (unsigned)config->steal > WEFT_STEAL_LIVE)
        return -EINVAL;
    return 0;
}

static void configure(struct weft_actor *actor, const weft_actor_config *config)
{
    size_t memory = config->memory ? config->memory : default_memory;
    if (memory / ARENA_UNIT > UINT32_MAX) /* what a slot has room for */
        memory = (size_t)UINT32_MAX * ARENA_UNIT;
    const char *name = config->name ? config->name : "actor";
    for (size_t i = 0; i + 1 < sizeof actor->name && name[i]; i++) /* it was all zeros */
        actor->name[i] = name[i];
    actor->limit = memory - WEFT_ACTOR_STACK;
    actor->cabal_max = config->cabal_max && config->cabal_max < actor->executors ? config->cabal_max
                                                                                 : actor->executors;
    actor->elsewhere_max = (actor->cabal_max - 1) * actor->limit;
    actor->share = config->share ? config->share : 1;
    actor->strict = config->steal == WEFT_STEAL_STRICT;
    actor->mailbox = config->mailbox ? config->mailbox : MAILBOX;
    actor->supervisor = config->supervisor;
    actor->drop = config->drop;
    actor->data = config->data;
    atomic_store_relaxed(&actor->pin, config->pin - 1); /* relaxed: nobody has it yet */
}

/* The system's list, which it leaves when it is over. */
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

static void delist(struct weft_actor *actor)
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

int weft__actor_make(struct weft_actor **out, struct weft__actors *system, weft_actor_fn *fn,
                     void *arg, const weft_actor_config *config)
{
    static const weft_actor_config standard = WEFT_ACTOR_CONFIG_INIT;
    if (!config)
        config = &standard;
    int error = check(system, config);
    if (error)
        return error;
    struct weft_actor *actor = weft__small(sizeof *actor); /* aligned ones take longer */
    if (!actor)
        return -ENOMEM;
    memset(actor, 0, sizeof *actor);
    actor->system = system;
    actor->executors = system->executor_count;
    actor->fn = fn;
    actor->arg = arg;
    configure(actor, config);
    atomic_store_relaxed(&actor->refs, 2); /* relaxed, both: nobody has it yet */
    atomic_store_relaxed(&actor->handle, HANDLE_KEPT);
    weft__group_begin(&actor->group, NULL);
    error = enlist(actor);
    if (error)
        weft__free(actor);
    else
        *out = actor;
    return error;
}

int weft_actor_create(weft_actor **out, weft_pool *pool, weft_actor_fn *fn, void *arg,
                      const weft_actor_config *config)
{
    if (!out || !fn)
        return -EINVAL;
    *out = NULL;
    int error = weft__pool_enter(&pool); /* until it is over */
    if (error)
        return error;
    struct weft__actors *system = weft__actors_of(pool, NULL, &error);
    if (system)
        error = weft__actor_make(out, system, fn, arg, config);
    if (error)
        weft__pool_leave(pool);
    return error;
}

/* ---- Starting ---- */

static bool start(struct weft_actor *actor)
{
    uint32_t new = ACTOR_NEW;
    /* relaxed: the letter publishes what matters. */
    if (!atomic_cas_relaxed(&actor->state, &new, ACTOR_STARTED))
        return false;
    /* relaxed: a hint for people. */
    atomic_store_relaxed(&actor->counts.activity, WEFT_ACTOR_RUNNABLE);
    weft__send(weft__executor_for_new(actor), &actor->letter, LETTER_ACTOR);
    return true;
}

void weft__actor_start(struct weft_actor *actor)
{
    start(actor);
}

int weft_actor_run(weft_actor *actor)
{
    if (!actor)
        return -EINVAL;
    weft__actor_expect(actor, __func__);
    /* While the lock is held it is not over, so that its pool is there until this is done. */
    weft__lock_take(&actor->lock);
    bool started = start(actor);
    weft__lock_drop(&actor->lock);
    return started ? 0 : -EALREADY;
}

/* ---- Ending ---- */

void weft__actor_unref(struct weft_actor *actor)
{
    /* acq_rel A10 with itself: release A10 by each, acquire A10 by the last. */
    if (atomic_fetch_sub_acq_rel(&actor->refs, 1) > 1)
        return;
    /* relaxed: for who uses it all the same. Memory that was freed is often left as it is. */
    atomic_store_relaxed(&actor->handle, HANDLE_GONE);
    weft__free(actor->messages);
    weft__free(actor->places);
    weft__free(actor);
}

/* Nobody sends any more. */
static void drop_messages(struct weft_actor *actor)
{
    for (size_t i = 0; i < actor->count && actor->drop; i++)
        actor->drop(actor->messages[(actor->first + i) % actor->mailbox], actor->data);
    weft__lock_take(&actor->lock); /* somebody may ask how many there are */
    actor->count = 0;
    weft__lock_drop(&actor->lock);
}

/* The waiters' frames are gone once their latches are set. */
static void let_go(struct weft__actor_waiter *waiter)
{
    while (waiter) {
        struct weft__actor_waiter *next = waiter->next;
        weft__spin_latch_set(&waiter->latch);
        waiter = next;
    }
}

void weft__actor_close(struct weft_actor *actor)
{
    weft__lock_take(&actor->lock);
    actor->closed = true;
    weft__lock_drop(&actor->lock);
}

void weft__actor_over(struct weft_actor *actor, int reason)
{
    struct weft_pool *pool = actor->system->simulated ? NULL : actor->system->pool;
    actor->reason = reason;
    delist(actor);
    weft__actor_close(actor);
    struct weft__actor_waiter *senders = actor->senders; /* nobody comes to send any more */
    actor->senders = NULL;
    for (struct weft__actor_waiter *sender = senders; sender; sender = sender->next)
        sender->result = -EPIPE;
    let_go(senders);
    drop_messages(actor);
    if (actor->supervisor)
        actor->supervisor(actor, reason, actor->data);
    weft__lock_take(&actor->lock);
    atomic_store_release(&actor->state, ACTOR_OVER); /* release A11: the reason */
    struct weft__actor_waiter *waiters = actor->waiters;
    actor->waiters = NULL;
    weft__lock_drop(&actor->lock);
    let_go(waiters);
    weft__actor_unref(actor);
    if (pool)
        weft__pool_leave(pool); /* this thread is its worker's */
}

void weft__actor_over_unrun(struct weft_actor *actor, int reason)
{
    weft__actor_close(actor);
    weft__group_end(&actor->group); /* a kill may have failed it */
    weft__actor_over(actor, reason);
}

static bool is_over(const struct weft_actor *actor)
{
    return atomic_load_acquire(&actor->state) == ACTOR_OVER; /* acquire A11 */
}

bool weft_actor_done(const weft_actor *actor)
{
    WEFT__NEEDS(actor, "an actor");
    weft__actor_expect(actor, __func__);
    return is_over(actor);
}

int weft_actor_wait(weft *w, weft_actor *actor)
{
    WEFT__EXPECT_OWN_OR_NULL(w);
    if (!actor)
        return -EINVAL;
    weft__actor_expect(actor, __func__);
    if (weft__actor_here() == actor)
        return -EDEADLK;
    struct weft__actor_waiter waiter = {.latch.owner = weft__thread_park()};
    if (!waiter.latch.owner)
        return -ENOMEM;
    weft__lock_take(&actor->lock);
    bool over = is_over(actor);
    if (!over) {
        waiter.next = actor->waiters;
        actor->waiters = &waiter;
    }
    weft__lock_drop(&actor->lock);
    if (!over)
        weft__wait_anywhere(&waiter.latch,
                            (struct weft__awaited){.what = "waits for the end of an actor",
                                                   .by = weft__executor_execute});
    weft__thread_unpark(waiter.latch.owner);
    return actor->reason;
}

void weft_actor_release(weft_actor *actor)
{
    if (!actor)
        return;
    uint32_t kept = HANDLE_KEPT, new = ACTOR_NEW;
    if (!atomic_cas_relaxed(&actor->handle, &kept, HANDLE_RELEASED)) { /* relaxed: as in actor.h */
        weft__actor_expect(actor, __func__);
        weft__fatal("weft_actor_release: the actor \"%s\" was released already", actor->name);
    }
    /* One that nobody can run any more is over. relaxed: as in start(). */
    if (atomic_cas_relaxed(&actor->state, &new, ACTOR_STARTED))
        weft__actor_over_unrun(actor, -ECANCELED);
    weft__actor_unref(actor);
}

void weft_actor_kill(weft_actor *actor)
{
    uint32_t new = ACTOR_NEW;
    if (!actor)
        return;
    weft__actor_expect(actor, __func__);
    if (atomic_cas_relaxed(&actor->state, &new, ACTOR_STARTED)) { /* relaxed: as in start() */
        weft__actor_over_unrun(actor, -ECANCELED);
        return;
    }
    weft__lock_take(&actor->lock); /* while it is held, the actor is not over */
    if (!actor->closed) {
        weft__group_fail(&actor->group, -ECANCELED); /* where it can't be unwound */
        atomic_store_release(&actor->killed, true);  /* release A14: that it is cancelled */
        struct weft__fiber *fiber = atomic_load_acquire(&actor->fiber); /* acquire A7 */
        if (fiber)
            weft__fiber_wake(fiber);
        weft__posse_wake(actor);
    }
    weft__lock_drop(&actor->lock);
}

int weft_actor_pin(weft_actor *actor, int executor)
{
    if (!actor)
        return -EINVAL;
    weft__actor_expect(actor, __func__);
    if (executor < -1 || executor >= (int)actor->executors)
        return -EINVAL;
    atomic_store_relaxed(&actor->pin, executor); /* relaxed: a request */
    return 0;
}

struct weft_actor *weft__actor_here(void)
{
    struct weft__context *here = weft__fiber_here();
    return here ? ((struct weft__fiber *)here)->actor : NULL;
}

weft_actor *weft_actor_self(weft *w)
{
    return w && weft__context_of(w)->ops ? weft__fiber_of(w)->actor : NULL;
}

/* ---- Memory ---- */

void weft__actor_memory(struct weft_actor *actor, size_t more, size_t less)
{
    /* relaxed, all: statistics. */
    size_t now = atomic_fetch_add_relaxed(&actor->counts.memory, more - less) + more - less;
    size_t peak = atomic_load_relaxed(&actor->counts.memory_peak);
    while (now > peak && !atomic_cas_relaxed(&actor->counts.memory_peak, &peak, now))
        ;
}

bool weft__actor_elsewhere(struct weft_actor *actor, size_t more)
{
    /* relaxed, all: a count. */
    size_t now = atomic_load_relaxed(&actor->elsewhere);
    do
        if (more > actor->elsewhere_max - now)
            return false;
    while (!atomic_cas_relaxed(&actor->elsewhere, &now, now + more));
    return true;
}

void weft__actor_not_elsewhere(struct weft_actor *actor, size_t less)
{
    atomic_fetch_sub_relaxed(&actor->elsewhere, less); /* relaxed: as above */
}

static bool grow(struct weft__fiber *fiber, struct weft__arena *arena, size_t size)
{
    struct weft_actor *actor = fiber->actor;
    if (!fiber->held && !weft__actor_elsewhere(actor, size))
        return false;
    if (weft__arena_grow(arena, size)) {
        weft__actor_memory(actor, size, 0);
        return true;
    }
    if (!fiber->held)
        weft__actor_not_elsewhere(actor, size);
    return false;
}

static void *alloc(weft *w, size_t bytes, bool result)
{
    if (w)
        weft__expect_own(w, result ? "weft_alloc_result" : "weft_alloc");
    if (!w || !weft__context_of(w)->ops)
        return NULL;
    struct weft__fiber *fiber = weft__fiber_of(w);
    struct weft__member *member = fiber->top;
    struct weft__arena *arena = result ? &member->results : &member->scratch;
    size_t limit = fiber->actor->limit;
    size_t used = member->lineage + member->scratch.used + member->results.used;
    size_t allowed = used < limit ? limit - used : 0;
    void *p = NULL;
    bytes = weft__arena_round(bytes);
    if (bytes <= allowed && !(p = weft__arena_take(arena, bytes)) &&
        grow(fiber, arena, weft__arena_next(arena, bytes, allowed)))
        p = weft__arena_take(arena, bytes);
    if (!p)
        weft__unwind(weft__first_free(w), OUTCOME_NO_MEMORY);
    fiber->used += bytes;
    return p;
}

void *weft_alloc(weft *w, size_t bytes)
{
    return alloc(w, bytes, false);
}

void *weft_alloc_result(weft *w, size_t bytes)
{
    return alloc(w, bytes, true);
}

void weft_poll_slow(weft *w)
{
    weft__expect_own(w, "weft_poll");
    if (weft__context_of(w)->ops)
        weft__context_of(w)->ops->poll(w);
}

/* ---- Looking inside ---- */

bool weft__actor_is_running(struct weft_actor *actor)
{
    struct weft__fiber *fiber = atomic_load_acquire(&actor->fiber); /* acquire A7 */
    /* relaxed: a hint. */
    return fiber && atomic_load_relaxed(&weft__executor_of(fiber)->current) == fiber;
}

void weft_actor_get_info(weft_actor *actor, weft_actor_info *info)
{
    WEFT__NEEDS(actor, "an actor");
    WEFT__NEEDS(info, "a place for the info");
    weft__actor_expect(actor, __func__);
    struct weft__actor_counts *counts = &actor->counts;
    /* relaxed, all: statistics; what they say of each other need not fit. */
    *info = (weft_actor_info){
        .state = is_over(actor) ? WEFT_ACTOR_OVER
                                : (enum weft_actor_state)atomic_load_relaxed(&counts->activity),
        .quanta = atomic_load_relaxed(&counts->quanta),
        .steals = atomic_load_relaxed(&counts->steals),
        .delegates = atomic_load_relaxed(&counts->delegates),
        .given_back = atomic_load_relaxed(&counts->given_back),
        .moves = atomic_load_relaxed(&counts->moves),
        .run_ns = atomic_load_relaxed(&counts->run_ns),
        .runnable_ns = atomic_load_relaxed(&counts->runnable_ns),
        .memory = atomic_load_relaxed(&counts->memory),
        .memory_peak = atomic_load_relaxed(&counts->memory_peak),
        .memory_limit = actor->limit + WEFT_ACTOR_STACK,
        .executor = atomic_load_relaxed(&counts->executor),
    };
    snprintf(info->name, sizeof info->name, "%s", actor->name);
    weft__lock_take(&actor->lock); /* while it is held, the actor is not over, if it was not */
    info->messages = actor->count;
    if (info->state == WEFT_ACTOR_RUNNABLE && !actor->closed && weft__actor_is_running(actor))
        info->state = WEFT_ACTOR_RUNNING;
    weft__lock_drop(&actor->lock);
    weft__lock_take(&actor->posse_lock);
    info->executors = info->state == WEFT_ACTOR_NEW || info->state == WEFT_ACTOR_OVER ? 0
                      : actor->places                                                 ? actor->cabal
                                                                                      : 1;
    weft__lock_drop(&actor->posse_lock);
}

static size_t each(struct weft_pool *pool,
                   void (*fn)(weft_actor *, const weft_actor_info *, void *), void *data)
{
    struct weft__actors *system = atomic_load_acquire(&pool->actors); /* acquire A1: it is made */
    if (!system)
        return 0;
    weft__lock_take(&system->lock);
    for (struct weft_actor *actor = system->actors; actor; actor = actor->next) {
        weft_actor_info info;
        weft_actor_get_info(actor, &info);
        fn(actor, &info, data);
    }
    size_t count = system->actor_count;
    weft__lock_drop(&system->lock);
    return count;
}

size_t weft_actor_each(weft_pool *pool, void (*fn)(weft_actor *, const weft_actor_info *, void *),
                       void *data)
{
    WEFT__NEEDS(fn, "a function");
    if (pool)
        return each(pool, fn, data);
    if (weft__pool_enter(&pool))
        return 0;
    size_t count = each(pool, fn, data);
    weft__pool_leave(pool);
    return count;
}
