/* SPDX-License-Identifier: MIT */
/* hog.c: a thread of real-time priority keeps the CPU on which a worker sleeps. Work that comes
 * then is taken all the same, by a worker that has a CPU. */
#include "child.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* The kernel takes the CPU away from such threads for 50 ms of each second: a try has to be over
 * before that. It takes longer than a second, too. */
enum { HOG_NS = 600000000, TRIES = 3 };
#define SILENCE_NS UINT64_C(1200000000)
enum { NOT_ALLOWED = 5, TOO_LATE }; /* exit codes */

struct hog {
    atomic_bool runs, stop;
};

static void *keep_the_cpu(void *arg)
{
    struct hog *hog = arg;
    uint64_t begun = weft_now();
    atomic_store(&hog->runs, true);
    while (!atomic_load(&hog->stop) && weft_now() - begun < HOG_NS)
        ;
    return NULL;
}

static cpu_set_t only(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    return one;
}

static bool start_hog(pthread_t *thread, struct hog *hog, int cpu)
{
    pthread_attr_t attr;
    struct sched_param param = {.sched_priority = 1};
    cpu_set_t one = only(cpu);
    CHECK_EQUAL(pthread_attr_init(&attr), 0);
    pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
    pthread_attr_setschedparam(&attr, &param);
    pthread_attr_setaffinity_np(&attr, sizeof one, &one);
    int error = pthread_create(thread, &attr, keep_the_cpu, hog);
    pthread_attr_destroy(&attr);
    return error == 0;
}

static void note_time(weft *w, void *arg)
{
    atomic_store((_Atomic uint64_t *)arg, weft_now());
}

/* A job that is submitted while the hog has another CPU is begun before the hog ends. */
static void submit_beside_a_hog(void *arg)
{
    static _Atomic uint64_t begun;
    const int *cpus = arg;
    cpu_set_t here = only(cpus[0]);
    weft_pool *pool = child_pool(2, 0, WAY_SPIN);
    weft_task task;
    CHECK_EQUAL(weft_submit(pool, &task, note_time, &begun), 0);
    CHECK_EQUAL(weft_task_wait(&task), 0);
    for (uint64_t start = weft_now(); weft_now() - start < SILENCE_NS;)
        child_nap(1000); /* deep: nobody looks out any more */
    until_asleep(pool, 2);
    CHECK_EQUAL(sched_setaffinity(0, sizeof here, &here), 0); /* out of the hog's way */
    struct hog hog = {false};
    pthread_t thread;
    if (!start_hog(&thread, &hog, cpus[1]))
        _exit(NOT_ALLOWED);
    UNTIL(atomic_load(&hog.runs));
    atomic_store(&begun, 0);
    CHECK_EQUAL(weft_submit(pool, &task, note_time, &begun), 0);
    uint64_t start = weft_now();
    UNTIL(atomic_load(&begun) || weft_now() - start > HOG_NS);
    bool beside = atomic_load(&begun) != 0;
    atomic_store(&hog.stop, true);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(weft_task_wait(&task), 0);
    child_pool_end(pool);
    if (!beside)
        _exit(TOO_LATE);
}

/* On a busy machine the other CPU has much to do: so one try may be late. */
static void work_is_taken_beside_a_hog(void **state)
{
    cpu_set_t all;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    if (CPU_COUNT(&all) < 2)
        skip();
    int cpus[2] = {sched_getcpu(), 0};
    while (!CPU_ISSET((size_t)cpus[1], &all) || cpus[1] == cpus[0])
        cpus[1]++;
    static struct child child;
    int late = 0;
    for (int i = 0; i < TRIES && late < 2; i++) {
        child_run(&child, submit_beside_a_hog, cpus);
        assert_true(!child.hung && WIFEXITED(child.status));
        if (WEXITSTATUS(child.status) == NOT_ALLOWED)
            skip();
        if (WEXITSTATUS(child.status) == TOO_LATE)
            late++;
        else
            assert_int_equal(child.status, 0);
    }
    assert_true(late < 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_taken_beside_a_hog),
    };
    return cmocka_run_group_tests_name("hog", tests, NULL, NULL);
}
