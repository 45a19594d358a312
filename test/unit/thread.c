/* SPDX-License-Identifier: MIT */
/* thread.c: where threads start, and where they are moved to while they are pinned. */
#include "os/thread.h"
#include "check.h"

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
    _Atomic(struct weft__pinned *) pinned;
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
        atomic_store(&visit->pinned, weft__thread_pin(visit->cpu));
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

static void moves_while_pinned(void **state)
{
    cpu_set_t mine = mask_of(0), one = only(last_cpu(&mine));
    int first = 0;
    while (!CPU_ISSET((size_t)first, &mine))
        first++;
    struct visit visit = {.cpu = first};
    pthread_t thread;
    assert_int_equal(weft__thread_start(&thread, STACK, -1, look_around, &visit), 0);
    WAIT_UNTIL(atomic_load(&visit.number) != 0);
    struct weft__pinned *pinned = atomic_load(&visit.pinned);
    assert_non_null(pinned);
    weft__thread_move(pinned, CPU_SETSIZE - 1); /* not one of its own: nothing happens */
    cpu_set_t before = only(first), still = mask_of(atomic_load(&visit.number));
    weft__thread_move(pinned, last_cpu(&mine));
    cpu_set_t moved = mask_of(atomic_load(&visit.number));
    atomic_store(&visit.leave, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(CPU_EQUAL(&still, &before));
    assert_true(CPU_EQUAL(&moved, &one));
    assert_true(CPU_EQUAL(&visit.then, &mine));
}

/* Not to where it may not run. */
static void stays_where_it_may_run(void **state)
{
    cpu_set_t mine = mask_of(0), last = only(last_cpu(&mine));
    int first = 0;
    while (!CPU_ISSET((size_t)first, &mine))
        first++;
    struct visit visit = {.cpu = last_cpu(&mine), .confined = true, .confined_to = last};
    pthread_t thread;
    assert_int_equal(weft__thread_start(&thread, STACK, -1, look_around, &visit), 0);
    WAIT_UNTIL(atomic_load(&visit.number) != 0);
    weft__thread_move(atomic_load(&visit.pinned), first);
    cpu_set_t still = mask_of(atomic_load(&visit.number));
    atomic_store(&visit.leave, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(CPU_EQUAL(&still, &last));
    assert_true(CPU_EQUAL(&visit.then, &last));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_where_it_should),
        cmocka_unit_test(moves_while_pinned),
        cmocka_unit_test(stays_where_it_may_run),
    };
    return cmocka_run_group_tests_name("thread", tests, NULL, NULL);
}
