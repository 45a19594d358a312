/* SPDX-License-Identifier: MIT */
/* actor_killed.c: every wait of an actor that is killed ends, wherever it waits, and whatever it
 * holds. */
#include "actors.h"
#include "check.h"
#include "pools.h"
#include "weft/actor.h"
#include "weft/parallel.h"
#include "weft/sync.h"
#include "weft/task.h"

#include <errno.h>

/* ---- In line for a mutex ---- */

struct account {
    weft_mutex mutex;
    unsigned long balance;
};

/* Killed while it waits for a mutex, an actor ends, and those behind it get it all the same. */
static int lock_once(weft *w, void *arg)
{
    struct account *account = arg;
    weft_mutex_lock(w, &account->mutex);
    account->balance++;
    weft_mutex_unlock(w, &account->mutex);
    return 0;
}

static void killed_at_a_mutex(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int round = 0; round < rounds_of(SCALED(200, 5)); round++) {
        struct account account = {.mutex = WEFT_MUTEX_INIT};
        weft_mutex_lock(NULL, &account.mutex);
        weft_actor *actors[4];
        for (int i = 0; i < 4; i++)
            actors[i] = start(pool, lock_once, &account, NULL);
        weft_actor_info info = WEFT_ACTOR_INFO_INIT;
        for (int i = 0; i < 4; i++)
            do {
                weft_actor_get_info(actors[i], &info);
                sched_yield();
            } while (info.state != WEFT_ACTOR_WAITING);
        weft_actor_kill(actors[1]);
        weft_actor_kill(actors[2]);
        if (round % 2) /* or at the same time */
            weft_mutex_unlock(NULL, &account.mutex);
        int ended = 0;
        for (int i = 1; i < 3; i++) {
            int reason = end(actors[i]);
            assert_true(reason == -ECANCELED || (reason == 0 && round % 2));
            ended += reason == -ECANCELED;
        }
        if (round % 2 == 0)
            weft_mutex_unlock(NULL, &account.mutex);
        for (int i = 0; i < 4; i += 3)
            assert_int_equal(end(actors[i]), 0);
        assert_in_range(account.balance, 4 - (unsigned long)ended, 4);
        assert_true(weft_mutex_trylock(NULL, &account.mutex));
        weft_mutex_unlock(NULL, &account.mutex);
    }
    pool_drop(pool);
}

/* ---- Killed on all its executors ---- */

static void sleep_for_an_hour(weft *w, void *asleep)
{
    atomic_store((atomic_bool *)asleep, true);
    weft_sleep_until(w, weft_now() + UINT64_C(3600000000000));
}

static int poll_for_ever(weft *w, void *asleep)
{
    weft *in = weft_fork(w, sleep_for_an_hour, asleep);
    while (weft_now() > 0)
        weft_poll(in);
    return 0;
}

static void killed_while_a_delegate_sleeps(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    atomic_bool asleep = false;
    weft_actor *actor = start(pool, poll_for_ever, &asleep, NULL);
    WAIT_UNTIL(atomic_load(&asleep));
    weft_actor_kill(actor);
    assert_int_equal(end(actor), -ECANCELED);
    pool_drop(pool);
}

/* ---- Every wait of one that is killed ends ---- */

struct waits {
    weft_mutex mutex, other;
    weft_event event;
    weft_channel full, empty;
    weft_actor *deaf; /* its mailbox is full, and it never ends by itself */
    weft_task task;
    weft_pool *pool;
    struct gate gate;
    atomic_int result; /* what a wait returned that did not end the actor */
};

static int never_receives(weft *w, void *arg)
{
    weft_sleep_until(w, UINT64_MAX);
    return 0;
}

static int wait_mutex(weft *w, struct waits *waits)
{
    weft_mutex_lock(w, &waits->mutex);
    return 0;
}

static int wait_event(weft *w, struct waits *waits)
{
    weft_event_wait(w, &waits->event);
    return weft_cancelled(w) ? -ECANCELED : 0;
}

static int wait_channel_send(weft *w, struct waits *waits)
{
    return weft_channel_send(w, &waits->full, &(int){1});
}

static int wait_channel_receive(weft *w, struct waits *waits)
{
    int item;
    return weft_channel_receive(w, &waits->empty, &item);
}

static int wait_send(weft *w, struct waits *waits)
{
    return weft_actor_send(w, waits->deaf, NULL);
}

static int wait_receive(weft *w, struct waits *waits)
{
    void *message;
    return weft_receive(w, &message);
}

static int wait_actor(weft *w, struct waits *waits)
{
    return weft_actor_wait(w, waits->deaf);
}

static int wait_send_until(weft *w, struct waits *waits)
{
    return weft_actor_send_until(w, waits->deaf, NULL, WEFT_FOREVER);
}

static int wait_actor_until(weft *w, struct waits *waits)
{
    return weft_actor_wait_until(w, waits->deaf, weft_now() + 3600 * UINT64_C(1000000000));
}

static int wait_task(weft *w, struct waits *waits)
{
    return weft_task_wait(&waits->task);
}

static int wait_task_until(weft *w, struct waits *waits)
{
    return weft_task_wait_until(&waits->task, WEFT_FOREVER);
}

static int wait_own_task(weft *w, struct waits *waits);
static int wait_own_task_until(weft *w, struct waits *waits);

typedef int wait_fn(weft *w, struct waits *waits);
static wait_fn *const wait_fns[] = {
    wait_mutex,      wait_event,    wait_channel_send,   wait_channel_receive, wait_send,
    wait_receive,    wait_actor,    wait_send_until,     wait_actor_until,     wait_task,
    wait_task_until, wait_own_task, wait_own_task_until,
};
enum { WAITS = sizeof wait_fns / sizeof wait_fns[0] };

struct one_wait {
    struct waits *waits;
    wait_fn *fn;
    bool holds;
    atomic_bool begun;
};

static int wait_once(weft *w, void *arg)
{
    struct one_wait *one = arg;
    if (one->holds)
        weft_mutex_lock(w, &one->waits->other);
    atomic_store(&one->begun, true);
    atomic_store(&one->waits->result, one->fn(w, one->waits));
    if (one->holds)
        weft_mutex_unlock(w, &one->waits->other);
    while (weft_actor_self(w))
        weft_poll(w);
    return 0;
}

static void wait_in_right_side(weft *w, void *arg)
{
    wait_once(w, arg);
}

static int wait_elsewhere(weft *w, void *arg)
{
    struct one_wait *one = arg;
    weft *in = weft_fork(w, wait_in_right_side, one);
    while (!atomic_load(&one->begun))
        weft_poll(in); /* until it was stolen */
    if (!weft_merge(w))
        wait_in_right_side(w, one);
    return 0;
}

static void poll_until_it_is_over(weft *w, void *arg)
{
    while (!weft_cancelled(w))
        weft_join(w, count_job, arg, count_job, arg);
}

/* A task in the frames of the actor has to be over before these are gone. */
static int wait_own_task(weft *w, struct waits *waits)
{
    weft_task task;
    atomic_ulong count = 0;
    CHECK(weft_submit(waits->pool, &task, poll_until_it_is_over, &count) == 0);
    return weft_task_wait(&task);
}

static int wait_own_task_until(weft *w, struct waits *waits)
{
    weft_task task;
    atomic_ulong count = 0;
    CHECK(weft_submit(waits->pool, &task, poll_until_it_is_over, &count) == 0);
    int result = weft_task_wait_until(&task, weft_now() + 3600 * UINT64_C(1000000000));
    CHECK(weft_task_done(&task));
    return result;
}

static void kill_one_wait(weft_pool *pool, struct waits *waits, unsigned i)
{
    struct one_wait one = {.waits = waits, .fn = wait_fns[i / 3], .holds = i % 3 == 1};
    weft_actor *actor = start(pool, i % 3 == 2 ? wait_elsewhere : wait_once, &one, NULL);
    atomic_store(&waits->result, 0);
    WAIT_UNTIL(atomic_load(&one.begun));
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    do {
        weft_actor_get_info(actor, &info);
        sched_yield();
    } while (info.state != WEFT_ACTOR_WAITING);
    weft_actor_kill(actor);
    assert_int_equal(end(actor), -ECANCELED);
    /* One that holds a mutex goes on until it has unlocked it. */
    if (one.holds && one.fn != wait_mutex)
        assert_int_equal(atomic_load(&waits->result), -ECANCELED);
    assert_true(weft_mutex_trylock(NULL, &waits->other));
    weft_mutex_unlock(NULL, &waits->other);
}

static void killed_in_every_wait(void **state)
{
    weft_pool *pool = pool_make(2, 0), *another = pool_make(1, 0);
    struct waits waits = {.mutex = WEFT_MUTEX_INIT,
                          .other = WEFT_MUTEX_INIT,
                          .event = WEFT_EVENT_INIT,
                          .pool = another};
    assert_int_equal(weft_channel_init(&waits.full, NULL, sizeof(int), 0), 0);
    assert_int_equal(weft_channel_init(&waits.empty, NULL, sizeof(int), 0), 0);
    waits.deaf = start(pool, never_receives, NULL, NULL);
    while (weft_actor_try_send(NULL, waits.deaf, NULL) == 0)
        ;
    weft_mutex_lock(NULL, &waits.mutex);
    assert_int_equal(weft_submit(another, &waits.task, gate_job, &waits.gate), 0);
    gate_wait_arrived(&waits.gate);
    for (unsigned i = 0; i < 3 * WAITS; i++)
        if (wait_fns[i / 3] != wait_own_task && wait_fns[i / 3] != wait_own_task_until)
            kill_one_wait(pool, &waits, i);
    gate_open(&waits.gate);
    assert_int_equal(weft_task_wait(&waits.task), 0);
    kill_one_wait(pool, &waits, 3 * (WAITS - 2));
    kill_one_wait(pool, &waits, 3 * (WAITS - 1));
    weft_mutex_unlock(NULL, &waits.mutex);
    assert_true(weft_mutex_trylock(NULL, &waits.mutex)); /* nobody is left in line */
    weft_mutex_unlock(NULL, &waits.mutex);
    weft_actor_kill(waits.deaf);
    assert_int_equal(end(waits.deaf), -ECANCELED);
    weft_channel_destroy(&waits.full);
    weft_channel_destroy(&waits.empty);
    pool_drop(another);
    pool_drop(pool);
}

/* Stolen while the left side is in a function of the library that has memory of its own. */
static void poll_without_end(weft *w, void *begun)
{
    atomic_store((atomic_bool *)begun, true);
    while (weft_actor_self(w))
        weft_poll(w);
}

static void poll_range(weft *w, size_t begin, size_t end, void *state, void *arg)
{
    while (weft_actor_self(w))
        weft_poll(w);
}

static int loop_beside_a_right_side(weft *w, void *begun)
{
    const weft_state kind = {.size = 100};
    weft *in = weft_fork(w, poll_without_end, begun);
    weft_for_with(in, 0, 1000, &kind, poll_range, NULL);
    if (!weft_merge(w))
        poll_without_end(w, begun);
    return 0;
}

static void killed_in_a_function_of_the_library(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    for (int i = 0; i < 4; i++) {
        atomic_bool begun = false;
        weft_actor *actor = start(pool, loop_beside_a_right_side, &begun, NULL);
        WAIT_UNTIL(atomic_load(&begun));
        weft_actor_kill(actor);
        assert_int_equal(end(actor), -ECANCELED);
    }
    pool_drop(pool);
}

/* ---- With an open scope, and children in another pool ---- */

enum { ELSEWHERE = 4 };

struct elsewhere {
    weft_pool *other;
    weft_scope *scope;
    enum { POLLS, ALLOCATES, LOCKS } ends;
    weft_mutex held, wanted;
    atomic_int begun, over, deferred_early;
    atomic_bool waits;
};

/* Uses the scope, and ends some time after the actor does. */
static void outlive(weft *w, void *arg)
{
    struct elsewhere *elsewhere = arg;
    atomic_fetch_add(&elsewhere->begun, 1);
    if (elsewhere->ends == LOCKS) {
        weft_mutex_lock(w, &elsewhere->held);
        weft_mutex_unlock(w, &elsewhere->held);
    }
    while (!weft_cancelled(w))
        wait_a_moment();
    for (int i = 0; i < 20; i++)
        wait_a_moment();
    CHECK(weft_cancelled(w));
    atomic_fetch_add(&elsewhere->over, 1);
}

static void spawn_elsewhere(weft *w, void *arg)
{
    struct elsewhere *elsewhere = arg;
    for (int i = 0; i < ELSEWHERE; i++)
        CHECK(weft_spawn(w, elsewhere->scope, outlive, elsewhere) == 0);
    while (atomic_load(&elsewhere->begun) < ELSEWHERE)
        wait_a_moment(); /* other workers have them */
}

/* What was deferred before the scope was opened is the children's, too. */
static void note_early(weft *w, void *arg)
{
    struct elsewhere *elsewhere = arg;
    if (elsewhere->ends != LOCKS)
        CHECK(atomic_load(&elsewhere->over) == ELSEWHERE);
    atomic_fetch_add(&elsewhere->deferred_early, 1);
}

static int has_children_elsewhere(weft *w, void *arg)
{
    struct elsewhere *elsewhere = arg;
    weft_scope scope;
    CHECK(weft_defer(w, note_early, elsewhere) == 0);
    weft_scope_open(w, &scope);
    elsewhere->scope = &scope;
    if (elsewhere->ends == LOCKS)
        weft_mutex_lock(w, &elsewhere->held);
    CHECK(weft_run(elsewhere->other, spawn_elsewhere, elsewhere) == 0);
    atomic_store(&elsewhere->waits, true);
    if (elsewhere->ends == LOCKS)
        weft_mutex_lock(w, &elsewhere->wanted);
    while (elsewhere->ends == ALLOCATES)
        weft_alloc(w, 1 << 20);
    while (weft_actor_self(w))
        weft_poll(w);
    return 0;
}

static void killed_with_children_in_another_pool(void **state)
{
    weft_pool *pool = pool_make(1, 0), *other = pool_make(ELSEWHERE + 1, 0);
    const unsigned rounds = 3 * (unsigned)rounds_of(20);
    for (unsigned i = 0; i < rounds; i++) {
        struct elsewhere elsewhere = {.other = other, .ends = i % 3};
        weft_mutex_lock(NULL, &elsewhere.wanted);
        weft_actor *actor = start(pool, has_children_elsewhere, &elsewhere, NULL);
        WAIT_UNTIL(atomic_load(&elsewhere.waits));
        weft_actor_kill(actor);
        int reason = end(actor);
        assert_true(reason == -ECANCELED || (reason == -ENOMEM && elsewhere.ends == ALLOCATES));
        assert_int_equal(atomic_load(&elsewhere.over), ELSEWHERE);
        assert_int_equal(atomic_load(&elsewhere.deferred_early), 1);
        weft_mutex_unlock(NULL, &elsewhere.wanted);
    }
    pool_drop(other);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_a_mutex),
        cmocka_unit_test(killed_while_a_delegate_sleeps),
        cmocka_unit_test(killed_in_every_wait),
        cmocka_unit_test(killed_in_a_function_of_the_library),
        cmocka_unit_test(killed_with_children_in_another_pool),
    };
    return cmocka_run_group_tests_name("actor_killed", tests, NULL, NULL);
}
