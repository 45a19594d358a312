/* SPDX-License-Identifier: MIT */
/* Stands still in a known state, for gdb.sh: `stands CASE`. When the state is reached, it calls
 * stands_still(), where gdb has a breakpoint; then it waits for a signal. No state depends on time:
 * each thread goes on when it has seen that another one has come where it should be. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <weft/all.h>

#define KEPT __attribute__((noinline))

static atomic_int came;

void stands_still(void);

KEPT void stands_still(void)
{
    static const char ready[] = "stands still\n";
    if (write(STDOUT_FILENO, ready, sizeof ready - 1) > 0)
        for (;;)
            pause();
}

KEPT static void await_number(int number)
{
    while (atomic_load(&came) < number)
        usleep(100);
}

/* Until a dump of the pool has these words. */
static void await_words(weft_pool *pool, const char *words)
{
    for (bool there = false; !there; usleep(1000)) {
        char *dump = NULL;
        size_t size;
        FILE *out = open_memstream(&dump, &size);
        if (!out)
            exit(2);
        weft_pool_dump(pool, out);
        fclose(out);
        there = strstr(dump, words);
        free(dump);
    }
}

/* Without guests: the main thread stays outside where it submits. */
static weft_pool *make_pool(unsigned workers, weft_deadlock_fn *deadlock, unsigned flags)
{
    weft_pool *pool;
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = workers;
    config.name = "stands";
    config.stack_size = 256 << 10; /* core files have all of it */
    config.deadlock = deadlock;
    config.flags = flags;
    if (weft_pool_create(&pool, &config) != 0)
        exit(2);
    return pool;
}

/* ---- Two jobs, two mutexes ---- */

static weft_mutex first_mutex, second_mutex;

KEPT static void lock_both(weft *w, weft_mutex *mine, weft_mutex *other)
{
    weft_mutex_lock(w, mine);
    atomic_fetch_add(&came, 1);
    await_number(2);
    weft_mutex_lock(w, other);
}

static void lock_right(weft *w, void *arg)
{
    (void)arg;
    lock_both(w, &second_mutex, &first_mutex);
}

static void lock_crosswise(weft *w, void *arg)
{
    (void)arg;
    weft *left = weft_fork(w, lock_right, NULL);
    lock_both(left, &first_mutex, &second_mutex);
    if (!weft_merge(w))
        lock_right(w, NULL);
}

/* Called when both are blocked. */
static void found(weft_pool *pool, const char *report, const char *graph, void *data)
{
    (void)pool, (void)report, (void)graph, (void)data;
    stands_still();
}

static void deadlock(void)
{
    weft_mutex_init(&first_mutex, "first");
    weft_mutex_init(&second_mutex, "second");
    (void)!weft_run(make_pool(2, found, 0), lock_crosswise, NULL);
}

/* ---- A right side of a right side, each on another thread ---- */

static void last_right(weft *w, void *arg)
{
    (void)w, (void)arg;
    atomic_fetch_add(&came, 1);
    stands_still();
}

KEPT static void left_of_middle(weft *w)
{
    (void)w;
    await_number(2);
    pause();
}

static void middle_right(weft *w, void *arg)
{
    (void)arg;
    atomic_fetch_add(&came, 1);
    weft *left = weft_fork(w, last_right, NULL);
    left_of_middle(left);
    if (!weft_merge(w))
        abort();
}

KEPT static void fork_and_merge(weft *w, weft_fn *right)
{
    weft_fork(w, right, NULL);
    await_number(2);
    if (!weft_merge(w))
        abort();
}

static void beginning(weft *w, void *arg)
{
    (void)arg;
    fork_and_merge(w, middle_right);
}

static void stolen(void)
{
    (void)!weft_run(make_pool(3, NULL, 0), beginning, NULL);
}

/* ---- A scope, and a task ---- */

static void child(weft *w, void *arg)
{
    (void)w, (void)arg;
    atomic_fetch_add(&came, 1);
    await_number(3);
}

KEPT static void scope_of_one(weft *w)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    if (weft_spawn(w, &scope, child, NULL) != 0)
        abort();
    await_number(2); /* other workers have the child, and the task that waits for this one */
    (void)!weft_scope_close(w, &scope);
}

static void task(weft *w, void *arg)
{
    (void)arg;
    scope_of_one(w);
}

static void waits_for_task(weft *w, void *arg)
{
    (void)w;
    await_number(1);
    atomic_fetch_add(&came, 1);
    (void)!weft_task_wait(arg);
}

static void tasks(void)
{
    static weft_task inner, outer;
    weft_pool *pool = make_pool(3, NULL, WEFT_NO_GUESTS);
    if (weft_submit(pool, &inner, task, NULL) != 0 ||
        weft_submit(pool, &outer, waits_for_task, &inner) != 0)
        exit(2);
    await_words(pool, "waits for children of its scope, on");
    await_words(pool, "waits for a task");
    stands_still();
}

/* ---- Actors ---- */

static weft_actor *actors[3];

static int waits_for_message(weft *w, void *arg)
{
    void *message;
    (void)arg;
    return weft_receive(w, &message);
}

KEPT static int wait_for_other(weft *w, weft_actor *other)
{
    return weft_actor_wait(w, other) == 0;
}

static int waits_for_end(weft *w, void *arg)
{
    return wait_for_other(w, actors[(size_t)arg]);
}

static weft_actor *make_actor(weft_pool *pool, const char *name, weft_actor_fn *fn, size_t arg)
{
    weft_actor *actor;
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    config.name = name;
    if (weft_actor_create(&actor, pool, fn, (void *)arg, &config) != 0)
        exit(2);
    return actor;
}

static void await_waiting(weft_actor *actor)
{
    weft_actor_info info = WEFT_ACTOR_INFO_INIT;
    do
        usleep(100);
    while (weft_actor_get_info(actor, &info) == 0 && info.state != WEFT_ACTOR_WAITING);
}

static void all_actors(void)
{
    weft_pool *pool = make_pool(2, NULL, 0);
    actors[0] = make_actor(pool, "ping", waits_for_end, 1);
    actors[1] = make_actor(pool, "pong", waits_for_end, 0);
    actors[2] = make_actor(pool, "reader", waits_for_message, 0);
    for (int i = 0; i < 3; i++)
        weft_actor_run(actors[i]);
    for (int i = 0; i < 3; i++)
        await_waiting(actors[i]);
    stands_still();
}

/* ---- A right side of an actor, on another executor ---- */

static void right_of_actor(weft *w, void *arg)
{
    (void)w, (void)arg;
    atomic_fetch_add(&came, 1);
    await_number(2);
}

KEPT static void gives_away(weft *w)
{
    weft *left = weft_fork(w, right_of_actor, NULL);
    while (atomic_load(&came) == 0)
        weft_poll(left);
    if (!weft_merge(w))
        abort();
}

static int boss(weft *w, void *arg)
{
    (void)arg;
    gives_away(w);
    return 0;
}

static void delegates(void)
{
    weft_actor *actor = make_actor(make_pool(2, NULL, 0), "boss", boss, 0);
    weft_actor_run(actor);
    await_number(1);
    await_waiting(actor);
    stands_still();
}

/* ---- A mutex that is held outside ---- */

static void lock_first(weft *w, void *arg)
{
    (void)arg;
    weft_mutex_lock(w, &first_mutex);
}

static void outside(void)
{
    static weft_task waiter;
    weft_pool *pool = make_pool(1, found, WEFT_NO_GUESTS);
    weft_mutex_init(&first_mutex, "first");
    weft_mutex_lock(NULL, &first_mutex);
    if (weft_submit(pool, &waiter, lock_first, NULL) != 0)
        exit(2);
    (void)!weft_task_wait(&waiter);
}

/* Pools that are gone are not shown. */
static void pools_come_and_go(void)
{
    weft_pool *pools[3];
    for (int i = 0; i < 3; i++)
        pools[i] = make_pool(1, NULL, 0);
    for (int i = 0; i < 3; i++)
        (void)!weft_pool_destroy(pools[(i + 1) % 3]); /* the middle, the last, the first */
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"deadlock", deadlock}, {"stolen", stolen},       {"tasks", tasks},
        {"actors", all_actors}, {"delegates", delegates}, {"outside", outside},
    };
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* gdb may come later */
    pools_come_and_go();
    for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(argv[1], cases[i].name) == 0)
            cases[i].run();
    return 2;
}
