/* SPDX-License-Identifier: MIT */
/* cgroup.c: quotas in made-up /proc and /sys trees, and in the real one. */
#include "os/cgroup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char tree[PATH_MAX];

/* ---- Making trees ---- */

static int tree_make(void **state)
{
    (void)state;
    strcpy(tree, "/tmp/weft-cgroup-XXXXXX");
    return mkdtemp(tree) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    return remove(path);
}

static int tree_remove(void **state)
{
    (void)state;
    return nftw(tree, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put_bytes(const char *name, const char *bytes, size_t length)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s%s", tree, name);
    for (char *slash = path + strlen(tree) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (mkdir(path, 0777) != 0)
            assert_int_equal(errno, EEXIST);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void put(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

static void expect(unsigned cpus)
{
    assert_int_equal(weft__cgroup_cpus(tree), cpus);
}

#define MOUNT_V2 "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
#define MOUNT_V1 \
    "33 25 0:29 / /sys/fs/cgroup/cpu,cpuacct rw shared:11 - cgroup cgroup rw,cpu,cpuacct\n"

/* The process is in /a/b/c. */
static void make_v2(void)
{
    put("/proc/self/cgroup", "0::/a/b/c\n");
    put("/proc/self/mountinfo", "24 1 0:22 / /sys rw shared:7 - sysfs sysfs rw\n" MOUNT_V2);
    put("/sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    put("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
}

static void make_v1(void)
{
    put("/proc/self/cgroup", "7:cpuset:/other\n4:cpu,cpuacct:/a/b\n3:cpuacct:/x\n"
                             "1:name=systemd:/a/b\n");
    put("/proc/self/mountinfo",
        "32 25 0:28 / /sys/fs/cgroup/cpuset rw shared:10 - cgroup cgroup rw,cpuset\n" MOUNT_V1);
    put("/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
    /* A decoy: what the cpuset hierarchy has is not the CPU controller's. */
    put("/sys/fs/cgroup/cpuset/other/cpu.cfs_quota_us", "100000\n");
    put("/sys/fs/cgroup/cpuset/other/cpu.cfs_period_us", "100000\n");
}

/* ---- Version 2 ---- */

static void v2_without_limit(void **state)
{
    (void)state;
    make_v2();
    expect(UINT_MAX);
}

static void v2_quota_is_rounded_up(void **state)
{
    (void)state;
    make_v2();
    put("/sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n");
    expect(4);
    put("/sys/fs/cgroup/a/b/c/cpu.max", "400001 100000\n");
    expect(5);
    put("/sys/fs/cgroup/a/b/c/cpu.max", "150000 100000"); /* no newline */
    expect(2);
}

static void bug_26_quota_of_one_cpu_gives_one_worker(void **state)
{
    (void)state;
    make_v2();
    static const char *const quotas[] = {"100000 100000\n", "50000 100000\n", "1 1000000\n"};
    for (size_t i = 0; i < sizeof quotas / sizeof *quotas; i++) {
        put("/sys/fs/cgroup/a/b/c/cpu.max", quotas[i]);
        expect(1);
    }
}

static void v2_smallest_ancestor_counts(void **state)
{
    (void)state;
    make_v2();
    put("/sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "200000 100000\n");
    put("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
    put("/sys/fs/cgroup/b/cpu.max", "100000 100000\n"); /* no ancestor */
    expect(2);
    put("/sys/fs/cgroup/cpu.max", "100000 100000\n"); /* the root of a container */
    expect(1);
}

static void v2_levels_without_files_are_passed_over(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/a/b/c (deleted)\n");
    put("/proc/self/mountinfo", MOUNT_V2);
    put("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
    expect(3);
}

/* ---- Version 1, and both ---- */

static void v1_without_limit(void **state)
{
    (void)state;
    make_v1();
    expect(UINT_MAX);
}

static void v1_quota_of_group_and_ancestors(void **state)
{
    (void)state;
    make_v1();
    put("/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "250000\n");
    expect(3);
    put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "10000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "5000\n");
    expect(2);
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    expect(1);
}

static void v1_controller_mounted_alone(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "2:cpuacct:/a\n1:cpu:/a\n");
    put("/proc/self/mountinfo", "33 31 0:30 / /cg/cpuacct rw - cgroup cgroup rw,cpuacct\n"
                                "32 31 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu\n");
    put("/cg/cpu/a/cpu.cfs_quota_us", "200000\n");
    put("/cg/cpu/a/cpu.cfs_period_us", "100000\n");
    put("/cg/cpuacct/a/cpu.cfs_quota_us", "100000\n");
    put("/cg/cpuacct/a/cpu.cfs_period_us", "100000\n");
    expect(2);
}

static void make_hybrid(void)
{
    make_v1();
    put("/proc/self/cgroup", "4:cpu,cpuacct:/a/b\n1:name=systemd:/s\n0::/s\n");
    put("/proc/self/mountinfo",
        MOUNT_V1 "26 25 0:23 / /sys/fs/cgroup/unified rw shared:4 - cgroup2 cgroup2 rw\n");
}

static void hybrid_with_controller_in_v1(void **state)
{
    (void)state;
    make_hybrid();
    put("/sys/fs/cgroup/unified/s/cgroup.procs", "1\n");
    expect(UINT_MAX);
    put("/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "300000\n");
    expect(3);
}

static void hybrid_with_controller_in_v2(void **state)
{
    (void)state;
    make_hybrid();
    put("/sys/fs/cgroup/unified/s/cpu.max", "500000 100000\n");
    expect(5);
}

/* ---- Containers and mounts ---- */

static void mount_root_is_stripped(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "4:cpu,cpuacct:/docker/1f/app\n");
    put("/proc/self/mountinfo",
        "33 25 0:29 /docker/1f /sys/fs/cgroup/cpu ro master:11 - cgroup cgroup rw,cpu,cpuacct\n");
    put("/sys/fs/cgroup/cpu/app/cpu.cfs_quota_us", "600000\n");
    put("/sys/fs/cgroup/cpu/app/cpu.cfs_period_us", "100000\n");
    expect(6);
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    expect(4);
    put("/proc/self/cgroup", "4:cpu,cpuacct:/docker/1f\n");
    expect(4);
}

static void path_outside_of_mount_falls_back_to_mount_point(void **state)
{
    (void)state;
    put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    put("/sys/fs/cgroup/x/cpu.max", "100000 100000\n");
    put("/sys/fs/cpu.max", "100000 100000\n");
    put("/sys/fs/x/cpu.max", "100000 100000\n");
    put("/proc/self/mountinfo", MOUNT_V2);
    put("/proc/self/cgroup", "0::/../x\n");
    expect(2);
    put("/proc/self/cgroup", "0::/..\n");
    expect(2);
    /* A name that only looks like it. */
    put("/proc/self/mountinfo", "30 24 0:26 /docker/1f /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put("/proc/self/cgroup", "0::/docker/1fx/x\n");
    expect(2);
}

static void names_with_two_dots_are_names(void **state)
{
    (void)state;
    put("/proc/self/mountinfo", MOUNT_V2);
    put("/proc/self/cgroup", "0::/..a/b..\n");
    put("/sys/fs/cgroup/..a/b../cpu.max", "700000 100000\n");
    expect(7);
}

static void mount_from_outer_namespace(void **state)
{
    (void)state;
    put("/proc/self/mountinfo", "30 24 0:26 /.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    put("/proc/self/cgroup", "0::/../x\n");
    put("/sys/fs/cgroup/x/cpu.max", "300000 100000\n");
    expect(3);
}

static void mount_that_shows_the_group_beats_one_that_does_not(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/mine\n");
    put("/proc/self/mountinfo", "30 24 0:26 /theirs /theirs rw - cgroup2 cgroup2 rw\n"
                                "31 24 0:26 /mine /mine rw - cgroup2 cgroup2 rw\n"
                                "32 24 0:26 /others /others rw - cgroup2 cgroup2 rw\n");
    put("/theirs/cpu.max", "100000 100000\n");
    put("/others/cpu.max", "100000 100000\n");
    put("/mine/cpu.max", "800000 100000\n");
    expect(8);
}

static void escapes_in_mountinfo(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "0::/my group/a:b\n");
    put("/proc/self/mountinfo",
        "30 24 0:26 /my\\040group /c\\011g\\134\\012x\\0 rw a:1 b:2 - cgroup2 none rw\n");
    put("/c\tg\\\nx\\0/a:b/cpu.max", "900000 100000\n");
    expect(9);
}

/* ---- Trouble ---- */

static void missing_files(void **state)
{
    (void)state;
    expect(UINT_MAX);
    put("/proc/self/cgroup", "0::/a\n");
    expect(UINT_MAX);
    put("/proc/self/mountinfo", MOUNT_V2);
    expect(UINT_MAX);
    put("/sys/fs/cgroup/a/cpu.max/dir", ""); /* a folder where a file should be */
    expect(UINT_MAX);
    put("/proc/self/cgroup", "");
    put("/sys/fs/cgroup/cpu.max", "100000 100000\n");
    expect(UINT_MAX);
    assert_int_equal(weft__cgroup_cpus("/nowhere/at/all"), UINT_MAX);
}

static void period_of_v1_is_missing(void **state)
{
    (void)state;
    put("/proc/self/cgroup", "1:cpu:/\n");
    put("/proc/self/mountinfo", "1 2 0:1 / /cpu rw - cgroup cgroup rw,cpu\n");
    put("/cpu/cpu.cfs_quota_us", "100000\n");
    expect(UINT_MAX);
}

static void odd_values_are_no_limit(void **state)
{
    (void)state;
    make_v2();
    static const char *const values[] = {
        "",
        "\n",
        " ",
        "max",
        "max max",
        "0 100000",
        "100000 0",
        "100000 -1",
        "-1 100000",
        "-100000 -100000",
        "100000",
        "100000x 100000",
        "100000 100000x",
        "1e5 100000",
        "garbage garbage",
        "99999999999999999999999 100000",
        "100000 99999999999999999999999",
        "9223372036854775807 1",
        "4294967295 1",
        "\xff\xfe 1",
        "100000000000000000000000000000000000000000000000000000000000000000000000 100000",
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        put("/sys/fs/cgroup/a/b/c/cpu.max", values[i]);
        expect(UINT_MAX);
    }
}

static void large_values_are_limits(void **state)
{
    (void)state;
    make_v2();
    put("/sys/fs/cgroup/a/b/c/cpu.max", "4294967294 1\n");
    expect(UINT_MAX - 1);
    put("/sys/fs/cgroup/a/b/c/cpu.max", "9223372036854775807 9223372036854775807\n");
    expect(1);
    put("/sys/fs/cgroup/a/b/c/cpu.max", "1 9223372036854775807\n");
    expect(1);
    put("/sys/fs/cgroup/a/b/c/cpu.max", "9223372036854775807 9223372036854775806\n");
    expect(2);
}

static void odd_lines_are_skipped(void **state)
{
    (void)state;
    make_v2();
    put("/sys/fs/cgroup/a/b/c/cpu.max", "200000 100000\n");
    put("/proc/self/cgroup", "\n:\n::\n0:\n0::\n0::a\nx\n4:,,cp,cpux,:/a\n0::/a/b/c");
    put("/proc/self/mountinfo", "\n \n-\n - - - \n1 2 3 4 5 6 7 8 9\n1 2 3 / / - cgroup2\n"
                                "1 2 3 x y rw - cgroup2 none rw\n1 2 3 / /x rw - cgroup2 none\n"
                                "1 2 3 / /x rw cgroup2 none rw\n" MOUNT_V2);
    expect(2);
}

static char *long_text(char *buffer, size_t length, const char *before, const char *after)
{
    size_t at = strlen(before);
    memcpy(buffer, before, at);
    memset(buffer + at, 'x', length);
    strcpy(buffer + at + length, after);
    return buffer;
}

static void over_long_lines_are_skipped(void **state)
{
    (void)state;
    make_v2();
    put("/sys/fs/cgroup/a/b/c/cpu.max", "200000 100000\n");
    static char text[4 * PATH_MAX];
    for (size_t length = 2 * PATH_MAX - 40; length < 2 * PATH_MAX + 40; length++) {
        put("/proc/self/mountinfo", long_text(text, length, "1 2 0:3 / /", "\n" MOUNT_V2));
        put("/proc/self/cgroup", long_text(text, length, "0::/", "\n0::/a/b/c\n"));
        expect(2);
    }
    for (size_t length = PATH_MAX - 40; length < PATH_MAX + 40; length++) {
        put("/proc/self/cgroup", long_text(text, length, "0::/", ""));
        expect(UINT_MAX);
        put("/proc/self/cgroup", "0::/a/b/c\n");
        put("/proc/self/mountinfo",
            long_text(text, length, "1 2 0:3 / /", " rw - cgroup2 none rw"));
        expect(UINT_MAX);
        put("/proc/self/mountinfo", MOUNT_V2);
    }
}

static void over_long_path_falls_back_to_mount_point(void **state)
{
    (void)state;
    static char text[2 * PATH_MAX];
    put("/proc/self/mountinfo", MOUNT_V2);
    put("/proc/self/cgroup", long_text(text, PATH_MAX - 8, "0::/", "\n"));
    put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    expect(2);
    char root[2 * PATH_MAX];
    assert_int_equal(weft__cgroup_cpus(long_text(root, sizeof root - 2, "/", "")), UINT_MAX);
}

/* Random bytes, and random damage to good files: any answer but 0. */
static void damage_does_no_harm(void **state)
{
    (void)state;
    static const char *const good[] = {"4:cpu,cpuacct:/a/b\n0::/a/b/c\n", MOUNT_V1 MOUNT_V2,
                                       "150000 100000\n"};
    static const char *const names[] = {"/proc/self/cgroup", "/proc/self/mountinfo",
                                        "/sys/fs/cgroup/a/b/c/cpu.max"};
    static const char alphabet[] = "019 \n\\:/.,-\t\0cx\xff";
    uint32_t seed = 1;
    for (int round = 0; round < 600; round++) {
        for (int f = 0; f < 3; f++) {
            char text[512];
            size_t length = strlen(good[f]);
            memcpy(text, good[f], length);
            for (unsigned damage = (unsigned)round % 8; damage > 0; damage--) {
                seed = seed * 1664525 + 1013904223;
                text[(seed >> 8) % length] = alphabet[(seed >> 20) % (sizeof alphabet - 1)];
            }
            put_bytes(names[f], text, length - (seed >> 16) % 3);
        }
        assert_int_not_equal(weft__cgroup_cpus(tree), 0);
    }
}

static void this_machine(void **state)
{
    (void)state;
    assert_true(weft__cgroup_cpus("") >= 1);
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, tree_make, tree_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TREE(v2_without_limit),
        IN_TREE(v2_quota_is_rounded_up),
        IN_TREE(bug_26_quota_of_one_cpu_gives_one_worker),
        IN_TREE(v2_smallest_ancestor_counts),
        IN_TREE(v2_levels_without_files_are_passed_over),
        IN_TREE(v1_without_limit),
        IN_TREE(v1_quota_of_group_and_ancestors),
        IN_TREE(v1_controller_mounted_alone),
        IN_TREE(hybrid_with_controller_in_v1),
        IN_TREE(hybrid_with_controller_in_v2),
        IN_TREE(mount_root_is_stripped),
        IN_TREE(path_outside_of_mount_falls_back_to_mount_point),
        IN_TREE(names_with_two_dots_are_names),
        IN_TREE(mount_from_outer_namespace),
        IN_TREE(mount_that_shows_the_group_beats_one_that_does_not),
        IN_TREE(escapes_in_mountinfo),
        IN_TREE(missing_files),
        IN_TREE(period_of_v1_is_missing),
        IN_TREE(odd_values_are_no_limit),
        IN_TREE(large_values_are_limits),
        IN_TREE(odd_lines_are_skipped),
        IN_TREE(over_long_lines_are_skipped),
        IN_TREE(over_long_path_falls_back_to_mount_point),
        IN_TREE(damage_does_no_harm),
        cmocka_unit_test(this_machine),
    };
    return cmocka_run_group_tests_name("cgroup", tests, NULL, NULL);
}
