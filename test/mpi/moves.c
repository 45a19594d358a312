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
    for (int i = 0; i < 300; i++) { /* it learns that looks take longer after longer pauses */
        look(&w, 1 * ms, 4 * us);
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
        assert_false(look(&w, 30 * us, (uint64_t)(2000 + 200 * (i % 7))));
    for (int i = 0; i < 1000; i++)
        assert_false(look(&w, 1 * ms, (uint64_t)(4000 + 300 * (i % 7))));
}

/* After long pauses looks tell nothing. */
static void long_pauses_tell_nothing(void **state)
{
    (void)state;
    struct watch w = begin();
    for (int i = 0; i < 100; i++)
        assert_false(look(&w, 3 * ms, 90 * us));
    assert_int_equal(w.m.weight, 0);
}

static void three_are_noticed(void **state)
{
    (void)state;
    for (int others = 0; others < 3; others++) {
        struct watch w = begin();
        for (int i = 0; i < 3; i++) {
            assert_true(look(&w, i % 2 ? 1 * ms : 30 * us, 8 * us) == (i == 2));
            for (int j = 0; j < others; j++)
                assert_false(look(&w, 30 * us, 2 * us));
        }
    }
}

/* One in seven is no more than single ones. */
static void old_looks_are_forgotten(void **state)
{
    (void)state;
    struct watch w = begin();
    for (int round = 0; round < 1000; round++) {
        assert_false(look(&w, 30 * us, 8 * us));
        for (int i = 0; i < 6; i++)
            assert_false(look(&w, 30 * us, 2 * us));
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
    assert_true(noticed >= n / 3 - 3);
    look(&w, 30 * us, 8 * us);
    assert_true(weft__moves_surely(&w.m));
    for (int i = 0; i < 24; i++)
        assert_false(look(&w, 30 * us, 2 * us));
    assert_false(look(&w, 30 * us, 8 * us));
}

/* Each look copies: that does not become the usual, as long as there are tokens. */
static void pieces_stay_unusual(void **state)
{
    (void)state;
    struct watch w = begin();
    int noticed = 0;
    for (int i = 0; i < WEFT__MOVES_TOKENS; i++) {
        noticed += look(&w, 30 * us, 8 * us);
        assert_true(weft__moves_surely(&w.m) == (i >= 3 && w.m.tokens > WEFT__MOVES_TOKENS / 10));
    }
    assert_true(noticed >= WEFT__MOVES_TOKENS - 3);
    assert_false(weft__moves_surely(&w.m));
}

/* Looks take more from now on, for another reason: the usual, some time later. */
static void what_lasts_is_usual(void **state)
{
    (void)state;
    struct watch w = begin();
    for (int i = 0; i < 2 * WEFT__MOVES_TOKENS; i++)
        look(&w, 30 * us, 8 * us);
    for (int i = 0; i < 1000; i++)
        assert_false(look(&w, 30 * us, 8 * us));
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
        cmocka_unit_test(empty_looks_change_nothing), cmocka_unit_test(long_pauses_tell_nothing),
        cmocka_unit_test(three_are_noticed),          cmocka_unit_test(old_looks_are_forgotten),
        cmocka_unit_test(data_moves_for_long),        cmocka_unit_test(pieces_stay_unusual),
        cmocka_unit_test(what_lasts_is_usual),        cmocka_unit_test(mistakes_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
