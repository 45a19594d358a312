/* SPDX-License-Identifier: MIT */
/* spawns.c: N scopes of 16 children, or as many calls, for spawns.sh to count instructions. */
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

enum { CHILDREN = 16 };

void child(weft *w, void *sum);

void child(weft *w, void *sum)
{
    (void)w;
    *(volatile long *)sum += 1;
}

static long scopes, sum;

static void spawn_all(weft *w, void *unused)
{
    (void)unused;
    for (long i = 0; i < scopes; i++) {
        weft_scope scope;
        weft_scope_open(w, &scope);
        for (int j = 0; j < CHILDREN; j++)
            if (weft_spawn(w, &scope, child, &sum))
                abort();
        if (weft_scope_close(w, &scope))
            abort();
    }
}

static void call_all(weft *w, void *unused)
{
    (void)unused;
    weft_fn *volatile fn = child;
    for (long i = 0; i < scopes * CHILDREN; i++)
        fn(w, &sum);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    scopes = atol(argv[2]);
    weft_config config = WEFT_CONFIG_INIT;
    config.workers = 1;
    config.flags = WEFT_USE_CALLER; /* no other thread, whose instructions would count, too */
    weft_pool *pool;
    if (weft_pool_create(&pool, &config) ||
        weft_run(pool, argv[1][0] == 'c' ? call_all : spawn_all, NULL))
        return 1;
    weft_pool_destroy(pool);
    printf("%ld\n", sum);
    return sum != scopes * CHILDREN;
}
