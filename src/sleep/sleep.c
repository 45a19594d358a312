/* SPDX-License-Identifier: MIT */
/* What all protocols share: the counts, guests, the look-out, and sleep in one's own place. */
#include "sleep/common.h"

#include "os/clock.h"
#include "os/memory.h"
#include "os/thread.h"
#include "sleep/crowd.h"

#include <errno.h>
#include <string.h>

static const struct weft__protocol *const protocols[] = {
    [WEFT_SLEEP_DEFAULT] = &weft__events,
    [WEFT_SLEEP_TICKLE] = &weft__tickle,
    [WEFT_SLEEP_TICKLE_SEQCST] = &weft__tickle_seqcst,
    [WEFT_SLEEP_COUNTERS] = &weft__counters,
    [WEFT_SLEEP_EVENTS] = &weft__events,
    [WEFT_SLEEP_TICKLE_FLAG] = &weft__tickle_flag,
    [WEFT_SLEEP_TICKLE_SWAP] = &weft__tickle_swap,
    [WEFT_SLEEP_COUNTERS_LOCAL] = &weft__counters_local,
    [WEFT_SLEEP_COUNTERS_BLOCKS] = &weft__counters_blocks,
    [WEFT_SLEEP_COUNTERS_ALL] = &weft__counters_all,
    [WEFT_SLEEP_EVENTS_PLAIN] = &weft__events_plain,
    [WEFT_SLEEP_EVENTS_LATCH] = &weft__events_latch,
    [WEFT_SLEEP_COUNTERS_TWO] = &weft__counters_two,
};

enum { PROTOCOLS = sizeof protocols / sizeof protocols[0] };

const char *weft__sleep_name(enum weft_sleep protocol)
{
    return protocols[protocol]->name;
}

enum weft_sleep weft__sleep_named(const char *name)
{
    unsigned i = WEFT_SLEEP_DEFAULT + 1;
    while (i < PROTOCOLS && strcmp(name, protocols[i]->name) != 0)
        i++;
    return i < PROTOCOLS ? (enum weft_sleep)i : WEFT_SLEEP_DEFAULT;
}

int weft__sleep_init(struct weft__sleep *sleep, enum weft_sleep protocol, unsigned workers,
                     unsigned places, unsigned rounds, unsigned jec_bits)
{
    sleep->protocol = protocols[protocol];
    sleep->jec_one = (uint64_t)1 << (64 - jec_bits);
    sleep->rounds = rounds;
    sleep->workers = workers;
    sleep->places = places;
    sleep->look_ns = WEFT__LOOK_NS;
    atomic_store_relaxed(&sleep->lookout_cpu, -1); /* relaxed, both: nobody else is here */
    atomic_store_relaxed(&sleep->guest_cpu, -1);
    if (sleep->protocol->crowded) {
        sleep->crowd = weft__crowd_get((enum crowd_kind)sleep->protocol->kind);
        if (!sleep->crowd)
            return -ENOMEM;
    }
    sleep->parks = weft__alloc(places * sizeof sleep->parks[0]);
    return sleep->parks ? 0 : -ENOMEM;
}

void weft__sleep_destroy(struct weft__sleep *sleep)
{
    if (sleep->crowd)
        weft__crowd_put(sleep->crowd);
    weft__free(sleep->parks);
}

void weft__sleep_place(struct weft__sleep *sleep, unsigned place, struct weft__park *park)
{
    park->crowd = sleep->crowd;
    park->place = place;
    /* release E3: who looks for somebody to wake sees a parking place that is made. */
    atomic_store_release(&sleep->parks[place], park);
}

/* How often a guest has come. relaxed: a hint. */
static uint32_t entries_of(struct weft__sleep *sleep)
{
    return (uint32_t)(atomic_load_relaxed(&sleep->guests) >> 32);
}

void weft__sleep_start_looking(struct weft__sleep *sleep, struct weft__idle *idle, uint64_t used)
{
    *idle = (struct weft__idle){.used = used, .entries = entries_of(sleep)};
    /* relaxed: a hint to those who post work. */
    atomic_fetch_add_relaxed(&sleep->counters, one_inactive);
}

/* On a CPU where somebody is at work, a sleeper may not run for milliseconds after it was woken. So
 * it wakes up on another one, if one is free. */
struct waking {
    struct weft__used_cpus used;
    bool known, may_move; /* `used` is filled, and worth something */
    bool apart;           /* not on the look-out's CPU */
};

static bool knows_cpus(struct weft__sleep *sleep, struct waking *waking, int own)
{
    if (!waking->known) {
        waking->may_move = sleep->used_cpus && sleep->used_cpus(sleep, &waking->used);
        weft__cpu_take(&waking->used, own);
        /* Who gets no CPU there would not be seen. relaxed: a hint. */
        if (waking->apart && weft__sleep_has_lookout(sleep))
            weft__cpu_take(&waking->used, atomic_load_relaxed(&sleep->lookout_cpu));
    }
    waking->known = true;
    return waking->may_move;
}

/* -1: wherever the kernel likes, because all CPUs are taken. `own`: where the waker goes on
 * working, or -1. */
static int where_to_wake(struct weft__sleep *sleep, struct waking *waking, struct weft__park *park,
                         int own)
{
    int cpu = atomic_load_relaxed(&park->cpu); /* relaxed, both: hints */
    if (cpu < 0 || atomic_load_relaxed(&park->state) != PARK_ASLEEP ||
        !knows_cpus(sleep, waking, own))
        return cpu;
    int other = weft__cpu_other(&waking->used, sleep->cpus, cpu, CPU_LEFT);
    bool taken = weft__cpu_use_of(&waking->used, other) == CPU_TAKEN;
    weft__cpu_take(&waking->used, other);
    return taken ? -1 : other;
}

/* All have slept for so long that nobody looks out, and there is a place for one more than these n:
 * else it would take theirs. relaxed: a guess. */
static bool wants_watch(struct weft__sleep *sleep, unsigned n)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters);
    return sleep->look_ns && sleeping_in(counters) == sleep->workers && !lookout_in(counters) &&
           room(sleep, counters) > n;
}

/* Who was woken from a deep sleep need not get its CPU soon, and nobody would see that. So one more
 * is woken, wherever the kernel likes: it looks out, or takes what there is. */
static void wake_watch(struct weft__sleep *sleep)
{
    for (unsigned i = 0; i < sleep->places; i++) {
        struct weft__park *park = atomic_load_acquire(&sleep->parks[i]); /* acquire E3 */
        if (park && weft__park_wake_counted(park, -1))
            return;
    }
}

unsigned weft__wake_any(struct weft__sleep *sleep, unsigned n, enum weft__for what, bool waits)
{
    int cpu = weft__thread_cpu();
    bool watch = wants_watch(sleep, n);
    struct waking waking = {.apart = what == FOR_JOBS};
    unsigned woken = 0;
    for (int pass = 0; pass < 3; pass++) {
        for (unsigned i = 0; i < sleep->places && woken < n; i++) {
            struct weft__park *park = atomic_load_acquire(&sleep->parks[i]); /* acquire E3 */
            bool near = park && atomic_load_relaxed(&park->cpu) == cpu;      /* relaxed: hints */
            bool on_duty = park && atomic_load_relaxed(&sleep->lookout) == park;
            /* The second time on any CPU, the third time the look-out, too. */
            if (!park || (near != waits && pass == 0) || (on_duty && pass < 2))
                continue;
            if (on_duty) /* it may not run for a while, and must not count as one who looks */
                weft__lookout_relieve(sleep, park);
            int where = where_to_wake(sleep, &waking, park, waits ? -1 : cpu);
            woken += weft__park_wake_counted(park, where);
        }
    }
    if (watch)
        wake_watch(sleep);
    return woken;
}

uint64_t weft__stop_looking(struct weft__sleep *sleep)
{
    return atomic_fetch_sub_relaxed(&sleep->counters, one_inactive); /* relaxed: a fence follows */
}

bool weft__work_found_counted(struct weft__sleep *sleep, struct weft__idle *idle)
{
    (void)idle;
    uint64_t old = weft__stop_looking(sleep);
    if (sleeping_in(old) == 0 || idle_in(old) != 1)
        return false;
    /* fence F1 (FoundFence): no longer counted as idle (nor, since it woke up, as the look-out)
     * before the queues are looked at, and who is at work. Partner: PushFence. Who injects a job
     * either sees that nobody is idle and wakes somebody, or the caller sees the job. And
     * EnterFence: a guest that relies on the look-out is seen by it. */
    atomic_fence_seq_cst();
    return true;
}

void weft__more_work_counted(struct weft__sleep *sleep)
{
    /* acquire E1 */
    uint64_t counters = atomic_load_acquire(&sleep->counters);
    if (room(sleep, counters) > 0)
        weft__wake_any(sleep, 1, FOR_FORKS, false);
    else
        call_spare_if_none_is_left(sleep, counters);
}

/* relaxed, all of these: guesses. */

bool weft__sleep_has_room(struct weft__sleep *sleep)
{
    return room(sleep, atomic_load_relaxed(&sleep->counters)) > 0;
}

bool weft__sleep_would_wake(struct weft__sleep *sleep)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters);
    return idle_in(counters) == 0 && room(sleep, counters) > 0;
}

/* A look-out that sleeps on the caller's CPU may not get it back for some milliseconds: kernels
 * are in no hurry to move it, least of all those of virtual machines. */
bool weft__sleep_is_watched(struct weft__sleep *sleep)
{
    return lookout_in(atomic_load_relaxed(&sleep->counters)) &&
           atomic_load_relaxed(&sleep->lookout_cpu) != weft__thread_cpu();
}

unsigned weft__sleep_hungry(struct weft__sleep *sleep)
{
    return idle_in(atomic_load_relaxed(&sleep->counters));
}

/* ---- Who is at work ---- */

static int workers_at_work(struct weft__sleep *sleep, uint64_t counters)
{
    /* relaxed: the caller has a fence before, or wants a hint. */
    int absent = atomic_load_relaxed(&sleep->absent);
    return (int)sleep->workers - absent - (int)inactive_in(counters);
}

static bool at_work(struct weft__sleep *sleep, uint64_t counters)
{
    return workers_at_work(sleep, counters) > 0 || guests_at_work(sleep) > 0;
}

void weft__sleep_guest_entered(struct weft__sleep *sleep)
{
    atomic_store_relaxed(&sleep->guest_cpu, weft__thread_cpu()); /* relaxed: a hint */
    atomic_fetch_add_relaxed(&sleep->guests, one_guest_came);    /* relaxed: the fence orders it */
    /* fence F1 (EnterFence): counted as at work before it looks whether anybody sleeps, or looks
     * out; partners: SleepFence, after which a sleeper looks whether anybody is at work, and the
     * fence after which a look-out that goes looks once more. */
    atomic_fence_seq_cst();
}

void weft__sleep_guest_left(struct weft__sleep *sleep)
{
    atomic_fetch_sub_relaxed(&sleep->guests, 1); /* relaxed: room_made() orders it */
}

unsigned weft__sleep_guests(struct weft__sleep *sleep)
{
    return (unsigned)guests_at_work(sleep);
}

void weft__sleep_absent(struct weft__sleep *sleep)
{
    atomic_fetch_add_relaxed(&sleep->absent, 1); /* relaxed: as guest_left() */
}

void weft__sleep_present(struct weft__sleep *sleep)
{
    atomic_fetch_sub_relaxed(&sleep->absent, 1); /* relaxed: the fence orders it */
    atomic_fence_seq_cst();                      /* fence F1 (EnterFence) */
}

bool weft__sleep_room_made(struct weft__sleep *sleep)
{
    /* fence F1 (LeaveFence): the place is free before the counters, and then the queues, are looked
     * at. Partners: SleepFence, after which who steps back looks whether there is room; and
     * PushFence: who posts a job sees that there is room, or the caller sees the job. */
    atomic_fence_seq_cst();
    uint64_t counters = atomic_load_relaxed(&sleep->counters); /* relaxed: after the fence */
    return idle_in(counters) == 0 && room(sleep, counters) > 0;
}

bool weft__sleep_over_full(struct weft__sleep *sleep)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters); /* relaxed: looked at again */
    return guests_at_work(sleep) > 0 && places_left(sleep, counters) < 0;
}

bool weft__sleep_is_one_too_many(struct weft__sleep *sleep)
{
    return places_left(sleep, atomic_load_acquire(&sleep->counters)) == -1; /* acquire E1 */
}

bool weft__sleep_has_lookout(struct weft__sleep *sleep)
{
    return lookout_in(atomic_load_relaxed(&sleep->counters)); /* relaxed: a guess */
}

bool weft__sleep_needs_lookout(struct weft__sleep *sleep, unsigned self)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters); /* relaxed: after a fence */
    return sleep->look_ns && !lookout_in(counters) && idle_in(counters) == 0 &&
           (workers_at_work(sleep, counters) > (int)self || guests_at_work(sleep) > 0);
}

/* ---- The look-out ---- */

/* Relaxed, all accesses here: the fences order those that matter, and who looks out decides nothing
 * but who looks. */

static bool take_duty(struct weft__sleep *sleep, struct weft__park *park)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters);
    do {
        if (lookout_in(counters))
            return false;
    } while (!atomic_cas_relaxed(&sleep->counters, &counters, counters + one_lookout));
    atomic_store_relaxed(&sleep->lookout, park);
    return true;
}

bool weft__lookout_relieve(struct weft__sleep *sleep, struct weft__park *park)
{
    void *known = park;
    if (!atomic_cas_relaxed(&sleep->lookout, &known, NULL))
        return false;
    atomic_fetch_sub_relaxed(&sleep->counters, one_lookout);
    return true;
}

/* Is the pool in use, or was it since the last look? */
static bool is_used(struct weft__sleep *sleep, struct weft__idle *idle)
{
    uint32_t entries = entries_of(sleep);
    bool came = entries != idle->entries;
    idle->entries = entries;
    return came || at_work(sleep, atomic_load_relaxed(&sleep->counters));
}

/* Jobs are in the injector, but guests keep all workers from them. After a while one is let in:
 * what the guests do may depend on it. */
static bool is_starved(struct weft__sleep *sleep, struct weft__idle *idle, uint64_t now)
{
    if (!sleep->holds_injected || !sleep->holds_injected(sleep)) {
        idle->starved = 0;
        return false;
    }
    if (idle->starved == 0)
        idle->starved = now;
    return now - idle->starved >= WEFT__STARVED_NS;
}

/* A searcher has the last place, and should have taken what there is by now. If it does not, it
 * has no CPU. True: at two looks in a row; then the look-out takes its place, and the searcher
 * steps back when it runs again. */
static bool is_overlooked(struct weft__sleep *sleep, struct weft__idle *idle, uint64_t counters)
{
    bool before = idle->overlooked;
    bool now = places_left(sleep, counters) == 0 && idle_in(counters) > 0 && sleep->holds_work &&
               sleep->holds_work(sleep);
    idle->overlooked = now && !before;
    return now && before;
}

/* Somebody was woken, and does not run: perhaps because something of higher priority has the CPU on
 * which it was to wake up. */
static void let_all_go(struct weft__sleep *sleep)
{
    for (unsigned i = 0; i < sleep->places; i++) {
        struct weft__park *park = atomic_load_acquire(&sleep->parks[i]); /* acquire E3 */
        if (park && atomic_load_relaxed(&park->state) == PARK_AWAKE)
            weft__park_let_go(park);
    }
}

/* Is there something for it to take? */
static bool has_reason(struct weft__sleep *sleep, struct weft__idle *idle, uint64_t now)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters);
    if (places_left(sleep, counters) > 0)
        return !sleep->holds_work || sleep->holds_work(sleep);
    idle->overtakes = is_overlooked(sleep, idle, counters);
    if (idle->overtakes)
        let_all_go(sleep);
    idle->relieves = is_starved(sleep, idle, now);
    return idle->overtakes || idle->relieves;
}

bool weft__lookout_leaves(struct weft__lookout *lookout)
{
    struct weft__sleep *sleep = lookout->sleep;
    if (!weft__lookout_relieve(sleep, lookout->park))
        return true; /* its waker has done that */
    /* fence F1: off duty before it looks who is at work. Partner: EnterFence, or a worker's own
     * step to work, which is on the same word. Who starts either sees that nobody looks out, and
     * wakes somebody when it forks; or is seen here. */
    atomic_fence_seq_cst();
    return !is_used(sleep, lookout->idle) || !take_duty(sleep, lookout->park);
}

/* Where it is not in the way of those who work, nor they in its. The CPU to sleep on. */
static int choose_cpu(struct weft__lookout *lookout)
{
    struct weft__sleep *sleep = lookout->sleep;
    int cpu = atomic_load_relaxed(&lookout->park->cpu);
    struct weft__used_cpus used;
    if (cpu >= 0 && sleep->used_cpus && sleep->used_cpus(sleep, &used))
        cpu = weft__cpu_other(&used, sleep->cpus, cpu, CPU_FREE);
    atomic_store_relaxed(&lookout->park->cpu, cpu);
    atomic_store_relaxed(&sleep->lookout_cpu, cpu);
    return cpu;
}

/* Its turn: for how long it sleeps on. */
static uint64_t look_out(struct weft__turns *turns)
{
    struct weft__lookout *lookout = turns->arg;
    struct weft__sleep *sleep = lookout->sleep;
    struct weft__idle *idle = lookout->idle;
    uint64_t now = weft__clock_now();
    turns->cpu = choose_cpu(lookout);
    if (is_used(sleep, idle)) {
        idle->used = now;
        if (has_reason(sleep, idle, now))
            return WEFT__GET_UP;
        if (idle->overlooked)
            return WEFT__LOOK_AGAIN_NS;
    }
    bool silence = now - idle->used >= WEFT__SILENCE_NS;
    if (sleep->every_second && (silence || now - idle->second >= WEFT__SILENCE_NS)) {
        idle->second = now;
        sleep->every_second(sleep);
        if (silence) /* and another one, without anybody, has passed */
            sleep->every_second(sleep);
    }
    return silence && weft__lookout_leaves(lookout) ? WEFT__SLEEP_ON : sleep->look_ns;
}

struct weft__turns weft__lookout_turns(struct weft__lookout *lookout)
{
    struct weft__sleep *sleep = lookout->sleep;
    struct weft__idle *idle = lookout->idle;
    struct weft__turns never = weft__one_turn(0);
    idle->looks_out = false;
    if (!sleep->look_ns)
        return never;
    uint64_t now = weft__clock_now();
    bool came = entries_of(sleep) != idle->entries || guests_at_work(sleep) > 0;
    bool used = is_used(sleep, idle);
    if (!used && (idle->used == 0 || now - idle->used >= WEFT__SILENCE_NS))
        return never;
    if (!take_duty(sleep, lookout->park))
        return never;
    idle->looks_out = true;
    if (idle->second == 0)
        idle->second = now;
    if (came) /* else those at work may be workers that have just been made: its first look tells */
        idle->used = now;
    choose_cpu(lookout);
    return (struct weft__turns){.ns = sleep->look_ns, .look = look_out, .arg = lookout};
}

/* ---- Falling asleep ---- */

bool weft__doze_off(const struct weft__sleeper *sleeper, bool counted, bool at_once)
{
    if (!at_once && !weft__latch_doze(sleeper->latch))
        return false;
    weft__park_drowse(sleeper->park, counted);
    if (at_once ? weft__latch_sleep_at_once(sleeper->latch) : weft__latch_sleep(sleeper->latch))
        return true;
    weft__park_rouse(sleeper->park);
    return false;
}

void weft__stay_awake(const struct weft__sleeper *sleeper)
{
    weft__park_rouse(sleeper->park);
    weft__latch_rouse(sleeper->latch);
}

/* fence F1 (SleepFence): counted as a sleeper before the queues are looked at, or whether there is
 * room. Partners: PushFence, where jobs are posted, and LeaveFence, where a guest leaves. */
static enum outcome sleep_unless(bool (*last_look)(const struct weft__sleeper *sleeper,
                                                   struct weft__sleep *sleep),
                                 struct weft__sleep *sleep, struct weft__idle *idle,
                                 const struct weft__sleeper *sleeper)
{
    struct weft__lookout lookout = {sleep, idle, sleeper->park};
    atomic_fence_seq_cst();
    enum park_result result = PARK_WAS_NUDGED;
    if (!last_look(sleeper, sleep))
        result = weft__park_sleep(sleeper->park, &sleep->counters, weft__lookout_turns(&lookout));
    weft__lookout_relieve(sleep, sleeper->park);
    idle->woken = result == PARK_WAS_WOKEN;
    if (!idle->woken) {
        /* Nobody woke it from sleep, so it uncounts itself. relaxed: a hint to others. */
        atomic_fetch_sub_relaxed(&sleep->counters, one_sleeping);
        weft__stay_awake(sleeper);
        return result == PARK_TIMED_OUT ? LOOKED_OUT : WORK_WAS_POSTED;
    }
    if (WEFT__FAULT(11))
        atomic_fetch_sub_relaxed(&sleep->counters, one_sleeping);
    if (WEFT__FAULT(13))
        atomic_store_relaxed(&sleeper->latch->state, LATCH_UNSET);
    else
        weft__latch_rouse(sleeper->latch);
    return SLEPT;
}

static bool finds_jobs(const struct weft__sleeper *sleeper, struct weft__sleep *sleep)
{
    (void)sleep;
    return WEFT__RECHECK(sleeper->last_look(sleeper->arg));
}

enum outcome weft__sleep_counted(struct weft__sleep *sleep, struct weft__idle *idle,
                                 const struct weft__sleeper *sleeper)
{
    return sleep_unless(finds_jobs, sleep, idle, sleeper);
}

/* ---- Stepping back ---- */

/* The caller counts as a sleeper by now: is there a place for it? Or mail, which is for it alone.
 */
static bool finds_room(const struct weft__sleeper *sleeper, struct weft__sleep *sleep)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters); /* relaxed: after the fence */
    return WEFT__RECHECK(places_left(sleep, counters) > 0) || sleeper->mail(sleeper->arg);
}

/* Counts the caller as sleeping, if there are still too many: of several, just so many as are too
 * many step back. */
static bool give_up_place(struct weft__sleep *sleep)
{
    uint64_t old = atomic_load_relaxed(&sleep->counters);
    do {
        if (places_left(sleep, old) >= 0)
            return false;
        /* acq_rel E1: release: whoever counts this one sees its parking place DROWSY. */
    } while (!atomic_cas_acq_rel(&sleep->counters, &old, old + one_sleeping));
    return true;
}

bool weft__sleep_step_back(struct weft__sleep *sleep, struct weft__idle *idle,
                           const struct weft__sleeper *sleeper)
{
    if (idle->sleepy) { /* in a crowd: it has a place of its own for this */
        weft__crowd_be_awake(sleep->crowd, idle->sleepy);
        idle->sleepy = 0;
    }
    idle->round = 0;
    if (!weft__doze_off(sleeper, true, sleep->protocol->at_once))
        return false;
    if (!give_up_place(sleep)) {
        weft__stay_awake(sleeper);
        return false;
    }
    atomic_fetch_add_relaxed(&sleep->aside, 1); /* relaxed: SleepFence orders it */
    enum outcome outcome = sleep_unless(finds_room, sleep, idle, sleeper);
    atomic_fetch_sub_relaxed(&sleep->aside, 1); /* relaxed: a look too many costs nothing */
    return outcome != WORK_WAS_POSTED;
}

static enum park_result sleep_uncounted(const struct weft__sleeper *sleeper, uint64_t ns,
                                        bool at_once)
{
    if (!weft__doze_off(sleeper, false, at_once))
        return PARK_WAS_NUDGED;
    /* fence F1: DROWSY before the look at the mailbox; partner: the fence between a
     * broadcast's push and its wake. */
    atomic_fence_seq_cst();
    if (sleeper->mail && WEFT__RECHECK(sleeper->mail(sleeper->arg))) {
        weft__stay_awake(sleeper);
        return PARK_WAS_NUDGED;
    }
    enum park_result result = weft__park_sleep(sleeper->park, NULL, weft__one_turn(ns));
    weft__latch_rouse(sleeper->latch);
    return result;
}

enum park_result weft__sleep_uncounted(const struct weft__sleeper *sleeper, uint64_t ns)
{
    return sleep_uncounted(sleeper, ns, false);
}

enum park_result weft__sleep_uncounted_in(const struct weft__sleep *sleep,
                                          const struct weft__sleeper *sleeper, uint64_t ns)
{
    return sleep_uncounted(sleeper, ns, sleep->protocol->at_once);
}

struct weft__resting weft__sleep_resting(struct weft__sleep *sleep)
{
    uint64_t counters = atomic_load_relaxed(&sleep->counters); /* relaxed: a hint */
    return (struct weft__resting){idle_in(counters), sleeping_in(counters)};
}
