/* SPDX-License-Identifier: MIT */
/* Programs in states that `weft top` should show. Each says "ready" when it is there, and stays
 * until its standard input ends. */
#include "weft/actor.h"
#include "weft/sync.h"
#include "weft/task.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft.h>

static atomic_bool ends;
static atomic_int arrived;

static void say_ready(void)
{
    puts("ready");
    fflush(stdout);
}

static void stay(void)
{
    char c;
    say_ready();
    while (read(STDIN_FILENO, &c, 1) > 0)
        ;
    atomic_store(&ends, true);
}

static void until_arrived(int count)
{
    while (atomic_load(&arrived) < count)
        usleep(1000);
}

static weft_pool *make_pool(const char *name, unsigned workers)
{
    weft_config config = WEFT_CONFIG_INIT;
    weft_pool *pool;
    config.name = name;
    config.workers = workers;
    if (weft_pool_create(&pool, &config) != 0)
        exit(EXIT_FAILURE);
    return pool;
}

/* ---- Workers ---- */

static void compute_for_ever(weft *w, void *arg)
{
    (void)w, (void)arg;
    atomic_fetch_add(&arrived, 1);
    while (!atomic_load_explicit(&ends, memory_order_relaxed))
        ;
}

static void asleep(void)
{
    weft_pool *pool = make_pool("sleepy", 2);
    stay();
    weft_pool_destroy(pool);
}

/* One worker of two is busy. */
static void busy(void)
{
    weft_pool *pool = make_pool("halfway", 2);
    weft_task task;
    weft_submit(pool, &task, compute_for_ever, NULL);
    until_arrived(1);
    stay();
    weft_task_wait(&task);
    weft_pool_destroy(pool);
}

static void block_outside(weft *w, void *arg)
{
    char c;
    int *ends_of = arg;
    weft_block_begin(w);
    atomic_fetch_add(&arrived, 1);
    (void)!read(ends_of[0], &c, 1);
    weft_block_end(w);
}

/* A job reads from a pipe to which nobody writes, and says so. */
static void blocked(void)
{
    weft_pool *pool = make_pool("pipes", 2);
    weft_task task;
    int pipe_of[2];
    if (pipe(pipe_of) != 0)
        exit(EXIT_FAILURE);
    weft_submit(pool, &task, block_outside, pipe_of);
    until_arrived(1);
    stay();
    close(pipe_of[1]);
    weft_task_wait(&task);
    weft_pool_destroy(pool);
}

/* ---- Mutexes ---- */

static weft_mutex first, second;

struct order {
    weft_mutex *one, *other;
};

static void lock_both(weft *w, void *arg)
{
    struct order *order = arg;
    weft_mutex_lock(w, order->one);
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < 2)
        usleep(1000);
    weft_mutex_lock(w, order->other);
    weft_mutex_unlock(w, order->other);
    weft_mutex_unlock(w, order->one);
}

/* Each of two jobs has the mutex that the other wants. The report goes to nobody. */
static void no_report(weft_pool *pool, const char *text, const char *dot, void *data)
{
    (void)pool, (void)text, (void)dot, (void)data;
    atomic_store(&arrived, 3);
}

static void deadlock(void)
{
    weft_config config = WEFT_CONFIG_INIT;
    weft_pool *pool;
    weft_task tasks[2];
    static struct order orders[] = {{&first, &second}, {&second, &first}};
    config.name = "stuck";
    config.workers = 2;
    config.deadlock = no_report;
    if (weft_pool_create(&pool, &config) != 0)
        exit(EXIT_FAILURE);
    weft_mutex_init(&first, "left");
    weft_mutex_init(&second, "right");
    for (int i = 0; i < 2; i++)
        weft_submit(pool, &tasks[i], lock_both, &orders[i]);
    until_arrived(3);
    stay();
    _exit(EXIT_SUCCESS);
}

/* One job has the mutex and computes; three wait for it in turn, and get it in turn: whoever has it
 * in the end is not who had it when they began to wait. */
static atomic_bool lets_go;

static void hold_until_told(weft *w, void *arg)
{
    (void)arg;
    weft_mutex_lock(w, &first);
    atomic_fetch_add(&arrived, 1);
    while (!atomic_load(&lets_go))
        usleep(1000);
    weft_mutex_unlock(w, &first);
}

static void hold_for_ever(weft *w, void *arg)
{
    (void)arg;
    weft_mutex_lock(w, &first);
    atomic_fetch_add(&arrived, 1);
    while (!atomic_load(&ends))
        usleep(1000);
    weft_mutex_unlock(w, &first);
}

static bool are_blocked(weft_pool *pool, unsigned count)
{
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    weft_pool_get_info(pool, &info);
    return info.blocked == count;
}

static void handed_on(void)
{
    weft_pool *pool = make_pool("handed", 3);
    weft_task tasks[3];
    weft_mutex_init(&first, "passed on");
    weft_submit(pool, &tasks[0], hold_until_told, NULL);
    until_arrived(1);
    for (int i = 1; i < 3; i++)
        weft_submit(pool, &tasks[i], hold_for_ever, NULL);
    while (!are_blocked(pool, 2))
        usleep(1000);
    atomic_store(&lets_go, true);
    until_arrived(2);
    while (!are_blocked(pool, 1))
        usleep(1000);
    stay();
    for (int i = 0; i < 3; i++)
        weft_task_wait(&tasks[i]);
    weft_pool_destroy(pool);
}

/* ---- A wait for children ---- */

static void close_scope(weft *w, void *arg)
{
    weft_scope scope;
    (void)arg;
    weft_scope_open(w, &scope);
    (void)!weft_spawn(w, &scope, compute_for_ever, NULL);
    until_arrived(1);
    weft_scope_close(w, &scope);
}

static void children(void)
{
    weft_pool *pool = make_pool("family", 2);
    weft_task task;
    weft_submit(pool, &task, close_scope, NULL);
    until_arrived(1);
    stay();
    weft_task_wait(&task);
    weft_pool_destroy(pool);
}

/* ---- Actors ---- */

static int receive_for_ever(weft *w, void *arg)
{
    void *message;
    (void)arg;
    while (weft_receive(w, &message) == 0 && message)
        ;
    return 0;
}

static int turn_for_ever(weft *w, void *arg)
{
    (void)arg;
    while (!atomic_load_explicit(&ends, memory_order_relaxed))
        weft_poll(w);
    return 0;
}

static void actors(unsigned more)
{
    weft_pool *pool = make_pool("stage", 2);
    weft_actor_config config = WEFT_ACTOR_CONFIG_INIT;
    weft_actor *all[202];
    unsigned count = 0;
    config.name = "listener";
    weft_actor_create(&all[count++], pool, receive_for_ever, NULL, &config);
    config.name = "talker";
    weft_actor_create(&all[count++], pool, turn_for_ever, NULL, &config);
    config.name = "one of many";
    while (count < 2 + more)
        weft_actor_create(&all[count++], pool, receive_for_ever, NULL, &config);
    for (unsigned i = 0; i < count; i++)
        weft_actor_run(all[i]);
    stay();
    for (unsigned i = 0; i < count; i++) {
        if (i != 1)
            weft_actor_send(NULL, all[i], NULL);
        weft_actor_wait(NULL, all[i]);
        weft_actor_release(all[i]);
    }
    weft_pool_destroy(pool);
}

static void few_actors(void)
{
    actors(0);
}

static void many_actors(void)
{
    actors(200);
}

/* ---- Processes ---- */

static void nothing(weft *w, void *arg)
{
    (void)w, (void)arg;
}

static void many_pools(void)
{
    weft_pool *pools[40];
    char name[16];
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "pool-%d", i);
        pools[i] = make_pool(name, 1);
        weft_run(pools[i], nothing, NULL);
    }
    stay();
    for (int i = 0; i < 40; i++)
        weft_pool_destroy(pools[i]);
}

/* The child of a process with a pool has none, and then one. */
static void forked(bool own_pool)
{
    weft_pool *pool = make_pool("parent", 1);
    weft_run(pool, nothing, NULL);
    pid_t child = fork();
    if (child == 0) {
        if (own_pool) {
            weft_pool *mine = make_pool("child", 3);
            weft_run(mine, nothing, NULL);
        }
        printf("child %d\n", (int)getpid());
        stay();
        _exit(EXIT_SUCCESS);
    }
    waitpid(child, NULL, 0);
    weft_pool_destroy(pool);
}

static void forked_without(void)
{
    forked(false);
}

static void forked_with(void)
{
    forked(true);
}

static void closed(void)
{
    weft_pool *pool = make_pool("closed", 1);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    weft_run(pool, nothing, NULL);
    stay();
    weft_pool_destroy(pool);
}

static void no_pool(void)
{
    stay();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {
        {"asleep", asleep},           {"busy", busy},
        {"blocked", blocked},         {"deadlock", deadlock},
        {"handed_on", handed_on},     {"children", children},
        {"actors", few_actors},       {"many_actors", many_actors},
        {"many_pools", many_pools},   {"forked_without", forked_without},
        {"forked_with", forked_with}, {"closed", closed},
        {"no_pool", no_pool},
    };
    for (size_t i = 0; argc == 2 && i < sizeof all / sizeof all[0]; i++)
        if (strcmp(argv[1], all[i].name) == 0) {
            all[i].run();
            return EXIT_SUCCESS;
        }
    return EXIT_FAILURE;
}
