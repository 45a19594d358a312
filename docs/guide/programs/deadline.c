/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft.h>

/* [deadline] */
static void search(weft *w, void *arg)
{
    unsigned long *tries = arg;
    while (!weft_cancelled(w)) /* would look for ever */
        ++*tries;
}

static void run(weft *w, void *arg)
{
    weft_scope scope;
    weft_scope_open(w, &scope);
    weft_scope_deadline(&scope, weft_now() + 5000000); /* five milliseconds from now */
    int error = weft_spawn(w, &scope, search, arg);
    int end = weft_scope_close(w, &scope);
    printf("%s\n", weft_strerror(error ? error : end));
}
/* [end] */

int main(void)
{
    unsigned long tries = 0;
    if (weft_run(NULL, run, &tries))
        return 1;
    return tries == 0;
}
