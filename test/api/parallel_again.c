/* SPDX-License-Identifier: MIT */
/* parallel_again.c: loops that remember who had what. */
#include "property.h"
#include "weft/actor.h"
#include "weft/parallel.h"

#include <errno.h>
#include <stdlib.h>

enum { MOST = 3000 };

struct steps {
    atomic_uchar times[MOST];
    bool slow;
    size_t fail_at;
};

static void mark(weft *w, size_t begin, size_t end, void *arg)
{
    struct steps *steps = arg;
    HOLDS(begin < end && end <= MOST);
    for (size_t i = begin; i < end; i++) {
        atomic_fetch_add(&steps->times[i], 1);
        if (steps->slow)
            dawdle(i);
        if (i == steps->fail_at)
            weft_fail(w, -EDOM);
    }
}

/* Ranges, pools, bodies that are slow or fast, and steps that fail, in any order: one memory. */
static weft_again again = WEFT_AGAIN_INIT;

static void elements(weft *w, struct dice *dice)
{
    size_t begin = dice_below(dice, 10), n = dice_size(dice, MOST - begin);
    for (size_t step = 0; step < 4; step++) {
        struct steps steps = {.slow = dice_below(dice, 2), .fail_at = SIZE_MAX};
        bool fails = n > 0 && dice_below(dice, 4) == 0;
        if (fails)
            steps.fail_at = begin + dice_below(dice, n);
        weft_scope scope;
        weft_scope_open(w, &scope);
        weft_for_again(w, &again, begin, begin + n, mark, &steps);
        HOLDS(weft_scope_close(w, &scope) == (fails ? -EDOM : 0));
        for (size_t i = 0; i < MOST; i++) {
            unsigned times = atomic_load(&steps.times[i]);
            HOLDS(times <= 1 && (times == 0 || (i >= begin && i < begin + n)));
            HOLDS(fails || times == (i >= begin && i < begin + n));
        }
    }
}

static void each_element_once_in_each_run(void **state)
{
    property_holds(elements, SCALED(60, 6));
}

/* ---- Who has what ---- */

enum { THREADS = 2, ELEMENTS = 8 * THREADS, RUNS = 20, STEPS = 4 };

struct shared {
    unsigned run;
    unsigned had[ELEMENTS];       /* by which thread, plus 1, in the last run */
    unsigned has[ELEMENTS];       /* in this one */
    atomic_uint taken[THREADS];   /* how many elements a thread has in this run */
    size_t first[THREADS][STEPS]; /* the first of them */
};

static void spin(int times)
{
    for (volatile int i = 0; i < times; i++)
        ;
}

/* The first elements are taken in step: each thread waits until the other has as many. Which of the
 * two is faster then, changes from run to run. */
static void keep_step(weft *w, size_t begin, size_t end, void *arg)
{
    struct shared *shared = arg;
    unsigned me = weft_worker_index(w);
    CHECK(me < THREADS);
    for (size_t i = begin; i < end; i++) {
        unsigned taken = atomic_load(&shared->taken[me]);
        shared->has[i] = me + 1;
        if (taken < STEPS)
            shared->first[me][taken] = i;
        atomic_store(&shared->taken[me], taken + 1);
        while (taken < STEPS && atomic_load(&shared->taken[1 - me]) <= taken)
            ;
        spin((shared->run + me) % 2 ? 3000 : 10000);
    }
}

static void step_often(weft *w, void *arg)
{
    struct shared *shared = arg;
    weft_again memory = WEFT_AGAIN_INIT;
    for (shared->run = 0; shared->run < RUNS; shared->run++) {
        for (unsigned i = 0; i < THREADS; i++)
            atomic_store(&shared->taken[i], 0);
        weft_for_again(w, &memory, 0, ELEMENTS, keep_step, shared);
        for (unsigned i = 0; shared->run > 0 && i < THREADS; i++)
            for (unsigned j = 0; j < STEPS; j++)
                CHECK(shared->had[shared->first[i][j]] == i + 1);
        for (size_t i = 0; i < ELEMENTS; i++)
            shared->had[i] = shared->has[i];
    }
}

static void threads_begin_with_what_they_had(void **state)
{
    static struct shared shared;
    weft_pool *pool = pool_make(THREADS, WEFT_USE_CALLER);
    assert_int_equal(weft_run(pool, step_often, &shared), 0);
    pool_drop(pool);
}

/* ---- No thread is waited for ---- */

static void run_alone(weft *w, void *arg)
{
    struct steps *steps = arg;
    weft_for_again(w, &again, 0, MOST, mark, steps);
}

/* The worker that had a half of the parts is busy now. */
static void busy_threads_are_not_waited_for(void **state)
{
    static struct steps steps;
    weft_pool *pool = pool_make(THREADS, WEFT_USE_CALLER);
    struct held held;
    steps = (struct steps){.slow = true, .fail_at = SIZE_MAX};
    assert_int_equal(weft_run(pool, run_alone, &steps), 0);
    pool_hold(pool, &held, 1);
    assert_int_equal(weft_run(pool, run_alone, &steps), 0);
    for (size_t i = 0; i < MOST; i++)
        assert_int_equal(atomic_load(&steps.times[i]), 2);
    pool_let_go(&held);
    pool_drop(pool);
}

/* ---- Actors ---- */

struct patient {
    weft_again again;
    atomic_bool started;
};

static void wait_for_the_end(weft *w, size_t begin, size_t end, void *arg)
{
    struct patient *patient = arg;
    atomic_store(&patient->started, true);
    while (weft_actor_self(w))
        weft_poll(w);
}

static int loop_without_end(weft *w, void *arg)
{
    struct patient *patient = arg;
    weft_for_again(w, &patient->again, 0, 1000, wait_for_the_end, patient);
    return 0;
}

static int run_often(weft *w, void *arg)
{
    struct patient *patient = arg;
    for (int i = 0; i < 20; i++) {
        struct steps steps = {.fail_at = SIZE_MAX};
        weft_for_again(w, &patient->again, 0, MOST, mark, &steps);
        for (size_t j = 0; j < MOST; j++)
            CHECK(atomic_load(&steps.times[j]) == 1);
    }
    return 0;
}

/* An actor that ends in a loop leaves the memory as others can use it. */
static void actors_have_loops(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    struct patient patient = {.again = WEFT_AGAIN_INIT};
    weft_actor *actor;
    CHECK(weft_actor_create(&actor, pool, loop_without_end, &patient, NULL) == 0);
    CHECK(weft_actor_run(actor) == 0);
    while (!atomic_load(&patient.started))
        ;
    weft_actor_kill(actor);
    assert_int_equal(weft_actor_wait(NULL, actor), -ECANCELED);
    weft_actor_release(actor);
    CHECK(weft_actor_create(&actor, pool, run_often, &patient, NULL) == 0);
    CHECK(weft_actor_run(actor) == 0);
    assert_int_equal(weft_actor_wait(NULL, actor), 0);
    weft_actor_release(actor);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_element_once_in_each_run),
        cmocka_unit_test(threads_begin_with_what_they_had),
        cmocka_unit_test(busy_threads_are_not_waited_for),
        cmocka_unit_test(actors_have_loops),
    };
    return RUN_ON_ALL_ROADS(tests);
}
