/* SPDX-License-Identifier: MIT */
/* jobs.c: a job server in small. One thread takes jobs from clients and hands them to the pool; it
 * learns by one descriptor which are over. Some are urgent; some clients hang up. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <weft.h>
#include <weft/parallel.h>
#include <weft/task.h>
#include <weft/timer.h>

enum { JOBS = 24, SIZE = 1 << 16 };

struct job {
    weft_task task; /* first: the queue gives it back */
    int number;
    bool urgent;
    double result;
};

static double value(size_t i, int number)
{
    double x = (double)(i % 1000) / 1000;
    for (int round = 0; round < 20; round++)
        x = 3.5 * x * (1 - x);
    return x + number;
}

static void fold(weft *w, size_t lo, size_t hi, void *sum, void *arg)
{
    const struct job *job = arg;
    for (size_t i = lo; i < hi && !weft_cancelled(w); i++)
        *(double *)sum += value(i, job->number);
}

static void add(weft *w, void *into, const void *from, void *arg)
{
    (void)w;
    (void)arg;
    *(double *)into += *(const double *)from;
}

/* Any job may use all workers. */
static void compute(weft *w, void *arg)
{
    struct job *job = arg;
    double zero = 0;
    weft_reducer sum = {.size = sizeof zero, .identity = &zero, .fold = fold, .combine = add};
    weft_reduce(w, 0, SIZE, &sum, job, &job->result);
}

static void beat(weft *w, void *arg)
{
    (void)w;
    ++*(unsigned *)arg;
}

int main(void)
{
    static struct job jobs[JOBS];
    unsigned beats = 0;
    weft_timer heart = WEFT_TIMER_INIT;
    weft_completions *over;
    if (weft_completions_create(&over) || weft_timer_start(NULL, &heart, 0, 1000000, beat, &beats))
        return fprintf(stderr, "out of memory\n"), 1;
    for (int i = 0; i < JOBS; i++) {
        weft_submit_options options = WEFT_SUBMIT_OPTIONS_INIT;
        options.urgent = jobs[i].urgent = i % 6 == 5;
        options.deadline = weft_now() + 60 * UINT64_C(1000000000);
        options.completions = over;
        jobs[i].number = i;
        if (weft_submit_with(NULL, &jobs[i].task, compute, &jobs[i], &options))
            return fprintf(stderr, "job %d is refused\n", i), 1;
        if (i % 8 == 7)
            weft_task_cancel(&jobs[i - 1].task); /* its client hung up */
    }
    struct pollfd loop = {.fd = weft_completions_fd(over), .events = POLLIN};
    for (int left = JOBS; left > 0;) {
        weft_task *task;
        if (poll(&loop, 1, -1) < 0 && errno != EINTR)
            return perror("poll"), 1;
        for (; weft_completions_next(over, &task) == 0; left--) {
            struct job *job = (struct job *)task;
            int error = weft_task_wait(task);
            printf("job %2d%s: ", job->number, job->urgent ? ", urgent" : "");
            if (error)
                puts(weft_strerror(error));
            else
                printf("%.1f\n", job->result);
        }
    }
    weft_timer_stop(&heart);
    printf("meanwhile the heart beat %u times\n", beats);
    return weft_completions_destroy(over) != 0;
}
