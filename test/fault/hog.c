/* SPDX-License-Identifier: MIT */
/* hog.c: a thread of real-time priority keeps the CPU on which a worker sleeps. Work that comes
 * then is taken all the same, by a worker that has a CPU. */
#include "../../bench/hog/thread.h"
#include "child.h"

#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* A try is over before the kernel takes the CPU away from the hog. It takes longer than a second,
 * too. */
enum { HOG_NS = 600000000, TRIES = 6, ENOUGH = 2 };
#define SILENCE_NS UINT64_C(1200000000)
enum { NOT_ALLOWED = 5, TOO_LATE }; /* exit codes */

static void note_time(weft *w, void *arg)
{
    atomic_store((_Atomic uint64_t *)arg, weft_now());
}

/* A job that is submitted while the hog has another CPU is begun before the hog ends. */
static void submit_beside_a_hog(void *arg)
{
    static _Atomic uint64_t begun;
    const int *cpus = arg;
    cpu_set_t here = hog_set_of(cpus[0]);
    weft_pool *pool = child_pool(2, 0, WAY_SPIN);
    weft_task task;
    CHECK_EQUAL(weft_submit(pool, &task, note_time, &begun), 0);
    CHECK_EQUAL(weft_task_wait(&task), 0);
    for (uint64_t start = weft_now(); weft_now() - start < SILENCE_NS;)
        child_nap(1000); /* deep: nobody looks out any more */
    until_asleep(pool, 2);
    CHECK_EQUAL(sched_setaffinity(0, sizeof here, &here), 0); /* out of the hog's way */
    struct hog hog;
    if (!hog_start(&hog, cpus[1], HOG_NS))
        _exit(NOT_ALLOWED);
    UNTIL(atomic_load(&hog.runs));
    atomic_store(&begun, 0);
    CHECK_EQUAL(weft_submit(pool, &task, note_time, &begun), 0);
    uint64_t start = weft_now();
    UNTIL(atomic_load(&begun) || weft_now() - start > HOG_NS);
    bool beside = atomic_load(&begun) != 0;
    hog_stop(&hog);
    CHECK_EQUAL(weft_task_wait(&task), 0);
    child_pool_end(pool);
    if (!beside)
        _exit(TOO_LATE);
}

/* The kernel chooses where the second worker wakes up. If the other CPU has much to do, it may
 * choose the hog's: so some tries may be late, and no other test runs beside this one. unit.lookout
 * counts that the second worker is woken. */
static void work_is_taken_beside_a_hog(void **state)
{
    cpu_set_t all;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    int here = sched_getcpu(), cpus[2] = {here, hog_other_cpu(&all, here)};
    if (cpus[1] < 0)
        skip();
    static struct child child;
    int in_time = 0;
    for (int i = 0; i < TRIES && in_time < ENOUGH; i++) {
        child_run(&child, submit_beside_a_hog, cpus);
        assert_true(!child.hung && WIFEXITED(child.status));
        if (WEXITSTATUS(child.status) == NOT_ALLOWED)
            skip();
        if (WEXITSTATUS(child.status) == TOO_LATE)
            continue;
        assert_int_equal(child.status, 0);
        in_time++;
    }
    assert_int_equal(in_time, ENOUGH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_taken_beside_a_hog),
    };
    return cmocka_run_group_tests_name("hog", tests, NULL, NULL);
}
