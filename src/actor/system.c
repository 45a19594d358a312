/* SPDX-License-Identifier: MIT */
#include "actor/system.h"

#include "actor/deadlock.h"
#include "actor/drive.h"
#include "actor/dump.h"
#include "actor/fiber.h"
#include "actor/life.h"
#include "actor/rescue.h"
#include "actor/ticker.h"
#include "core/sized.h"
#include "os/clock.h"
#include "os/fault.h"
#include "os/memory.h"
#include "os/overflow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUANTUM_NS = 1000000 };

/* What WEFT_ACTOR_TURN_US says, or the default. */
static uint64_t quantum_by_environment(void)
{
    const char *text = getenv("WEFT_ACTOR_TURN_US");
    if (!text)
        return QUANTUM_NS;
    char *end;
    unsigned long us = strtoul(text, &end, 10);
    if (end != text && *end == '\0' && us >= 10 && us <= 10000000)
        return us * UINT64_C(1000);
    fprintf(stderr, "weft: WEFT_ACTOR_TURN_US=%s is not a number from 10 to 10000000; using %d\n",
            text, QUANTUM_NS / 1000);
    return QUANTUM_NS;
}

int weft__actors_make(struct weft__actors **out, struct weft_pool *pool,
                      const weft_actors_config *config, bool simulated)
{
    unsigned n = config->executors ? config->executors : pool->config.workers;
    struct weft__actors *system = weft__alloc(sizeof *system);
    if (!system)
        return -ENOMEM;
    system->pool = pool;
    system->quantum = config->turn ? config->turn : quantum_by_environment();
    system->counted = config->counted;
    system->simulated = simulated;
    system->rescues = !simulated && !(pool->config.flags & WEFT_NO_SIGSEGV);
    system->executor_count = n;
    weft__actors_set_clock(system, weft__clock_now());
    system->executors = weft__alloc(n * sizeof system->executors[0]);
    int error = system->executors ? 0 : -ENOMEM;
    if (!error && !simulated)
        error = weft__ticker_start(system);
    if (error) {
        weft__free(system->executors);
        weft__free(system);
        return error;
    }
    for (unsigned i = 0; i < n; i++) {
        struct weft__executor *executor = &system->executors[i];
        executor->system = system;
        executor->index = i;
        executor->polls = system->counted;
        executor->polled = system->counted || simulated;
        executor->random = (config->seed + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        executor->node.job.execute = weft__executor_execute;
    }
    *out = system;
    return 0;
}

void weft__actors_free(struct weft__actors *system)
{
    weft__ticker_stop(system);
    weft__fibers_unmap(system);
    weft__free(system->executors);
    weft__free(system);
}

/* Kills all actors that are not over; the pool waits until they are. */
static void close_all(struct weft__actors *system)
{
    weft__deadlock_report(system);
    weft__lock_take(&system->lock);
    system->closed = true;
    struct weft_actor *actor = system->actors;
    while (actor) {
        weft__actor_ref(actor); /* in the list, so it is not over */
        weft__lock_drop(&system->lock);
        weft_actor_kill(actor);
        weft__actor_unref(actor);
        weft__lock_take(&system->lock);
        /* Any actor may have left the list meanwhile: from the start. */
        actor = system->actors;
        while (actor && atomic_load_relaxed(&actor->killed)) /* relaxed: a request */
            actor = actor->next;
    }
    weft__lock_drop(&system->lock);
}

struct weft__actors *weft__actors_of(struct weft_pool *pool, const weft_actors_config *config,
                                     int *error)
{
    struct weft__actors *system = atomic_load_acquire(&pool->actors); /* acquire A1 */
    *error = system && config ? -EBUSY : 0;
    if (system)
        return system;
    weft__lock_take(&pool->actors_lock);
    system = atomic_load_relaxed(&pool->actors); /* relaxed, both: under the lock */
    if (system) {
        *error = config ? -EBUSY : 0;
    } else if (atomic_load_relaxed(&pool->pending) & POOL_CLOSED) {
        *error = -ESHUTDOWN;
    } else {
        static const weft_actors_config standard = WEFT_ACTORS_CONFIG_INIT;
        *error = weft__actors_make(&system, pool, config ? config : &standard, false);
        if (!*error) {
            pool->actors_close = close_all;
            pool->actors_free = weft__actors_free;
            pool->actors_dump = weft__actors_dump;
            if (system->rescues) {
                weft__code_learn();
                weft__overflow_rescue_by(weft__fiber_rescue);
            }
            atomic_store_release(&pool->actors, system); /* release A1 */
        }
    }
    weft__lock_drop(&pool->actors_lock);
    return system;
}

int weft_actors_setup(weft_pool *pool, const weft_actors_config *config)
{
    enum { EXECUTORS_MAX = WEFT_WORKERS_MAX };
    if (!config)
        return -EINVAL;
    weft_actors_config full;
    int error = weft__sized_read(&full, sizeof full, config);
    if (error)
        return error;
    if (full.executors > EXECUTORS_MAX)
        return -EINVAL;
    error = weft__pool_enter_threads(&pool);
    if (error)
        return error;
    weft__actors_of(pool, &full, &error);
    weft__pool_leave(pool);
    return error;
}
