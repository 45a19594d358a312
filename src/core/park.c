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
    park->cpu = -1;
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

/* True: woken; false: its time is up, and no waker has got hold of it. */
static bool wait_awake(struct weft__park *park, uint64_t ns)
{
    uint64_t end = ns ? weft__clock_now() + ns : 0;
    uint32_t state;
    /* acquire P2: what the waker did before it said AWAKE, its count among it. */
    while ((state = atomic_load_acquire(&park->state)) != PARK_AWAKE) {
        uint64_t now = ns ? weft__clock_now() : 0;
        if (!ns)
            weft__futex_wait(&park->state, state);
        else if (now < end || state == PARK_WAKING)
            weft__futex_wait_for(&park->state, state, now < end ? end - now : ns);
        else if (atomic_cas_relaxed(&park->state, &state, PARK_AWAKE))
            return false; /* relaxed: nothing was handed over */
    }
    return true;
}

enum park_result weft__park_sleep(struct weft__park *park, struct atomic_u64 *counted, uint64_t ns)
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
    if (park->cpu >= 0)
        weft__thread_pin(park->cpu);
    bool woken = wait_awake(park, ns);
    if (!woken && census)
        weft__census_rouse(census, 1);
    if (park->cpu >= 0)
        weft__thread_unpin();
    return woken ? PARK_WAS_WOKEN : PARK_TIMED_OUT;
}

static bool wake(struct weft__park *park, bool uncounted_too)
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
    /* release P2. The sleeper may be gone from here on; the futex gets an address only. */
    atomic_store_release(&park->state, PARK_AWAKE);
    weft__futex_wake(&park->state, 1);
    if (counted && WEFT__FAULT(2))
        atomic_fetch_sub_relaxed(counted, 1);
    return true;
}

bool weft__park_wake(struct weft__park *park)
{
    return wake(park, true);
}

bool weft__park_wake_counted(struct weft__park *park)
{
    return wake(park, false);
}
