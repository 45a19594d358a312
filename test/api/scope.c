/* SPDX-License-Identifier: MIT */
/* scope.c: any number of children, in the order asked for, all done at the close. */
#include "actors.h"
#include "check.h"
#include "pools.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Order, on a worker that is alone ---- */

struct diary {
    char text[64]; /* one letter for each child that ran */
    size_t length;
};

struct entry {
    struct diary *diary;
    char letter;
};

static void write_letter(weft *w, void *arg)
{
    struct entry *entry = arg;
    struct diary *diary = entry->diary;
    CHECK(diary->length < sizeof diary->text - 1);
    diary->text[diary->length++] = entry->letter;
}

/* Spawns a child per letter, first in, first out for capital ones. */
static void spawn_word(weft *w, weft_scope *scope, struct diary *diary, struct entry *entries,
                       const char *word)
{
    for (size_t i = 0; word[i]; i++) {
        bool fifo = word[i] >= 'A' && word[i] <= 'Z';
        entries[i] = (struct entry){diary, word[i]};
        CHECK((fifo ? weft_spawn_fifo : weft_spawn)(w, scope, write_letter, &entries[i]) == 0);
    }
}

struct order {
    struct diary diary;
    const char *word;
};

static void run_word(weft *w, void *arg)
{
    struct order *order = arg;
    struct entry entries[64];
    weft_scope scope;
    weft_scope_open(w, &scope);
    spawn_word(w, &scope, &order->diary, entries, order->word);
    CHECK(order->diary.length == 0); /* nobody else is there to run them */
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void expect_order(weft_fn *fn, const char *word, const char *expected)
{
    weft_pool *pool = pool_make(1, WEFT_NO_GUESTS);
    struct order order = {.word = word};
    assert_int_equal(weft_run(pool, fn, &order), 0);
    assert_string_equal(order.diary.text, expected);
    pool_drop(pool);
}

static void last_in_first_out(void **state)
{
    expect_order(run_word, "", "");
    expect_order(run_word, "a", "a");
    expect_order(run_word, "abcdef", "fedcba");
}

static void first_in_first_out(void **state)
{
    expect_order(run_word, "A", "A");
    expect_order(run_word, "ABCDEF", "ABCDEF");
}

/* Each kind keeps its own order; when a capital one's turn comes, the oldest one runs. */
static void both_orders_in_one_scope(void **state)
{
    expect_order(run_word, "aAbBcC", "AcBbCa");
}

/* Two scopes, one inside the other: each has its own first ones. */
static void run_word_twice(weft *w, void *arg)
{
    struct order *order = arg;
    struct entry outer_entries[64], inner_entries[64];
    weft_scope outer, inner;
    weft_scope_open(w, &outer);
    spawn_word(w, &outer, &order->diary, outer_entries, "XYZ");
    weft_scope_open(w, &inner);
    spawn_word(w, &inner, &order->diary, inner_entries, order->word);
    CHECK(weft_scope_close(w, &inner) == 0);
    CHECK(strcspn(order->diary.text, "XYZ") == order->diary.length); /* only inner ones */
    CHECK(weft_scope_close(w, &outer) == 0);
}

static void order_in_nested_scopes(void **state)
{
    expect_order(run_word_twice, "ABC", "ABCXYZ");
    expect_order(run_word_twice, "abc", "cbaXYZ");
}

/* ---- Numbers ---- */

enum { MANY = SCALED(100000, 10) };

typedef int spawn_fn(weft *w, weft_scope *scope, weft_fn *fn, void *arg);

struct crowd {
    spawn_fn *spawn;
    atomic_uchar *ran; /* MANY */
};

static void mark(weft *w, void *arg)
{
    atomic_fetch_add((atomic_uchar *)arg, 1);
}

static void spawn_many(weft *w, void *arg)
{
    struct crowd *crowd = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (size_t i = 0; i < MANY; i++)
        CHECK(crowd->spawn(w, &scope, mark, &crowd->ran[i]) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
    for (size_t i = 0; i < MANY; i++)
        CHECK(atomic_load_explicit(&crowd->ran[i], memory_order_relaxed) == 1);
}

static void many_children(void **state)
{
    spawn_fn *const kinds[] = {weft_spawn, weft_spawn_fifo};
    for (unsigned workers = 1; workers <= 4; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        for (int k = 0; k < 2; k++) {
            struct crowd crowd = {kinds[k], calloc(MANY, sizeof crowd.ran[0])};
            assert_non_null(crowd.ran);
            assert_int_equal(weft_run(pool, spawn_many, &crowd), 0);
            free(crowd.ran);
        }
        pool_drop(pool);
    }
}

static void open_and_close(weft *w, void *arg)
{
    weft_scope scope;
    for (int i = 0; i < 1000; i++) {
        weft_scope_open(w, &scope);
        CHECK(weft_scope_close(w, &scope) == 0);
    }
    CHECK(!weft_has_pending(w));
}

static void empty_scope(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    assert_int_equal(weft_run(pool, open_and_close, NULL), 0);
    pool_drop(pool);
}

static void bad_arguments_job(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, NULL, NULL) == -EINVAL);
    CHECK(weft_spawn(w, NULL, mark, NULL) == -EINVAL);
    CHECK(weft_spawn(NULL, &scope, mark, NULL) == -EINVAL);
    CHECK(weft_spawn_fifo(w, &scope, NULL, NULL) == -EINVAL);
    CHECK(weft_spawn_fifo(w, NULL, mark, NULL) == -EINVAL);
    CHECK(weft_spawn_fifo(NULL, &scope, mark, NULL) == -EINVAL);
    CHECK(weft_spawn_detached(w, NULL, NULL) == -EINVAL);
    CHECK(weft_spawn_detached(NULL, mark, NULL) == -EINVAL);
    CHECK(weft_scope_close(w, &scope) == 0); /* nothing was spawned */
}

static void bad_arguments(void **state)
{
    weft_pool *pool = pool_make(1, 0);
    assert_int_equal(weft_run(pool, bad_arguments_job, NULL), 0);
    pool_drop(pool);
}

/* ---- Children of children ---- */

struct family {
    weft_scope *scope; /* the outermost one's */
    unsigned depth;
    bool fifo;
    atomic_ulong *born;
};

enum { CHILDREN = 4, DEPTH = SCALED(7, 2), ALL = DEPTH == 7 ? 21845 : 85 }; /* (4^(d+1) - 1) / 3 */

/* Every one spawns into the one scope, from whatever worker it is on. The families live
 * until then in the heap. */
static void beget(weft *w, void *arg)
{
    struct family family = *(struct family *)arg;
    free(arg);
    atomic_fetch_add(family.born, 1);
    for (int i = 0; family.depth > 0 && i < CHILDREN; i++) {
        struct family *child = malloc(sizeof *child);
        CHECK(child);
        *child = family;
        child->depth--;
        CHECK((family.fifo ? weft_spawn_fifo : weft_spawn)(w, family.scope, beget, child) == 0);
    }
}

static void found_family(weft *w, void *arg)
{
    struct family *family = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    struct family *first = malloc(sizeof *first);
    CHECK(first);
    *first = *family;
    first->scope = &scope;
    beget(w, first);
    CHECK(weft_scope_close(w, &scope) == 0);
    CHECK(atomic_load(family->born) == ALL);
}

static void children_of_children(void **state)
{
    for (unsigned workers = 1; workers <= 4; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        for (int fifo = 0; fifo < 2; fifo++) {
            atomic_ulong born = 0;
            struct family family = {NULL, DEPTH, fifo, &born};
            assert_int_equal(weft_run(pool, found_family, &family), 0);
        }
        pool_drop(pool);
    }
}

/* Scopes in children in scopes, to some depth. */
struct nest {
    unsigned depth;
    atomic_ulong *count;
};

static void nest_job(weft *w, void *arg)
{
    struct nest *nest = arg;
    atomic_fetch_add(nest->count, 1);
    if (nest->depth == 0)
        return;
    struct nest next = {nest->depth - 1, nest->count};
    weft_scope scope;
    weft_scope_open(w, &scope);
    for (int i = 0; i < CHILDREN; i++)
        CHECK((i % 2 ? weft_spawn : weft_spawn_fifo)(w, &scope, nest_job, &next) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void nested_scopes(void **state)
{
    for (unsigned workers = 1; workers <= 4; workers++) {
        weft_pool *pool = pool_make(workers, workers % 2 ? 0 : WEFT_NO_GUESTS);
        atomic_ulong count = 0;
        struct nest nest = {DEPTH, &count};
        assert_int_equal(weft_run(pool, nest_job, &nest), 0);
        assert_int_equal(atomic_load(&count), ALL);
        pool_drop(pool);
    }
}

/* A child that another worker runs keeps the scope open, and the owner helps meanwhile. */
struct visit {
    struct gate gate;
};

static void open_gate(weft *w, void *gate)
{
    gate_open(gate);
}

static void close_while_a_child_runs(weft *w, void *arg)
{
    struct visit *visit = arg;
    weft_scope scope;
    weft_task task;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, gate_job, &visit->gate) == 0);
    gate_wait_arrived(&visit->gate);
    CHECK(weft_submit(weft_pool_of(w), &task, open_gate, &visit->gate) == 0);
    CHECK(weft_scope_close(w, &scope) == 0); /* nobody else is free to run the task */
    CHECK(atomic_load(&visit->gate.open));
    CHECK(weft_task_wait(&task) == 0);
}

static void close_waits_and_helps(void **state)
{
    weft_pool *pool = pool_make(2, WEFT_NO_GUESTS);
    for (int i = 0; i < rounds_of(500); i++) {
        struct visit visit = {.gate = {0}};
        assert_int_equal(weft_run(pool, close_while_a_child_runs, &visit), 0);
    }
    pool_drop(pool);
}

/* ---- Of an actor, with a child in another pool ---- */

struct elsewhere {
    weft_pool *other;
    weft_actor *actor;
    weft_scope scope;
    atomic_bool begun, closes;
    atomic_int ran;
};

static bool waits(weft_actor *actor)
{
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    CHECK(weft_actor_get_info(actor, &info) == 0);
    return info.state == WEFT_ACTOR_WAITING;
}

static void run_last(weft *w, void *arg)
{
    atomic_fetch_add(&((struct elsewhere *)arg)->ran, 1);
}

/* The actor has run all children that it had. */
static void spawn_late(weft *w, void *arg)
{
    struct elsewhere *elsewhere = arg;
    atomic_store(&elsewhere->begun, true);
    WAIT_UNTIL(atomic_load(&elsewhere->closes) && waits(elsewhere->actor));
    CHECK(weft_spawn_fifo(w, &elsewhere->scope, run_last, elsewhere) == 0);
    CHECK(weft_spawn_fifo(w, &elsewhere->scope, run_last, elsewhere) == 0);
}

static void spawn_elsewhere(weft *w, void *arg)
{
    struct elsewhere *elsewhere = arg;
    CHECK(weft_spawn(w, &elsewhere->scope, spawn_late, elsewhere) == 0);
    WAIT_UNTIL(atomic_load(&elsewhere->begun)); /* another worker has it */
}

static int close_early(weft *w, void *arg)
{
    struct elsewhere *elsewhere = arg;
    elsewhere->actor = weft_actor_self(w);
    weft_scope_open(w, &elsewhere->scope);
    CHECK(weft_run(elsewhere->other, spawn_elsewhere, elsewhere) == 0);
    atomic_store(&elsewhere->closes, true);
    return weft_scope_close(w, &elsewhere->scope);
}

static void spawned_elsewhere_while_an_actor_closes(void **state)
{
    weft_pool *pool = pool_make(1, 0), *other = pool_make(2, 0);
    struct elsewhere elsewhere = {.other = other};
    assert_int_equal(run_one(pool, close_early, &elsewhere), 0);
    assert_int_equal(atomic_load(&elsewhere.ran), 2);
    pool_drop(other);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_in_first_out),
        cmocka_unit_test(first_in_first_out),
        cmocka_unit_test(both_orders_in_one_scope),
        cmocka_unit_test(order_in_nested_scopes),
        cmocka_unit_test(many_children),
        cmocka_unit_test(empty_scope),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(children_of_children),
        cmocka_unit_test(nested_scopes),
        cmocka_unit_test(close_waits_and_helps),
        cmocka_unit_test(spawned_elsewhere_while_an_actor_closes),
    };
    return RUN_ON_ALL_ROADS(tests);
}
