/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <weft/task.h>

/* [cancel] */
static void compute(weft *w, void *arg)
{
    unsigned long *rounds = arg;
    while (!weft_cancelled(w))
        ++*rounds;
}

int main(void)
{
    weft_task task;
    unsigned long rounds = 0;
    int error = weft_submit(NULL, &task, compute, &rounds);
    if (error)
        return fprintf(stderr, "weft_submit: %s\n", weft_strerror(error)), 1;
    weft_task_cancel(&task); /* its client hung up */
    puts(weft_strerror(weft_task_wait(&task)));
}
/* [end] */
