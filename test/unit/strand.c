/* SPDX-License-Identifier: MIT */
/* strand.c: stacks that are left and come back to keep what is on them. */
#include "os/strand.h"
#include "os/sanitize.h"

#include "check.h"

#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* A strand, whoever switched to it last, and its stack. */
struct actor {
    struct weft__strand self, *caller;
    void (*play)(struct actor *actor);
    long value;
    char *stack;
};

enum { STACK = 256 << 10 };

static struct weft__strand here; /* the test's own thread */

static void play(void *arg)
{
    struct actor *actor = arg;
    actor->play(actor);
    weft__strand_leave(&actor->self, actor->caller);
}

static void hire(struct actor *actor, void (*fn)(struct actor *actor))
{
    memset(actor, 0, sizeof *actor);
    actor->caller = &here;
    actor->play = fn;
    actor->stack = malloc(STACK);
    CHECK(actor->stack);
    weft__strand_make(&actor->self, actor->stack, STACK, play, actor);
}

static void fire(struct actor *actor)
{
    weft__strand_drop(&actor->self);
    free(actor->stack);
}

static void resume(struct actor *actor)
{
    weft__strand_switch(actor->caller, &actor->self);
}

static void pause_(struct actor *actor)
{
    weft__strand_switch(&actor->self, actor->caller);
}

static int own_thread(void **state)
{
    weft__strand_of_thread(&here);
    return 0;
}

/* ---- One thread ---- */

static void count(struct actor *actor)
{
    for (;;) {
        actor->value++;
        pause_(actor);
    }
}

static void ping_pong(void **state)
{
    enum { ROUNDS = 1000000 };
    struct actor actor;
    hire(&actor, count);
    for (long i = 1; i <= ROUNDS; i++) {
        resume(&actor);
        CHECK(actor.value == i);
    }
    fire(&actor);
}

/* From strand to strand in a ring, and only the last one back to the thread. */
static struct actor ring[8];

static void pass_on(struct actor *actor)
{
    for (long i = 0; i < 1000; i++) {
        bool last = actor == &ring[7];
        actor[last ? -7 : 1].value = actor->value + 1;
        weft__strand_switch(&actor->self, last && i % 10 == 9 ? &here : &actor[last ? -7 : 1].self);
    }
}

static void around_a_ring(void **state)
{
    for (int i = 0; i < 8; i++)
        hire(&ring[i], pass_on);
    for (long i = 1; i <= 100; i++) {
        weft__strand_switch(&here, &ring[0].self);
        CHECK(ring[0].value == i * 80);
    }
    for (int i = 0; i < 8; i++)
        fire(&ring[i]);
}

/* Every register that a call keeps, but for the frame pointer: filled, and looked at after the
 * others filled them with something else. */
#define FIVE(DO, type, a, b, c, d, e) DO(type, a) DO(type, b) DO(type, c) DO(type, d) DO(type, e)
#if defined __x86_64__
#define REGISTERS(DO) DO(long, rbx) DO(long, r12) DO(long, r13) DO(long, r14) DO(long, r15)
#define CONSTRAINT_long "r"
#elif defined __aarch64__
#define REGISTERS(DO)                       \
    FIVE(DO, long, x19, x20, x21, x22, x23) \
    FIVE(DO, long, x24, x25, x26, x27, x28) \
    FIVE(DO, double, d8, d9, d10, d11, d12) \
    DO(double, d13) DO(double, d14) DO(double, d15)
#define CONSTRAINT_long "r"
#define CONSTRAINT_double "w"
#elif defined __powerpc64__ && defined __VSX__ /* some of each kind */
__extension__ typedef __int128 vector_;
#define REGISTERS(DO)                              \
    FIVE(DO, long, r14, r15, r16, r17, r18)        \
    FIVE(DO, double, fr14, fr15, fr16, fr17, fr18) \
    FIVE(DO, vector_, v20, v21, v22, v30, v31)
#define CONSTRAINT_long "r"
#define CONSTRAINT_double "d"
#define CONSTRAINT_vector_ "v"
#else
#define REGISTERS(DO)
#endif

#define DECLARE(type, name) register type name __asm__(#name) = (type)(seed++);
#define TOUCH(type, name) __asm__ volatile("" : "+" CONSTRAINT_##type(name));
#define COMPARE(type, name) CHECK(name == (type)(first++));

static void switch_with_registers(struct weft__strand *from, struct weft__strand *to, long seed)
{
    long first = seed;
    REGISTERS(DECLARE)
    REGISTERS(TOUCH)
    weft__strand_switch(from, to);
    REGISTERS(TOUCH)
    REGISTERS(COMPARE)
    CHECK(seed - first == 0);
}

static void fill_registers(struct actor *actor)
{
    for (long i = 0;; i++)
        switch_with_registers(&actor->self, &here, 1000 * i);
}

static void registers(void **state)
{
    struct actor actor;
    hire(&actor, fill_registers);
    for (long i = 0; i < 1000; i++)
        switch_with_registers(&here, &actor.self, -1000 * i - 500);
    fire(&actor);
}

static void round_up(struct actor *actor)
{
    CHECK(fegetround() == FE_DOWNWARD); /* as when it was made */
    fesetround(FE_UPWARD);
    for (;;) {
        pause_(actor);
        CHECK(fegetround() == FE_UPWARD);
        volatile double one = 1, three = 3;
        CHECK(one / three * three >= 1);
#if defined __x86_64__
        uint16_t x87;
        uint32_t mxcsr;
        __asm__ volatile("fnstcw %0\n\tstmxcsr %1" : "=m"(x87), "=m"(mxcsr));
        CHECK((x87 & 0xc00) == 0x800 && (mxcsr & 0x6000) == 0x4000);
#endif
    }
}

static void rounding(void **state)
{
    struct actor actor;
    int before = fegetround();
    fesetround(FE_DOWNWARD);
    hire(&actor, round_up);
    fesetround(FE_TOWARDZERO);
    for (int i = 0; i < 100; i++) {
        resume(&actor);
        CHECK(fegetround() == FE_TOWARDZERO);
    }
    fesetround(before);
    resume(&actor);
    CHECK(fegetround() == before);
    fire(&actor);
}

/* Calls need an aligned stack; so do variables with more than the usual alignment. */
static void align(struct actor *actor)
{
    _Alignas(16) char sixteen[16];
    _Alignas(64) char line[64];
    char *volatile a = sixteen, *volatile b = line;
    CHECK((uintptr_t)a % 16 == 0 && (uintptr_t)b % 64 == 0);
    CHECK((uintptr_t)__builtin_frame_address(0) % 16 == 0);
}

static void odd_stacks(void **state)
{
    for (size_t i = 0; i < 32; i++) {
        struct actor actor;
        hire(&actor, align);
        weft__strand_drop(&actor.self);
        weft__strand_make(&actor.self, actor.stack + i, STACK - 3 * i, play, &actor);
        resume(&actor);
        fire(&actor);
    }
}

/* ---- What is on the stack ---- */

static long dig(struct actor *actor, long depth)
{
    volatile char array[100];
    memset((void *)(uintptr_t)array, (int)depth & 63, sizeof array);
    if (depth % 16 == 0)
        pause_(actor);
    long below = depth > 0 ? dig(actor, depth - 1) : 0;
    for (size_t i = 0; i < sizeof array; i++)
        CHECK(array[i] == (depth & 63));
    return below + 1;
}

static void dig_deep(struct actor *actor)
{
    actor->value = dig(actor, 320);
}

static void recursion(void **state)
{
    struct actor actors[3];
    for (int i = 0; i < 3; i++)
        hire(&actors[i], dig_deep);
    for (int i = 0; i < 3 * 22; i++)
        resume(&actors[i % 3]);
    for (int i = 0; i < 3; i++) {
        CHECK(actors[i].value == 321);
        fire(&actors[i]);
    }
}

/* The thread's own frames, which sanitizers know by other means. */
static void arrays(struct actor *actor, long depth)
{
    char array[300];
    char *volatile p = array;
    memset(p, (int)depth, sizeof array);
    resume(actor);
    if (depth > 0)
        arrays(actor, depth - 1);
    for (size_t i = 0; i < sizeof array; i++)
        CHECK(p[i] == (char)depth);
}

static void arrays_of_the_thread(void **state)
{
    struct actor actor;
    hire(&actor, count);
    for (int i = 0; i < 100; i++)
        arrays(&actor, 60);
#if WEFT__STRAND_ASAN
    const char *mine = __builtin_frame_address(0);
    CHECK(mine > (const char *)here.low && mine < (const char *)here.low + here.size);
#endif
    fire(&actor);
}

static void jump(struct actor *actor, jmp_buf *to, int depth)
{
    volatile char array[50];
    array[depth] = 1;
    pause_(actor);
    if (depth > 0)
        jump(actor, to, depth - 1);
    if (depth == 0)
        longjmp(*to, array[depth]);
}

static void jump_often(struct actor *actor)
{
    for (volatile long i = 0; i < 1000; i++) {
        jmp_buf buffer;
        if (setjmp(buffer) == 0)
            jump(actor, &buffer, 5);
        actor->value++;
    }
}

static void longjmp_within(void **state)
{
    struct actor actor;
    hire(&actor, jump_often);
    for (int i = 0; i < 6 * 1000 + 1; i++)
        resume(&actor);
    CHECK(actor.value == 1000);
    fire(&actor);
}

/* ---- The end of it ---- */

#if WEFT__TSAN
enum { LIVES = 5000 }; /* a fiber takes gcc's ThreadSanitizer half a millisecond */
#else
enum { LIVES = 100000 };
#endif

/* ASan keeps the variables of small frames elsewhere, and those of large ones on the stack. */
static void with_large_frame(struct actor *actor)
{
    char array[100000];
    char *volatile p = array;
    *p = 1;
    pause_(actor);
    actor->value += *p;
}

static void once(struct actor *actor)
{
    char array[200];
    char *volatile p = array;
    *p = 1;
    with_large_frame(actor);
    actor->value += *p;
}

/* The record and the stack serve one strand after the other. */
static void made_anew(void **state)
{
    struct actor actor;
    hire(&actor, once);
    for (int i = 1; i <= LIVES; i++) {
        resume(&actor);
        resume(&actor);
        CHECK(actor.value == 2 * i);
        weft__strand_drop(&actor.self);
        weft__strand_make(&actor.self, actor.stack, STACK, play, &actor);
    }
    fire(&actor);
}

/* A strand may be dropped before it began, or in the middle. */
static void dropped_early(void **state)
{
    struct actor actor;
    hire(&actor, once);
    for (int i = 0; i < LIVES; i++) {
        if (i % 4)
            resume(&actor);
        weft__strand_drop(&actor.self);
        if (i % 16 == 1)
            memset(actor.stack, i, STACK); /* nobody's now */
        weft__strand_make(&actor.self, actor.stack, STACK, play, &actor);
    }
    fire(&actor);
}

/* ---- Two threads ---- */

enum { MOVES = 100000 };

struct stage {
    struct actor actor;
    pthread_mutex_t mutex;
    pthread_cond_t turned;
    unsigned turn; /* of this thread to resume the actor */
    pthread_t seen[2];
};

static __attribute__((noinline)) pthread_t thread_now(void)
{
    __asm__ volatile(""); /* pthread_self() is constant as far as the compiler knows */
    return pthread_self();
}

/* Called on one thread, it returns on the other. */
static void dive(struct actor *actor, long depth)
{
    char luggage[64];
    char *volatile p = luggage;
    memset(p, (int)depth, sizeof luggage);
    if (depth > 0)
        dive(actor, depth - 1);
    else
        pause_(actor);
    CHECK(p[depth % 64] == (char)depth);
}

static void travel(struct actor *actor)
{
    struct stage *stage = (struct stage *)actor;
    for (; actor->value < MOVES; actor->value += 2) {
        CHECK(pthread_equal(thread_now(), stage->seen[0]));
        dive(actor, 5);
        CHECK(pthread_equal(thread_now(), stage->seen[1]));
        pause_(actor);
    }
}

static void by_turns(unsigned i, void *arg)
{
    struct stage *stage = arg;
    struct weft__strand thread;
    weft__strand_of_thread(&thread);
    pthread_mutex_lock(&stage->mutex);
    stage->seen[i] = pthread_self();
    for (long move = i; move < MOVES + 1; move += 2) {
        while (stage->turn != i)
            pthread_cond_wait(&stage->turned, &stage->mutex);
        stage->actor.caller = &thread;
        resume(&stage->actor);
        stage->turn = 1 - i;
        pthread_cond_signal(&stage->turned);
    }
    pthread_mutex_unlock(&stage->mutex);
}

static void from_thread_to_thread(void **state)
{
    struct stage stage;
    hire(&stage.actor, travel);
    pthread_mutex_init(&stage.mutex, NULL);
    pthread_cond_init(&stage.turned, NULL);
    stage.turn = 0;
    in_threads(2, by_turns, &stage);
    CHECK(stage.actor.value == MOVES);
    pthread_mutex_destroy(&stage.mutex);
    pthread_cond_destroy(&stage.turned);
    fire(&stage.actor);
}

/* What is thrown away for each strand is not missing at the end. */
static int little_memory(void **state)
{
    struct rusage usage;
    CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
    CHECK(usage.ru_maxrss < 128 << 10);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ping_pong),
        cmocka_unit_test(around_a_ring),
        cmocka_unit_test(registers),
        cmocka_unit_test(rounding),
        cmocka_unit_test(odd_stacks),
        cmocka_unit_test(recursion),
        cmocka_unit_test(arrays_of_the_thread),
        cmocka_unit_test(longjmp_within),
        cmocka_unit_test(made_anew),
        cmocka_unit_test(dropped_early),
        cmocka_unit_test(from_thread_to_thread),
    };
    return cmocka_run_group_tests(tests, own_thread, little_memory);
}
