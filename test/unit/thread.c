/* SPDX-License-Identifier: MIT */
/* thread.c: where threads start, and where they are moved to while they are pinned. */
#include "os/thread.h"
#include "check.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

static cpu_set_t mask_of(int number)
{
    cpu_set_t mask;
    CHECK(sched_getaffinity(number, sizeof mask, &mask) == 0);
    return mask;
}

static cpu_set_t only(int cpu)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    CPU_SET((size_t)cpu, &mask);
    return mask;
}

static int last_cpu(const cpu_set_t *mask)
{
    int cpu = CPU_SETSIZE - 1;
    while (!CPU_ISSET((size_t)cpu, mask))
        cpu--;
    return cpu;
}

struct visit {
    cpu_set_t first, then; /* before and after it unpins itself */
    int cpu;               /* where it pins itself, or -1 */
    bool confined;         /* before that, by its own will, */
    cpu_set_t confined_to; /* to these */
    atomic_int number;
    atomic_bool leave;
};

static void *look_around(void *arg)
{
    struct visit *visit = arg;
    visit->first = mask_of(0);
    if (visit->confined)
        CHECK(sched_setaffinity(0, sizeof visit->confined_to, &visit->confined_to) == 0);
    if (visit->cpu >= 0)
        weft__thread_pin(visit->cpu);
    atomic_store(&visit->number, (int)gettid());
    WAIT_UNTIL(atomic_load(&visit->leave));
    weft__thread_unpin();
    visit->then = mask_of(0);
    return NULL;
}

enum { STACK = 256 * 1024 };

static void starts_where_it_should(void **state)
{
    cpu_set_t mine = mask_of(0), one = only(last_cpu(&mine));
    int tries[] = {last_cpu(&mine), -1, CPU_SETSIZE - 1, CPU_SETSIZE};
    for (int i = 0; i < 4; i++) {
        struct visit visit = {.cpu = -1, .leave = true};
        pthread_t thread;
        bool pinned = i == 0 || tries[i] == last_cpu(&mine);
        assert_int_equal(weft__thread_start(&thread, STACK, tries[i], look_around, &visit), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_true(CPU_EQUAL(&visit.first, pinned ? &one : &mine));
        assert_true(CPU_EQUAL(&visit.then, &mine));
    }
}

static int first_cpu(const cpu_set_t *set)
{
    int cpu = 0;
    while (!CPU_ISSET((size_t)cpu, set))
        cpu++;
    return cpu;
}

/* Starts look_around() and waits until it stands where it should. */
static pthread_t arrive(struct visit *visit)
{
    pthread_t thread;
    assert_int_equal(weft__thread_start(&thread, STACK, -1, look_around, visit), 0);
    WAIT_UNTIL(atomic_load(&visit->number) != 0);
    return thread;
}

static void leave(struct visit *visit, pthread_t thread)
{
    atomic_store(&visit->leave, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void pins_itself(void **state)
{
    cpu_set_t mine = mask_of(0), one = only(first_cpu(&mine));
    struct visit visit = {.cpu = first_cpu(&mine)};
    pthread_t thread = arrive(&visit);
    cpu_set_t pinned = mask_of(atomic_load(&visit.number));
    leave(&visit, thread);
    assert_true(CPU_EQUAL(&pinned, &one));
    assert_true(CPU_EQUAL(&visit.then, &mine));
}

/* Another thread is pinned to a CPU, and then may run where it could before. */
static void is_held_and_released(void **state)
{
    cpu_set_t mine = mask_of(0), one = only(last_cpu(&mine));
    struct visit visit = {.cpu = -1};
    pthread_t thread = arrive(&visit);
    struct weft__pin pin = {0};
    int number = atomic_load(&visit.number), nowhere[] = {CPU_SETSIZE - 1, CPU_SETSIZE, -1};
    for (int i = 0; i < 3; i++)
        weft__pin_set(&pin, number, nowhere[i]);
    assert_int_equal(pin.thread, 0);
    weft__pin_set(&pin, number, first_cpu(&mine));
    weft__pin_set(&pin, number, last_cpu(&mine)); /* and then there */
    weft__pin_set(&pin, number, CPU_SETSIZE - 1); /* it stays */
    cpu_set_t during = mask_of(number);
    weft__pin_clear(&pin);
    weft__pin_clear(&pin); /* nothing more happens */
    leave(&visit, thread);
    assert_true(CPU_EQUAL(&during, &one));
    assert_true(CPU_EQUAL(&visit.then, &mine));
}

/* Not to where it may not run. */
static void stays_where_it_may_run(void **state)
{
    cpu_set_t mine = mask_of(0), last = only(last_cpu(&mine));
    struct visit visit = {.cpu = -1, .confined = true, .confined_to = last};
    pthread_t thread = arrive(&visit);
    struct weft__pin pin = {0};
    int number = atomic_load(&visit.number);
    weft__pin_set(&pin, number, first_cpu(&mine));
    cpu_set_t still = mask_of(number);
    weft__pin_clear(&pin);
    leave(&visit, thread);
    assert_true(CPU_EQUAL(&still, &last));
    assert_true(CPU_EQUAL(&visit.then, &last));
}

#if !SANITIZED
/* Stands before the C library's: a CPU with large registers. */
static long stack_min;

long sysconf(int name)
{
    typedef long sysconf_fn(int name);
    sysconf_fn *real;
    *(void **)&real = dlsym(RTLD_NEXT, "sysconf");
    return name == _SC_THREAD_STACK_MIN && stack_min ? stack_min : real(name);
}

static void *measure(void *size)
{
    struct weft__stack stack = weft__thread_stack();
    *(size_t *)size = (size_t)((const char *)stack.high - (const char *)stack.low);
    return NULL;
}

static void small_stacks_are_raised(void **state)
{
    static const struct {
        long minimum;
        size_t wanted, at_least, at_most;
    } cases[] = {
        {0, 64 << 10, 64 << 10, 512 << 10},
        {1 << 20, 64 << 10, 1 << 20, 2 << 20},
        {1 << 20, 4 << 20, 4 << 20, 5 << 20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pthread_t thread;
        size_t size = 0;
        stack_min = cases[i].minimum;
        assert_int_equal(weft__thread_start(&thread, cases[i].wanted, -1, measure, &size), 0);
        pthread_join(thread, NULL);
        assert_in_range(size, cases[i].at_least, cases[i].at_most);
    }
    stack_min = 0;
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_where_it_should),
        cmocka_unit_test(pins_itself),
        cmocka_unit_test(is_held_and_released),
        cmocka_unit_test(stays_where_it_may_run),
#if !SANITIZED
        cmocka_unit_test(small_stacks_are_raised),
#endif
    };
    return cmocka_run_group_tests_name("thread", tests, NULL, NULL);
}
