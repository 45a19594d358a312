/* SPDX-License-Identifier: MIT */
/* group.c: who is cancelled with whom, and that nobody walks when nothing is wrong. */
#include "core/group.h"

#include "check.h"
#include "os/clock.h"

#include <errno.h>

enum { DEPTH = 3 };

static bool is_cancelled(struct weft__group *group)
{
    bool noticed;
    return weft__group_look(group, &noticed) == GROUP_CANCELLED;
}

/* groups[0] is the outermost. */
static void begin(struct weft__group groups[DEPTH])
{
    for (int i = 0; i < DEPTH; i++)
        weft__group_begin(&groups[i], i ? &groups[i - 1] : NULL);
}

static void expect_ends(struct weft__group groups[DEPTH], int outer, int middle, int inner)
{
    assert_int_equal(weft__group_end(&groups[2]), inner);
    assert_int_equal(weft__group_end(&groups[1]), middle);
    assert_int_equal(weft__group_end(&groups[0]), outer);
    assert_int_equal(atomic_load_relaxed(&groups[0].alarms), 0);
}

static void expect_cancelled(struct weft__group groups[DEPTH], bool outer, bool middle, bool inner)
{
    assert_int_equal(is_cancelled(&groups[0]), outer);
    assert_int_equal(is_cancelled(&groups[1]), middle);
    assert_int_equal(is_cancelled(&groups[2]), inner);
}

static void nothing_wrong(void **state)
{
    struct weft__group groups[DEPTH];
    begin(groups);
    expect_cancelled(groups, false, false, false);
    assert_false(is_cancelled(NULL));
    expect_ends(groups, 0, 0, 0);
}

static void failure_goes_inwards_only(void **state)
{
    struct weft__group groups[DEPTH];
    begin(groups);
    weft__group_fail(&groups[1], -EIO);
    assert_int_equal(atomic_load_relaxed(&groups[0].alarms), 1);
    expect_cancelled(groups, false, true, true);
    expect_ends(groups, 0, -EIO, -ECANCELED);
}

static void first_failure_counts(void **state)
{
    struct weft__group groups[DEPTH];
    begin(groups);
    assert_true(weft__group_fail(&groups[2], 5)); /* any code but 0 */
    assert_false(weft__group_fail(&groups[2], -EIO));
    assert_int_equal(atomic_load_relaxed(&groups[0].alarms), 1);
    expect_ends(groups, 0, 0, 5);
}

static void own_failure_before_the_parents(void **state)
{
    struct weft__group groups[DEPTH];
    begin(groups);
    weft__group_fail(&groups[0], -EIO);
    weft__group_fail(&groups[2], -EPIPE);
    expect_cancelled(groups, true, true, true);
    expect_ends(groups, -EIO, -ECANCELED, -EPIPE);
}

static void deadline_not_reached(void **state)
{
    struct weft__group groups[DEPTH];
    begin(groups);
    weft__group_set_deadline(&groups[1], UINT64_MAX);
    assert_int_equal(atomic_load_relaxed(&groups[0].alarms), 1);
    expect_cancelled(groups, false, false, false);
    expect_ends(groups, 0, 0, 0);
}

static void deadline_passed(void **state)
{
    struct weft__group groups[DEPTH];
    begin(groups);
    weft__group_set_deadline(&groups[1], weft__clock_now());
    expect_cancelled(groups, false, true, true);
    assert_int_equal(atomic_load_relaxed(&groups[0].alarms), 2); /* failed, and has a deadline */
    expect_ends(groups, 0, -ETIMEDOUT, -ECANCELED);
}

/* It cancelled nothing, so everything was done. */
static void deadline_passed_unnoticed(void **state)
{
    struct weft__group groups[DEPTH];
    begin(groups);
    weft__group_set_deadline(&groups[1], 0); /* at the beginning of time, not "none" */
    assert_int_equal(atomic_load_relaxed(&groups[0].alarms), 1);
    expect_ends(groups, 0, 0, 0);
}

static void deadline_after_failure(void **state)
{
    struct weft__group groups[DEPTH];
    begin(groups);
    weft__group_fail(&groups[1], -EIO);
    weft__group_set_deadline(&groups[1], 1);
    expect_cancelled(groups, false, true, true);
    expect_ends(groups, 0, -EIO, -ECANCELED);
}

static void deadline_moved(void **state)
{
    struct weft__group groups[DEPTH];
    begin(groups);
    weft__group_set_deadline(&groups[0], 1);
    weft__group_set_deadline(&groups[0], UINT64_MAX);
    assert_int_equal(atomic_load_relaxed(&groups[0].alarms), 1); /* counted once */
    expect_cancelled(groups, false, false, false);
    expect_ends(groups, 0, 0, 0);
}

static void inner_notices_the_outer_deadline(void **state)
{
    struct weft__group groups[DEPTH];
    bool noticed = false;
    begin(groups);
    weft__group_set_deadline(&groups[0], 1);
    assert_int_equal(weft__group_walk(&groups[2], &noticed), GROUP_CANCELLED);
    assert_true(noticed);
    noticed = false;
    assert_int_equal(weft__group_walk(&groups[1], &noticed), GROUP_CANCELLED);
    assert_false(noticed); /* only the first one calls the others' attention */
    expect_ends(groups, -ETIMEDOUT, -ECANCELED, -ECANCELED);
}

/* A deadline or failure is nobody's but its own computation's. */
static void other_computations_see_nothing(void **state)
{
    struct weft__group groups[DEPTH], others[DEPTH];
    begin(groups);
    begin(others);
    weft__group_set_deadline(&groups[2], UINT64_MAX);
    weft__group_fail(&groups[1], -EIO);
    assert_true(weft__group_alarm(&groups[0]));
    for (int i = 0; i < DEPTH; i++)
        assert_false(weft__group_alarm(&others[i]));
    expect_ends(others, 0, 0, 0);
    expect_ends(groups, 0, -EIO, -ECANCELED);
}

/* Beside it, in the same computation, nobody has to look at the clock. */
static void deadline_concerns_those_in_it(void **state)
{
    struct weft__group groups[DEPTH], beside;
    bool noticed = false;
    begin(groups);
    weft__group_begin(&beside, &groups[0]);
    weft__group_set_deadline(&groups[1], UINT64_MAX);
    assert_int_equal(weft__group_look(&groups[2], &noticed), GROUP_TIMED);
    assert_int_equal(weft__group_look(&groups[1], &noticed), GROUP_TIMED);
    assert_int_equal(weft__group_look(&groups[0], &noticed), GROUP_FINE);
    assert_int_equal(weft__group_look(&beside, &noticed), GROUP_FINE);
    assert_false(noticed);
    assert_int_equal(weft__group_end(&beside), 0);
    expect_ends(groups, 0, 0, 0);
}

/* Who only wants to know whether there is one does not find it passed. */
static void looking_without_the_clock(void **state)
{
    struct weft__group groups[DEPTH];
    begin(groups);
    weft__group_set_deadline(&groups[1], 1);
    assert_int_equal(weft__group_look(&groups[2], NULL), GROUP_TIMED);
    expect_ends(groups, 0, 0, 0);
}

enum { THREADS = 4, ROUNDS = 500 };

static struct atomic_u32 firsts;

static void fail_with_own_code(unsigned i, void *group)
{
    if (weft__group_fail(group, (int)i + 1))
        atomic_fetch_add_relaxed(&firsts, 1);
    WAIT_UNTIL(is_cancelled(group)); /* a moment after the first one may have said so */
}

static void one_of_many_fails_first(void **state)
{
    for (uint32_t r = 1; r <= ROUNDS; r++) {
        struct weft__group group;
        weft__group_begin(&group, NULL);
        in_threads(THREADS, fail_with_own_code, &group);
        assert_int_equal(atomic_load_relaxed(&firsts), r);
        assert_int_equal(atomic_load_relaxed(&group.alarms), 1);
        assert_in_range(weft__group_end(&group), 1, THREADS);
        assert_int_equal(atomic_load_relaxed(&group.alarms), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_wrong),
        cmocka_unit_test(failure_goes_inwards_only),
        cmocka_unit_test(first_failure_counts),
        cmocka_unit_test(own_failure_before_the_parents),
        cmocka_unit_test(deadline_not_reached),
        cmocka_unit_test(deadline_passed),
        cmocka_unit_test(deadline_passed_unnoticed),
        cmocka_unit_test(deadline_after_failure),
        cmocka_unit_test(deadline_moved),
        cmocka_unit_test(inner_notices_the_outer_deadline),
        cmocka_unit_test(other_computations_see_nothing),
        cmocka_unit_test(deadline_concerns_those_in_it),
        cmocka_unit_test(looking_without_the_clock),
        cmocka_unit_test(one_of_many_fails_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
