/* SPDX-License-Identifier: MIT */
/* actors.c: switches between two actors, or whole lives of empty ones, or forks that an actor has
 * pending after it has failed, so many of them on one executor, for actors.sh to count
 * instructions. `sealed`: switches on a thread that the kernel
 * ends at its first system call. */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <weft.h>
#include <weft/actor.h>

enum { PATIENCE = 30 /* seconds */ };

struct work {
    weft_pool *pool;
    long count;
};

static int yields(weft *w, void *arg)
{
    struct work *work = arg;
    for (long i = 0; i < work->count; i++)
        weft_yield(w);
    return 0;
}

static int nothing(weft *w, void *arg)
{
    (void)w;
    (void)arg;
    return 0;
}

static int lives(weft *w, void *arg)
{
    struct work *work = arg;
    for (long i = 0; i < work->count; i++) {
        weft_actor *actor;
        int error = weft_actor_create(&actor, work->pool, nothing, NULL, NULL);
        if (error)
            return error;
        weft_actor_run(actor);
        error = weft_actor_wait(w, actor);
        weft_actor_release(actor);
        if (error)
            return error;
    }
    return 0;
}

static void never(weft *w, void *arg)
{
    (void)w;
    (void)arg;
    abort();
}

/* More than an actor has slots. */
static int fails(weft *w, void *arg)
{
    struct work *work = arg;
    weft_fail(w, -EDOM);
    for (long i = 0; i < work->count; i++)
        w = weft_fork(w, never, NULL);
    for (long i = 0; i < work->count; i++) {
        w = weft_outer(w);
        if (!weft_merge(w))
            never(w, NULL);
    }
    return 0;
}

static int yields_twice(weft *w, void *arg)
{
    yields(w, arg);
    return yields(w, arg);
}

/* The thread may read, write and end from now on; it is killed if it does anything else. */
static int yields_sealed(weft *w, void *arg)
{
    yields(w, arg); /* now both are there, and the other one has as much left */
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0)
        return -errno;
    yields(w, arg);
    return write(STDOUT_FILENO, "no system call\n", 15) == 15 ? 0 : -EIO;
}

/* The worker can't go to sleep any more, so the process ends from here. */
static int seal(weft_actor *actor)
{
    for (int i = 0; i < PATIENCE * 1000; i++) {
        if (weft_actor_done(actor))
            _exit(weft_actor_wait(NULL, actor) ? 1 : 0);
        usleep(1000);
    }
    fputs("a system call, or no end\n", stderr);
    _exit(1);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 1;
    struct work work = {.count = atol(argv[2])};
    bool sealed = strcmp(argv[1], "sealed") == 0, life = strcmp(argv[1], "life") == 0;
    bool failed = strcmp(argv[1], "failed") == 0;
    if (weft_pool_create(&work.pool, &config))
        return 1;
    weft_actor_fn *first = sealed ? yields_twice : life ? lives : failed ? fails : yields;
    weft_actor_fn *second = sealed ? yields_sealed : life || failed ? nothing : yields;
    weft_actor *one, *two;
    if (weft_actor_create(&one, work.pool, first, &work, NULL) ||
        weft_actor_create(&two, work.pool, second, &work, NULL))
        return 1;
    weft_actor_run(one);
    weft_actor_run(two);
    if (sealed)
        return seal(two);
    int error = weft_actor_wait(NULL, one) - (failed ? -EDOM : 0);
    error |= weft_actor_wait(NULL, two);
    weft_actor_release(one);
    weft_actor_release(two);
    weft_pool_destroy(work.pool);
    return error != 0;
}
