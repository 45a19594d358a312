/* SPDX-License-Identifier: MIT */
/* Depth-first through all choices. An execution is made of the choices on the trail, and of
 * first ones after its end; the next execution takes the last choice that has another one left.
 *
 * Threads change places only before an operation on a location that several threads use.
 * Which these are is learnt on the way: when another turns out to be one, all starts again.
 *
 * Three things keep most executions from being tried twice:
 * - Where an execution has come to is all that its threads have done and read, and the
 *   modification orders; not in which order unrelated things were done. If another execution
 *   has been there, this one ends: what follows is known. (With a bound on preemptions, only
 *   if it had used up as many.)
 * - Sleep sets, if preemptions have no bound: what thread A would do next has been tried
 *   before B's step was; it is tried again after B's step only if B's step makes a difference
 *   to it. Godefroid, "Partial-Order Methods", 1996, shows how this goes together with the
 *   first.
 * - A thread that spins comes back when somebody has written something, and it does not read
 *   again what it has seen to be old. */
#include "explore.h"

#include "fiber.h"
#include "mutate.h"
#include "watch.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    CHOICES_MAX = 4000,
    SHARED_MAX = 512,
    GONE_MAX = 64,
    LINE = 64,
    ARENA = 1 << 20,
    BLOCKS = 8,
    BLOCK = 4 << 20,
    BLOCK_USED = 16 << 10, /* what a harness can fill */
    STEPS_MAX = 3000,
    TIME_OUTS_MAX = 4,
};

enum kind { CHANGE = 't', LEAVE = 'l', DATA = 'c' }; /* the next one of one step: 'd', and so on */

struct choice {
    unsigned chosen, count;
    unsigned asleep; /* the sleep set that it was made with */
    unsigned step;   /* of the execution */
    char kind;
    unsigned value; /* the thread, or the same as `chosen` */
    bool usual;     /* what happens if nothing is said */
};

enum state { READY, YIELDED, WAITING, DONE };

struct thread {
    struct fiber *fiber;
    enum state state;
    int waits_for;   /* location; -1: a thread's end */
    uint64_t ns;     /* and for how long; 0: until it is woken */
    unsigned stops;  /* how many times it came to where another could go on */
    uint64_t chosen; /* a digest of what was chosen for it, which its events don't show */
    enum touch touch;
    const void *at;
    void (*fn)(void *);
    void *arg;
};

static const struct harness *harness;
static const struct options *options;
static struct choice trail[CHOICES_MAX];
static unsigned trail_length, position;
static const void *shared[SHARED_MAX];
static unsigned shared_count;
static bool shared_grew;
static struct thread threads[THREADS_MAX];
static struct fiber explorer;
static unsigned running, thread_total; /* 1 to thread_total */
static unsigned preemptions, stale, spurious, failures, impatience, time_outs, steps, idle_yields,
    asleep, data_choices;
static unsigned resumed; /* so many choices at the beginning of the trail are another process's */
static bool misfits;     /* and they were made in another harness */
static uint64_t passed;  /* ns */
static bool replaying;   /* the trail tells choices by step, and all others are usual */
static struct {
    const char *at;
    size_t size;
} gone[GONE_MAX];
static unsigned gone_count;
static char *arena, *blocks;
static size_t arena_used;
static unsigned blocks_used;
enum ending { GOES_ON, OVER, FAILED, STUCK, ENDLESS, KNOWN };
static enum ending ending;
static char why[600];
static bool finishing;
static jmp_buf end_of_finish;

static struct rules rules_now(void)
{
    return harness->rules ? *harness->rules : options->rules;
}

/* ---- Where executions have been ---- */

struct place {
    struct digest digest;
    unsigned asleep;
    bool used;
};

static struct place *places;
static size_t place_count, place_room;

static void places_forget(void)
{
    free(places);
    places = NULL;
    place_count = place_room = 0;
}

static struct place *place_of(const struct digest *digest)
{
    size_t i = digest->a & (place_room - 1);
    while (places[i].used && (places[i].digest.a != digest->a || places[i].digest.b != digest->b))
        i = (i + 1) & (place_room - 1);
    return &places[i];
}

static void places_grow(void)
{
    struct place *old = places;
    size_t room = place_room;
    place_room = room ? 2 * room : 1 << 12;
    places = calloc(place_room, sizeof *places);
    if (!places) {
        fputs("weft-check: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    for (size_t i = 0; i < room; i++)
        if (old[i].used)
            *place_of(&old[i].digest) = old[i];
    free(old);
}

/* Where the execution is: all but what memory.c knows. */
static struct digest here(void)
{
    struct digest digest = memory_digest();
    uint64_t more = stale | spurious << 8 | failures << 16 | impatience << 20 | time_outs << 28;
    if (options->preemptions >= 0)
        more |= (uint64_t)preemptions << 32 | (uint64_t)running << 40;
    for (unsigned t = 1; t <= thread_total; t++) {
        more = more * 31 + threads[t].state + 4 * threads[t].stops;
        more = more * 31 + threads[t].chosen;
        more = more * 31 + (threads[t].state == WAITING ? threads[t].ns : 0);
        more = more * 31 + (uintptr_t)(threads[t].state == WAITING && threads[t].waits_for >= 0
                                           ? memory_address(threads[t].waits_for)
                                           : NULL);
    }
    digest.a ^= more * UINT64_C(0x94d049bb133111eb);
    digest.b += more * UINT64_C(0xd6e8feb86659fd93);
    return digest;
}

/* True: all that can follow has been tried, but for what the sleep set leaves out anyway. */
static bool been_here(void)
{
    if (2 * place_count >= place_room)
        places_grow();
    struct digest digest = here();
    struct place *place = place_of(&digest);
    if (!place->used) {
        *place = (struct place){digest, asleep, true};
        place_count++;
        return false;
    }
    if ((place->asleep & ~asleep) == 0)
        return true;
    asleep = place->asleep &= asleep;
    return false;
}

/* ---- Choices ---- */

static void __attribute__((noreturn)) end_with(enum ending how);

static struct choice *next_choice(unsigned n, char kind)
{
    if (position == CHOICES_MAX)
        model_fail("more than %d choices", CHOICES_MAX);
    if (position == trail_length)
        trail[trail_length++] = (struct choice){.count = n, .asleep = asleep};
    struct choice *choice = &trail[position++];
    if (position <= resumed && (choice->step != steps || choice->kind != kind)) {
        misfits = true;
        end_with(KNOWN);
    }
    choice->step = steps;
    choice->kind = kind;
    choice->value = choice->chosen;
    choice->usual = choice->chosen == 0;
    return choice;
}

/* What the trail of a replay says about this step; -1: nothing. */
static int told(char kind)
{
    for (unsigned i = 0; i < trail_length; i++)
        if (trail[i].step == steps && trail[i].kind == kind)
            return (int)trail[i].value;
    return -1;
}

static unsigned choose(unsigned n)
{
    if (n < 2)
        return 0;
    char kind = (char)(DATA + data_choices++);
    if (!replaying)
        return next_choice(n, kind)->chosen;
    int value = told(kind);
    return value >= 0 && (unsigned)value < n ? (unsigned)value : 0;
}

/* Two executions that differ in nothing but this, so far, are not at the same place. */
static void note_choice(unsigned chosen)
{
    uint64_t *digest = &threads[running].chosen;
    *digest = (*digest ^ (chosen + 1)) * UINT64_C(0x9e3779b97f4a7c15);
    *digest = (*digest ^ memory_clock(running)[running]) * UINT64_C(0xbf58476d1ce4e5b9);
}

unsigned explore_choose(unsigned n)
{
    unsigned chosen = choose(n);
    if (n > 1)
        note_choice(chosen);
    return chosen;
}

/* What the options say, or the harness if it is stricter; -1: no bound. */
static int preemptions_most(void)
{
    int most = options->preemptions, few = (int)harness->preemptions;
    return few > 0 && few < most ? few : most;
}

static unsigned choose_bounded(unsigned n, unsigned *used, int limit)
{
    if (limit >= 0 && *used >= (unsigned)limit)
        return 0;
    unsigned chosen = choose(n);
    *used += chosen > 0;
    return chosen;
}

unsigned explore_choose_stale(unsigned n)
{
    if (harness->stale_in && !(harness->stale_in & 1u << running))
        return 0;
    int limit = options->stale < 0 || !harness->stale ? options->stale : (int)harness->stale;
    return choose_bounded(n, &stale, limit);
}

bool explore_choose_spurious(void)
{
    return choose_bounded(2, &spurious, options->spurious) > 0;
}

bool explore_choose_failure(void)
{
    bool fails = running && choose_bounded(2, &failures, (int)harness->failures) > 0;
    if (fails)
        note_choice(1); /* what fails is no event */
    return fails;
}

bool explore_choose_impatience(void)
{
    return running && choose_bounded(2, &impatience, 1) > 0;
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
        if (!trail[i].usual)
            used += (size_t)snprintf(text + used, size - used, used ? ",%u%c%u" : "%u%c%u",
                                     trail[i].step, trail[i].kind, trail[i].value);
}

static void trail_read(const char *text)
{
    int length = 0;
    trail_length = 0;
    for (struct choice choice = {0}; trail_length < CHOICES_MAX; text += length) {
        if (sscanf(text, "%u%c%u%n", &choice.step, &choice.kind, &choice.value, &length) != 3)
            break;
        trail[trail_length++] = choice;
        length += text[length] == ',';
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
    if (thread == before)
        return;
    watch_locals(before, thread);
    running = thread;
    fiber_switch(before ? threads[before].fiber : &explorer,
                 thread ? threads[thread].fiber : &explorer);
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

static void __attribute__((noreturn)) end_with(enum ending how)
{
    ending = how;
    switch_to(0);
    abort();
}

void model_done(void)
{
    end_with(OVER);
}

/* Those that could go on instead of the running one; if all others spin, these. */
static unsigned candidates(unsigned list[static THREADS_MAX])
{
    unsigned n = 0;
    for (unsigned t = 1; t <= thread_total; t++)
        if (t != running && threads[t].state == READY)
            list[n++] = t;
    for (unsigned t = 1; n == 0 && t <= thread_total; t++)
        if (t != running && threads[t].state == YIELDED)
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
    int value = told(kind);
    for (unsigned i = 0; i < n; i++)
        if ((int)list[i] == value)
            return list[i];
    return list[0];
}

/* Which one of these goes on. */
static unsigned choose_thread(unsigned list[static THREADS_MAX], unsigned n, char kind)
{
    if (replaying)
        return thread_told(list, n, kind);
    if (running)
        threads[running].stops++;
    if (n > 1 && position < trail_length)
        asleep = trail[position].asleep;
    else if (n > 1 && been_here())
        end_with(KNOWN);
    unsigned usual = list[0];
    unsigned left = without(list, n, asleep);
    if (left == 0)
        end_with(KNOWN);
    struct choice *choice = n < 2 ? NULL : next_choice(left, kind);
    unsigned chosen = choice ? choice->chosen : 0, next = list[chosen];
    if (choice) {
        choice->count = left;
        choice->value = next;
        choice->usual = next == usual;
    }
    if (options->preemptions >= 0)
        return next;
    for (unsigned i = 0; i < chosen; i++)
        asleep |= 1u << list[i];
    for (unsigned t = 1; t <= thread_total; t++)
        if (t == next || depend(&threads[t], &threads[next]))
            asleep &= ~(1u << t);
    return next;
}

/* Nobody can go on: who sleeps for the shortest time does. */
static bool time_passes(void)
{
    uint64_t least = UINT64_MAX;
    for (unsigned t = 1; t <= thread_total; t++)
        if (threads[t].state == WAITING && threads[t].ns > 0 && threads[t].ns < least)
            least = threads[t].ns;
    if (!harness->times_out || least == UINT64_MAX || ++time_outs > TIME_OUTS_MAX)
        return false;
    passed += least;
    memory_settles();
    for (unsigned t = 1; t <= thread_total; t++)
        if (threads[t].state == WAITING && threads[t].ns > 0 && (threads[t].ns -= least) == 0)
            threads[t].state = READY;
    return true;
}

/* The running thread can't go on, or should not. */
static void leave(void)
{
    unsigned list[THREADS_MAX], n = candidates(list);
    if (n == 0 && threads[running].state != YIELDED && time_passes()) {
        if (threads[running].state == READY) /* it is one of those */
            return;
        n = candidates(list);
    }
    if (n == 0 && running && threads[running].state == YIELDED) {
        if (++idle_yields > 2 + rules_now().late)
            end_with(ENDLESS);
        return; /* it is the only one */
    }
    if (n == 0) {
        bool all_done = true;
        for (unsigned t = 1; t <= thread_total; t++)
            all_done &= threads[t].state == DONE;
        ending = all_done ? GOES_ON : STUCK;
        switch_to(0);
        return;
    }
    unsigned next = choose_thread(list, n, LEAVE);
    if (threads[next].state == YIELDED) {
        threads[next].state = READY;
        if (++idle_yields > (3 + rules_now().late) * THREADS_MAX)
            end_with(ENDLESS);
    }
    switch_to(next);
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

static void may_change(void)
{
    unsigned list[THREADS_MAX], n = candidates(list);
    if (n == 0 || threads[list[0]].state == YIELDED)
        n = 0; /* those who spin wait for those who don't */
    int most = preemptions_most();
    if (!replaying && most >= 0 && preemptions >= (unsigned)most) {
        threads[running].stops += n > 0;
        if (n > 0 && position >= trail_length && been_here())
            end_with(KNOWN);
        return;
    }
    memmove(list + 1, list, n * sizeof list[0]);
    list[0] = running;
    unsigned next = choose_thread(list, n + 1, CHANGE);
    if (next != running) {
        preemptions++;
        switch_to(next);
    }
}

static void next_step(void)
{
    data_choices = 0;
    if (++steps > STEPS_MAX)
        end_with(ENDLESS);
}

void explore_step(enum touch touch, const void *at)
{
    struct thread *me = &threads[running];
    me->touch = touch;
    me->at = at;
    next_step();
    if (touch >= TOUCH_FENCE || replaying || is_shared(at))
        may_change();
    if (touch == TOUCH_READ || touch == TOUCH_FENCE)
        return;
    idle_yields = 0;
    for (unsigned t = 1; t <= thread_total; t++) /* something may be new: who spins looks */
        if (t != running && threads[t].state == YIELDED)
            threads[t].state = READY;
}

void explore_touch(const void *p, size_t size)
{
    const char *at = p;
    for (unsigned i = 0; i < gone_count; i++)
        if (at < gone[i].at + gone[i].size && gone[i].at < at + size)
            model_fail("touches memory whose owner has returned, or that was freed");
}

int explore_location(const void *at, unsigned size)
{
    explore_touch(at, size);
    watch_atomic(running, at, size);
    int location = memory_location(at, size);
    if (memory_users(location) & ~(1u << running))
        learn_shared(at);
    return location;
}

void explore_wait(int location, uint64_t ns)
{
    threads[running].state = WAITING;
    threads[running].ns = ns;
    threads[running].waits_for = location;
    threads[running].touch = TOUCH_ALL;
    next_step();
    leave();
}

uint64_t explore_passed(void)
{
    return passed;
}

unsigned explore_waiting(int location, unsigned list[static THREADS_MAX])
{
    unsigned n = 0;
    for (unsigned t = 1; t <= thread_total; t++)
        if (threads[t].state == WAITING && threads[t].waits_for == location)
            list[n++] = t;
    return n;
}

void explore_ready(unsigned thread)
{
    threads[thread].state = READY;
}

void model_yield(void)
{
    if (!running)
        return;
    next_step();
    memory_spun(running);
    threads[running].state = YIELDED;
    threads[running].touch = TOUCH_ALL;
    leave();
    threads[running].state = READY;
}

static void thread_main(void *arg)
{
    struct thread *me = arg;
    me->fn(me->arg);
    next_step();
    me->state = DONE;
    for (unsigned t = 1; t <= thread_total; t++) { /* who waits for its end */
        if (threads[t].state == WAITING && threads[t].waits_for == -1)
            threads[t].state = READY;
        if (threads[t].state == YIELDED)
            threads[t].state = READY;
    }
    leave();
    abort();
}

unsigned explore_start(void (*fn)(void *), void *arg)
{
    if (thread_total + 1 == THREADS_MAX)
        return 0;
    unsigned number = ++thread_total;
    struct thread *thread = &threads[number];
    struct fiber *fiber = thread->fiber;
    *thread = (struct thread){.fiber = fiber, .touch = TOUCH_ALL, .fn = fn, .arg = arg};
    memory_thread(number, running);
    fiber_make(fiber, thread_main, thread);
    return number;
}

void explore_join(unsigned thread)
{
    while (threads[thread].state != DONE)
        explore_wait(-1, 0);
    memory_synchronise(thread, running);
}

void explore_stack(const char **low, const char **high)
{
    *low = threads[running].fiber->stack;
    *high = *low + FIBER_STACK;
}

/* ---- Memory ---- */

void model_gone(const void *at, size_t size)
{
    if (gone_count == GONE_MAX)
        model_fail("more than %d pieces of memory are gone", GONE_MAX);
    if (running)
        watch_gone(running, at, size);
    gone[gone_count].at = at;
    gone[gone_count++].size = size;
}

void *model_alloc(size_t size)
{
    size = LINE + ((size + LINE - 1) & ~(size_t)(LINE - 1)); /* the first one says how much */
    if (arena_used + size > ARENA)
        model_fail("out of memory");
    size_t *p = (size_t *)(void *)(arena + arena_used);
    arena_used += size;
    p[0] = size;
    return memset(p + LINE / sizeof *p, 0, size - LINE);
}

void model_free(void *p)
{
    size_t size = *(size_t *)(void *)((char *)p - LINE);
    model_gone(p, size - LINE);
}

void *model_block(size_t size)
{
    if (size != BLOCK || blocks_used == BLOCKS)
        model_fail("no block of %zu bytes is left", size);
    return memset(blocks + (size_t)BLOCK * blocks_used++, 0, BLOCK_USED);
}

/* All of it is there once, at addresses that stay. */
static void make_memory(void)
{
    size_t fibers = (THREADS_MAX - 1) * sizeof(struct fiber), all = (BLOCKS + 1) * (size_t)BLOCK;
    char *p = mmap(NULL, all + ARENA + fibers, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        perror("weft-check: mmap");
        exit(EXIT_FAILURE);
    }
    blocks = (char *)(((uintptr_t)p + BLOCK - 1) & ~(uintptr_t)(BLOCK - 1));
    arena = p + all;
    for (unsigned t = 1; t < THREADS_MAX; t++)
        threads[t].fiber = (struct fiber *)(void *)(arena + ARENA) + (t - 1);
}

/* A mutant, or a bug, that follows a wild pointer. The signal's stack is left for good. */
static void crashed(int signal)
{
    (void)signal;
    if (running)
        model_fail("touches memory that is not there");
    abort();
}

static void catch_crashes(void)
{
    static char stack[64 << 10];
    struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

/* ---- Executions ---- */

static void harness_main(void *arg)
{
    harness->thread[(uintptr_t)arg]();
}

static void prepare(void)
{
    if (arena)
        return;
    make_memory();
    catch_crashes();
}

static void execute(void)
{
    prepare();
    arena_used = blocks_used = gone_count = position = 0;
    preemptions = stale = spurious = failures = impatience = time_outs = steps = idle_yields =
        asleep = data_choices = 0;
    passed = 0;
    ending = GOES_ON;
    why[0] = '\0';
    thread_total = 0;
    watch_reset();
    memory_reset(rules_now());
    harness->setup();
    for (uintptr_t i = 0; i < HARNESS_THREADS && harness->thread[i]; i++)
        explore_start(harness_main, (void *)i);
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
    if (ending == ENDLESS)
        snprintf(why, sizeof why, "it goes on for ever");
}

static void begin(const struct harness *h, const struct options *o)
{
    harness = h;
    options = o;
    trail_length = shared_count = resumed = 0;
    misfits = false;
    places_forget();
}

/* ---- Positions: which locations are shared, and the trail, for another process ---- */

extern char __data_start[], _end[];

enum { REGIONS = 3 };

/* Where addresses are in this process. Static data, blocks, and all that is behind them. */
static struct region {
    char letter;
    const char *from;
    size_t size;
} regions[REGIONS];

static void find_regions(void)
{
    size_t behind = ARENA + (THREADS_MAX - 1) * sizeof(struct fiber);
    regions[0] = (struct region){'s', __data_start, (size_t)(_end - __data_start)};
    regions[1] = (struct region){'b', blocks, (size_t)BLOCKS * BLOCK};
    regions[2] = (struct region){'a', arena, behind};
}

static bool write_address(FILE *out, const char *at)
{
    for (unsigned i = 0; i < REGIONS; i++)
        if (at >= regions[i].from && at < regions[i].from + regions[i].size) {
            fprintf(out, " %c%zu", regions[i].letter, (size_t)(at - regions[i].from));
            return true;
        }
    return false;
}

/* NULL: no memory, or a location that is nowhere. */
static char *position_write(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    bool complete = true;
    find_regions();
    fprintf(out, "%u", shared_count);
    for (unsigned i = 0; i < shared_count; i++)
        complete &= write_address(out, shared[i]);
    fprintf(out, " %u", trail_length);
    for (unsigned i = 0; i < trail_length; i++)
        fprintf(out, " %u%c%u/%u/%u", trail[i].step, trail[i].kind, trail[i].chosen, trail[i].count,
                trail[i].asleep);
    if (fclose(out) != 0 || !complete) {
        free(text);
        return NULL;
    }
    return text;
}

static const void *read_address(const char **text)
{
    char letter;
    size_t offset;
    int length;
    if (sscanf(*text, " %c%zu%n", &letter, &offset, &length) != 2)
        return NULL;
    *text += length;
    for (unsigned i = 0; i < REGIONS; i++)
        if (regions[i].letter == letter && offset < regions[i].size)
            return regions[i].from + offset;
    return NULL;
}

static bool read_choice(const char **text, struct choice *choice)
{
    int length;
    *choice = (struct choice){0};
    if (sscanf(*text, " %u%c%u/%u/%u%n", &choice->step, &choice->kind, &choice->chosen,
               &choice->count, &choice->asleep, &length) != 5)
        return false;
    *text += length;
    return choice->chosen < choice->count;
}

static bool read_count(const char **text, unsigned most, unsigned *count)
{
    int length;
    if (sscanf(*text, " %u%n", count, &length) != 1 || *count > most)
        return false;
    *text += length;
    return true;
}

static bool position_read(const char *text)
{
    find_regions();
    if (!read_count(&text, SHARED_MAX, &shared_count))
        return false;
    for (unsigned i = 0; i < shared_count; i++)
        if (!(shared[i] = read_address(&text)))
            return false;
    if (!read_count(&text, CHOICES_MAX, &trail_length))
        return false;
    for (unsigned i = 0; i < trail_length; i++)
        if (!read_choice(&text, &trail[i]))
            return false;
    resumed = trail_length;
    return true;
}

/* ---- All executions ---- */

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool is_enough(const struct result *result, double until)
{
    uint64_t most = options->executions;
    return (most && result->executions + result->known >= most) ||
           (options->seconds > 0 && cpu_seconds() >= until);
}

/* False: there are no more. */
static bool next_execution(void)
{
    resumed = 0;
    if (!shared_grew)
        return next_trail();
    trail_length = position = 0;
    places_forget();
    return true;
}

static struct result explore_all(void)
{
    struct result result = {.verdict = VERDICT_FINE};
    double until = cpu_seconds() + options->seconds;
    do {
        if ((result.executions || result.known) && is_enough(&result, until)) {
            result.verdict = VERDICT_GAVE_UP;
            result.position = options->resumable ? position_write() : NULL;
            return result;
        }
        shared_grew = false;
        execute();
        if (misfits)
            return result;
        *(ending == KNOWN ? &result.known : &result.executions) += 1;
        if (ending != FAILED && ending != STUCK && ending != ENDLESS)
            continue;
        if (memory_consistent()) {
            result.verdict = VERDICT_FAILED;
            snprintf(result.why, sizeof result.why, "%s", why);
            trail_write(result.trail, sizeof result.trail);
            return result;
        }
        result.forbidden++;
    } while (next_execution());
    return result;
}

struct result explore(const struct harness *h, const struct options *o)
{
    begin(h, o);
    return explore_all();
}

struct result explore_on(const struct harness *h, const struct options *o, const char *text)
{
    begin(h, o);
    prepare();
    if (!position_read(text))
        return explore(h, o);
    struct result result = explore_all();
    return misfits ? explore(h, o) : result;
}

const char *explore_again(const struct harness *h, const struct options *o, const char *text)
{
    begin(h, o);
    trail_read(text);
    replaying = true;
    execute();
    replaying = false;
    return why;
}
