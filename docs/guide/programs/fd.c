/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <weft.h>

/* [fd] */
static void heavy(weft *w, void *arg)
{
    unsigned *x = arg;
    (void)w;
    for (unsigned i = 0; i < 1000000; i++)
        *x = *x * 1664525u + 1013904223u;
}

int main(void)
{
    enum { TASKS = 4 };
    weft_task tasks[TASKS]; /* memory of the program, until weft_task_wait() has returned */
    unsigned results[TASKS] = {1, 2, 3, 4};
    int loop = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < TASKS; i++) {
        if (weft_submit(NULL, &tasks[i], heavy, &results[i]))
            return 1;
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = (unsigned)i};
        if (epoll_ctl(loop, EPOLL_CTL_ADD, weft_task_fd(&tasks[i]), &event))
            return 1;
    }
    int over = 0;
    while (over < TASKS) { /* the event loop; other descriptors would be in it, too */
        struct epoll_event event;
        if (epoll_wait(loop, &event, 1, -1) != 1)
            return 1;
        if (weft_task_wait(&tasks[event.data.u32])) /* returns at once, closes the descriptor */
            return 1;
        over++;
    }
    printf("%d over, %u\n", over, results[0]);
    return close(loop);
}
/* [end] */
