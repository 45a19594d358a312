/* SPDX-License-Identifier: MIT */
/* Finds the library by its name, as a binding does: argv[1], else libweft.so.0.2. */
#include <dlfcn.h>
#include <stdio.h>
#include <weft.h>

/* [symbols] */
static __typeof__(weft_run) *run;
static __typeof__(weft_join) *join; /* forks are inline in C; bindings call this, or scopes */
static const char *(*version)(void);

struct tree {
    unsigned depth;
    unsigned long leaves;
};

static void count(weft *w, void *arg)
{
    struct tree *tree = arg;
    if (tree->depth == 0) {
        tree->leaves = 1;
        return;
    }
    struct tree left = {tree->depth - 1, 0}, right = left;
    join(w, count, &left, count, &right);
    tree->leaves = left.leaves + right.leaves;
}

int main(int argc, char **argv)
{
    void *library = dlopen(argc > 1 ? argv[1] : "libweft.so.0.2", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return fprintf(stderr, "%s\n", dlerror()), 1;
    *(void **)&run = dlsym(library, "weft_run");
    *(void **)&join = dlsym(library, "weft_join");
    *(void **)&version = dlsym(library, "weft_version");
    if (!run || !join || !version)
        return 1;
    struct tree tree = {10, 0};
    int error = run(NULL, count, &tree);
    printf("%s: %lu leaves\n", version()[0] ? "found" : "?", tree.leaves);
    return error != 0;
}
/* [end] */
