/* SPDX-License-Identifier: MIT */
#include "sleep/park.h"

#include "os/clock.h"
#include "os/futex.h"
#include "os/lock.h"
#include "os/memory.h"
#include "os/thread.h"
#include "os/trace.h"
#include "sleep/crowd.h"

static struct {
    struct weft__lock lock;
    struct weft__park *first;
} unused;

void weft__park_init(struct weft__park *park)
{
    atomic_store_relaxed(&park->cpu, -1); /* relaxed, both: published when it is shared */
    atomic_store_relaxed(&park->thread, 0);
    park->pin.thread = 0;
    park->census = NULL;
    park->crowd = NULL;
    park->place = 0;
    park->set_for = NULL;
}

struct weft__park *weft__park_get(void)
{
    weft__lock_take(&unused.lock);
    struct weft__park *park = unused.first;
    if (park)
        unused.first = park->next;
    weft__lock_drop(&unused.lock);
    if (!park)
        park = weft__alloc(sizeof *park);
    if (park)
        weft__park_init(park);
    return park;
}

void weft__park_put(struct weft__park *park)
{
    weft__lock_take(&unused.lock);
    park->next = unused.first;
    unused.first = park;
    weft__lock_drop(&unused.lock);
}

void weft__park_forked(void)
{
    unused.lock = (struct weft__lock){0};
    weft__crowd_forked();
}

void weft__park_drowse(struct weft__park *park, bool counted)
{
    /* relaxed: wakers see this through the latch (L2) or the sleep module's counters (E1), which
     * the owner changes afterwards. */
    atomic_store_relaxed(&park->state, counted ? PARK_DROWSY : PARK_DROWSY | PARK_UNCOUNTED);
}

void weft__park_get_up(struct weft__park *park)
{
    /* relaxed: a nudge that this overwrites asked for what the owner is about to do anyway.
     * It can't overwrite WAKING: the owner was never ASLEEP. */
    atomic_store_relaxed(&park->state, PARK_AWAKE);
}

/* ---- On which CPU it wakes up ----
 *
 * A kernel may wake a thread on the CPU of its waker, which goes on computing there, though other
 * CPUs are idle; kernels of virtual machines often do. So a sleeper that sleeps until a waker comes
 * is pinned to a CPU of its own, or to the CPU that its waker chooses, and unpins itself when it is
 * awake. If it does not get that CPU, because a thread of higher priority runs there, the look-out
 * unpins it. The look-out itself goes to its CPU before each nap, but is not pinned: no other
 * thread would unpin it.
 *
 *   0 -lend-> its number -claim-> AT_IT -unclaim-> its number -take back-> 0
 *
 * A thread that pins the sleeper saves where the sleeper may run; a thread that unpins it restores
 * that. Two of them at once would restore what the other has set: so `pin` belongs to the thread
 * that has claimed it. A thread that can't claim it does nothing: another thread is moving the
 * sleeper. */

enum { AT_IT = -1 };

void weft__park_lend(struct weft__park *park)
{
    atomic_store_release(&park->thread, weft__thread_number()); /* release P3 */
}

/* The number of the sleeper's thread; 0: another thread has claimed it, or it must not be moved. */
static int claim(struct weft__park *park)
{
    int thread = atomic_load_relaxed(&park->thread); /* relaxed: the next step decides */
    /* acquire P3: `pin`, as the thread that had claimed it before has left it. */
    return thread > 0 && atomic_cas_acquire(&park->thread, &thread, AT_IT) ? thread : 0;
}

/* Last touch by a look-out: the sleeper's thread may end now. */
static void unclaim(struct weft__park *park, int thread)
{
    atomic_store_release(&park->thread, thread); /* release P3 */
}

void weft__park_take_back(struct weft__park *park)
{
    while (atomic_load_relaxed(&park->thread) != 0) { /* relaxed: only this thread makes it 0 */
        if (claim(park))
            unclaim(park, 0);
        else
            weft__thread_yield();
    }
}

void weft__park_go_to(struct weft__park *park, int cpu)
{
    int thread = claim(park);
    if (!thread)
        return;
    weft__pin_set(&park->pin, thread, cpu);
    weft__pin_clear(&park->pin);
    unclaim(park, thread);
}

/* Before each nap. The kernel may have moved the look-out since the last one. */
static void go_to_bed(struct weft__naps *naps)
{
    if (naps->ns != WEFT__SLEEP_ON) {
        if (weft__thread_cpu() != naps->cpu)
            weft__park_go_to(naps->park, naps->cpu);
        return;
    }
    int thread = naps->is_on != naps->cpu ? claim(naps->park) : 0;
    naps->is_on = naps->cpu;
    if (!thread)
        return;
    weft__pin_set(&naps->park->pin, thread, naps->cpu);
    unclaim(naps->park, thread);
}

void weft__park_unpin(struct weft__park *park)
{
    int thread = claim(park);
    if (!thread)
        return;
    weft__pin_clear(&park->pin);
    unclaim(park, thread);
}

/* By the waker, which has the sleeper to itself: the sleeper wakes up on this CPU; -1: the kernel
 * chooses. */
static void choose_cpu(struct weft__park *park, int cpu)
{
    int thread = claim(park);
    if (!thread)
        return;
    if (cpu >= 0) {
        weft__pin_set(&park->pin, thread, cpu);
        atomic_store_relaxed(&park->cpu, cpu); /* relaxed: a hint. It sleeps there next time */
    } else {
        weft__pin_clear(&park->pin);
    }
    unclaim(park, thread);
}

void weft__naps_begin(struct weft__naps *naps, struct weft__park *park)
{
    naps->park = park;
    naps->cpu = atomic_load_relaxed(&park->cpu); /* relaxed: own writes */
    naps->is_on = -1;
}

/* Also if it never came to sleep: its waker may have pinned it. */
void weft__naps_end(const struct weft__naps *naps)
{
    weft__park_unpin(naps->park);
}

bool weft__nap_wait(struct weft__naps *naps, struct atomic_u32 *word, uint32_t value)
{
    if (naps->cpu >= 0)
        go_to_bed(naps);
    if (naps->ns == WEFT__SLEEP_ON) {
        weft__futex_wait(word, value);
        return true;
    }
    uint64_t now = weft__clock_now();
    if (naps->end ==
        0) /* a nap that ends after all time, such as one until WEFT_FOREVER, is long */
        naps->end = naps->ns > UINT64_MAX - now ? UINT64_MAX : now + naps->ns;
    if (now < naps->end) {
        weft__futex_wait_for(word, value, naps->end - now);
        return true;
    }
    naps->ns = naps->look ? naps->look(naps) : WEFT__GET_UP;
    naps->end = 0;
    return naps->ns != WEFT__GET_UP;
}

/* True: a waker has woken it; false: its time is up, and no waker has claimed it. */
static bool wait_awake(struct weft__park *park, struct weft__naps *naps)
{
    uint32_t state;
    /* acquire P2: what the waker did before it said AWAKE, its count among it. */
    while ((state = atomic_load_acquire(&park->state)) != PARK_AWAKE) {
        if (state == PARK_WAKING)
            weft__futex_wait(&park->state, state);
        else if (!weft__nap_wait(naps, &park->state, state) &&
                 atomic_cas_relaxed(&park->state, &state, PARK_AWAKE))
            return false; /* relaxed: nothing was handed over */
    }
    return true;
}

enum park_result weft__park_sleep(struct weft__park *park, struct atomic_u64 *counted,
                                  struct weft__naps naps)
{
    struct weft__census *census = park->census;
    park->counted = counted;
    park->sleeper_number = weft__thread_number();
    uint32_t kind = counted ? 0 : PARK_UNCOUNTED;
    uint32_t state = PARK_DROWSY | kind;
    /* release P1: hands `counted` and the number to the waker. */
    if (!atomic_cas_release(&park->state, &state, PARK_ASLEEP | kind)) {
        weft__park_get_up(park);
        return PARK_WAS_NUDGED;
    }
    /* Not before: a waker that nudges it may rest next, and then all would seem to rest. If a waker
     * has woken it already, that waker has taken it off the census before it adds itself here. */
    if (census)
        weft__census_rest(census);
    weft__naps_begin(&naps, park);
    bool woken = wait_awake(park, &naps);
    if (!woken && census)
        weft__census_rouse(census, 1);
    weft__naps_end(&naps);
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
    if (counted)
        atomic_fetch_sub_relaxed(counted, 1);
    if (park->census)
        weft__census_rouse(park->census, 1);
    choose_cpu(park, cpu);
    WEFT__TRACE(WAKE, park->sleeper_number, 1);
    /* release P2. The sleeper may be gone from here on; the futex gets an address only. */
    atomic_store_release(&park->state, PARK_AWAKE);
    weft__futex_wake(&park->state, 1);
    return true;
}

bool weft__park_wake(struct weft__park *park)
{
    return wake(park, true, atomic_load_relaxed(&park->cpu)); /* relaxed: a hint */
}

bool weft__park_wake_counted(struct weft__park *park, int cpu)
{
    return wake(park, false, cpu);
}
