/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

static atomic_int freed;

/* [drop] */
static void use(weft *w, void *arg)
{
    if (*(int *)arg == 3)
        weft_fail(w, -EPROTO);
    free(arg);
    atomic_fetch_add(&freed, 1);
}

/* Runs in place of a child that was skipped. */
static void drop(weft *w, void *arg)
{
    (void)w;
    free(arg);
    atomic_fetch_add(&freed, 1);
}

static void run(weft *w, void *arg)
{
    weft_scope scope;
    (void)arg;
    weft_scope_open(w, &scope);
    for (int i = 0; i < 100; i++) {
        int *number = malloc(sizeof *number);
        if (!number)
            continue;
        *number = i % 10;
        if (weft_spawn_drop(w, &scope, use, number, drop))
            free(number);
    }
    printf("%s\n", weft_strerror(weft_scope_close(w, &scope)));
}
/* [end] */

int main(void)
{
    int error = weft_run(NULL, run, NULL);
    printf("%d freed\n", freed);
    return error != 0;
}
