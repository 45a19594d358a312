/* SPDX-License-Identifier: MIT */
/* parallel_state.c: what bodies have for themselves, and progress. */
#include "child.h"
#include "property.h"
#include "weft/parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- State ---- */

struct sum {
    atomic_bool is_used;
    size_t sum;
};

struct loop {
    atomic_size_t made, dropped;
    size_t sum;
    bool slow, nested;
};

static void sum_make(void *state, void *arg)
{
    static const struct sum zero;
    struct loop *loop = arg;
    HOLDS(memcmp(state, &zero, sizeof zero) == 0);
    atomic_fetch_add(&loop->made, 1);
}

static void sum_drop(void *state, void *arg)
{
    struct sum *sum = state;
    struct loop *loop = arg;
    HOLDS(!atomic_load(&sum->is_used));
    loop->sum += sum->sum;
    atomic_fetch_add(&loop->dropped, 1);
}

static void dawdle_only(weft *w, size_t begin, size_t end, void *arg)
{
    dawdle(begin);
}

static void sum_range(weft *w, size_t begin, size_t end, void *state, void *arg)
{
    struct loop *loop = arg;
    struct sum *sum = state;
    HOLDS(!atomic_exchange(&sum->is_used, true)); /* by nobody else meanwhile */
    for (size_t i = begin; i < end; i++) {
        sum->sum += i;
        if (loop->slow)
            dawdle(i);
    }
    if (loop->nested) /* waits, and runs parts of the same loop meanwhile */
        weft_for(w, 0, 20, dawdle_only, NULL);
    HOLDS(atomic_exchange(&sum->is_used, false));
}

static void states(weft *w, struct dice *dice)
{
    static const weft_state kind = {sizeof(struct sum), sum_make, sum_drop};
    struct loop loop = {.slow = dice_below(dice, 2), .nested = dice_below(dice, 3) == 0};
    size_t n = dice_size(dice, loop.slow ? 10000 : 100000);
    weft_for_with(w, 0, n, &kind, sum_range, &loop);
    HOLDS(loop.sum == (n ? n * (n - 1) / 2 : 0));
    size_t made = atomic_load(&loop.made);
    HOLDS(made == atomic_load(&loop.dropped) && (made > 0) == (n > 0));
    /* Once for each of the workers and this guest. */
    HOLDS(loop.nested || made <= weft_pool_workers(weft_pool_of(w)) + 1);
}

static void states_are_one_for_each_worker(void **state)
{
    property_holds(states, SCALED(60, 5));
}

static void sum_bare(weft *w, size_t begin, size_t end, void *state, void *arg)
{
    *(size_t *)state += end - begin;
    if (begin > 1000)
        weft_fail(w, -EDOM);
}

static void bare_job(weft *w, void *arg)
{
    weft_for_with(w, 0, SIZE_MAX, &(weft_state){.size = sizeof(size_t)}, sum_bare, NULL);
}

static void states_need_no_functions(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, bare_job, NULL), -EDOM);
    pool_drop(pool);
}

/* ---- Progress ---- */

struct reports {
    atomic_bool is_reporting;
    size_t last, count;
};

static void note_report(size_t done, size_t total, void *data)
{
    struct reports *reports = data;
    CHECK(!atomic_exchange(&reports->is_reporting, true));
    CHECK(reports->last <= done && done <= total);
    reports->last = done;
    reports->count++;
    CHECK(atomic_exchange(&reports->is_reporting, false));
}

static void add_range(weft *w, size_t begin, size_t end, void *arg)
{
    for (size_t i = begin; i < end; i++)
        weft_progress_add(arg, 1);
}

enum { STEPS = 1000, STEP = 3000 };

/* Until a report came while it was going on; then what the last one says is all there is. */
static void progress_job(weft *w, void *arg)
{
    struct reports reports = {.count = 0};
    weft_progress progress;
    while (reports.count < 2) {
        reports = (struct reports){.count = 0};
        weft_progress_begin(&progress, STEPS * STEP, note_report, &reports);
        for (int i = 0; i < STEPS; i++)
            weft_for_min(w, 0, STEP, 10, add_range, &progress);
        weft_progress_end(&progress);
        CHECK(reports.last == STEPS * STEP && weft_progress_done(&progress) == STEPS * STEP);
    }
}

static void progress_is_reported(void **state)
{
    weft_pool *pool = pool_make(3, 0);
    assert_int_equal(weft_run(pool, progress_job, NULL), 0);
    pool_drop(pool);
}

static void bar_job(weft *w, void *arg)
{
    weft_progress progress;
    weft_progress_bar(&progress, 1000, "working");
    weft_for(w, 0, 1000, add_range, &progress);
    weft_progress_end(&progress);
    CHECK(weft_progress_done(&progress) == 1000);
}

/* On a terminal of its own, which keeps what was drawn until it is read. */
static void draw_on_a_terminal(void *arg)
{
    char drawn[4096];
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    int before = dup(STDERR_FILENO);
    CHECK(terminal >= 0 && before >= 0 && dup2(terminal, STDERR_FILENO) >= 0);
    CHECK(weft_run(NULL, bar_job, NULL) == 0);
    CHECK(dup2(before, STDERR_FILENO) >= 0);
    ssize_t length = read(master, drawn, sizeof drawn - 1);
    CHECK(length > 0);
    drawn[length] = '\0';
    CHECK(strstr(drawn, "working [####") && strstr(drawn, "] 100 %"));
    close(master);
    close(terminal);
    close(before);
}

static void bars_are_drawn(void **state)
{
    expect_fine(draw_on_a_terminal, NULL);
}

static void bars_are_for_terminals(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, bar_job, NULL), 0);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_are_one_for_each_worker),
        cmocka_unit_test(states_need_no_functions),
        cmocka_unit_test(progress_is_reported),
        cmocka_unit_test(bars_are_drawn),
        cmocka_unit_test(bars_are_for_terminals),
    };
    return RUN_ON_ALL_ROADS(tests);
}
