/* SPDX-License-Identifier: MIT */
/* completions.h: tasks that are over, in the order in which they ended. Any number of threads put
 * tasks in, and take them out.
 *
 * A descriptor, if the program has asked for one, is readable while there are tasks. It is written
 * when a task comes and the last thread that looked found none; a thread that finds none reads it.
 * So many tasks that end at about the same time cost one write and one read. A thread that waits is
 * given its task directly.
 *
 * The descriptor is written, and a thread that waits is woken, without the lock: the woken thread
 * may run at once, on its waker's CPU, and would have to wait for the lock. So a thread may take a
 * task out, find no more, and read the descriptor, all before the writer has written it. Then the
 * descriptor becomes readable for nothing; the next thread that finds no task reads it.
 *
 * The thread that takes the last task out may destroy the queue, while the thread that put it in
 * still writes. So the first of the writers takes the lock `writing`, the last one drops it, and
 * the thread that destroys the queue takes it. */
#ifndef WEFT_CORE_COMPLETIONS_H
#define WEFT_CORE_COMPLETIONS_H

#include "core/task.h"
#include "os/lock.h"

struct weft__consumer;

struct weft_completions {
    struct weft__lock lock; /* for all below */
    uint32_t fork_count;    /* constant: of the process, when the queue was made */
    int fd;                 /* -1: the program has not asked for it */
    bool told;              /* a writer has come since a thread last found no task */
    uint64_t unread;        /* of all that writers write, what was not read */
    unsigned writers;       /* threads that write the descriptor */
    size_t pending;         /* tasks that were submitted with it, and not taken out yet */
    struct weft__node *first, *last;
    const struct weft_pool
        *pool;    /* of all tasks that were submitted with it. Compared, for reports */
    bool several; /* pools */
    size_t calls; /* that wait for a task, and have not returned yet */
    struct weft__consumer *first_waiting, *last_waiting; /* there are none while there are tasks */
    struct weft__lock writing;                           /* held while there are writers */
};

/* 0, or -ECHILD: the queue is that of the parent process. */
int weft__completions_check(const struct weft_completions *queue);

/* A task of this pool will come. */
void weft__completions_expect(struct weft_completions *queue, const struct weft_pool *pool);

/* The task is over, for all threads. Last touch of the task and of the queue. */
void weft__completions_put(struct weft_completions *queue, struct weft__task *task);

#endif
