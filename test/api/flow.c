/* SPDX-License-Identifier: MIT */
/* flow.c: tasks that name the same addresses run as if one after the other; others do not wait. */
#include "actors.h"
#include "property.h"
#include "weft/graph.h"

#include <errno.h>
#include <stdlib.h>

enum { CELLS = 40, TASKS_MAX = 600, DEPS = 4 };

/* A random program: each task reads some cells and writes some, and its result depends on all that
 * it reads. Run in order, it gives the result that is expected. */
struct task {
    struct program *program;
    size_t number;
    weft_dep deps[DEPS];
    size_t deps_n;
    int fails_with;
};

struct program {
    uint64_t cells[CELLS]; /* ordinary memory: a missing order is a race */
    atomic_size_t ran;
    size_t n;
    struct task tasks[TASKS_MAX];
};

static void task_run(weft *w, void *arg)
{
    struct task *task = arg;
    uint64_t value = task->number;
    for (size_t i = 0; i < task->deps_n; i++)
        if (task->deps[i].access != WEFT_OUT)
            value = value * 31 + *(const uint64_t *)task->deps[i].address;
    if (w)
        dawdle(task->number);
    for (size_t i = 0; i < task->deps_n; i++)
        if (task->deps[i].access != WEFT_IN)
            task->program->cells[(const uint64_t *)task->deps[i].address - task->program->cells] =
                value++;
    atomic_fetch_add(&task->program->ran, 1);
    if (task->fails_with)
        weft_fail(w, task->fails_with);
}

static struct program *program_make(struct dice *dice, size_t n)
{
    struct program *program = calloc(1, sizeof *program);
    size_t cells = 1 + dice_below(dice, CELLS);
    program->n = n;
    for (size_t i = 0; i < n; i++) {
        struct task *task = &program->tasks[i];
        *task =
            (struct task){.program = program, .number = i, .deps_n = dice_below(dice, DEPS + 1)};
        for (size_t k = 0; k < task->deps_n; k++)
            task->deps[k] = (weft_dep){&program->cells[dice_below(dice, cells)],
                                       (enum weft_access)dice_below(dice, 3)};
    }
    return program;
}

static int program_spawn(weft *w, struct program *program)
{
    weft_flow flow;
    weft_flow_open(w, &flow);
    for (size_t i = 0; i < program->n; i++) {
        struct task *task = &program->tasks[i];
        HOLDS(weft_flow_spawn(w, &flow, task->deps, task->deps_n, task_run, task) == 0);
    }
    return weft_flow_close(w, &flow);
}

static void random_program(weft *w, struct dice *dice)
{
    struct program *program = program_make(dice, dice_size(dice, TASKS_MAX));
    uint64_t expected[CELLS];
    for (size_t i = 0; i < program->n; i++)
        task_run(NULL, &program->tasks[i]);
    for (size_t i = 0; i < CELLS; i++) {
        expected[i] = program->cells[i];
        program->cells[i] = 0;
    }
    program->ran = 0;
    HOLDS(program_spawn(w, program) == 0);
    HOLDS(program->ran == program->n);
    for (size_t i = 0; i < CELLS; i++)
        HOLDS(program->cells[i] == expected[i]);
    free(program);
}

static void tasks_run_as_if_in_order(void **state)
{
    property_holds(random_program, SCALED(60, 6));
}

/* One that fails, wherever it is: those that follow it do not begin. */
static void failing_program(weft *w, struct dice *dice)
{
    struct program *program = program_make(dice, 1 + dice_size(dice, 100));
    size_t bad = dice_below(dice, program->n);
    program->tasks[bad].deps[0] = (weft_dep){&program->cells[0], WEFT_INOUT};
    program->tasks[bad].deps_n = 1;
    program->tasks[bad].fails_with = -EDOM;
    uint64_t *last = &program->cells[CELLS - 1];
    *last = 7;
    for (size_t i = bad + 1; i < program->n; i++) {
        program->tasks[i].deps[0] = (weft_dep){&program->cells[0], WEFT_INOUT};
        program->tasks[i].deps[1] = (weft_dep){last, WEFT_OUT};
        program->tasks[i].deps_n = 2;
    }
    for (size_t i = 0; i < bad; i++)
        for (size_t k = 0; k < program->tasks[i].deps_n; k++)
            if (program->tasks[i].deps[k].address == last)
                program->tasks[i].deps[k].access = WEFT_IN;
    HOLDS(program_spawn(w, program) == -EDOM);
    HOLDS(!weft_cancelled(w));
    HOLDS(*last == 7);
    HOLDS(program->ran <= bad + 1);
    free(program);
}

static void failures_end_it(void **state)
{
    property_holds(failing_program, SCALED(60, 6));
}

/* A task belongs to its flow, whichever scope is the innermost where it is spawned: neither fails
 * for the other. */
static void task_fails(weft *w, void *arg)
{
    weft_fail(w, -EDOM);
}

static void task_counts(weft *w, void *count)
{
    atomic_fetch_add((atomic_int *)count, 1);
}

static void spawn_inside_scope(weft *w, void *arg)
{
    atomic_int count = 0;
    weft_dep dep = {&count, WEFT_INOUT};
    weft_flow flow;
    weft_scope scope;
    weft_flow_open(w, &flow);
    weft_scope_open(w, &scope);
    CHECK(weft_flow_spawn(w, &flow, &dep, 1, task_fails, NULL) == 0);
    int error = weft_scope_close(w, &scope);
    CHECK(error == 0 || error == -ECANCELED); /* as part of the flow; not by a failure of its own */
    CHECK(weft_flow_close(w, &flow) == -EDOM);
    weft_flow_open(w, &flow);
    weft_scope_open(w, &scope);
    weft_fail(w, -EIO);
    CHECK(weft_flow_spawn(w, &flow, &dep, 1, task_counts, &count) == 0);
    CHECK(weft_scope_close(w, &scope) == -EIO);
    CHECK(weft_flow_close(w, &flow) == 0);
    CHECK(count == 1);
}

static void scopes_inside_a_flow(void **state)
{
    for (unsigned workers = 1; workers <= 4; workers += 3) {
        weft_pool *pool = pool_make(workers, 0);
        assert_int_equal(weft_run(pool, spawn_inside_scope, NULL), 0);
        pool_drop(pool);
    }
}

/* ---- What may run at the same time ---- */

static void meet(weft *w, void *arg)
{
    atomic_int *arrived = arg;
    atomic_fetch_add(arrived, 1);
    WAIT_UNTIL(*arrived >= 2);
}

static void mark(weft *w, void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

/* Readers of one address wait for each other's beginning, and so do those of different ones. */
static void meetings(weft *w, void *arg)
{
    static char a, b;
    atomic_int readers = 0, writers = 0, before = 0;
    weft_flow flow;
    weft_flow_open(w, &flow);
    CHECK(weft_flow_spawn(w, &flow, (weft_dep[]){{&a, WEFT_OUT}}, 1, mark, &before) == 0);
    CHECK(weft_flow_spawn(w, &flow, (weft_dep[]){{&a, WEFT_IN}}, 1, meet, &readers) == 0);
    CHECK(weft_flow_spawn(w, &flow, (weft_dep[]){{&a, WEFT_IN}}, 1, meet, &readers) == 0);
    CHECK(weft_flow_close(w, &flow) == 0);
    weft_flow_open(w, &flow);
    CHECK(weft_flow_spawn(w, &flow, (weft_dep[]){{&a, WEFT_OUT}}, 1, meet, &writers) == 0);
    CHECK(weft_flow_spawn(w, &flow, (weft_dep[]){{&b, WEFT_OUT}}, 1, meet, &writers) == 0);
    CHECK(weft_flow_close(w, &flow) == 0);
    CHECK(before == 1 && readers == 2 && writers == 2);
}

static void readers_and_others_do_not_wait(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < rounds_of(50); i++)
        assert_int_equal(weft_run(pool, meetings, NULL), 0);
    pool_drop(pool);
}

/* What is not over is not forgotten: neither when an address has many readers, nor when the table
 * of addresses grows. All wait for a first task, which waits until all are spawned. */
enum { READERS = 300, OTHERS = 60 }; /* more than the spawner spawns before it runs some itself */

struct crowd {
    atomic_bool begun, spawned;
    atomic_int readers;
    char a, b, others[OTHERS];
};

static void wait_for_all(weft *w, void *arg)
{
    struct crowd *crowd = arg;
    crowd->begun = true;
    WAIT_UNTIL(crowd->spawned);
}

static void read_both(weft *w, void *arg)
{
    dawdle((size_t)atomic_fetch_add(&((struct crowd *)arg)->readers, 0));
    atomic_fetch_add(&((struct crowd *)arg)->readers, 1);
}

static void come_last(weft *w, void *arg)
{
    CHECK(((struct crowd *)arg)->readers >= READERS);
}

static void crowd_job(weft *w, void *arg)
{
    struct crowd crowd = {.spawned = false};
    weft_flow flow;
    weft_flow_open(w, &flow);
    CHECK(weft_flow_spawn(w, &flow, &(weft_dep){&crowd.a, WEFT_OUT}, 1, wait_for_all, &crowd) == 0);
    WAIT_UNTIL(crowd.begun); /* elsewhere: this job does not run it */
    for (int i = 0; i < READERS; i++) {
        weft_dep deps[] = {{&crowd.a, WEFT_IN}, {&crowd.b, WEFT_IN}}; /* no task writes b yet */
        CHECK(weft_flow_spawn(w, &flow, deps, 2, read_both, &crowd) == 0);
    }
    for (int i = 0; i < OTHERS; i++) {
        weft_dep deps[] = {{&crowd.a, WEFT_IN}, {&crowd.others[i], WEFT_OUT}};
        CHECK(weft_flow_spawn(w, &flow, deps, 2, read_both, &crowd) == 0);
    }
    CHECK(weft_flow_spawn(w, &flow, &(weft_dep){&crowd.b, WEFT_OUT}, 1, come_last, &crowd) == 0);
    CHECK(weft_flow_spawn(w, &flow, &(weft_dep){&crowd.a, WEFT_OUT}, 1, come_last, &crowd) == 0);
    crowd.spawned = true;
    CHECK(weft_flow_close(w, &flow) == 0);
    CHECK(crowd.readers == READERS + OTHERS);
}

static void nothing_is_forgotten_too_early(void **state)
{
    for (unsigned workers = 2; workers < 5; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        for (int i = 0; i < rounds_of(20); i++)
            assert_int_equal(weft_run(pool, crowd_job, NULL), 0);
        pool_drop(pool);
    }
}

/* ---- Long flows ---- */

static void add_one(weft *w, void *arg)
{
    ++*(size_t *)arg;
}

/* Many tasks, each with an address of its own and one that all share; most read another one. The
 * memory of those that are over is used again. */
static void many_tasks(weft *w, void *arg)
{
    const size_t n = SCALED(200000, 20);
    static char addresses[4096];
    size_t count = 0;
    weft_flow flow;
    weft_flow_open(w, &flow);
    for (size_t i = 0; i < n; i++) {
        weft_dep deps[] = {{&count, WEFT_INOUT},
                           {(char *)(uintptr_t)(1000000 + 8 * i), WEFT_OUT},
                           {&addresses[i % sizeof addresses], WEFT_IN}};
        CHECK(weft_flow_spawn(w, &flow, deps, 3, add_one, &count) == 0);
    }
    CHECK(weft_flow_close(w, &flow) == 0);
    CHECK(count == n);
}

static void long_flows(void **state)
{
    for (unsigned workers = 1; workers < 4; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        assert_int_equal(weft_run(pool, many_tasks, NULL), 0);
        pool_drop(pool);
    }
}

/* The other worker is busy elsewhere, so the spawner has to run tasks itself, and does so in time.
 */
static void chain_job(weft *w, void *arg)
{
    size_t count = 0;
    weft_flow flow;
    weft_flow_open(w, &flow);
    for (size_t i = 0; i < 10000; i++) {
        CHECK(weft_flow_spawn(w, &flow, &(weft_dep){&count, WEFT_INOUT}, 1, add_one, &count) == 0);
        CHECK(i + 1 - count < 1000);
    }
    CHECK(weft_flow_close(w, &flow) == 0);
    CHECK(count == 10000);
}

static void tasks_do_not_pile_up(void **state)
{
    weft_pool *pool = pool_make(2, WEFT_NO_GUESTS);
    struct held held;
    pool_hold(pool, &held, 1);
    assert_int_equal(weft_run(pool, chain_job, NULL), 0);
    pool_let_go(&held);
    pool_drop(pool);
}

/* ---- What is refused ---- */

static void wrong_arguments(weft *w, void *arg)
{
    weft_flow flow;
    atomic_int count = 0;
    weft_flow_open(w, &flow);
    CHECK(weft_flow_spawn(NULL, &flow, NULL, 0, mark, &count) == -EINVAL);
    CHECK(weft_flow_spawn(w, NULL, NULL, 0, mark, &count) == -EINVAL);
    CHECK(weft_flow_spawn(w, &flow, NULL, 0, NULL, &count) == -EINVAL);
    CHECK(weft_flow_spawn(w, &flow, NULL, 1, mark, &count) == -EINVAL);
    CHECK(weft_flow_spawn(w, &flow, &(weft_dep){NULL, WEFT_IN}, 1, mark, &count) == -EINVAL);
    CHECK(weft_flow_spawn(w, &flow, &(weft_dep){&count, 3}, 1, mark, &count) == -EINVAL);
    CHECK(weft_flow_spawn(w, &flow, NULL, 0, mark, &count) == 0);
    CHECK(weft_flow_close(w, &flow) == 0);
    CHECK(count == 1);
}

static void what_is_wrong_is_said(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, wrong_arguments, NULL), 0);
    pool_drop(pool);
}

static void pass_the_deadline(weft *w, void *arg)
{
    weft_scope scope;
    weft_flow flow;
    atomic_int count = 0;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now());
    weft_flow_open(w, &flow);
    for (int i = 0; i < 10; i++)
        CHECK(weft_flow_spawn(w, &flow, &(weft_dep){&count, WEFT_OUT}, 1, mark, &count) == 0);
    CHECK(weft_flow_close(w, &flow) == -ECANCELED);
    CHECK(weft_scope_close(w, &scope) == -ETIMEDOUT);
    CHECK(count == 0);
}

static void deadlines_end_it(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, pass_the_deadline, NULL), 0);
    pool_drop(pool);
}

/* ---- Actors ---- */

static int flow_actor(weft *w, void *arg)
{
    size_t count = 0;
    weft_flow flow;
    weft_flow_open(w, &flow);
    for (size_t i = 0; i < 10000; i++)
        CHECK(weft_flow_spawn(w, &flow, &(weft_dep){&count, WEFT_INOUT}, 1, add_one, &count) == 0);
    int error = weft_flow_close(w, &flow);
    CHECK(error || count == 10000);
    return error;
}

static void stay(weft *w, void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
    for (;;)
        weft_poll(w);
}

static int endless_actor(weft *w, void *arg)
{
    weft_flow flow;
    weft_flow_open(w, &flow);
    CHECK(weft_flow_spawn(w, &flow, &(weft_dep){&flow, WEFT_INOUT}, 1, stay, arg) == 0);
    CHECK(weft_flow_spawn(w, &flow, &(weft_dep){&flow, WEFT_INOUT}, 1, stay, arg) == 0);
    return weft_flow_close(w, &flow);
}

static void actors_have_flows(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    atomic_int begun = 0;
    assert_int_equal(run_one(pool, flow_actor, NULL), 0);
    weft_actor *actor = start(pool, endless_actor, &begun, NULL);
    WAIT_UNTIL(begun > 0);
    weft_actor_kill(actor);
    assert_int_equal(end(actor), -ECANCELED);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_run_as_if_in_order),
        cmocka_unit_test(failures_end_it),
        cmocka_unit_test(scopes_inside_a_flow),
        cmocka_unit_test(readers_and_others_do_not_wait),
        cmocka_unit_test(nothing_is_forgotten_too_early),
        cmocka_unit_test(long_flows),
        cmocka_unit_test(tasks_do_not_pile_up),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(deadlines_end_it),
        cmocka_unit_test(actors_have_flows),
    };
    return RUN_ON_ALL_ROADS(tests);
}
