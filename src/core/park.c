/* SPDX-License-Identifier: MIT */
#include "core/park.h"

#include "core/crowd.h"
#include "core/lock.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/memory.h"
#include "os/thread.h"

static struct {
    struct weft__lock lock;
    struct weft__park *first;
} spare;

void weft__park_init(struct weft__park *park)
{
    atomic_store_relaxed(&park->cpu, -1); /* relaxed: whoever shares it publishes it */
    park->census = NULL;
    park->crowd = NULL;
    park->place = 0;
    park->fiber = NULL;
}

struct weft__park *weft__park_get(void)
{
    weft__lock_take(&spare.lock);
    struct weft__park *park = spare.first;
    if (park)
        spare.first = park->next;
    weft__lock_drop(&spare.lock);
    if (!park)
        park = weft__alloc(sizeof *park);
    if (park)
        weft__park_init(park);
    return park;
}

void weft__park_put(struct weft__park *park)
{
    weft__lock_take(&spare.lock);
    park->next = spare.first;
    spare.first = park;
    weft__lock_drop(&spare.lock);
}

void weft__park_forked(void)
{
    spare.lock = (struct weft__lock){0};
    weft__crowd_forked();
}

void weft__park_drowse(struct weft__park *park, bool counted)
{
    /* relaxed: whoever must see this learns of it through the latch (L2) or the sleep
     * module's counters (E1), which the owner changes afterwards. */
    atomic_store_relaxed(&park->state, counted ? PARK_DROWSY : PARK_DROWSY | PARK_UNCOUNTED);
}

void weft__park_rouse(struct weft__park *park)
{
    /* relaxed: a nudge that this overwrites asked for just what the owner is about to do.
     * It can't overwrite WAKING: the owner was never ASLEEP. */
    atomic_store_relaxed(&park->state, PARK_AWAKE);
}

void weft__turns_begin(struct weft__turns *turns, int cpu)
{
    turns->cpu = cpu;
    turns->pinned = -1;
    turns->thread = NULL;
}

void weft__turns_end(const struct weft__turns *turns)
{
    if (turns->pinned < 0)
        return;
    if (turns->thread)
        atomic_store_relaxed(turns->thread, NULL); /* relaxed: its waker, if any, is done */
    weft__thread_unpin();
}

/* A waker moves it only if it is pinned: then it unpins itself afterwards. */
static void pin(struct weft__turns *turns)
{
    struct weft__pinned *pinned = weft__thread_pin(turns->cpu);
    if (turns->thread)
        atomic_store_release(turns->thread, pinned); /* release P3 */
    turns->pinned = turns->cpu;
}

bool weft__turn_wait(struct weft__turns *turns, struct atomic_u32 *word, uint32_t value)
{
    if (turns->cpu != turns->pinned)
        pin(turns);
    if (turns->ns == WEFT__SLEEP_ON) {
        weft__futex_wait(word, value);
        return true;
    }
    uint64_t now = weft__clock_now();
    if (turns->end == 0)
        turns->end = now + turns->ns;
    if (now < turns->end) {
        weft__futex_wait_for(word, value, turns->end - now);
        return true;
    }
    turns->ns = turns->look ? turns->look(turns) : WEFT__GET_UP;
    turns->end = 0;
    return turns->ns != WEFT__GET_UP;
}

/* True: woken; false: its time is up, and no waker has got hold of it. */
static bool wait_awake(struct weft__park *park, struct weft__turns *turns)
{
    uint32_t state;
    /* acquire P2: what the waker did before it said AWAKE, its count among it. */
    while ((state = atomic_load_acquire(&park->state)) != PARK_AWAKE) {
        if (state == PARK_WAKING)
            weft__futex_wait(&park->state, state);
        else if (!weft__turn_wait(turns, &park->state, state) &&
                 atomic_cas_relaxed(&park->state, &state, PARK_AWAKE))
            return false; /* relaxed: nothing was handed over */
    }
    return true;
}

enum park_result weft__park_sleep(struct weft__park *park, struct atomic_u64 *counted,
                                  struct weft__turns turns)
{
    struct weft__census *census = park->census;
    park->counted = counted;
    uint32_t kind = counted ? 0 : PARK_UNCOUNTED;
    uint32_t state = PARK_DROWSY | kind;
    /* release P1: hands `counted` to the waker. */
    if (WEFT__FAULT(9)) {
        atomic_store_release(&park->state, PARK_ASLEEP | kind);
    } else if (!atomic_cas_release(&park->state, &state, PARK_ASLEEP | kind)) {
        weft__park_rouse(park);
        return PARK_WAS_NUDGED;
    }
    /* Not before: who nudges it may rest next, and then all would seem to. If it has been woken
     * already, its waker took it off before it comes on. */
    if (census)
        weft__census_rest(census);
    weft__turns_begin(&turns, atomic_load_relaxed(&park->cpu)); /* relaxed: own writes */
    turns.thread = &park->thread;
    bool woken = wait_awake(park, &turns);
    if (!woken && census)
        weft__census_rouse(census, 1);
    weft__turns_end(&turns);
    return woken ? PARK_WAS_WOKEN : PARK_TIMED_OUT;
}

static bool wake(struct weft__park *park, bool uncounted_too, int cpu)
{
    uint32_t state = atomic_load_relaxed(&park->state);
    for (;;) {
        uint32_t kind = uncounted_too ? state & PARK_UNCOUNTED : 0;
        if (state == (PARK_DROWSY | kind)) {
            /* relaxed: the owner looks at everything again, nothing is handed over. */
            if (atomic_cas_relaxed(&park->state, &state, PARK_NUDGED))
                return true;
        } else if (state == (PARK_ASLEEP | kind)) {
            /* acquire P1 */
            if (atomic_cas_acquire(&park->state, &state, PARK_WAKING))
                break;
        } else {
            return false;
        }
    }
    /* The sleeper can't leave yet, so its pool, where `counted` is, lives. relaxed: the
     * release below carries it to the owner; to others it is a hint. */
    struct atomic_u64 *counted = park->counted;
    if (counted && !WEFT__FAULT(2))
        atomic_fetch_sub_relaxed(counted, 1);
    if (park->census)
        weft__census_rouse(park->census, 1);
    struct weft__pinned *thread = atomic_load_acquire(&park->thread); /* acquire P3 */
    if (cpu >= 0 && thread)
        weft__thread_move(thread, cpu);
    /* release P2. The sleeper may be gone from here on; the futex gets an address only. */
    atomic_store_release(&park->state, PARK_AWAKE);
    weft__futex_wake(&park->state, 1);
    if (counted && WEFT__FAULT(2))
        atomic_fetch_sub_relaxed(counted, 1);
    return true;
}

bool weft__park_wake(struct weft__park *park)
{
    return wake(park, true, -1);
}

bool weft__park_wake_counted(struct weft__park *park, int cpu)
{
    return wake(park, false, cpu);
}
