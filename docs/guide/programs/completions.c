/* SPDX-License-Identifier: MIT */
#include <poll.h>
#include <stdio.h>
#include <weft/task.h>

/* [completions] */
struct job {
    weft_task task; /* first: the queue gives it back */
    int number;
    long result;
};

static void compute(weft *w, void *arg)
{
    struct job *job = arg;
    (void)w;
    job->result = (long)job->number * job->number;
}

int main(void)
{
    enum { JOBS = 100 };
    static struct job jobs[JOBS];
    weft_completions *over;
    if (weft_completions_create(&over))
        return 1;
    weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
    options.completions = over;
    for (int i = 0; i < JOBS; i++) {
        jobs[i].number = i;
        options.urgent = i % 10 == 0; /* before all that are not */
        if (weft_submit_with(NULL, &jobs[i].task, compute, &jobs[i], &options))
            return 1;
    }
    struct pollfd loop = {.fd = weft_completions_fd(over), .events = POLLIN};
    long sum = 0;
    for (int left = JOBS; left > 0;) {
        if (poll(&loop, 1, -1) < 1)
            return 1;
        weft_task *task;
        for (; weft_completions_next(over, &task) == 0; left--) { /* until there is none */
            if (weft_task_wait(task) == 0)
                sum += ((struct job *)task)->result;
        }
    }
    printf("%ld\n", sum);
    return weft_completions_destroy(over) != 0;
}
/* [end] */
