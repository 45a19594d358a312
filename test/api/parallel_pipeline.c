/* SPDX-License-Identifier: MIT */
/* parallel_pipeline.c: every item goes through all stages, in order where that was asked for,
 * and there are never too many; whatever fails, all that was made is dropped. */
#include "property.h"
#include "weft/parallel.h"
#include "weft/pipeline.h"

#include <errno.h>
#include <stdlib.h>

enum { STAGES = 6 };

struct item {
    size_t number;
    size_t stages; /* it has been through */
    int *memory;   /* of the place */
};

struct line {
    size_t n, most; /* items; places, 0: the default */
    size_t stages;
    size_t drop_at; /* the stage that lets every third item go no further; STAGES: none */
    size_t fail_at; /* the item whose second stage fails; SIZE_MAX: none */
    bool slow;
    struct {
        size_t next; /* only by the stage, if it is not parallel */
        atomic_size_t inside, passed;
        bool parallel;
    } stage[STAGES];
    atomic_size_t under_way, made, dropped;
};

static bool is_dropped(const struct line *line, size_t number, size_t stage)
{
    return stage > line->drop_at && number % 3 == 0;
}

/* What any stage but the first does. */
static bool pass(weft *w, struct line *line, struct item *item, size_t stage)
{
    size_t inside = atomic_fetch_add(&line->stage[stage].inside, 1);
    HOLDS(item->stages++ == stage && !is_dropped(line, item->number, stage));
    if (!line->stage[stage].parallel) {
        HOLDS(inside == 0);
        size_t *next = &line->stage[stage].next;
        while (is_dropped(line, *next, stage))
            ++*next;
        HOLDS(item->number == (*next)++);
    }
    if (line->slow)
        dawdle(item->number * STAGES + stage);
    atomic_fetch_sub(&line->stage[stage].inside, 1);
    atomic_fetch_add(&line->stage[stage].passed, 1);
    bool goes_on = stage != line->drop_at || item->number % 3;
    if (!goes_on || stage == line->stages - 1)
        atomic_fetch_sub(&line->under_way, 1);
    if (stage == 1 && item->number == line->fail_at)
        weft_fail(w, -EDOM);
    return goes_on;
}

static bool stage_0(weft *w, void *arg, void *line_)
{
    struct line *line = line_;
    struct item *item = arg;
    size_t number = line->stage[0].next;
    HOLDS(item->memory && ++*item->memory > 0);
    if (number == line->n)
        return false;
    item->number = number;
    item->stages = 0;
    size_t most = line->most ? line->most : 4 * weft_pool_workers(weft_pool_of(w));
    HOLDS(atomic_fetch_add(&line->under_way, 1) < most);
    return pass(w, line, item, 0);
}

#define STAGE(k)                                          \
    static bool stage_##k(weft *w, void *arg, void *line) \
    {                                                     \
        return pass(w, line, arg, k);                     \
    }
STAGE(1)
STAGE(2)
STAGE(3)
STAGE(4)
STAGE(5)

static void item_make(weft *w, void *arg, void *line)
{
    struct item *item = arg;
    HOLDS(!item->memory && (item->memory = calloc(1, sizeof *item->memory)));
    atomic_fetch_add(&((struct line *)line)->made, 1);
}

static void item_drop(weft *w, void *arg, void *line)
{
    free(((struct item *)arg)->memory);
    atomic_fetch_add(&((struct line *)line)->dropped, 1);
}

static int line_run(weft *w, struct line *line)
{
    static weft_stage_fn *const run[STAGES] = {stage_0, stage_1, stage_2,
                                               stage_3, stage_4, stage_5};
    static const weft_state item = {sizeof(struct item), item_make, item_drop};
    weft_stage stages[STAGES];
    for (size_t i = 0; i < line->stages; i++)
        stages[i] = (weft_stage){run[i], line->stage[i].parallel};
    int error = weft_pipeline(w, stages, line->stages, &item, line->most, line);
    HOLDS(atomic_load(&line->made) == atomic_load(&line->dropped));
    return error;
}

static void line_make(struct line *line, struct dice *dice)
{
    *line = (struct line){.n = dice_size(dice, 1000),
                          .most = dice_size(dice, 20),
                          .stages = 1 + dice_below(dice, STAGES),
                          .drop_at = dice_below(dice, 3) ? STAGES : 1 + dice_below(dice, STAGES),
                          .fail_at = SIZE_MAX,
                          .slow = dice_below(dice, 2)};
    for (size_t i = 1; i < line->stages; i++)
        line->stage[i].parallel = dice_below(dice, 2);
}

static void pipelines(weft *w, struct dice *dice)
{
    struct line line;
    line_make(&line, dice);
    HOLDS(line_run(w, &line) == 0);
    HOLDS(atomic_load(&line.under_way) == 0 && atomic_load(&line.made) > 0);
    for (size_t i = 0; i < line.stages; i++)
        HOLDS(atomic_load(&line.stage[i].passed) ==
              line.n - (i > line.drop_at) * ((line.n + 2) / 3));
}

static void all_items_pass_in_order(void **state)
{
    property_holds(pipelines, SCALED(150, 15));
}

static void failures(weft *w, struct dice *dice)
{
    struct line line;
    do
        line_make(&line, dice);
    while (line.stages < 2 || line.n == 0);
    line.fail_at = dice_below(dice, line.n);
    HOLDS(line_run(w, &line) == -EDOM);
    HOLDS(!weft_cancelled(w)); /* it goes no further out */
}

static void failures_end_it(void **state)
{
    property_holds(failures, SCALED(150, 15));
}

/* ---- Odd ones ---- */

static void odd_job(weft *w, void *arg)
{
    struct line line = {.n = 100, .stages = 1, .drop_at = STAGES, .fail_at = SIZE_MAX};
    const weft_stage parallel = {stage_0, true}, stage = {stage_0, false};
    const weft_state huge = {.size = SIZE_MAX - 5}, item = {.size = 1};
    CHECK(weft_pipeline(w, &stage, 0, &item, 1, &line) == -EINVAL);
    CHECK(weft_pipeline(w, &parallel, 1, &item, 1, &line) == -EINVAL);
    CHECK(weft_pipeline(w, &stage, 1, &huge, 1, &line) == -ENOMEM);
    CHECK(weft_pipeline(w, &stage, 1, &item, SIZE_MAX / 10, &line) == -ENOMEM);
    CHECK(line_run(w, &line) == 0 && atomic_load(&line.stage[0].passed) == 100);
}

static void what_is_wrong_is_said(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, odd_job, NULL), 0);
    pool_drop(pool);
}

/* What has failed already begins nothing. */
static void late_job(weft *w, void *arg)
{
    struct line line = {.n = 100, .stages = 2, .drop_at = STAGES, .fail_at = SIZE_MAX};
    weft_fail(w, -EDOM);
    CHECK(line_run(w, &line) == -ECANCELED && atomic_load(&line.made) == 0);
}

static void cancelled_ones_do_not_begin(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, late_job, NULL), -EDOM);
    pool_drop(pool);
}

/* Items without a size, and places without functions. */
static bool count_down(weft *w, void *item, void *arg)
{
    return item && (*(int *)arg)-- > 0;
}

static void bare_job(weft *w, void *arg)
{
    const weft_stage stages[] = {{count_down, false}};
    CHECK(weft_pipeline(w, stages, 1, &(weft_state){.size = 0}, 3, arg) == 0);
}

static void items_need_no_size(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    int left = 1000;
    assert_int_equal(weft_run(pool, bare_job, &left), 0);
    assert_int_equal(left, -1);
    pool_drop(pool);
}

/* One in another, and loops in both. */
static void nothing(weft *w, size_t begin, size_t end, void *arg)
{
    dawdle(begin);
}

static bool run_another(weft *w, void *item, void *arg)
{
    struct line line = {.n = 20, .stages = 3, .drop_at = STAGES, .fail_at = SIZE_MAX};
    line.stage[1].parallel = true;
    weft_for(w, 0, 20, nothing, NULL);
    HOLDS(line_run(w, &line) == 0);
    return true;
}

static void nested(weft *w, struct dice *dice)
{
    int left = 20;
    const weft_stage stages[] = {{count_down, false}, {run_another, true}, {run_another, false}};
    HOLDS(weft_pipeline(w, stages, 3, &(weft_state){.size = 0}, 5, &left) == 0);
}

static void pipelines_nest(void **state)
{
    property_holds(nested, SCALED(10, 5));
}

/* The next item is taken at once, if the last ones were long. The quantum is so long that no thief
 * takes it otherwise: the test would hang. */
enum { LONG_ITEMS = 60, WARM = 20, LONG_ITEM_NS = 100000 };

struct relay {
    size_t made, written;
    atomic_size_t begun; /* items that are in the second stage, or have been there */
};

static bool make_next(weft *w, void *item, void *arg)
{
    struct relay *relay = arg;
    *(size_t *)item = relay->made;
    return relay->made++ < LONG_ITEMS;
}

static bool wait_for_next(weft *w, void *item, void *arg)
{
    struct relay *relay = arg;
    size_t number = *(size_t *)item;
    atomic_fetch_add(&relay->begun, 1);
    if (number >= WARM && number + 1 < LONG_ITEMS)
        WAIT_UNTIL(atomic_load(&relay->begun) > number + 1);
    for (uint64_t begun = weft_now(); weft_now() - begun < LONG_ITEM_NS;)
        ;
    return true;
}

static bool write_next(weft *w, void *item, void *arg)
{
    struct relay *relay = arg;
    HOLDS(*(size_t *)item == relay->written++);
    return true;
}

static void run_relay(weft *w, void *arg)
{
    const weft_stage stages[] = {{make_next, false}, {wait_for_next, true}, {write_next, false}};
    HOLDS(weft_pipeline(w, stages, 3, &(weft_state){.size = sizeof(size_t)}, 0, arg) == 0);
}

static void long_items_are_taken_at_once(void **state)
{
    struct relay relay = {0};
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 2;
    config.quantum = INT64_C(3600000000000);
    weft_pool *pool = pool_make_with(&config);
    assert_int_equal(weft_run(pool, run_relay, &relay), 0);
    assert_int_equal(relay.written, LONG_ITEMS);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_items_pass_in_order),
        cmocka_unit_test(failures_end_it),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(cancelled_ones_do_not_begin),
        cmocka_unit_test(items_need_no_size),
        cmocka_unit_test(pipelines_nest),
        cmocka_unit_test(long_items_are_taken_at_once),
    };
    return RUN_ON_ALL_ROADS(tests);
}
