/* SPDX-License-Identifier: MIT */
/* unload LIBRARY: loads it, uses the default pool, unloads it while the workers sleep, and
 * once more. What the workers run must stay where it is. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <weft.h>

struct library {
    void *handle;
    __typeof__(weft_run) *run;
    __typeof__(weft_join) *join;
    __typeof__(weft_pool_create) *pool_create;
    __typeof__(weft_pool_destroy) *pool_destroy;
    __typeof__(weft_pool_default) *pool_default;
    __typeof__(weft_pool_get_info) *pool_get_info;
};

static struct library lib;

struct tree {
    unsigned depth;
    unsigned long leaves;
};

static void count(weft *w, void *arg)
{
    struct tree *t = arg;
    if (t->depth == 0) {
        t->leaves = 1;
        return;
    }
    struct tree left = {t->depth - 1, 0}, right = {t->depth - 1, 0};
    lib.join(w, count, &left, count, &right);
    t->leaves = left.leaves + right.leaves;
}

static bool resolve(const char *path)
{
    lib.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!lib.handle)
        return false;
    lib.run = dlsym(lib.handle, "weft_run");
    lib.join = dlsym(lib.handle, "weft_join");
    lib.pool_create = dlsym(lib.handle, "weft_pool_create");
    lib.pool_destroy = dlsym(lib.handle, "weft_pool_destroy");
    lib.pool_default = dlsym(lib.handle, "weft_pool_default");
    lib.pool_get_info = dlsym(lib.handle, "weft_pool_get_info");
    return lib.run && lib.join && lib.pool_create && lib.pool_destroy && lib.pool_default &&
           lib.pool_get_info;
}

static void nap(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static bool counts(weft_pool *pool)
{
    struct tree t = {12, 0};
    return lib.run(pool, count, &t) == 0 && t.leaves == 1ul << 12;
}

static bool all_asleep(weft_pool *pool)
{
    for (int i = 0; i < 1000; i++) {
        weft_pool_info info = WEFT_POOL_INFO_INIT;
        lib.pool_get_info(pool, &info);
        if (info.sleeping == info.workers)
            return true;
        nap(10);
    }
    return false;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return fprintf(stderr, "unload LIBRARY\n"), 2;
    for (int round = 0; round < 3; round++) {
        if (!resolve(argv[1]))
            return fprintf(stderr, "%s\n", dlerror()), 1;
        weft_config config = WEFT_CONFIG_INIT;
        weft_pool *own;
        if (lib.pool_create(&own, &config) != 0 || !counts(own) || lib.pool_destroy(own) != 0)
            return fprintf(stderr, "round %d: a pool of one's own fails\n", round), 1;
        if (!counts(NULL) || !all_asleep(lib.pool_default()))
            return fprintf(stderr, "round %d: the default pool fails\n", round), 1;
        dlclose(lib.handle);
        nap(50);
        void *still = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
        if (!still)
            return fprintf(stderr, "round %d: unloaded under its workers\n", round), 1;
        dlclose(still);
    }
    return 0;
}
