/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <weft/parallel.h>

/* [fail] */
static void check(weft *w, size_t begin, size_t end, void *arg)
{
    const int *numbers = arg;
    for (size_t i = begin; i < end && !weft_cancelled(w); i++)
        if (numbers[i] < 0)
            weft_fail(w, -EDOM); /* the first failure wins */
}
/* [end] */

/* [scope] */
static int check_all(weft *w, int *numbers, size_t n)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_for(w, 0, n, check, numbers);
    return weft_scope_close(w, &scope); /* a failure ends here: what is around it goes on */
}
/* [end] */

static void run(weft *w, void *arg)
{
    static int good[100000], bad[100000];
    (void)arg;
    bad[70000] = -1;
    printf("good: %s\n", weft_strerror(check_all(w, good, 100000)));
    printf("bad:  %s\n", weft_strerror(check_all(w, bad, 100000)));
    weft_for(w, 0, 100000, check, bad); /* in no scope: the run itself fails */
}

int main(void)
{
    printf("run:  %s\n", weft_strerror(weft_run(NULL, run, NULL)));
}
