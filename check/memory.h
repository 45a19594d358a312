/* SPDX-License-Identifier: MIT */
/* memory.h: C11's memory as RC11 has it (Lahav and others, "Repairing sequential consistency
 * in C/C++11", 2017), as a machine.
 *
 * Each location has its stores in modification order. A thread has a *view*: for each
 * location, the oldest store that it may still read; and a clock: which events of which
 * thread happen before its next one. A store carries a view and clock for whoever acquires
 * it. A relaxed load keeps what it would have acquired for a later acquire fence; a release
 * fence keeps the view for later relaxed stores; a read-modify-write passes on what it read:
 * release sequences. Sequentially consistent fences join with one common view. That leaves
 * sequentially consistent *accesses*, which are weaker than fences around them: they are not
 * enforced on the way; an execution that fails is checked as a whole (psc acyclic), and
 * forgotten if RC11 forbids it. */
#ifndef CHECK_MEMORY_H
#define CHECK_MEMORY_H

#include "model.h"

enum { THREADS_MAX = 5, LOCATIONS_MAX = 96, STORES_MAX = 96, EVENTS_MAX = 1000 };

struct view {
    int64_t at[LOCATIONS_MAX]; /* time stamps of stores */
    uint16_t clock[THREADS_MAX];
};

enum event_kind {
    EVENT_LOAD,
    EVENT_STORE,
    EVENT_RMW,
    EVENT_FENCE,
    EVENT_WAIT,
    EVENT_WOKEN,
    EVENT_WAKE,
    EVENT_NOTE
};

struct event {
    enum event_kind kind;
    unsigned thread;
    uint16_t number; /* in its thread, from 1 */
    int location;    /* -1: none */
    enum order order;
    int64_t read, wrote; /* time stamps; 0: initial, -1: not */
    uint64_t value;      /* what was read, or written by a store */
    uint64_t new_value;  /* written by a read-modify-write */
    unsigned from;       /* the thread whose store was read; 0: initial */
    uint16_t from_number;
    uint16_t clock[THREADS_MAX];
    const struct site *site;
    const char *note;
};

struct machine {
    unsigned locations;
    unsigned events;
    struct event event[EVENTS_MAX];
};

extern struct machine machine;

void memory_reset(unsigned threads);

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
uint64_t memory_newest(unsigned thread, int location); /* as the kernel reads a futex */

/* A lock's word: whoever has it took it from the newest store. */
void memory_lock(unsigned thread, int location, const struct site *site);
void memory_unlock(unsigned thread, int location, const struct site *site);

struct event *memory_event(unsigned thread, enum event_kind kind, int location,
                           const struct site *site);

/* The last event happens before what `thread` does from now on. */
void memory_synchronise(unsigned from, unsigned to);

void memory_plain(unsigned thread, const void *at, const char *name, bool writes);

/* Does RC11 allow this execution? */
bool memory_consistent(void);

#endif
