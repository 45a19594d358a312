/* SPDX-License-Identifier: MIT */
#include "schedule.h"

#include "arena.h"
#include "trail.h"
#include "visited.h"
#include "watch.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 3000, TIME_OUTS_MAX = 4 };

enum state { READY, YIELDED, WAITING, DONE };

struct thread {
    struct fiber *fiber;
    enum state state;
    int waits_for;  /* location; -1: a thread's end */
    uint64_t ns;    /* and for how long; 0: until it is woken */
    unsigned stops; /* how many times it came to where another could go on */
    enum touch touch;
    const void *at;
    void (*fn)(void *);
    void *arg;
};

struct shared shared;
static struct thread threads[THREADS_MAX];
static struct fiber explorer;
static unsigned idle_yields;

void schedule_reset(void)
{
    idle_yields = 0;
}

unsigned model_thread(void)
{
    return now.running;
}

static void switch_to(unsigned thread)
{
    unsigned before = now.running;
    if (thread == before)
        return;
    watch_locals(before, thread);
    now.running = thread;
    fiber_switch(before ? threads[before].fiber : &explorer,
                 thread ? threads[thread].fiber : &explorer);
}

void schedule_end(enum ending how)
{
    now.ending = how;
    switch_to(0);
    abort(); /* it is never resumed */
}

/* ---- Where the execution is ---- */

static struct digest here(void)
{
    struct digest digest = memory_digest();
    uint64_t more = now.stale | now.spurious << 8 | now.failures << 16 | now.impatience << 20 |
                    now.time_outs << 28;
    if (now.options->preemptions >= 0)
        more |= (uint64_t)now.preemptions << 32 | (uint64_t)now.running << 40;
    for (unsigned t = 1; t <= now.threads; t++) {
        more = more * 31 + threads[t].state + 4 * threads[t].stops;
        more = more * 31 + now.chosen[t];
        more = more * 31 + (threads[t].state == WAITING ? threads[t].ns : 0);
        more = more * 31 + (uintptr_t)(threads[t].state == WAITING && threads[t].waits_for >= 0
                                           ? memory_address(threads[t].waits_for)
                                           : NULL);
    }
    digest.a ^= more * UINT64_C(0x94d049bb133111eb);
    digest.b += more * UINT64_C(0xd6e8feb86659fd93);
    return digest;
}

static bool been_here(void)
{
    return visited_before(here(), &now.asleep);
}

/* ---- Who goes on ---- */

/* Those that could go on instead of the running one; if all others spin, these. */
static unsigned candidates(unsigned list[static THREADS_MAX])
{
    unsigned n = 0;
    for (unsigned t = 1; t <= now.threads; t++)
        if (t != now.running && threads[t].state == READY)
            list[n++] = t;
    for (unsigned t = 1; n == 0 && t <= now.threads; t++)
        if (t != now.running && threads[t].state == YIELDED)
            list[n++] = t;
    return n;
}

static bool depend(const struct thread *a, const struct thread *b)
{
    if (a->touch == TOUCH_ALL || b->touch == TOUCH_ALL)
        return true;
    if (a->touch == TOUCH_FENCE || b->touch == TOUCH_FENCE)
        return a->touch == b->touch;
    return a->at == b->at && (a->touch == TOUCH_WRITE || b->touch == TOUCH_WRITE);
}

static unsigned without(unsigned list[static THREADS_MAX], unsigned n, unsigned out)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < n; i++)
        if (!(out & 1u << list[i]))
            list[kept++] = list[i];
    return kept;
}

static unsigned thread_told(const unsigned list[static THREADS_MAX], unsigned n, char kind)
{
    int value = trail_told(kind);
    for (unsigned i = 0; i < n; i++)
        if ((int)list[i] == value)
            return list[i];
    return list[0];
}

/* Which one of these goes on. */
static unsigned choose_thread(unsigned list[static THREADS_MAX], unsigned n, char kind)
{
    if (trail.replays)
        return thread_told(list, n, kind);
    if (now.running)
        threads[now.running].stops++;
    if (n > 1 && trail.position < trail.length)
        now.asleep = trail.choice[trail.position].asleep;
    else if (n > 1 && been_here())
        schedule_end(KNOWN);
    unsigned usual = list[0];
    unsigned left = without(list, n, now.asleep);
    if (left == 0)
        schedule_end(KNOWN);
    struct choice *choice = n < 2 ? NULL : trail_choice(left, kind);
    unsigned chosen = choice ? choice->chosen : 0, next = list[chosen];
    if (choice) {
        choice->count = left;
        choice->value = next;
        choice->usual = next == usual;
    }
    if (now.options->preemptions >= 0)
        return next;
    for (unsigned i = 0; i < chosen; i++)
        now.asleep |= 1u << list[i];
    for (unsigned t = 1; t <= now.threads; t++)
        if (t == next || depend(&threads[t], &threads[next]))
            now.asleep &= ~(1u << t);
    return next;
}

/* No thread can go on: those that sleep for the shortest time do. */
static bool time_passes(void)
{
    uint64_t least = UINT64_MAX;
    for (unsigned t = 1; t <= now.threads; t++)
        if (threads[t].state == WAITING && threads[t].ns > 0 && threads[t].ns < least)
            least = threads[t].ns;
    if (!now.harness->times_out || least == UINT64_MAX || ++now.time_outs > TIME_OUTS_MAX)
        return false;
    now.passed += least;
    memory_settles();
    for (unsigned t = 1; t <= now.threads; t++)
        if (threads[t].state == WAITING && threads[t].ns > 0 && (threads[t].ns -= least) == 0)
            threads[t].state = READY;
    return true;
}

/* The running thread can't go on, or should not. */
static void leave(void)
{
    unsigned list[THREADS_MAX], n = candidates(list);
    if (n == 0 && threads[now.running].state != YIELDED && time_passes()) {
        if (threads[now.running].state == READY) /* it is one of those */
            return;
        n = candidates(list);
    }
    if (n == 0 && now.running && threads[now.running].state == YIELDED) {
        if (++idle_yields > 2 + execution_rules().late)
            schedule_end(ENDLESS);
        return; /* it is the only one */
    }
    if (n == 0) {
        bool all_done = true;
        for (unsigned t = 1; t <= now.threads; t++)
            all_done &= threads[t].state == DONE;
        now.ending = all_done ? GOES_ON : STUCK;
        switch_to(0);
        return;
    }
    unsigned next = choose_thread(list, n, LEAVE);
    if (threads[next].state == YIELDED) {
        threads[next].state = READY;
        if (++idle_yields > (3 + execution_rules().late) * THREADS_MAX)
            schedule_end(ENDLESS);
    }
    switch_to(next);
}

void schedule_run(void)
{
    leave();
    now.running = 0;
}

/* What the options say, or the harness if it is stricter; -1: no bound. */
static int preemptions_most(void)
{
    int most = now.options->preemptions, few = (int)now.harness->preemptions;
    return few > 0 && few < most ? few : most;
}

static void may_change(void)
{
    unsigned list[THREADS_MAX], n = candidates(list);
    if (n == 0 || threads[list[0]].state == YIELDED)
        n = 0; /* those who spin wait for those who don't */
    int most = preemptions_most();
    if (!trail.replays && most >= 0 && now.preemptions >= (unsigned)most) {
        threads[now.running].stops += n > 0;
        if (n > 0 && trail.position >= trail.length && been_here())
            schedule_end(KNOWN);
        return;
    }
    memmove(list + 1, list, n * sizeof list[0]);
    list[0] = now.running;
    unsigned next = choose_thread(list, n + 1, CHANGE);
    if (next != now.running) {
        now.preemptions++;
        switch_to(next);
    }
}

/* ---- Steps ---- */

static bool is_shared(const void *at)
{
    for (unsigned i = 0; i < shared.count; i++)
        if (shared.at[i] == at)
            return true;
    return false;
}

static void learn_shared(const void *at)
{
    if (is_shared(at))
        return;
    if (shared.count == SHARED_MAX)
        model_fail("more than %d shared locations", SHARED_MAX);
    shared.at[shared.count++] = at;
    shared.grew = true;
}

static void next_step(void)
{
    trail_step();
    if (++now.steps > STEPS_MAX)
        schedule_end(ENDLESS);
}

/* Something may be new: threads that spin look. */
static void rouse_spinning(void)
{
    for (unsigned t = 1; t <= now.threads; t++)
        if (t != now.running && threads[t].state == YIELDED)
            threads[t].state = READY;
}

void schedule_step(enum touch touch, const void *at)
{
    struct thread *me = &threads[now.running];
    me->touch = touch;
    me->at = at;
    next_step();
    if (touch >= TOUCH_FENCE || trail.replays || is_shared(at))
        may_change();
    if (touch == TOUCH_READ || touch == TOUCH_FENCE)
        return;
    idle_yields = 0;
    rouse_spinning();
}

int schedule_location(const void *at, unsigned size)
{
    arena_touch(at, size);
    watch_atomic(now.running, at, size);
    int location = memory_location(at, size);
    if (memory_users(location) & ~(1u << now.running))
        learn_shared(at);
    return location;
}

void schedule_wait(int location, uint64_t ns)
{
    threads[now.running].state = WAITING;
    threads[now.running].ns = ns;
    threads[now.running].waits_for = location;
    threads[now.running].touch = TOUCH_ALL;
    next_step();
    leave();
}

unsigned schedule_waiting(int location, unsigned list[static THREADS_MAX])
{
    unsigned n = 0;
    for (unsigned t = 1; t <= now.threads; t++)
        if (threads[t].state == WAITING && threads[t].waits_for == location)
            list[n++] = t;
    return n;
}

void schedule_ready(unsigned thread)
{
    threads[thread].state = READY;
}

void model_yield(void)
{
    if (!now.running)
        return;
    next_step();
    memory_spun(now.running);
    threads[now.running].state = YIELDED;
    threads[now.running].touch = TOUCH_ALL;
    leave();
    threads[now.running].state = READY;
}

/* ---- Threads begin and end ---- */

static void thread_main(void *arg)
{
    struct thread *me = arg;
    me->fn(me->arg);
    next_step();
    me->state = DONE;
    for (unsigned t = 1; t <= now.threads; t++) /* who waits for its end */
        if (threads[t].state == WAITING && threads[t].waits_for == -1)
            threads[t].state = READY;
    rouse_spinning();
    leave();
    abort();
}

unsigned schedule_start(void (*fn)(void *), void *arg)
{
    if (now.threads + 1 == THREADS_MAX)
        return 0;
    unsigned number = ++now.threads;
    struct thread *thread = &threads[number];
    *thread =
        (struct thread){.fiber = arena_fiber(number), .touch = TOUCH_ALL, .fn = fn, .arg = arg};
    memory_thread(number, now.running);
    fiber_make(thread->fiber, thread_main, thread);
    return number;
}

void schedule_join(unsigned thread)
{
    while (threads[thread].state != DONE)
        schedule_wait(-1, 0);
    memory_synchronise(thread, now.running);
}

void schedule_stack(const char **low, const char **high)
{
    *low = threads[now.running].fiber->stack;
    *high = *low + FIBER_STACK;
}
