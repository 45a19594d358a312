/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include "choose.h"
#include "watch.h"

#include <string.h>

struct store {
    int32_t stamp;
    uint64_t value;
    struct view view; /* for those who acquire it */
    unsigned thread;
    uint16_t number;
    bool attached; /* a read-modify-write has read it: nothing comes between */
};

struct location {
    const char *at;
    unsigned size;
    unsigned users;
    unsigned count;
    bool overwritten; /* by a plain store; what it holds now is all there is */
    uint64_t mirror;  /* what it holds otherwise: compilers leave out some hooks */
    struct store store[STORES_MAX];
};

struct thread {
    struct view current;
    struct view acquirable; /* what relaxed loads would have acquired */
    struct view released;   /* as of the last release fence */
    uint16_t number;
    bool looked[LOCATIONS_MAX];             /* at these, since it spun last */
    int32_t not_older[LOCATIONS_MAX];       /* what a spinning thread has to come to see: now, */
    int32_t later[LATE_MAX][LOCATIONS_MAX]; /* and after the next spins */
};

enum { GAP = 1 << 20 };

struct machine machine;
static struct location locations[LOCATIONS_MAX];
static struct thread threads[THREADS_MAX];
static unsigned thread_count;
static struct rules rules;

void memory_reset(struct rules these)
{
    rules = these;
    machine.locations = machine.events = 0;
    thread_count = 1;
    memset(threads, 0, sizeof threads);
}

/* ---- Locations ---- */

static uint64_t peek(const char *at, unsigned size)
{
    uint64_t value = 0;
    memcpy(&value, at, size); /* little endian */
    return value;
}

static void poke(struct location *x, uint64_t value)
{
    watch_remember(x->at, x->size);
    memcpy((char *)(uintptr_t)x->at, &value, x->size);
    x->mirror = peek(x->at, x->size);
}

/* Its first store is the value it has, which everybody may read. */
static void begin(struct location *x, int32_t stamp)
{
    x->count = 1;
    memset(&x->store[0], 0, sizeof x->store[0]);
    x->store[0].stamp = stamp;
    x->store[0].value = peek(x->at, x->size);
    x->mirror = x->store[0].value;
    x->overwritten = false;
}

int memory_location(const void *at, unsigned size)
{
    for (unsigned i = 0; i < machine.locations; i++) {
        if (locations[i].at != at)
            continue;
        /* Later than all before: views of those are everywhere, in stores, too. */
        if (locations[i].overwritten || locations[i].mirror != peek(at, locations[i].size))
            begin(&locations[i], locations[i].store[locations[i].count - 1].stamp + GAP);
        return (int)i;
    }
    if (machine.locations == LOCATIONS_MAX)
        model_fail("more than %d locations", LOCATIONS_MAX);
    struct location *x = &locations[machine.locations];
    x->at = at;
    x->size = size;
    x->users = 0;
    begin(x, 0);
    return (int)machine.locations++;
}

const void *memory_address(int location)
{
    return locations[location].at;
}

unsigned memory_users(int location)
{
    return locations[location].users;
}

/* ---- Views ---- */

static void join(struct view *view, const struct view *other)
{
    for (unsigned i = 0; i < machine.locations; i++)
        if (view->at[i] < other->at[i])
            view->at[i] = other->at[i];
    for (unsigned t = 0; t < thread_count; t++)
        if (view->clock[t] < other->clock[t])
            view->clock[t] = other->clock[t];
}

static bool acquires(enum order order)
{
    return order == ACQUIRE || order == ACQ_REL || order == SEQ_CST;
}

static bool releases(enum order order)
{
    return order == RELEASE || order == ACQ_REL || order == SEQ_CST;
}

struct event *memory_event(unsigned thread, enum event_kind kind, int location,
                           const struct site *site)
{
    if (machine.events == EVENTS_MAX)
        model_fail("more than %d events", EVENTS_MAX);
    struct event *e = &machine.event[machine.events++];
    struct thread *t = &threads[thread];
    t->current.clock[thread] = ++t->number;
    *e = (struct event){.kind = kind,
                        .thread = thread,
                        .number = t->number,
                        .location = location,
                        .site = site,
                        .read = -1,
                        .wrote = -1};
    memcpy(e->clock, t->current.clock, sizeof e->clock);
    if (location >= 0)
        locations[location].users |= 1u << thread;
    return e;
}

static uint64_t stamps_digest(const int32_t at[static LOCATIONS_MAX]);

/* ---- Loads ---- */

static void note_read(unsigned thread, int location, const struct store *store, enum order order,
                      struct event *e)
{
    struct thread *t = &threads[thread];
    t->looked[location] = true;
    if (t->current.at[location] < store->stamp)
        t->current.at[location] = store->stamp;
    join(acquires(order) ? &t->current : &t->acquirable, &store->view);
    e->read = store->stamp;
    e->value = store->value;
    e->from = store->thread;
    e->from_number = store->number;
    memcpy(e->clock, t->current.clock, sizeof e->clock);
}

/* The oldest store that the thread may still read. */
static int32_t oldest_for(unsigned thread, int location)
{
    const struct thread *t = &threads[thread];
    int32_t known = t->current.at[location], must = t->not_older[location];
    return known > must ? known : must;
}

/* The index of one of those that may be read, the newest first. `free`: only those that no
 * read-modify-write has read. */
static unsigned choose_store(unsigned thread, int location, bool only_free)
{
    const struct location *x = &locations[location];
    int32_t oldest = oldest_for(thread, location);
    unsigned candidates[STORES_MAX], n = 0;
    for (unsigned i = x->count; i-- > 0 && x->store[i].stamp >= oldest;)
        if (!only_free || !x->store[i].attached)
            candidates[n++] = i;
    return candidates[n > 1 ? choose_stale(n) : 0];
}

uint64_t memory_load(unsigned thread, int location, enum order order, const struct site *site)
{
    struct event *e = memory_event(thread, EVENT_LOAD, location, site);
    const struct store *store = &locations[location].store[choose_store(thread, location, false)];
    e->order = order;
    note_read(thread, location, store, order, e);
    return store->value;
}

uint64_t memory_newest(unsigned thread, int location, enum event_kind kind)
{
    const struct location *x = &locations[location];
    struct event *e = memory_event(thread, kind, location, NULL);
    note_read(thread, location, &x->store[x->count - 1], RELAXED, e);
    return e->value;
}

uint64_t memory_peek(int location)
{
    const struct location *x = &locations[location];
    return x->store[x->count - 1].value;
}

void memory_spun(unsigned thread)
{
    struct thread *t = &threads[thread];
    int32_t *latest = rules.late > 0 ? t->later[rules.late - 1] : t->not_older;
    uint64_t digest = 0;
    if (rules.late > 0) {
        memcpy(t->not_older, t->later[0], sizeof t->not_older);
        memmove(t->later[0], t->later[1], (rules.late - 1) * sizeof t->later[0]);
    }
    for (unsigned i = 0; i < machine.locations; i++)
        if (t->looked[i])
            latest[i] = locations[i].store[locations[i].count - 1].stamp;
    memset(t->looked, 0, sizeof t->looked);
    for (unsigned k = 0; k < rules.late; k++)
        digest = digest * 31 + stamps_digest(t->later[k]);
    memory_event(thread, EVENT_SPIN, -1, NULL)->value = digest * 31 + stamps_digest(t->not_older);
}

void memory_settles(void)
{
    for (unsigned t = 1; t < thread_count; t++)
        for (unsigned i = 0; i < machine.locations; i++) {
            int32_t newest = locations[i].store[locations[i].count - 1].stamp;
            threads[t].not_older[i] = newest;
            for (unsigned k = 0; k < LATE_MAX; k++)
                threads[t].later[k][i] = newest;
        }
}

/* ---- Stores ---- */

/* A new store behind the one at index `after`. */
static struct store *insert(struct location *x, unsigned after)
{
    if (x->count == STORES_MAX)
        model_fail("more than %d stores to one location", STORES_MAX);
    bool last = after + 1 == x->count;
    int32_t before = x->store[after].stamp;
    int32_t stamp = last ? before + GAP : before + (x->store[after + 1].stamp - before) / 2;
    memmove(&x->store[after + 2], &x->store[after + 1],
            (x->count - after - 1) * sizeof x->store[0]);
    x->count++;
    struct store *store = &x->store[after + 1];
    memset(store, 0, offsetof(struct store, view));
    store->attached = false;
    store->stamp = stamp;
    return store;
}

static void fill(unsigned thread, int location, struct store *store, uint64_t value,
                 enum order order, const struct view *continued)
{
    struct thread *t = &threads[thread];
    struct location *x = &locations[location];
    store->value = value;
    store->thread = thread;
    store->number = t->number;
    t->current.at[location] = store->stamp;
    store->view = releases(order) ? t->current : t->released;
    if (continued)
        join(&store->view, continued);
    store->view.at[location] = store->stamp;
    if (store == &x->store[x->count - 1])
        poke(x, value);
}

static uint64_t cut(uint64_t value, unsigned size)
{
    return size == 8 ? value : value & (((uint64_t)1 << 8 * size) - 1);
}

void memory_store(unsigned thread, int location, uint64_t value, enum order order,
                  const struct site *site)
{
    struct location *x = &locations[location];
    struct event *e = memory_event(thread, EVENT_STORE, location, site);
    int32_t oldest = threads[thread].current.at[location];
    unsigned candidates[STORES_MAX], n = 0;
    for (unsigned i = x->count; i-- > 0 && x->store[i].stamp >= oldest;)
        if (!x->store[i].attached)
            candidates[n++] = i;
    struct store *store = insert(x, candidates[n > 1 ? choose_stale(n) : 0]);
    fill(thread, location, store, cut(value, x->size), order, NULL);
    e->order = order;
    e->wrote = store->stamp;
    e->value = store->value;
}

static void read_and_write(unsigned thread, int location, unsigned index, uint64_t value,
                           enum order order, struct event *e)
{
    struct location *x = &locations[location];
    e->kind = EVENT_RMW;
    e->order = order;
    note_read(thread, location, &x->store[index], order, e);
    x->store[index].attached = true;
    struct view continued = x->store[index].view;
    struct store *store = insert(x, index);
    fill(thread, location, store, cut(value, x->size), order, &continued);
    e->wrote = store->stamp;
    e->new_value = store->value;
}

uint64_t memory_rmw(unsigned thread, int location, enum rmw kind, uint64_t operand,
                    enum order order, const struct site *site)
{
    struct event *e = memory_event(thread, EVENT_RMW, location, site);
    unsigned index = choose_store(thread, location, true);
    uint64_t old = locations[location].store[index].value;
    read_and_write(thread, location, index, model_applied(kind, old, operand), order, e);
    return old;
}

/* Fails on a store with another value, or exchanges a free one with that value. */
bool memory_cas(unsigned thread, int location, uint64_t *expected, uint64_t desired,
                enum order success, enum order failure, const struct site *site)
{
    struct location *x = &locations[location];
    struct event *e = memory_event(thread, EVENT_LOAD, location, site);
    int32_t oldest = oldest_for(thread, location);
    unsigned candidates[STORES_MAX], n = 0;
    for (unsigned i = x->count; i-- > 0 && x->store[i].stamp >= oldest;)
        if (x->store[i].value != *expected || !x->store[i].attached)
            candidates[n++] = i;
    unsigned index = candidates[n > 1 ? choose_stale(n) : 0];
    if (x->store[index].value == *expected) {
        read_and_write(thread, location, index, desired, success, e);
        return true;
    }
    e->order = failure;
    note_read(thread, location, &x->store[index], failure, e);
    *expected = x->store[index].value;
    return false;
}

void memory_lock(unsigned thread, int location, const struct site *site)
{
    struct event *e = memory_event(thread, EVENT_RMW, location, site);
    read_and_write(thread, location, locations[location].count - 1, 1, ACQUIRE, e);
}

void memory_unlock(unsigned thread, int location, const struct site *site)
{
    struct event *e = memory_event(thread, EVENT_RMW, location, site);
    read_and_write(thread, location, locations[location].count - 1, 0, RELEASE, e);
}

/* ---- Fences ---- */

void memory_fence(unsigned thread, enum order order, const struct site *site)
{
    struct thread *t = &threads[thread];
    struct event *e = memory_event(thread, EVENT_FENCE, -1, site);
    e->order = order;
    if (acquires(order))
        join(&t->current, &t->acquirable);
    if (releases(order))
        t->released = t->current;
    memcpy(e->clock, t->current.clock, sizeof e->clock);
}

/* At one moment: whatever anybody knows, all know. Clocks don't join: a fence alone synchronises
 * with nothing. */
void memory_barrier(const struct site *site)
{
    struct view common = {{0}, {0}};
    for (unsigned t = 1; t < thread_count; t++) { /* of one that has ended, the switch was one */
        memory_fence(t, SEQ_CST, site);
        join(&common, &threads[t].current);
    }
    for (unsigned t = 1; t < thread_count; t++) {
        memcpy(threads[t].current.at, common.at, sizeof common.at);
        threads[t].released = threads[t].current;
        machine.event[machine.events - thread_count + t].value = stamps_digest(common.at);
    }
}

/* What follows in either thread has a later number than what came before. */
static void hand_over(unsigned from, unsigned to)
{
    threads[from].current.clock[from] = ++threads[from].number;
    join(&threads[to].current, &threads[from].current);
}

void memory_synchronise(unsigned from, unsigned to)
{
    hand_over(from, to);
}

void memory_thread(unsigned thread, unsigned parent)
{
    if (thread >= thread_count)
        thread_count = thread + 1;
    if (parent)
        hand_over(parent, thread);
}

/* ---- Plain data ---- */

const uint16_t *memory_clock(unsigned thread)
{
    return threads[thread].current.clock;
}

void memory_overwritten(const void *at, size_t size)
{
    const char *begin = at;
    for (unsigned i = 0; i < machine.locations; i++)
        if (locations[i].at < begin + size && begin < locations[i].at + locations[i].size)
            locations[i].overwritten = true;
}

/* ---- Telling executions apart ---- */

static void mix(struct digest *digest, uint64_t value)
{
    digest->a = (digest->a ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    digest->a ^= digest->a >> 29;
    digest->b = (digest->b + value) * UINT64_C(0xbf58476d1ce4e5b9);
    digest->b ^= digest->b >> 32;
}

static void mix_store(struct digest *digest, unsigned thread, uint16_t number)
{
    mix(digest, (uint64_t)thread << 16 | number);
}

static void add(struct digest *sum, const struct digest *part)
{
    sum->a += part->a;
    sum->b += part->b;
}

/* What a thread knows, as stores and not as time stamps, which depend on the order in which
 * stores were put between others. */
static uint64_t stamps_digest(const int32_t at[static LOCATIONS_MAX])
{
    struct digest sum = {0};
    for (unsigned i = 0; i < machine.locations; i++) {
        const struct location *x = &locations[i];
        unsigned k = x->count;
        while (k > 1 && x->store[k - 1].stamp > at[i])
            k--;
        struct digest one = {0};
        mix(&one, (uintptr_t)x->at);
        mix_store(&one, x->store[k - 1].thread, x->store[k - 1].number);
        add(&sum, &one);
    }
    return sum.a ^ sum.b;
}

struct digest memory_digest(void)
{
    struct digest thread[THREADS_MAX] = {0}, sum = {0};
    for (unsigned i = 0; i < machine.events; i++) {
        const struct event *e = &machine.event[i];
        struct digest *digest = &thread[e->thread];
        mix(digest, (uint64_t)e->kind << 8 | e->from << 16 | (uint64_t)e->from_number << 32);
        mix(digest, e->value);
        mix(digest, e->new_value);
        mix(digest, e->location >= 0 ? (uintptr_t)locations[e->location].at : 0);
    }
    for (unsigned t = 1; t < thread_count; t++) {
        mix(&thread[t], t);
        add(&sum, &thread[t]);
    }
    for (unsigned i = 0; i < machine.locations; i++) { /* the modification orders */
        const struct location *x = &locations[i];
        struct digest order = {0};
        mix(&order, (uintptr_t)x->at);
        for (unsigned k = 1; k < x->count; k++)
            mix_store(&order, x->store[k].thread, x->store[k].number);
        add(&sum, &order);
    }
    return sum;
}
