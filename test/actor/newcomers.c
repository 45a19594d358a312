/* SPDX-License-Identifier: MIT */
/* newcomers.c: an actor that comes to a busy executor has its first turn at once, and whose turn is
 * next then. One executor; its quanta end when the test says so: the ticker's own come after 1000
 * seconds. So the order is always the same. */
#include "actor/fiber.h"
#include "actors.h"
#include "core/context.h"
#include "pools.h"

#include <string.h>

enum { ROUNDS = 4 };

/* A comes first. The names of the actors that A and B start before each of their steps. */
struct script {
    const char *a[ROUNDS], *b[ROUNDS];
};

struct stage {
    weft_pool *pool;
    const struct script *script;
    char order[64]; /* whose steps; all of them on one executor */
    size_t steps;
    weft_actor *brought[8];
    size_t brought_count;
};

struct walker {
    struct stage *stage;
    char name;
};

static struct weft__executor *executor_of(weft *w)
{
    return weft__executor_of((struct weft__fiber *)weft__context_of(w));
}

static void end_quantum(weft *w)
{
    struct weft__fiber *fiber = (struct weft__fiber *)weft__context_of(w);
    atomic_store_relaxed(&executor_of(w)->tick, true); /* both as the ticker does */
    atomic_store_relaxed(&fiber->context.guard, UINTPTR_MAX);
    weft_poll(w);
}

static void step(struct walker *walker)
{
    struct stage *stage = walker->stage;
    CHECK(stage->steps < sizeof stage->order - 1);
    stage->order[stage->steps++] = walker->name;
}

static int walk(weft *w, void *arg);

static void bring(struct stage *stage, const char *names)
{
    static struct walker walkers[26];
    for (; names && *names; names++) {
        struct walker *walker = &walkers[*names - 'A'];
        *walker = (struct walker){stage, *names};
        stage->brought[stage->brought_count++] = start(stage->pool, walk, walker, NULL);
    }
}

/* Takes its steps, and ends a quantum after each. */
static int walk(weft *w, void *arg)
{
    struct walker *walker = arg;
    const struct script *script = walker->stage->script;
    for (int i = 0; i < ROUNDS; i++) {
        if (walker->name <= 'B')
            bring(walker->stage, walker->name == 'A' ? script->a[i] : script->b[i]);
        weft_poll(w); /* gives way, if an actor has come */
        step(walker);
        end_quantum(w);
    }
    return 0;
}

/* The first quantum after a pause is short, and the ticker ends it. After that, the test ends them.
 */
static int walk_first(weft *w, void *arg)
{
    struct weft__executor *executor = executor_of(w);
    WAIT_UNTIL(executor->quanta > 0 || atomic_load_relaxed(&executor->tick)); /* the ticker's */
    weft_poll(w);
    return walk(w, arg);
}

static void expect_order(struct script script, const char *order)
{
    struct stage stage = {.pool = pool_make(1, WEFT_NO_GUESTS), .script = &script};
    weft_actors_config config = WEFT_ACTORS_CONFIG_INIT;
    config.turn = (uint64_t)1000 * 1000000000;
    config.executors = 1;
    assert_int_equal(weft_actors_setup(stage.pool, &config), 0);
    assert_int_equal(run_one(stage.pool, walk_first, &(struct walker){&stage, 'A'}), 0);
    for (size_t i = 0; i < stage.brought_count; i++)
        assert_int_equal(end(stage.brought[i]), 0);
    pool_drop(stage.pool);
    assert_string_equal(stage.order, order);
}

/* B has the rest of A's quantum and a whole one; then A has the rest that B took and a whole one.
 */
static void giving_way_costs_no_quantum(void **state)
{
    expect_order((struct script){.a = {"B"}}, "BBAABABA");
}

/* C comes in the turn in which A has given way to B: the others have their turn first. D comes in
 * A's next turn. */
static void once_in_a_turn(void **state)
{
    expect_order((struct script){.a = {"B", "C", "D"}}, "BBAABCDDAABCDCDC");
}

static void first_turns_and_others_take_turns(void **state)
{
    expect_order((struct script){.a = {"BCD"}}, "BBAABCADBCADCDCD");
}

/* B brings C in its own first turn, when A waits: B does not give way. */
static void newcomers_don_t_give_way_to_newcomers(void **state)
{
    expect_order((struct script){.a = {"B"}, .b = {"C"}}, "BBAABCABCACC");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(giving_way_costs_no_quantum),
        cmocka_unit_test(once_in_a_turn),
        cmocka_unit_test(first_turns_and_others_take_turns),
        cmocka_unit_test(newcomers_don_t_give_way_to_newcomers),
    };
    return cmocka_run_group_tests_name("newcomers", tests, NULL, NULL);
}
