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
    for (int i = 0; i < 100; i++) { /* it learns that looks take long after long pauses */
        assert_false(look(&w, 50 * ms, 15 * us) && i > 0);
        look(&w, 1 * us, 2 * us);
    }
    assert_false(weft__moves_now(&w.m));
    return w;
}

static void empty_looks_change_nothing(void **state)
{
    (void)state;
    struct watch w = begin();
    for (int i = 0; i < 1000; i++)
        assert_false(look(&w, 50 * ms, (uint64_t)(12 + i % 7) * us));
    assert_false(weft__moves_now(&w.m));
}

/* 96 KB take some 20 us. */
static void first_piece_is_noticed(void **state)
{
    (void)state;
    struct watch w = begin();
    assert_true(look(&w, 50 * ms, 33 * us));
    assert_false(weft__moves_now(&w.m));
    assert_true(look(&w, 1 * ms, 25 * us));
    assert_true(weft__moves_now(&w.m));
}

/* Looks go on without naps while pieces come, and stop soon afterwards. */
static void window_lasts_as_long_as_data_moves(void **state)
{
    (void)state;
    struct watch w = begin();
    look(&w, 50 * ms, 33 * us);
    look(&w, 1 * ms, 25 * us);
    for (int i = 0; i < 2000; i++) {
        look(&w, 1 * us, i % 4 ? 2 * us : 6 * us);
        assert_true(weft__moves_now(&w.m));
    }
    uint64_t last = w.now;
    while (weft__moves_now(&w.m))
        look(&w, 1 * us, 2 * us);
    assert_true(w.now - last <= 3 * WEFT__MOVES_WINDOW);
}

/* The other side naps, too, and all windows miss it: a piece in each look does not soon become the
 * usual. */
static void pieces_stay_unusual(void **state)
{
    (void)state;
    struct watch w = begin();
    int noticed = 0;
    for (int i = 0; i < 20; i++) {
        noticed += look(&w, 50 * ms, 33 * us);
        while (weft__moves_now(&w.m))
            look(&w, 1 * us, 2 * us);
    }
    assert_true(noticed >= 8);
}

/* The worst case that the header states: every third look takes long for other reasons. */
static void mistakes_are_few(void **state)
{
    (void)state;
    struct watch w = begin();
    uint64_t from = w.now, seconds = 60;
    unsigned mistakes = 0;
    for (unsigned i = 0; w.now - from < seconds * second; i++) {
        uint64_t pause = 20 * us << i % 12;
        mistakes += look(&w, pause, i / 2 % 3 ? 3 * us : 60 * us);
        while (weft__moves_now(&w.m))
            mistakes += look(&w, 1 * us, 2 * us);
    }
    assert_true(mistakes > 0);
    assert_true(mistakes <= WEFT__MOVES_TOKENS + 1 + 5 * seconds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_looks_change_nothing),
        cmocka_unit_test(first_piece_is_noticed),
        cmocka_unit_test(window_lasts_as_long_as_data_moves),
        cmocka_unit_test(pieces_stay_unusual),
        cmocka_unit_test(mistakes_are_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
