/* SPDX-License-Identifier: MIT */
/* planted.c NAME: a program with one problem, which `weft trace` has to name. How long a part takes
 * is a multiple of what another part took, so that the problem is there on a busy machine, too. */
#include <weft.h>
#include <weft/parallel.h>
#include <weft/sync.h>
#include <weft/task.h>
#include <weft/trace.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MS = 1000000 };

static weft_pool *pool;

static void work_until(uint64_t when)
{
    while (weft_now() < when)
        continue;
}

static void work(unsigned ms)
{
    work_until(weft_now() + ms * (uint64_t)MS);
}

static void exit_if(int error)
{
    if (!error)
        return;
    fprintf(stderr, "planted: %s\n", weft_strerror(error));
    exit(1);
}

static void run(weft_fn *fn, void *arg)
{
    exit_if(weft_run(pool, fn, arg));
}

/* Two sides that are there at once: one thread can't run both. */
static atomic_uint arrived;

static void meet(unsigned all)
{
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < all)
        weft_now();
}

/* ---- One long right side at the end ---- */

static uint64_t begun;
static _Atomic uint64_t left_is_over;

static void short_side(weft *w, void *arg)
{
    (void)w, (void)arg;
    meet(2);
    work(5);
    atomic_store(&left_is_over, weft_now());
}

static void long_right_side(weft *w, void *arg)
{
    (void)w, (void)arg;
    meet(2);
    while (atomic_load(&left_is_over) == 0)
        weft_now();
    uint64_t middle = atomic_load(&left_is_over);
    work_until(middle + 4 * (middle - begun));
}

static void right_side_root(weft *w, void *arg)
{
    begun = weft_now();
    weft_join(w, short_side, arg, long_right_side, arg);
}

static void right_side(void)
{
    run(right_side_root, NULL);
}

/* ---- A mutex that all jobs want ---- */

static weft_mutex popular;
static atomic_bool one_is_over;
static atomic_uint taken; /* how often the mutex was */

/* Until the other job is blocked, and as long again. */
static void hold(void)
{
    uint64_t begin = weft_now();
    weft_pool_info info = WEFT_POOL_INFO_INIT;
    do
        weft_pool_get_info(pool, &info);
    while (info.blocked == 0 && !atomic_load(&one_is_over));
    work_until(weft_now() + (weft_now() - begin));
}

static void wants_mutex(weft *w, void *arg)
{
    (void)arg;
    meet(2);
    for (int i = 0; i < 20; i++) {
        weft_mutex_lock(w, &popular);
        unsigned mine = atomic_fetch_add(&taken, 1) + 1;
        hold();
        weft_mutex_unlock(w, &popular);
        while (atomic_load(&taken) == mine && !atomic_load(&one_is_over))
            weft_now();
    }
    atomic_store(&one_is_over, true);
}

static void mutex_root(weft *w, void *arg)
{
    weft_join(w, wants_mutex, arg, wants_mutex, arg);
}

static void mutex(void)
{
    weft_mutex_init(&popular, "popular");
    run(mutex_root, NULL);
}

/* ---- A loop that is too short to share ---- */

enum { TINY = 16 };
struct tiny {
    unsigned root; /* the worker that runs the loop */
    atomic_bool shared;
    atomic_ulong sums[TINY];
};

static void tiny_body(weft *w, size_t begin, size_t end, void *arg)
{
    struct tiny *tiny = arg;
    if (weft_worker_index(w) != tiny->root)
        atomic_store(&tiny->shared, true);
    for (size_t i = begin; i < end; i++)
        atomic_fetch_add(&tiny->sums[i], i);
}

/* Until some of these loops were shared in spite of all. */
static void short_loop_root(weft *w, void *arg)
{
    struct tiny *tiny = arg;
    tiny->root = weft_worker_index(w);
    for (int shared = 0; shared < 12; shared += atomic_exchange(&tiny->shared, false))
        weft_for_min(w, 0, TINY, 1, tiny_body, arg);
}

static void short_loop(void)
{
    static struct tiny tiny;
    run(short_loop_root, &tiny);
}

/* ---- A worker that is blocked in the program's own code ---- */

static void reads_slowly(weft *w, void *arg)
{
    (void)arg;
    uint64_t begin = weft_now();
    work(2);
    uint64_t took = weft_now() - begin;
    weft_block_begin(w);
    while (weft_now() < begin + 20 * took)
        usleep(1000);
    weft_block_end(w);
}

static void own_code(void)
{
    run(reads_slowly, NULL);
}

/* ---- A job that waits for a thread outside ---- */

static weft_event answer;
static _Atomic uint64_t asked;

static void asks_outside(weft *w, void *arg)
{
    (void)arg;
    uint64_t begin = weft_now();
    work(2);
    atomic_store(&asked, weft_now() - begin);
    weft_event_wait(w, &answer);
}

static void *answers(void *arg)
{
    (void)arg;
    while (atomic_load(&asked) == 0)
        usleep(1000);
    uint64_t end = weft_now() + 20 * atomic_load(&asked);
    while (weft_now() < end)
        usleep(1000);
    weft_event_set(NULL, &answer);
    return NULL;
}

static void outside(void)
{
    pthread_t thread;
    weft_event_init(&answer, "answer");
    weft_event_from_outside(&answer);
    pthread_create(&thread, NULL, answers, NULL);
    run(asks_outside, NULL);
    pthread_join(thread, NULL);
}

/* ---- Too few forks ---- */

static void leaf(weft *w, void *arg)
{
    (void)w, (void)arg;
    meet(2);
}

static void does_it_alone(weft *w, void *arg)
{
    uint64_t begin = weft_now();
    weft_join(w, leaf, arg, leaf, arg);
    work_until(weft_now() + 10 * (weft_now() - begin) + 20 * MS);
}

static void alone(void)
{
    run(does_it_alone, NULL);
}

/* ---- Nothing wrong ---- */

static void both_work(weft *w, void *arg)
{
    (void)w, (void)arg;
    meet(2);
    work(20);
}

static void fine_root(weft *w, void *arg)
{
    weft_join(w, both_work, arg, both_work, arg);
}

static void fine(void)
{
    run(fine_root, NULL);
}

/* ---- Ends, and files ---- */

static void spans(weft *w, void *arg)
{
    (void)w, (void)arg;
    for (int i = 0; i < 100; i++) {
        weft_span_begin("a \"span\" \\ \xc3\xa9\xff\n");
        weft_trace_mark("level", i - 50);
        weft_span_end();
    }
}

static void named(void)
{
    run(spans, NULL);
    weft_task task;
    int error = weft_submit(pool, &task, spans, NULL);
    if (!error)
        error = weft_task_wait(&task);
    exit_if(error);
}

static void killed(void)
{
    run(spans, NULL);
    raise(SIGKILL);
}

static void full(void)
{
    for (int i = 0; i < 1000; i++)
        run(spans, NULL);
}

static void forked(void)
{
    run(spans, NULL);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 10000; i++)
            weft_trace_mark("of the child", i);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    run(spans, NULL);
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    {"right_side", right_side},
    {"mutex", mutex},
    {"short_loop", short_loop},
    {"own_code", own_code},
    {"outside", outside},
    {"alone", alone},
    {"fine", fine},
    {"named", named},
    {"plain", named},
    {"killed", killed},
    {"full", full},
    {"forked", forked},
};

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 3;
    bool small = strcmp(argv[1], "full") == 0;
    bool starts = strcmp(argv[1], "plain") != 0; /* else the environment does, or nobody */
    if ((starts && weft_trace_start(argv[2], small ? 4 * 65536 : 0) != 0) ||
        weft_pool_create(&pool, &config) != 0)
        return 1;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (strcmp(programs[i].name, argv[1]) == 0) {
            programs[i].run();
            weft_pool_destroy(pool);
            return 0;
        }
    return 2;
}
