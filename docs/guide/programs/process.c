/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft.h>

static void nothing(weft *w, void *arg)
{
    (void)w, (void)arg;
}

/* [fork] */
int main(void)
{
    weft_pool *pool;
    if (weft_pool_create(&pool, NULL) || weft_run(NULL, nothing, NULL))
        return 1;
    pid_t child = fork();
    if (child == 0) {
        /* The workers of the parent are not here. */
        int own = weft_run(pool, nothing, NULL);
        int other = weft_run(NULL, nothing, NULL); /* the child makes a default pool of its own */
        _exit(own == -ECHILD && other == 0 ? 0 : 1);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    puts(status == 0 ? "as expected" : "something else");
    return weft_pool_destroy(pool) || status;
}
/* [end] */
