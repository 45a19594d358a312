/* SPDX-License-Identifier: MIT */
/* launcher.c: what the environment of a launcher says, and each process's share of the CPUs. */
#include "os/launcher.h"
#include "check.h"

#include <stdlib.h>

static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK",
                                    "OMPI_COMM_WORLD_LOCAL_SIZE",
                                    "OMPI_MCA_orte_bound_at_launch",
                                    "MPI_LOCALRANKID",
                                    "MPI_LOCALNRANKS",
                                    "MV2_COMM_WORLD_LOCAL_RANK",
                                    "MV2_COMM_WORLD_LOCAL_SIZE",
                                    "SLURM_LOCALID",
                                    "SLURM_STEP_TASKS_PER_NODE"};

static int forget(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    return 0;
}

static void check(unsigned rank, unsigned size, bool bound)
{
    struct weft__launcher launcher;
    assert_true(weft__launcher_get(&launcher));
    assert_int_equal(launcher.rank, rank);
    assert_int_equal(launcher.size, size);
    assert_int_equal(launcher.bound, bound);
}

static void environment(void **state)
{
    (void)state;
    struct weft__launcher launcher;
    assert_false(weft__launcher_get(&launcher));
    setenv("SLURM_LOCALID", "2", 1);
    assert_false(weft__launcher_get(&launcher)); /* a batch script has that, too */
    setenv("SLURM_STEP_TASKS_PER_NODE", "4(x2),3", 1);
    check(2, 4, false);
    setenv("MPI_LOCALRANKID", "1", 1);
    setenv("MPI_LOCALNRANKS", "3", 1);
    check(1, 3, false);
    setenv("OMPI_COMM_WORLD_LOCAL_RANK", "7", 1);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "8", 1);
    check(7, 8, false);
    setenv("OMPI_MCA_orte_bound_at_launch", "1", 1);
    check(7, 8, true);
    setenv("OMPI_MCA_orte_bound_at_launch", "0", 1);
    check(7, 8, false);
}

static void nonsense(void **state)
{
    (void)state;
    static const char *const values[] = {"", "-1", "x", "8", "99999999999999999999", " 1"};
    struct weft__launcher launcher;
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "8", 1);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        setenv("OMPI_COMM_WORLD_LOCAL_RANK", values[i], 1);
        assert_false(weft__launcher_get(&launcher));
    }
}

static unsigned share(unsigned rank, unsigned size, bool bound, unsigned cpus, unsigned all)
{
    struct weft__launcher launcher = {rank, size, bound};
    return weft__launcher_share(&launcher, cpus, all);
}

static void shares(void **state)
{
    (void)state;
    assert_int_equal(share(0, 4, false, 16, 16), 4); /* not bound */
    assert_int_equal(share(0, 3, false, 8, 8), 3);   /* not even: the first get more */
    assert_int_equal(share(1, 3, false, 8, 8), 3);
    assert_int_equal(share(2, 3, false, 8, 8), 2);
    assert_int_equal(share(5, 6, false, 2, 2), 1); /* more processes than CPUs */
    assert_int_equal(share(0, 4, true, 4, 16), 4); /* bound to its share */
    assert_int_equal(share(3, 4, true, 8, 16), 4); /* two have the same half */
    assert_int_equal(share(0, 2, true, 2, 16), 2); /* bound to less than that */
    assert_int_equal(share(1, 4, true, 4, 4), 4);  /* bound, behind a script */
    assert_int_equal(share(1, 2, false, 4, 1), 4); /* a parent with less: who knows why */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(environment, forget, forget),
        cmocka_unit_test_setup_teardown(nonsense, forget, forget),
        cmocka_unit_test(shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
