/* SPDX-License-Identifier: MIT */
/* Depth-first through all choices. An execution is made of the choices on the trail, and of
 * first ones after its end; the next execution takes the last choice that has another one left.
 *
 * Threads change places only before an operation on a location that several threads use.
 * Which these are is learnt on the way: when another turns out to be one, all starts again. */
#include "explore.h"

#include "fiber.h"
#include "memory.h"
#include "mutate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { CHOICES_MAX = 4000, SHARED_MAX = 256, GONE_MAX = 16, ARENA = 1 << 20, STEPS_MAX = 700 };

struct choice {
    unsigned chosen, count;
};

enum state { READY, YIELDED, WAITING, DONE };

struct fibre {
    struct fiber fiber;
    enum state state;
    int waits_for; /* location */
};

static const struct harness *harness;
static const struct options *options;
static struct choice trail[CHOICES_MAX];
static unsigned trail_length, position;
static const void *shared[SHARED_MAX];
static unsigned shared_count;
static bool shared_grew;
static struct fibre fibres[THREADS_MAX];
static struct fiber explorer;
static unsigned running, thread_total; /* fibres 1 to thread_total */
static unsigned preemptions, stale, spurious, steps;
static struct {
    const char *at;
    size_t size;
} gone[GONE_MAX];
static unsigned gone_count;
static _Alignas(64) char arena[ARENA];
static size_t arena_used;
enum ending { GOES_ON, FAILED, STUCK, ENDLESS };
static enum ending ending;
static char why[300];
static bool finishing;
static jmp_buf end_of_finish;

/* ---- Choices ---- */

unsigned explore_choose(unsigned n)
{
    if (n < 2)
        return 0;
    if (position == CHOICES_MAX)
        model_fail("more than %d choices", CHOICES_MAX);
    if (position == trail_length)
        trail[trail_length++] = (struct choice){0, n};
    struct choice *choice = &trail[position++];
    choice->count = n; /* of a trail that was read */
    return choice->chosen < n ? choice->chosen : n - 1;
}

unsigned explore_choose_stale(unsigned n)
{
    unsigned limit = harness->stale ? harness->stale : (unsigned)options->stale;
    if (stale >= limit)
        return 0;
    unsigned chosen = explore_choose(n);
    if (chosen > 0)
        stale++;
    return chosen;
}

static bool next_trail(void)
{
    trail_length = position;
    while (trail_length > 0) {
        struct choice *last = &trail[trail_length - 1];
        if (last->chosen + 1 < last->count) {
            last->chosen++;
            return true;
        }
        trail_length--;
    }
    return false;
}

static void trail_write(char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < position && used + 12 < size; i++)
        used += (size_t)snprintf(text + used, size - used, i ? ".%u" : "%u", trail[i].chosen);
}

static void trail_read(const char *text)
{
    trail_length = 0;
    while (*text && trail_length < CHOICES_MAX) {
        char *end;
        trail[trail_length++] = (struct choice){(unsigned)strtoul(text, &end, 10), 1};
        text = *end == '.' ? end + 1 : end;
    }
}

/* ---- Threads ---- */

unsigned model_thread(void)
{
    return running;
}

static void switch_to(unsigned thread)
{
    unsigned before = running;
    running = thread;
    fiber_switch(before ? &fibres[before].fiber : &explorer,
                 thread ? &fibres[thread].fiber : &explorer);
}

void model_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (!running && finishing) {
        ending = FAILED;
        longjmp(end_of_finish, 1);
    }
    if (!running) {
        fprintf(stderr, "weft-check: %s: %s\n", harness->name, why);
        exit(EXIT_FAILURE);
    }
    ending = FAILED;
    switch_to(0);
    abort(); /* it is never resumed */
}

static void end_with(enum ending how)
{
    ending = how;
    switch_to(0);
}

/* Another thread than the running one goes on; if all others have yielded, these may again. */
static unsigned candidates(unsigned list[static THREADS_MAX])
{
    unsigned n = 0;
    for (unsigned t = 1; t <= thread_total; t++)
        if (t != running && fibres[t].state == READY)
            list[n++] = t;
    for (unsigned t = 1; n == 0 && t <= thread_total; t++)
        if (t != running && fibres[t].state == YIELDED)
            list[n++] = t;
    return n;
}

/* The running thread can't go on, or should not. */
static void leave(void)
{
    unsigned list[THREADS_MAX], n = candidates(list);
    if (n == 0 && running && fibres[running].state == YIELDED)
        return; /* it is the only one */
    if (n == 0) {
        bool all_done = true;
        for (unsigned t = 1; t <= thread_total; t++)
            all_done &= fibres[t].state == DONE;
        end_with(all_done ? GOES_ON : STUCK);
        return;
    }
    unsigned next = list[explore_choose(n)];
    if (fibres[next].state == YIELDED)
        fibres[next].state = READY;
    switch_to(next);
}

/* Before an operation that others can see. */
static void may_change(void)
{
    if (++steps > STEPS_MAX)
        end_with(ENDLESS);
    for (unsigned t = 1; t <= thread_total; t++) /* somebody moves: those who spin look again */
        if (t != running && fibres[t].state == YIELDED)
            fibres[t].state = READY;
    if (options->preemptions >= 0 && preemptions >= (unsigned)options->preemptions)
        return;
    unsigned list[THREADS_MAX], n = candidates(list);
    unsigned chosen = explore_choose(n + 1);
    if (chosen > 0) {
        preemptions++;
        switch_to(list[chosen - 1]);
    }
}

static bool is_shared(const void *at)
{
    for (unsigned i = 0; i < shared_count; i++)
        if (shared[i] == at)
            return true;
    return false;
}

static void learn_shared(const void *at)
{
    if (is_shared(at))
        return;
    if (shared_count == SHARED_MAX)
        model_fail("more than %d shared locations", SHARED_MAX);
    shared[shared_count++] = at;
    shared_grew = true;
}

static void check_gone(const char *at)
{
    for (unsigned i = 0; i < gone_count; i++)
        if (at >= gone[i].at && at < gone[i].at + gone[i].size)
            model_fail("touches memory whose owner has returned");
}

/* Which location; after others had their chance. */
static int visit(const void *at, unsigned size)
{
    if (is_shared(at))
        may_change();
    check_gone(at);
    int location = memory_location(at, size);
    if (memory_users(location) & ~(1u << running))
        learn_shared(at);
    return location;
}

/* ---- What the library calls ---- */

static uint64_t peek(const void *at, unsigned size)
{
    uint64_t value = 0;
    memcpy(&value, at, size);
    return value;
}

uint64_t model_load(const void *at, unsigned size, enum order order, const struct site *site)
{
    if (!running)
        return peek(at, size);
    order = mutate_order(site, OP_LOAD, order);
    return memory_load(running, visit(at, size), order, site);
}

void model_store(void *at, unsigned size, uint64_t value, enum order order, const struct site *site)
{
    if (!running) {
        memcpy(at, &value, size);
        return;
    }
    order = mutate_order(site, OP_STORE, order);
    memory_store(running, visit(at, size), value, order, site);
}

uint64_t model_rmw(void *at, unsigned size, enum rmw kind, uint64_t operand, enum order order,
                   const struct site *site)
{
    if (running) {
        order = mutate_order(site, OP_RMW, order);
        return memory_rmw(running, visit(at, size), kind, operand, order, site);
    }
    uint64_t old = peek(at, size);
    uint64_t value = kind == RMW_ADD   ? old + operand
                     : kind == RMW_SUB ? old - operand
                     : kind == RMW_OR  ? (old | operand)
                                       : operand;
    memcpy(at, &value, size);
    return old;
}

bool model_cas(void *at, unsigned size, uint64_t *expected, uint64_t desired, enum order success,
               enum order failure, const struct site *site)
{
    if (running) {
        success = mutate_order(site, OP_CAS, success);
        if (failure == ACQUIRE && (success == RELEASE || success == RELAXED))
            failure = RELAXED;
        return memory_cas(running, visit(at, size), expected, desired, success, failure, site);
    }
    uint64_t old = peek(at, size);
    bool same = old == *expected;
    if (same)
        memcpy(at, &desired, size);
    *expected = old;
    return same;
}

void model_fence(enum order order, const struct site *site)
{
    if (!running)
        return;
    order = mutate_order(site, OP_FENCE, order);
    if (mutate_dropped(site))
        return;
    may_change();
    memory_fence(running, order, site);
}

void model_barrier_everywhere(void)
{
    if (!running)
        return;
    may_change();
    for (int round = 0; round < 2; round++) /* what the last one knew, the first learns, too */
        for (unsigned t = 1; t <= thread_total; t++) /* one that has ended: the switch was one */
            memory_fence(t, SEQ_CST, NULL);
}

void model_wait(void *at, unsigned size, uint64_t value)
{
    if (!running)
        model_fail("a wait outside the threads");
    int location = visit(at, size);
    if (memory_newest(running, location) != value)
        return;
    memory_event(running, EVENT_WAIT, location, NULL);
    if (spurious < (unsigned)options->spurious && explore_choose(2)) {
        spurious++;
        return;
    }
    fibres[running].state = WAITING;
    fibres[running].waits_for = location;
    leave();
    memory_event(running, EVENT_WOKEN, location, NULL);
}

void model_wake(const void *at, unsigned n)
{
    if (!running)
        return;
    if (is_shared(at))
        may_change();
    int location = memory_location(at, sizeof(uint32_t)); /* the memory itself may be gone */
    memory_event(running, EVENT_WAKE, location, NULL);
    for (; n > 0; n--) {
        unsigned list[THREADS_MAX], count = 0;
        for (unsigned t = 1; t <= thread_total; t++)
            if (fibres[t].state == WAITING && fibres[t].waits_for == location)
                list[count++] = t;
        if (count == 0)
            return;
        fibres[list[explore_choose(count)]].state = READY;
    }
}

/* The word is 1 while somebody has it. */
void model_lock(void *at)
{
    static const struct site site = {"lock.h", 0, "lock"};
    if (!running) {
        *(uint32_t *)at = 1;
        return;
    }
    int location = visit(at, sizeof(uint32_t));
    while (memory_newest(running, location) != 0) {
        fibres[running].state = WAITING;
        fibres[running].waits_for = location;
        leave();
    }
    memory_lock(running, location, &site);
}

bool model_trylock(void *at)
{
    static const struct site site = {"lock.h", 0, "trylock"};
    if (!running) {
        *(uint32_t *)at = 1;
        return true;
    }
    int location = visit(at, sizeof(uint32_t));
    if (memory_newest(running, location) != 0)
        return false;
    memory_lock(running, location, &site);
    return true;
}

void model_unlock(void *at)
{
    static const struct site site = {"lock.h", 0, "unlock"};
    if (!running) {
        *(uint32_t *)at = 0;
        return;
    }
    check_gone(at);
    int location = memory_location(at, sizeof(uint32_t));
    memory_unlock(running, location, &site);
    for (unsigned t = 1; t <= thread_total; t++)
        if (fibres[t].state == WAITING && fibres[t].waits_for == location)
            fibres[t].state = READY;
}

void model_yield(void)
{
    if (!running)
        return;
    if (++steps > STEPS_MAX)
        end_with(ENDLESS);
    fibres[running].state = YIELDED;
    leave();
    fibres[running].state = READY;
}

void model_plain_write(const void *at, const char *name)
{
    if (running)
        memory_plain(running, at, name, true);
}

void model_plain_read(const void *at, const char *name)
{
    if (running)
        memory_plain(running, at, name, false);
}

void model_gone(const void *at, size_t size)
{
    gone[gone_count].at = at;
    gone[gone_count++].size = size;
}

void *model_alloc(size_t size)
{
    size = (size + 63) & ~(size_t)63;
    if (arena_used + size > ARENA)
        return NULL;
    void *p = arena + arena_used;
    arena_used += size;
    return memset(p, 0, size);
}

/* ---- Executions ---- */

static void thread_main(void *arg)
{
    harness->thread[(uintptr_t)arg]();
    fibres[running].state = DONE;
    leave();
    abort();
}

static void execute(void)
{
    arena_used = gone_count = position = 0;
    preemptions = stale = spurious = steps = 0;
    ending = GOES_ON;
    why[0] = '\0';
    thread_total = 0;
    while (thread_total < HARNESS_THREADS && harness->thread[thread_total])
        thread_total++;
    memory_reset(thread_total + 1);
    harness->setup();
    for (unsigned t = 1; t <= thread_total; t++) {
        fibres[t].state = READY;
        fiber_make(&fibres[t].fiber, thread_main, (void *)(uintptr_t)(t - 1));
    }
    leave();
    running = 0;
    if (ending == GOES_ON && harness->finish) {
        finishing = true;
        if (setjmp(end_of_finish) == 0)
            harness->finish();
        finishing = false;
    }
    if (ending == STUCK)
        snprintf(why, sizeof why, "nobody can go on: a wake-up is lost");
}

struct outcome explore(const struct harness *h, const struct options *o)
{
    struct outcome outcome = {.verdict = VERDICT_FINE};
    harness = h;
    options = o;
    trail_length = shared_count = 0;
    do {
        shared_grew = false;
        execute();
        outcome.executions++;
        outcome.livelocks += ending == ENDLESS;
        if (ending == FAILED || ending == STUCK) {
            if (memory_consistent()) {
                outcome.verdict = VERDICT_FAILED;
                snprintf(outcome.why, sizeof outcome.why, "%s", why);
                trail_write(outcome.trail, sizeof outcome.trail);
                return outcome;
            }
            outcome.forbidden++;
        }
        if (o->executions && outcome.executions == o->executions) {
            outcome.verdict = VERDICT_GAVE_UP;
            return outcome;
        }
        if (shared_grew) {
            trail_length = position = 0;
            continue;
        }
    } while (shared_grew || next_trail());
    return outcome;
}

/* ---- The failing execution, for a person ---- */

enum { COLUMN = 38 };

static const char *file_of(const struct site *site)
{
    const char *slash = strrchr(site->file, '/');
    return slash ? slash + 1 : site->file;
}

static void describe(const struct event *e, char *text, size_t size)
{
    static const char *const marks[] = {"rlx", "acq", "rel", "acq_rel", "sc"};
    const char *what = e->site ? e->site->what : "";
    while (*what == '&')
        what++;
    switch (e->kind) {
    case EVENT_LOAD:
        snprintf(text, size, "read_%s(%s) = %llx", marks[e->order], what,
                 (unsigned long long)e->value);
        break;
    case EVENT_STORE:
        snprintf(text, size, "write_%s(%s, %llx)", marks[e->order], what,
                 (unsigned long long)e->value);
        break;
    case EVENT_RMW:
        snprintf(text, size, "rmw_%s(%s) %llx -> %llx", marks[e->order], what,
                 (unsigned long long)e->value, (unsigned long long)e->new_value);
        break;
    case EVENT_FENCE:
        snprintf(text, size, "fence_%s", marks[e->order]);
        break;
    case EVENT_WAIT:
        snprintf(text, size, "sleeps");
        break;
    case EVENT_WOKEN:
        snprintf(text, size, "wakes");
        break;
    case EVENT_WAKE:
        snprintf(text, size, "wakes who sleeps there");
        break;
    default:
        snprintf(text, size, "%s", e->note ? e->note : "");
    }
}

/* Which row shows the store that was read. */
static unsigned row_of_store(const struct event *load)
{
    for (unsigned i = 0; i < machine.events; i++)
        if (machine.event[i].thread == load->from && machine.event[i].number == load->from_number)
            return i + 1;
    return 0;
}

static void show_row(unsigned i)
{
    const struct event *e = &machine.event[i];
    char text[200], source[60] = "";
    describe(e, text, sizeof text);
    if (e->read > 0)
        snprintf(text + strlen(text), sizeof text - strlen(text), " <-%u", row_of_store(e));
    else if (e->read == 0)
        snprintf(text + strlen(text), sizeof text - strlen(text), " <-0");
    if (e->site && e->site->line)
        snprintf(source, sizeof source, "%s:%d", file_of(e->site), e->site->line);
    printf("%4u %*s%-*s %s\n", i + 1, (int)(e->thread - 1) * COLUMN, "", COLUMN, text, source);
}

void explore_show(const struct harness *h, const struct options *o, const char *text)
{
    harness = h;
    options = o;
    trail_read(text);
    execute();
    printf("%s: %s\n     ", h->name, h->what);
    for (unsigned t = 1; t <= thread_total; t++)
        printf("thread %-*u", COLUMN - 7, t);
    printf("\n");
    for (unsigned i = 0; i < machine.events; i++)
        show_row(i);
    printf("%s\n", why[0] ? why : "it does not fail");
}
