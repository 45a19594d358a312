/* SPDX-License-Identifier: MIT */
/* actor_deadlock.c: actors that wait for each other are named when their pool is destroyed, and
 * ended; and those are not named that somebody could have set going. */
#include "actors.h"
#include "check.h"
#include "child.h"
#include "pools.h"
#include "weft/actor.h"
#include "weft/sync.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 3 };

struct stage {
    weft_actor *actors[MOST];
    unsigned count;
    weft_mutex mutexes[MOST];
    weft_event events[2];
    weft_channel channels[2];
    atomic_uint ready;
    atomic_bool stolen;
    unsigned reports;
    char report[1000], graph[1000];
};

static void note_deadlock(weft_pool *pool, const char *report, const char *graph, void *data)
{
    struct stage *stage = data;
    snprintf(stage->report, sizeof stage->report, "%s", report);
    snprintf(stage->graph, sizeof stage->graph, "%s", graph);
    stage->reports++;
}

/* ---- What they do ---- */

static unsigned own_number(weft *w, const struct stage *stage)
{
    unsigned i = 0;
    while (stage->actors[i] != weft_actor_self(w))
        i++;
    return i;
}

/* All of them have got as far as this. */
static unsigned meet(weft *w, struct stage *stage)
{
    atomic_fetch_add(&stage->ready, 1);
    while (atomic_load(&stage->ready) < stage->count)
        weft_yield(w);
    return own_number(w, stage);
}

/* Those that are ended set others going, which have yet to be. */
static int until_killed(weft *w)
{
    while (weft_actor_self(w))
        weft_poll(w);
    return 0;
}

static int wait_for_the_other(weft *w, void *arg)
{
    struct stage *stage = arg;
    return weft_actor_wait(w, stage->actors[!meet(w, stage)]);
}

static int wait_for_the_first(weft *w, void *arg)
{
    struct stage *stage = arg;
    meet(w, stage);
    return weft_actor_wait(w, stage->actors[0]);
}

static int send_to_the_other(weft *w, void *arg)
{
    struct stage *stage = arg;
    weft_actor *other = stage->actors[!meet(w, stage)];
    while (weft_actor_send(w, other, arg) == 0)
        ;
    return until_killed(w);
}

/* With a limit that is none. */
static int wait_until_forever(weft *w, void *arg)
{
    struct stage *stage = arg;
    (void)weft_actor_wait_until(w, stage->actors[!meet(w, stage)], WEFT_FOREVER);
    return until_killed(w);
}

static int send_until_forever(weft *w, void *arg)
{
    struct stage *stage = arg;
    weft_actor *other = stage->actors[!meet(w, stage)];
    while (weft_actor_send_until(w, other, arg, WEFT_FOREVER) == 0)
        ;
    return until_killed(w);
}

/* With a limit that is one: these waits end by themselves. */
static int wait_until_late(weft *w, void *arg)
{
    struct stage *stage = arg;
    weft_actor *other = stage->actors[!meet(w, stage)];
    (void)weft_actor_wait_until(w, other, weft_now() + 3600 * UINT64_C(1000000000));
    return until_killed(w);
}

static int send_until_deadline(weft *w, void *arg)
{
    struct stage *stage = arg;
    weft_actor *other = stage->actors[!meet(w, stage)];
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + 3600 * UINT64_C(1000000000));
    while (weft_actor_send_until(w, other, arg, WEFT_FOREVER) == 0)
        ;
    (void)weft_scope_close(w, &scope); /* the other one may be killed first */
    return until_killed(w);
}

static int lock_own_and_next(weft *w, void *arg)
{
    struct stage *stage = arg;
    unsigned i = own_number(w, stage);
    weft_mutex_lock(w, &stage->mutexes[i]);
    meet(w, stage);
    weft_mutex_lock(w, &stage->mutexes[(i + 1) % stage->count]);
    weft_mutex_unlock(w, &stage->mutexes[(i + 1) % stage->count]);
    weft_mutex_unlock(w, &stage->mutexes[i]);
    return until_killed(w);
}

static int lock_and_wait_for_the_other(weft *w, void *arg)
{
    struct stage *stage = arg;
    weft_mutex_lock(w, &stage->mutexes[0]);
    meet(w, stage);
    int error = weft_actor_wait(w, stage->actors[1]); /* it is killed, and holds a mutex */
    weft_mutex_unlock(w, &stage->mutexes[0]);
    return error;
}

static int want_what_the_first_has(weft *w, void *arg)
{
    struct stage *stage = arg;
    meet(w, stage);
    weft_mutex_lock(w, &stage->mutexes[0]);
    weft_event_set(w, &stage->events[0]);
    weft_mutex_unlock(w, &stage->mutexes[0]);
    return until_killed(w);
}

static int lock_and_wait_for_event(weft *w, void *arg)
{
    struct stage *stage = arg;
    weft_mutex_lock(w, &stage->mutexes[0]);
    meet(w, stage);
    weft_event_wait(w, &stage->events[0]);
    weft_mutex_unlock(w, &stage->mutexes[0]);
    return until_killed(w);
}

static int wait_and_set(weft *w, void *arg)
{
    struct stage *stage = arg;
    unsigned i = meet(w, stage) % 2;
    weft_event_wait(w, &stage->events[i]);
    weft_event_set(w, &stage->events[!i]);
    return 0;
}

static int receive_and_send(weft *w, void *arg)
{
    struct stage *stage = arg;
    unsigned i = meet(w, stage);
    int item = 0;
    CHECK(weft_channel_receive(w, &stage->channels[i], &item) == 0);
    return weft_channel_send(w, &stage->channels[!i], &item);
}

static int send_and_receive(weft *w, void *arg)
{
    struct stage *stage = arg;
    unsigned i = meet(w, stage);
    int item = 0;
    CHECK(weft_channel_send(w, &stage->channels[i], &item) == 0);
    return weft_channel_receive(w, &stage->channels[!i], &item);
}

static int receive_message(weft *w, void *arg)
{
    void *message;
    meet(w, arg);
    return weft_receive(w, &message);
}

static int wait_for_mutex(weft *w, void *arg)
{
    struct stage *stage = arg;
    meet(w, stage);
    weft_mutex_lock(w, &stage->mutexes[0]);
    return 0;
}

static void poll_without_end(weft *w, void *arg)
{
    struct stage *stage = arg;
    atomic_store(&stage->stolen, true);
    while (weft_actor_self(w))
        weft_poll(w);
}

/* Nobody knows what it will do that was given away. */
static int give_away_and_wait(weft *w, void *arg)
{
    struct stage *stage = arg;
    weft *in = weft_fork(w, poll_without_end, stage);
    while (!atomic_load(&stage->stolen))
        weft_poll(in);
    meet(in, stage);
    weft_event_wait(in, &stage->events[0]);
    CHECK(weft_merge(w));
    return 0;
}

/* ---- A stage ---- */

static weft_pool *pool_with_handler(struct stage *stage, unsigned workers)
{
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = workers;
    config.deadlock = note_deadlock;
    config.data = stage;
    return pool_make_with(&config);
}

static void set_up(struct stage *stage, weft_pool *pool, weft_actor_fn *const fns[])
{
    static const char *const names[] = {"first", "second", "third"};
    static const char *const mutexes[] = {"red", "green", NULL};
    static const char *const events[] = {"dawn", "dusk"}, *const channels[] = {"up", "down"};
    for (int i = 0; i < MOST; i++)
        weft_mutex_init(&stage->mutexes[i], mutexes[i]);
    for (int i = 0; i < 2; i++) {
        weft_event_init(&stage->events[i], events[i]);
        CHECK(weft_channel_init(&stage->channels[i], channels[i], sizeof(int), 0) == 0);
    }
    while (stage->count < MOST && fns[stage->count])
        stage->count++;
    for (unsigned i = 0; i < stage->count; i++) {
        weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
        config.name = names[i];
        CHECK(weft_actor_create(&stage->actors[i], pool, fns[i], stage, &config) == 0);
    }
}

static void run_until_all_wait(struct stage *stage)
{
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    for (unsigned i = 0; i < stage->count; i++)
        CHECK(weft_actor_run(stage->actors[i]) == 0);
    for (unsigned i = 0; i < stage->count; i++)
        do {
            weft_actor_get_info(stage->actors[i], &info);
            sched_yield();
        } while (info.state != WEFT_ACTOR_WAITING);
}

static void strike(struct stage *stage)
{
    for (unsigned i = 0; i < stage->count; i++)
        assert_int_equal(end(stage->actors[i]), -ECANCELED);
    for (int i = 0; i < 2; i++)
        weft_channel_destroy(&stage->channels[i]);
}

/* ---- Reported ---- */

struct scene {
    weft_actor_fn *fns[MOST];
    const char *lines[MOST]; /* in the report, and no other actors' */
    const char *edges[MOST]; /* in the graph */
};

static const struct scene scenes[] = {
    /* The third one waits for them, and is not one of them. */
    {{wait_for_the_other, wait_for_the_other, wait_for_the_first},
     {"actor 'first' waits for the end of an actor, 'second'\n",
      "actor 'second' waits for the end of an actor, 'first'\n"},
     {"\"actor first\" -> \"actor second\""}},
    {{send_to_the_other, send_to_the_other, wait_for_the_first},
     {"actor 'first' waits for room in the mailbox of an actor, 'second'\n",
      "actor 'second' waits for room in the mailbox of an actor, 'first'\n"},
     {"\"actor second\" -> \"actor first\""}},
    {{wait_until_forever, send_until_forever, wait_for_the_first},
     {"actor 'first' waits for the end of an actor, 'second'\n",
      "actor 'second' waits for room in the mailbox of an actor, 'first'\n"},
     {"\"actor first\" -> \"actor second\"", "\"actor second\" -> \"actor first\""}},
    {{lock_own_and_next, lock_own_and_next},
     {"actor 'first' waits for mutex 'green', held by actor 'second'\n",
      "actor 'second' waits for mutex 'red', held by actor 'first'\n"},
     {"\"actor first\" -> \"mutex 'green'\" [label=\"waits for\"]",
      "\"mutex 'green'\" -> \"actor second\" [label=\"held by\"]"}},
    {{lock_own_and_next, lock_own_and_next, lock_own_and_next}, /* one mutex has no name */
     {"actor 'first' waits for mutex 'green', held by actor 'second'\n",
      "actor 'second' waits for mutex 0x",
      "actor 'third' waits for mutex 'red', held by actor 'first'\n"},
     {"\"mutex 'red'\" -> \"actor first\" [label=\"held by\"]"}},
    {{lock_and_wait_for_the_other, want_what_the_first_has},
     {"actor 'first' waits for the end of an actor, 'second'\n",
      "actor 'second' waits for mutex 'red', held by actor 'first'\n"},
     {"\"mutex 'red'\" -> \"actor first\" [label=\"held by\"]"}},
    /* Who would end it is not known. */
    {{wait_and_set, wait_and_set},
     {"actor 'first' waits for event 'dawn'; nobody is left who could end that\n",
      "actor 'second' waits for event 'dusk'; nobody is left who could end that\n"},
     {"\"actor first\" -> \"event 'dawn'\" [label=\"waits for\"]"}},
    {{receive_and_send, receive_and_send},
     {"actor 'first' wants to receive from channel 'up'; nobody is left who could end that\n",
      "actor 'second' wants to receive from channel 'down'; nobody is left who could end that\n"},
     {"\"actor second\" -> \"channel 'down'\" [label=\"waits for\"]"}},
    {{send_and_receive, send_and_receive},
     {"actor 'first' wants to send into channel 'up'; nobody is left who could end that\n",
      "actor 'second' wants to send into channel 'down'; nobody is left who could end that\n"},
     {"\"actor first\" -> \"channel 'up'\" [label=\"waits for\"]"}},
    {{lock_and_wait_for_event, want_what_the_first_has},
     {"actor 'first' waits for event 'dawn'; nobody is left who could end that\n",
      "actor 'second' waits for mutex 'red', held by actor 'first'\n"},
     {"\"mutex 'red'\" -> \"actor first\" [label=\"held by\"]"}},
};

static void check_report(const struct stage *stage, const struct scene *scene)
{
    unsigned lines = 0, expected = 1;
    for (const char *at = stage->report; (at = strchr(at, '\n')); at++)
        lines++;
    assert_non_null(strstr(stage->report, "weft: deadlock in pool \""));
    for (int i = 0; i < MOST && scene->lines[i]; i++, expected++)
        if (!strstr(stage->report, scene->lines[i]))
            fail_msg("\"%s\" is not in:\n%s", scene->lines[i], stage->report);
    assert_int_equal(lines, expected);
    for (int i = 0; i < MOST && scene->edges[i]; i++)
        if (!strstr(stage->graph, scene->edges[i]))
            fail_msg("\"%s\" is not in:\n%s", scene->edges[i], stage->graph);
}

static void those_who_wait_for_each_other_are_named_and_ended(void **state)
{
    for (unsigned workers = 1; workers <= 8; workers += workers == 1 ? 1 : 6)
        for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
            struct stage stage = {.reports = 0};
            weft_pool *pool = pool_with_handler(&stage, workers);
            set_up(&stage, pool, scenes[i].fns);
            run_until_all_wait(&stage);
            pool_drop(pool);
            assert_int_equal(stage.reports, 1);
            check_report(&stage, &scenes[i]);
            strike(&stage);
        }
}

static void without_handler(void *path)
{
    struct stage stage = {.reports = 0};
    CHECK(setenv("WEFT_DEADLOCK_DOT", path, 1) == 0);
    weft_pool *pool = pool_make(1, 0);
    set_up(&stage, pool, (weft_actor_fn *const[MOST]){lock_own_and_next, lock_own_and_next});
    run_until_all_wait(&stage);
    pool_drop(pool);
    strike(&stage);
}

static void a_report_without_a_handler_is_written(void **state)
{
    char path[] = "/tmp/weft-actors-XXXXXX", graph[200] = "";
    static struct child child;
    int file = mkstemp(path);
    assert_true(file >= 0);
    child_run(&child, without_handler, path);
    unlink(path); /* `file` is open: nothing is left behind, whatever fails below */
    assert_int_equal(child.status, 0);
    assert_non_null(strstr(child.said, "waits for mutex 'green', held by actor 'second'\n"));
    assert_true(read(file, graph, sizeof graph - 1) > 0);
    assert_non_null(strstr(graph, "digraph deadlock"));
    close(file);
}

/* ---- Not reported ---- */

static void nothing_is_said(weft_actor_fn *const fns[], void (*prepare)(struct stage *))
{
    for (unsigned workers = 4; workers <= 8;
         workers += 4) { /* one is idle, and takes right sides */
        struct stage stage = {.reports = 0};
        weft_pool *pool = pool_with_handler(&stage, workers);
        set_up(&stage, pool, fns);
        if (prepare)
            prepare(&stage);
        run_until_all_wait(&stage);
        pool_drop(pool);
        if (stage.reports)
            fail_msg("%s", stage.report);
        strike(&stage);
    }
}

static void use_outside(struct stage *stage)
{
    weft_event_from_outside(&stage->events[0]);
}

static void hold_outside(struct stage *stage)
{
    weft_mutex_lock(NULL, &stage->mutexes[0]);
}

static void those_are_not_named_who_could_go_on(void **state)
{
    nothing_is_said((weft_actor_fn *const[MOST]){wait_and_set}, use_outside);
    nothing_is_said((weft_actor_fn *const[MOST]){wait_for_mutex}, hold_outside);
    nothing_is_said((weft_actor_fn *const[MOST]){receive_message}, NULL);
    /* Anybody may send to the second one, and that may set the event. */
    nothing_is_said((weft_actor_fn *const[MOST]){wait_and_set, receive_message}, NULL);
    nothing_is_said((weft_actor_fn *const[MOST]){give_away_and_wait}, NULL);
    nothing_is_said((weft_actor_fn *const[MOST]){wait_until_forever, wait_until_late}, NULL);
    nothing_is_said((weft_actor_fn *const[MOST]){send_until_deadline, send_until_forever}, NULL);
    nothing_is_said((weft_actor_fn *const[MOST]){give_away_and_wait, wait_and_set}, NULL);
}

static void *destroy(void *pool)
{
    pool_drop(pool);
    return NULL;
}

/* A job that is left may set the event. */
static void a_job_may_do_it(void **state)
{
    struct stage stage = {.reports = 0};
    weft_pool *pool = pool_with_handler(&stage, 2);
    struct held held;
    pthread_t thread;
    pool_hold(pool, &held, 1);
    set_up(&stage, pool, (weft_actor_fn *const[MOST]){wait_and_set, wait_and_set});
    run_until_all_wait(&stage);
    assert_int_equal(pthread_create(&thread, NULL, destroy, pool), 0);
    strike(&stage); /* they have been looked at, and ended */
    pool_let_go(&held);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(stage.reports, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_who_wait_for_each_other_are_named_and_ended),
        cmocka_unit_test(a_report_without_a_handler_is_written),
        cmocka_unit_test(those_are_not_named_who_could_go_on),
        cmocka_unit_test(a_job_may_do_it),
    };
    return cmocka_run_group_tests_name("actor_deadlock", tests, NULL, NULL);
}
