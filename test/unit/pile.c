/* SPDX-License-Identifier: MIT */
/* pile.c: how many spawned jobs an owner keeps back before it offers one to a worker that
 * searches. */
#include "core/pile.h"

#include "check.h"

/* However fast offers follow each other, so many are kept back at the most. */
static void keeps_no_more_than_the_bound(void **state)
{
    struct weft__offers offers = {0};
    unsigned kept = 0, most = 0;
    for (int i = 0; i < 100000; i++) {
        kept = weft__offer_is_due(&offers) ? 0 : kept + 1;
        most = kept > most ? kept : most;
    }
    assert_in_range(most, 1, WEFT__KEPT_MOST - 1);
}

/* An offer long after the last one: the next job is offered, too. */
static void keeps_none_after_a_while(void **state)
{
    struct weft__offers offers = {.kept = WEFT__KEPT_MOST, .keeps = WEFT__KEPT_MOST, .at = 0};
    assert_true(weft__offer_is_due(&offers));
    assert_true(weft__offer_is_due(&offers));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_no_more_than_the_bound),
        cmocka_unit_test(keeps_none_after_a_while),
    };
    return cmocka_run_group_tests_name("pile", tests, NULL, NULL);
}
