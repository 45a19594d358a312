/* SPDX-License-Identifier: MIT */
/* memory.h: C11's memory as RC11 has it (Lahav and others, "Repairing sequential consistency
 * in C/C++11", 2017), as a machine.
 *
 * Each location has its stores in modification order. A thread has a *view*: for each
 * location, the oldest store that it may still read; and a clock: which events of which
 * thread happen before its next one. A store carries a view and clock for whoever acquires
 * it. A relaxed load keeps what it would have acquired for a later acquire fence; a release
 * fence keeps the view for later relaxed stores; a read-modify-write passes on what it read:
 * release sequences. That operations are sequentially consistent is not enforced on the way: an
 * execution that fails is checked as a whole (consistency.h), and forgotten if RC11 forbids it. */
#ifndef CHECK_MEMORY_H
#define CHECK_MEMORY_H

#include "model.h"

enum { THREADS_MAX = 8, LOCATIONS_MAX = 256, STORES_MAX = 64, EVENTS_MAX = 2500 };

struct view {
    int32_t at[LOCATIONS_MAX]; /* time stamps of stores */
    uint16_t clock[THREADS_MAX];
};

enum event_kind {
    EVENT_LOAD,
    EVENT_STORE,
    EVENT_RMW,
    EVENT_FENCE,
    EVENT_SLEEP,
    EVENT_WOKEN,
    EVENT_WAKE,
    EVENT_SPIN,
};

struct event {
    enum event_kind kind;
    unsigned thread;
    uint16_t number; /* in its thread, from 1 */
    int location;    /* -1: none */
    enum order order;
    int32_t read, wrote; /* time stamps; 0: initial, -1: not */
    uint64_t value;      /* what was read, or written by a store */
    uint64_t new_value;  /* written by a read-modify-write */
    unsigned from;       /* the thread whose store was read; 0: initial */
    uint16_t from_number;
    uint16_t clock[THREADS_MAX];
    const struct site *site;
};

struct machine {
    unsigned locations;
    unsigned events;
    struct event event[EVENTS_MAX];
};

extern struct machine machine;

enum { LATE_MAX = 3 };

struct rules {
    unsigned late; /* who spins has to see what was new so many spins ago; at most LATE_MAX */
    bool calls_are_steps; /* who spins, sleeps or wakes somebody has done a step that counts between
                             accesses for sequential consistency. RC11 knows no such steps */
};

void memory_reset(struct rules rules);

/* A new thread: what `parent` did so far happens before it. 0: its parent is the harness. */
void memory_thread(unsigned thread, unsigned parent);

/* Which location is at this address; made if need be. */
int memory_location(const void *at, unsigned size);
const void *memory_address(int location);

/* Who has used the location, as bits, in this execution. */
unsigned memory_users(int location);

/* The operations, for the thread that runs. */
uint64_t memory_load(unsigned thread, int location, enum order order, const struct site *site);
void memory_store(unsigned thread, int location, uint64_t value, enum order order,
                  const struct site *site);
uint64_t memory_rmw(unsigned thread, int location, enum rmw kind, uint64_t operand,
                    enum order order, const struct site *site);
bool memory_cas(unsigned thread, int location, uint64_t *expected, uint64_t desired,
                enum order success, enum order failure, const struct site *site);
void memory_fence(unsigned thread, enum order order, const struct site *site);
void memory_barrier(const struct site *site); /* a sequentially consistent fence in all threads */
/* As the kernel reads a futex: the newest. */
uint64_t memory_newest(unsigned thread, int location, enum event_kind kind);
uint64_t memory_peek(int location);

/* A lock's word: whoever has it took it from the newest store. */
void memory_lock(unsigned thread, int location, const struct site *site);
void memory_unlock(unsigned thread, int location, const struct site *site);

struct event *memory_event(unsigned thread, enum event_kind kind, int location,
                           const struct site *site);

/* The thread spins: what it has read since it last did so, it does not read again if it is old; or,
 * if threads may be late, some spins later. */
void memory_spun(unsigned thread);

/* Time has passed: nobody reads what was old before. It orders nothing else. */
void memory_settles(void);

/* What `from` did so far happens before what `to` does from now on. */
void memory_synchronise(unsigned from, unsigned to);

/* Its value is being written by a plain store: what was there is forgotten. */
void memory_overwritten(const void *at, size_t size);

/* For ordinary data: which events of which threads happen before what the thread does now. An
 * access is numbered like the thread's next event. */
const uint16_t *memory_clock(unsigned thread);

/* Everything that tells this execution so far from others, but not the order in which
 * unrelated things happened in it. */
struct digest {
    uint64_t a, b;
};
struct digest memory_digest(void);

#endif
