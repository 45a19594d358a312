/* SPDX-License-Identifier: MIT */
/* topology.c: the order of CPUs, and affinity masks real and made up. */
#include "os/topology.h"

#include "os/cgroup.h"
#include "os/memory.h"
#include "weft.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- A kernel with other CPUs ---- */

static size_t fake_cpus; /* 0: the real ones */
static int fake_error;

/* Stands before the C library's. Like the kernel it refuses masks that are too small. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    if (fake_error) {
        errno = fake_error;
        return -1;
    }
    if (!fake_cpus) {
        long length = syscall(SYS_sched_getaffinity, pid, size, set);
        if (length < 0)
            return -1;
        memset((char *)set + length, 0, size - (size_t)length);
        return 0;
    }
    if (size * CHAR_BIT < fake_cpus) {
        errno = EINVAL;
        return -1;
    }
    memset(set, 0, size);
    for (size_t cpu = 0; cpu < fake_cpus; cpu++)
        CPU_SET_S(cpu, size, set);
    return 0;
}

static int fakes_end(void **state)
{
    (void)state;
    fake_cpus = 0;
    fake_error = 0;
    /* relaxed: one thread */
    atomic_store_relaxed(&weft__alloc_fail_at, 0);
    return 0;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* ---- The order ---- */

static void expect_order(const int *given_cores, unsigned count, const int *expected)
{
    struct weft__cpu cpus[16] = {0};
    assert_true(count <= 16);
    for (unsigned i = 0; i < count; i++) /* worst first: the order given must not matter */
        cpus[i] =
            (struct weft__cpu){.id = (int)(count - 1 - i), .core = given_cores[count - 1 - i]};
    weft__cpus_order(cpus, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(cpus[i].id, expected[i]);
}

static void siblings_side_by_side(void **state)
{
    (void)state;
    expect_order((int[]){0, 0, 1, 1, 2, 2, 3, 3}, 8, (int[]){0, 2, 4, 6, 1, 3, 5, 7});
}

static void siblings_half_way_apart(void **state)
{
    (void)state;
    expect_order((int[]){0, 1, 2, 3, 0, 1, 2, 3}, 8, (int[]){0, 1, 2, 3, 4, 5, 6, 7});
}

static void no_siblings(void **state)
{
    (void)state;
    expect_order((int[]){10, 11, 12, 13}, 4, (int[]){0, 1, 2, 3});
    expect_order((int[]){5}, 1, (int[]){0});
    expect_order(NULL, 0, NULL);
}

static void one_core_only(void **state)
{
    (void)state;
    expect_order((int[]){7, 7, 7, 7}, 4, (int[]){0, 1, 2, 3});
}

static void large_and_small_cores(void **state)
{
    (void)state;
    expect_order((int[]){0, 0, 1, 1, 2, 3, 4}, 7, (int[]){0, 2, 4, 5, 6, 1, 3});
}

static void four_threads_per_core(void **state)
{
    (void)state;
    expect_order((int[]){0, 0, 0, 0, 1, 1, 1, 1}, 8, (int[]){0, 4, 1, 5, 2, 6, 3, 7});
}

static void order_follows_cores_not_numbers(void **state)
{
    (void)state;
    /* Even numbers in the first package, odd ones in the second. */
    expect_order((int[]){0, 2, 1, 3}, 4, (int[]){0, 2, 1, 3});
}

/* ---- /sys ---- */

static void put(const char *root, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void core_from_sys(void **state)
{
    (void)state;
    static const char *const dirs[] = {"/sys",
                                       "/sys/devices",
                                       "/sys/devices/system",
                                       "/sys/devices/system/cpu",
                                       "/sys/devices/system/cpu/cpu9",
                                       "/sys/devices/system/cpu/cpu9/topology"};
    enum { DIRS = sizeof dirs / sizeof *dirs };
    char root[] = "/tmp/weft-topology-XXXXXX";
    char path[PATH_MAX];
    assert_non_null(mkdtemp(root));
    for (int i = 0; i < DIRS; i++) {
        snprintf(path, sizeof path, "%s%s", root, dirs[i]);
        assert_int_equal(mkdir(path, 0777), 0);
    }
    const char *new = "/sys/devices/system/cpu/cpu9/topology/core_cpus_list";
    const char *old = "/sys/devices/system/cpu/cpu9/topology/thread_siblings_list";
    assert_int_equal(weft__core_read(root, 9), -1);
    put(root, old, "1,9\n");
    assert_int_equal(weft__core_read(root, 9), 1);
    put(root, new, "8-9\n");
    assert_int_equal(weft__core_read(root, 9), 8);
    put(root, new, "garbage\n");
    assert_int_equal(weft__core_read(root, 9), 1);
    static const char *const garbage[] = {"", "\n", "-3\n", "99999999999999999999\n", "x9"};
    for (size_t i = 0; i < sizeof garbage / sizeof *garbage; i++) {
        put(root, new, garbage[i]);
        put(root, old, garbage[i]);
        assert_int_equal(weft__core_read(root, 9), -1);
    }
    for (const char *const *file = (const char *const[]){new, old, NULL}; *file; file++) {
        snprintf(path, sizeof path, "%s%s", root, *file);
        assert_int_equal(unlink(path), 0);
    }
    for (int i = DIRS - 1; i >= 0; i--) {
        snprintf(path, sizeof path, "%s%s", root, dirs[i]);
        assert_int_equal(rmdir(path), 0);
    }
    assert_int_equal(rmdir(root), 0);
}

/* ---- Masks ---- */

static int ascending(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void every_allowed_cpu_is_there_once(void **state)
{
    (void)state;
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    struct weft__cpus cpus;
    assert_int_equal(weft__cpus_allowed(&cpus), 0);
    assert_int_equal(cpus.count, CPU_COUNT(&set));
    qsort(cpus.ids, cpus.count, sizeof *cpus.ids, ascending);
    for (unsigned i = 0; i < cpus.count; i++) {
        assert_true(CPU_ISSET((size_t)cpus.ids[i], &set));
        assert_true(i == 0 || cpus.ids[i - 1] < cpus.ids[i]);
    }
    weft__cpus_free(&cpus);
    assert_null(cpus.ids);
    weft__cpus_free(&cpus);
}

/* On the machine at hand: no core comes twice before all have come once. */
static void first_threads_come_first(void **state)
{
    (void)state;
    struct weft__cpus cpus;
    assert_int_equal(weft__cpus_allowed(&cpus), 0);
    bool repeated = false;
    for (unsigned i = 0; i < cpus.count && cpus.count > 2; i++) {
        int core = weft__core_read("", cpus.ids[i]);
        bool known = false;
        for (unsigned j = 0; j < i && core >= 0; j++)
            known |= weft__core_read("", cpus.ids[j]) == core;
        assert_true(known || !repeated);
        repeated |= known;
    }
    weft__cpus_free(&cpus);
}

static void mask_grows(void **state)
{
    (void)state;
    static const size_t counts[] = {3, 1024, 1025, 3000, 8192, 20000};
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        fake_cpus = counts[c];
        struct weft__cpus cpus;
        assert_int_equal(weft__cpus_allowed(&cpus), 0);
        assert_int_equal(cpus.count, fake_cpus);
        qsort(cpus.ids, cpus.count, sizeof *cpus.ids, ascending);
        for (unsigned i = 0; i < cpus.count; i++)
            assert_int_equal(cpus.ids[i], i);
        weft__cpus_free(&cpus);
    }
}

static void workers_have_a_maximum(void **state)
{
    (void)state;
    fake_cpus = WEFT_WORKERS_MAX + 1;
    assert_int_equal(weft__workers_auto(), least(WEFT_WORKERS_MAX, weft__cgroup_cpus("")));
    fake_cpus = 3;
    assert_int_equal(weft__workers_auto(), least(3, weft__cgroup_cpus("")));
}

static void forbidden_mask_is_guessed(void **state)
{
    (void)state;
    static const int errors[] = {EPERM, ENOSYS, EINVAL};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        fake_error = errors[i];
        struct weft__cpus cpus;
        assert_int_equal(weft__cpus_allowed(&cpus), 0);
        assert_true(cpus.count >= 1);
        weft__cpus_free(&cpus);
        assert_true(weft__workers_auto() >= 1);
    }
}

static void every_allocation_fails_once(void **state)
{
    (void)state;
    fake_cpus = 3000;
    struct weft__cpus cpus;
    int error = -ENOMEM;
    unsigned failures = 0;
    while (error) {
        /* relaxed: one thread */
        atomic_store_relaxed(&weft__alloc_fail_at, ++failures);
        error = weft__cpus_allowed(&cpus);
        assert_true(error == 0 || (error == -ENOMEM && !cpus.ids && !cpus.count));
    }
    assert_int_equal(failures, 6); /* three masks, the numbers, and what sorting needs */
    weft__cpus_free(&cpus);
    fakes_end(NULL);
    atomic_store_relaxed(&weft__alloc_fail_at, 1);
    assert_int_equal(weft__workers_auto(), 1);
}

/* In a child, because the mask is the process's. 0: all is well. */
static int child_on_one_cpu(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        return 1;
    struct weft__cpus cpus;
    if (weft__cpus_allowed(&cpus) != 0)
        return 2;
    bool right = cpus.count == 1 && cpus.ids[0] == cpu;
    weft__cpus_free(&cpus);
    if (!right)
        return 3;
    return weft__workers_auto() == 1 ? 0 : 4;
}

static void affinity_of_one_cpu_gives_one_worker(void **state)
{
    (void)state;
    struct weft__cpus cpus;
    assert_int_equal(weft__cpus_allowed(&cpus), 0);
    for (unsigned i = 0; i < cpus.count && i < 4; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(child_on_one_cpu(cpus.ids[i]));
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    weft__cpus_free(&cpus);
}

static void this_machine(void **state)
{
    (void)state;
    struct weft__cpus cpus;
    assert_int_equal(weft__cpus_allowed(&cpus), 0);
    unsigned workers = weft__workers_auto();
    assert_true(workers >= 1 && workers <= cpus.count);
    weft__cpus_free(&cpus);
}

#define WITH_FAKES(test) cmocka_unit_test_teardown(test, fakes_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siblings_side_by_side),
        cmocka_unit_test(siblings_half_way_apart),
        cmocka_unit_test(no_siblings),
        cmocka_unit_test(one_core_only),
        cmocka_unit_test(large_and_small_cores),
        cmocka_unit_test(four_threads_per_core),
        cmocka_unit_test(order_follows_cores_not_numbers),
        cmocka_unit_test(core_from_sys),
        cmocka_unit_test(every_allowed_cpu_is_there_once),
        cmocka_unit_test(first_threads_come_first),
        WITH_FAKES(mask_grows),
        WITH_FAKES(workers_have_a_maximum),
        WITH_FAKES(forbidden_mask_is_guessed),
        WITH_FAKES(every_allocation_fails_once),
        cmocka_unit_test(affinity_of_one_cpu_gives_one_worker),
        cmocka_unit_test(this_machine),
    };
    return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
