/* SPDX-License-Identifier: MIT */
/* moves.c: whether data moves, judged by how long looks take; without MPI. */
#include "../../mpi/moves.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const uint64_t us = 1000, ms = 1000000, second = 1000000000;

struct watch {
    struct weft__moves m;
    uint64_t now;
};

/* A look after a pause. */
static bool look(struct watch *w, uint64_t pause, uint64_t ns)
{
    w->now += pause + ns;
    return weft__moves_judge(&w->m, pause, (int64_t)ns, w->now);
}

static struct watch begin(void)
{
    struct watch w = {.now = 10 * second};
    weft__moves_begin(&w.m);
    for (int i = 0; i < 300; i++) { /* it learns that looks take long after long pauses */
        look(&w, 50 * ms, 15 * us);
        look(&w, 5 * ms, 8 * us);
        look(&w, 30 * us, 2 * us);
        look(&w, 1 * us, 1 * us);
    }
    assert_int_equal(w.m.weight, 0);
    return w;
}

static void empty_looks_change_nothing(void **state)
{
    (void)state;
    struct watch w = begin();
    for (int i = 0; i < 1000; i++)
        assert_false(look(&w, 50 * ms, (uint64_t)(12 + i % 7) * us));
    for (int i = 0; i < 1000; i++)
        assert_false(look(&w, 30 * us, (uint64_t)(2 + i % 3) * us));
}

/* After long naps, when most looks copy. */
static void three_in_a_row_are_noticed(void **state)
{
    (void)state;
    struct watch w = begin();
    assert_false(look(&w, 50 * ms, 24 * us));
    assert_false(look(&w, 50 * ms, 24 * us));
    assert_true(look(&w, 50 * ms, 24 * us));
    assert_false(look(&w, 50 * ms, 15 * us));
}

/* After short naps two of them, with few others in between. */
static void two_after_short_naps_are_noticed(void **state)
{
    (void)state;
    struct watch w = begin();
    assert_false(look(&w, 30 * us, 8 * us));
    assert_false(look(&w, 30 * us, 2 * us));
    assert_true(look(&w, 30 * us, 8 * us));
    assert_false(look(&w, 30 * us, 2 * us));
}

/* Two, with many that took no more between them, are two single ones. */
static void old_looks_are_forgotten(void **state)
{
    (void)state;
    struct watch w = begin();
    for (int round = 0; round < 20; round++) {
        assert_false(look(&w, 30 * us, 8 * us));
        for (int i = 0; i < 6; i++)
            assert_false(look(&w, 30 * us, 2 * us));
        assert_false(look(&w, 50 * ms, 24 * us));
        assert_false(look(&w, 50 * ms, 24 * us));
        for (int i = 0; i < 4; i++)
            assert_false(look(&w, 50 * ms, 15 * us));
    }
}

/* As long as one look in three copies, such a look is believed, and surely; some looks later none
 * is. */
static void data_moves_for_long(void **state)
{
    (void)state;
    struct watch w = begin();
    int noticed = 0, n = 10000;
    for (int i = 0; i < n; i++)
        noticed += look(&w, 30 * us, i % 3 ? 2 * us : 8 * us);
    assert_true(noticed >= n / 3 - 2);
    look(&w, 30 * us, 8 * us);
    assert_true(weft__moves_surely(&w.m));
    for (int i = 0; i < 24; i++)
        assert_false(look(&w, 30 * us, 2 * us));
    assert_false(look(&w, 30 * us, 8 * us));
}

/* Each look copies: that does not soon become the usual. */
static void pieces_stay_unusual(void **state)
{
    (void)state;
    struct watch w = begin();
    int noticed = 0;
    for (int i = 0; i < 15; i++)
        noticed += look(&w, 50 * ms, 24 * us);
    assert_true(noticed >= 12);
    assert_true(weft__moves_surely(&w.m));
}

/* The worst case that the header states: looks that take long for other reasons, without end. */
static void mistakes_are_limited(void **state)
{
    (void)state;
    struct watch w = begin();
    uint64_t from = w.now, seconds = 60;
    uint64_t mistakes = 0;
    for (unsigned i = 0; w.now - from < seconds * second; i++)
        mistakes += look(&w, 30 * us, i % 2 ? 2 * us : 40 * us);
    assert_true(mistakes >= WEFT__MOVES_TOKENS);
    assert_true(mistakes <= WEFT__MOVES_TOKENS + 1 + seconds * second / WEFT__MOVES_REFILL);
    weft__moves_end(&w.m); /* a wait has ended: they are believed again */
    mistakes = 0;
    for (unsigned i = 0; i < 2 * WEFT__MOVES_TOKENS; i++)
        mistakes += look(&w, 30 * us, i % 2 ? 2 * us : 40 * us);
    assert_true(mistakes >= WEFT__MOVES_TOKENS - 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_looks_change_nothing),
        cmocka_unit_test(three_in_a_row_are_noticed),
        cmocka_unit_test(two_after_short_naps_are_noticed),
        cmocka_unit_test(old_looks_are_forgotten),
        cmocka_unit_test(data_moves_for_long),
        cmocka_unit_test(pieces_stay_unusual),
        cmocka_unit_test(mistakes_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
