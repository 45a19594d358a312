/* SPDX-License-Identifier: MIT */
/* event_loop.c: an epoll loop that hands heavy work to the pool and goes on. The task's
 * descriptor becomes readable when it is over; libuv and io_uring can wait for it too. */
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <weft.h>

static void heavy(weft *w, void *arg)
{
    (void)w;
    unsigned *x = arg;
    for (unsigned i = 0; i < 10000000; i++)
        *x = *x * 1664525u + 1013904223u;
}

int main(void)
{
    enum { TASKS = 4 };
    weft_task tasks[TASKS];
    unsigned results[TASKS] = {1, 2, 3, 4};
    int loop = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < TASKS; i++) {
        int error = weft_submit(NULL, &tasks[i], heavy, &results[i]);
        if (error)
            return fprintf(stderr, "weft_submit: %s\n", weft_strerror(error)), 1;
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = (unsigned)i};
        epoll_ctl(loop, EPOLL_CTL_ADD, weft_task_fd(&tasks[i]), &event);
    }
    for (int left = TASKS; left > 0; left--) {
        struct epoll_event event;
        if (epoll_wait(loop, &event, 1, -1) != 1)
            return 1;
        int i = (int)event.data.u32;
        /* Closes the descriptor, and with it its place in the loop. */
        int error = weft_task_wait(&tasks[i]);
        if (error)
            return fprintf(stderr, "task %d: %s\n", i, weft_strerror(error)), 1;
        printf("task %d: %u\n", i, results[i]);
    }
    return close(loop);
}
