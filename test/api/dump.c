/* SPDX-License-Identifier: MIT */
/* dump.c: a pool that does not move says why. Each test makes one stand still in some way, and
 * looks for a line of weft_pool_dump() that has all the words: in the end, since a dump may come
 * too early. */
#include "check.h"
#include "pools.h"
#include "weft/actor.h"
#include "weft/sync.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 2 };

/* Has the line all the words? They are separated by '|'. */
static bool has_all(const char *line, size_t length, const char *words)
{
    while (*words) {
        size_t n = strcspn(words, "|");
        if (!memmem(line, length, words, n))
            return false;
        words += n + (words[n] == '|');
    }
    return true;
}

static bool says(weft_pool *pool, const char *words)
{
    char *text = pool_dump_text(pool);
    bool found = false;
    for (const char *line = text, *end; !found && (end = strchr(line, '\n')); line = end + 1)
        found = has_all(line, (size_t)(end - line), words);
    free(text);
    return found;
}

static void wait_until_says(weft_pool *pool, const char *words)
{
    WAIT_UNTIL(says(pool, words));
}

/* Nothing is reported as a deadlock: the test itself will end each wait. */
static weft_pool *make(void)
{
    return pool_make(WORKERS, WEFT_NO_GUESTS);
}

/* ---- Objects ---- */

static void wait_for_event(weft *w, void *event)
{
    weft_event_wait(w, event);
}

static void event(void **state)
{
    weft_pool *pool = make();
    weft_event go;
    weft_task task;
    weft_event_init(&go, "go");
    weft_event_from_outside(&go);
    assert_int_equal(weft_submit(pool, &task, wait_for_event, &go), 0);
    wait_until_says(pool, "worker |blocked for |waits for event 'go'|; runs |api-dump+0x");
    weft_event_set(NULL, &go);
    assert_int_equal(weft_task_wait(&task), 0);
    pool_drop(pool);
}

/* Its memory, and its name, are gone as soon as the wait is over. */
static void names_may_go(void **state)
{
    enum { ROUNDS = 100 };
    weft_pool *pool = make();
    for (int i = 0; i < SCALED(ROUNDS, 4); i++) {
        weft_event *go = malloc(sizeof *go);
        char *name = strdup("short-lived");
        weft_task task;
        assert_true(go && name);
        weft_event_init(go, name);
        weft_event_from_outside(go);
        assert_int_equal(weft_submit(pool, &task, wait_for_event, go), 0);
        free(pool_dump_text(pool));
        weft_event_set(NULL, go);
        free(pool_dump_text(pool));
        assert_int_equal(weft_task_wait(&task), 0);
        free(go);
        free(name);
    }
    pool_drop(pool);
}

struct locked {
    weft_mutex mutex;
    struct gate gate;
};

static void lock_and_stay(weft *w, void *arg)
{
    struct locked *locked = arg;
    weft_mutex_lock(w, &locked->mutex);
    gate_job(w, &locked->gate);
    weft_mutex_unlock(w, &locked->mutex);
}

static void lock(weft *w, void *arg)
{
    struct locked *locked = arg;
    weft_mutex_lock(w, &locked->mutex);
    weft_mutex_unlock(w, &locked->mutex);
}

static void mutex(void **state)
{
    weft_pool *pool = make();
    struct locked locked = {0};
    weft_task holds, waits;
    weft_mutex_init(&locked.mutex, "ledger");
    assert_int_equal(weft_submit(pool, &holds, lock_and_stay, &locked), 0);
    gate_wait_arrived(&locked.gate);
    assert_int_equal(weft_submit(pool, &waits, lock, &locked), 0);
    wait_until_says(pool, "blocked for |waits for mutex 'ledger', held by worker ");
    gate_open(&locked.gate);
    assert_int_equal(weft_task_wait(&waits), 0);
    assert_int_equal(weft_task_wait(&holds), 0);

    weft_mutex_lock(NULL, &locked.mutex);
    assert_int_equal(weft_submit(pool, &waits, lock, &locked), 0);
    wait_until_says(pool, "waits for mutex 'ledger', held by a thread outside the pool");
    weft_mutex_unlock(NULL, &locked.mutex);
    assert_int_equal(weft_task_wait(&waits), 0);
    pool_drop(pool);
}

static void receive(weft *w, void *channel)
{
    int item;
    CHECK(weft_channel_receive(w, channel, &item) == 0);
}

static void send(weft *w, void *channel)
{
    int item = 1;
    CHECK(weft_channel_send(w, channel, &item) == 0);
}

static void channel(void **state)
{
    weft_pool *pool = make();
    weft_channel orders;
    weft_task task;
    int item = 0;
    assert_int_equal(weft_channel_init(&orders, "orders", sizeof item, 0), 0);
    weft_channel_from_outside(&orders);
    assert_int_equal(weft_submit(pool, &task, receive, &orders), 0);
    wait_until_says(pool, "blocked for |wants to receive from channel 'orders'");
    assert_int_equal(weft_channel_send(NULL, &orders, &item), 0);
    assert_int_equal(weft_task_wait(&task), 0);
    assert_int_equal(weft_submit(pool, &task, send, &orders), 0);
    wait_until_says(pool, "blocked for |wants to send into channel 'orders'");
    assert_int_equal(weft_channel_receive(NULL, &orders, &item), 0);
    assert_int_equal(weft_task_wait(&task), 0);
    weft_channel_destroy(&orders);
    pool_drop(pool);
}

/* ---- Work that others have taken ---- */

static void wait_for_taken(weft *w, void *arg)
{
    gate_wait_arrived(arg);
}

static void join(weft *w, void *gate)
{
    weft_join(w, wait_for_taken, gate, gate_job, gate);
}

static void right_side(void **state)
{
    weft_pool *pool = make();
    struct gate gate = {0};
    weft_task task;
    assert_int_equal(weft_submit(pool, &task, join, &gate), 0);
    gate_wait_arrived(&gate);
    wait_until_says(pool, "waiting for |waits for a right side that worker | took from it|forks 1");
    wait_until_says(pool, "busy for | and 1 job;|; runs ");
    gate_open(&gate);
    assert_int_equal(weft_task_wait(&task), 0);
    pool_drop(pool);
}

static void open_scope(weft *w, void *gate)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, gate_job, gate) == 0);
    gate_wait_arrived(gate);
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void scope(void **state)
{
    weft_pool *pool = make();
    struct gate gate = {0};
    weft_task task;
    assert_int_equal(weft_submit(pool, &task, open_scope, &gate), 0);
    wait_until_says(pool, "waiting for |waits for children of its scope, on worker ");
    gate_open(&gate);
    assert_int_equal(weft_task_wait(&task), 0);
    pool_drop(pool);
}

struct blocked_child {
    weft_event go;
    atomic_bool started;
};

static void block_in_child(weft *w, void *arg)
{
    struct blocked_child *child = arg;
    atomic_store(&child->started, true);
    weft_event_wait(w, &child->go);
}

static void wait_for_blocked_child(weft *w, void *arg)
{
    struct blocked_child *child = arg;
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, block_in_child, child) == 0);
    WAIT_UNTIL(atomic_load(&child->started));
    CHECK(weft_scope_close(w, &scope) == 0);
}

static void blocked_thief(void **state)
{
    weft_pool *pool = make();
    struct blocked_child child = {.started = false};
    weft_task task;
    weft_event_init(&child.go, "go");
    weft_event_from_outside(&child.go);
    assert_int_equal(weft_submit(pool, &task, wait_for_blocked_child, &child), 0);
    wait_until_says(pool, "waiting for |waits for children of its scope, on worker ");
    wait_until_says(pool, "blocked for |waits for event 'go'");
    weft_event_set(NULL, &child.go);
    assert_int_equal(weft_task_wait(&task), 0);
    pool_drop(pool);
}

static void wait_for_task(weft *w, void *task)
{
    CHECK(weft_task_wait(task) == 0);
}

static void task(void **state)
{
    weft_pool *pool = make();
    struct gate gate = {0};
    weft_task held, waits;
    assert_int_equal(weft_submit(pool, &held, gate_job, &gate), 0);
    gate_wait_arrived(&gate);
    assert_int_equal(weft_submit(pool, &waits, wait_for_task, &held), 0);
    wait_until_says(pool, "waiting for |waits for a task");
    gate_open(&gate);
    assert_int_equal(weft_task_wait(&waits), 0);
    pool_drop(pool);
}

/* ---- The program's own code ---- */

struct pipe_end {
    int fds[2];
    bool declared;
};

static void read_pipe(weft *w, void *arg)
{
    struct pipe_end *ends = arg;
    char byte;
    if (ends->declared)
        weft_block_begin(w);
    CHECK(read(ends->fds[0], &byte, 1) == 1);
    if (ends->declared)
        weft_block_end(w);
}

/* Does the kernel tell which system call a thread is in, with the numbers of this processor? This
 * thread reads. */
static bool kernel_tells(void)
{
    long number = -1;
    FILE *file = fopen("/proc/thread-self/syscall", "r");
    bool tells = file && fscanf(file, "%ld", &number) == 1 && number == SYS_read;
    if (file)
        fclose(file);
    return tells;
}

static void read_until_says(const char *words, bool declared)
{
    weft_pool *pool = make();
    struct pipe_end ends = {.declared = declared};
    char expected[200];
    weft_task task;
    assert_int_equal(pipe(ends.fds), 0);
    snprintf(expected, sizeof expected, "%s%s", words,
             kernel_tells() ? "|, in system call read of descriptor " : "");
    assert_int_equal(weft_submit(pool, &task, read_pipe, &ends), 0);
    wait_until_says(pool, expected);
    assert_int_equal(write(ends.fds[1], "x", 1), 1);
    assert_int_equal(weft_task_wait(&task), 0);
    close(ends.fds[0]);
    close(ends.fds[1]);
    pool_drop(pool);
}

static void declared_read(void **state)
{
    read_until_says("blocked for |is blocked in code of its own|; runs ", true);
}

static void undeclared_read(void **state)
{
    read_until_says("busy for |and 1 job|; runs ", false);
}

/* A guest has no clock to look at: of it, earlier dumps know. */
static void wait_at_gate(unsigned i, void *arg)
{
    struct {
        weft_pool *pool;
        struct gate gate;
    } *outside = arg;
    if (i == 0) {
        CHECK(weft_run(outside->pool, gate_job, &outside->gate) == 0);
        return;
    }
    gate_wait_arrived(&outside->gate);
    wait_until_says(outside->pool, "guest 2: busy for at least |; runs ");
    gate_open(&outside->gate);
}

static void guest(void **state)
{
    struct {
        weft_pool *pool;
        struct gate gate;
    } outside = {.pool = pool_make(WORKERS, 0)};
    in_threads(2, wait_at_gate, &outside);
    pool_drop(outside.pool);
}

static void nest(weft *w, void *gate)
{
    CHECK(weft_run(weft_pool_of(w), gate_job, gate) == 0);
}

static void nested(void **state)
{
    weft_pool *pool = make();
    struct gate gate = {0};
    weft_task task;
    assert_int_equal(weft_submit(pool, &task, nest, &gate), 0);
    wait_until_says(pool, "busy|; runs | on top of 1 more job;");
    gate_open(&gate);
    assert_int_equal(weft_task_wait(&task), 0);
    pool_drop(pool);
}

static void idle(void **state)
{
    weft_pool *pool = make();
    wait_until_says(pool, "worker 1: asleep for |forks 0, pending 0, deque 0, mail 0");
    pool_drop(pool);
}

/* A function that the program shows to others has a name. */
void shown_wait_for_event(weft *w, void *event);
void shown_wait_for_event(weft *w, void *event)
{
    weft_event_wait(w, event);
}

static void by_name(void **state)
{
    weft_pool *pool = make();
    weft_task task;
    weft_event go;
    weft_event_init(&go, "go");
    weft_event_from_outside(&go);
    assert_int_equal(weft_submit(pool, &task, shown_wait_for_event, &go), 0);
    wait_until_says(pool, "waits for event 'go'; runs shown_wait_for_event;");
    weft_event_set(NULL, &go);
    assert_int_equal(weft_task_wait(&task), 0);
    pool_drop(pool);
}

/* ---- No pool, and a deadlock ---- */

static void default_pool(void **state)
{
    char *text = pool_dump_text(NULL);
    assert_string_equal(text, "weft: there is no default pool\n");
    free(text);
    assert_non_null(weft_pool_default());
    assert_true(says(NULL, "weft pool \"weft\": "));
    assert_true(says(NULL, "worker 0: "));
    assert_int_equal(weft_pool_destroy(weft_pool_default()), 0);
    assert_true(says(NULL, "weft: there is no default pool"));
}

struct handled {
    weft_event go;
    weft_pool *pool;
    atomic_bool called, told;
};

/* Whoever calls it holds what a dump needs. */
static void dump_deadlock(weft_pool *pool, const char *report, const char *graph, void *data)
{
    struct handled *handled = data;
    atomic_store(&handled->told,
                 says(pool, "guest 2: blocked for |waits for event 'never'; runs "));
    atomic_store(&handled->called, true);
}

static void wait_or_end_it(unsigned i, void *arg)
{
    struct handled *handled = arg;
    if (i == 0) {
        CHECK(weft_run(handled->pool, wait_for_event, &handled->go) == 0);
        return;
    }
    WAIT_UNTIL(atomic_load(&handled->called));
    weft_event_set(NULL, &handled->go);
}

static void in_a_deadlock_handler(void **state)
{
    struct handled handled = {.called = false};
    weft_event_init(&handled.go, "never");
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = WORKERS;
    config.deadlock = dump_deadlock;
    config.data = &handled;
    handled.pool = pool_make_with(&config);
    in_threads(2, wait_or_end_it, &handled);
    assert_true(atomic_load(&handled.told));
    pool_drop(handled.pool);
}

/* ---- Actors ---- */

static int wait_for_message(weft *w, void *arg)
{
    void *message;
    (void)arg;
    return weft_receive(w, &message);
}

static int wait_for_event_as_actor(weft *w, void *event)
{
    weft_event_wait(w, event);
    return 0;
}

static int wait_for_actor(weft *w, void *other)
{
    return weft_actor_wait(w, other);
}

static weft_actor *start(weft_pool *pool, const char *name, weft_actor_fn *fn, void *arg)
{
    weft_actor_config config = {.size = sizeof config, .name = name};
    weft_actor *actor;
    CHECK(weft_actor_create(&actor, pool, fn, arg, &config) == 0);
    weft_actor_run(actor);
    return actor;
}

static void end(weft_actor *actor)
{
    CHECK(weft_actor_wait(NULL, actor) == 0);
    weft_actor_release(actor);
}

static void actors(void **state)
{
    weft_pool *pool = make();
    weft_event go;
    weft_event_init(&go, "a name of more than twenty-four letters");
    weft_actor *clerk = start(pool, "clerk", wait_for_message, NULL);
    weft_actor *runner = start(pool, "runner", wait_for_event_as_actor, &go);
    weft_actor *heir = start(pool, "heir", wait_for_actor, clerk);
    wait_until_says(pool, "actor 'clerk': waits for a message|; runs |messages 0");
    wait_until_says(pool, "actor 'runner': waits for event 'a name of more than twe'");
    wait_until_says(pool, "actor 'heir': waits for the end of an actor");
    wait_until_says(pool, "actors: 3, 0 not started, 0 running, 0 runnable, 3 waiting");
    wait_until_says(pool, "    1 waits for a message");
    assert_int_equal(weft_actor_send(NULL, clerk, pool), 0);
    weft_event_set(NULL, &go);
    end(heir);
    end(clerk);
    end(runner);
    assert_true(says(pool, "actors: 0,"));
    pool_drop(pool);
}

static int stay(weft *w, void *gate)
{
    gate_job(w, gate);
    return 0;
}

static void running_actor(void **state)
{
    weft_pool *pool = make();
    struct gate gate = {0};
    weft_actor *actor = start(pool, "busy", stay, &gate);
    wait_until_says(pool, "actor 'busy': is running");
    wait_until_says(pool, "busy for |; runs actors of executor ");
    gate_open(&gate);
    end(actor);
    pool_drop(pool);
}

static void many_actors(void **state)
{
    enum { MANY = 40 };
    weft_pool *pool = make();
    weft_actor *all[MANY];
    for (int i = 0; i < MANY; i++)
        all[i] = start(pool, "one", wait_for_message, NULL);
    wait_until_says(pool, "    40 waits for a message");
    assert_true(says(pool, "    and 24 more"));
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(weft_actor_send(NULL, all[i], pool), 0);
        end(all[i]);
    }
    pool_drop(pool);
}

/* ---- All the time ---- */

struct watched {
    weft_pool *pool;
    weft_mutex mutex;
    weft_channel channel;
    atomic_bool over;
};

static void lock_a_little(weft *w, void *arg)
{
    struct watched *watched = arg;
    weft_mutex_lock(w, &watched->mutex);
    weft_yield(w);
    weft_mutex_unlock(w, &watched->mutex);
}

static void pass_left(weft *w, void *arg)
{
    struct watched *watched = arg;
    int item = 0;
    CHECK(weft_channel_send(w, &watched->channel, &item) == 0);
    lock_a_little(w, watched);
}

static void pass_right(weft *w, void *arg)
{
    struct watched *watched = arg;
    int item;
    CHECK(weft_channel_receive(w, &watched->channel, &item) == 0);
    lock_a_little(w, watched);
}

static void pass(weft *w, void *arg)
{
    struct watched *watched = arg;
    CHECK(weft_channel_init(&watched->channel, "passed", sizeof(int), 0) == 0);
    weft_scope scope;
    weft_scope_open(w, &scope);
    CHECK(weft_spawn(w, &scope, pass_left, watched) == 0);
    CHECK(weft_spawn(w, &scope, pass_right, watched) == 0);
    CHECK(weft_scope_close(w, &scope) == 0);
    weft_channel_destroy(&watched->channel);
}

static int send_one(weft *w, void *other)
{
    return weft_actor_send(w, other, other);
}

static void work_or_watch(unsigned i, void *arg)
{
    struct watched *watched = arg;
    if (i > 0) {
        while (!atomic_load(&watched->over))
            free(pool_dump_text(watched->pool));
        return;
    }
    for (int r = 0; r < SCALED(300, 10); r++) {
        CHECK(weft_run(watched->pool, pass, watched) == 0);
        weft_actor *one = start(watched->pool, "one", wait_for_message, NULL);
        weft_actor *two = start(watched->pool, "two", send_one, one);
        end(two);
        end(one);
    }
    atomic_store(&watched->over, true);
}

static void looking_disturbs_nobody(void **state)
{
    struct watched watched = {.pool = pool_make(WORKERS, 0)};
    weft_mutex_init(&watched.mutex, "watched");
    in_threads(3, work_or_watch, &watched);
    pool_drop(watched.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event),         cmocka_unit_test(names_may_go),
        cmocka_unit_test(mutex),         cmocka_unit_test(channel),
        cmocka_unit_test(right_side),    cmocka_unit_test(scope),
        cmocka_unit_test(blocked_thief), cmocka_unit_test(task),
        cmocka_unit_test(declared_read), cmocka_unit_test(undeclared_read),
        cmocka_unit_test(guest),         cmocka_unit_test(nested),
        cmocka_unit_test(idle),          cmocka_unit_test(by_name),
        cmocka_unit_test(default_pool),  cmocka_unit_test(in_a_deadlock_handler),
        cmocka_unit_test(actors),        cmocka_unit_test(running_actor),
        cmocka_unit_test(many_actors),   cmocka_unit_test(looking_disturbs_nobody),
    };
    return RUN_ON_ALL_ROADS(tests);
}
