/* SPDX-License-Identifier: MIT */
/* completions.h: tasks that are over, in the order in which they ended. Any number of threads put
 * tasks in, and take them out.
 *
 * A descriptor, if the program has asked for one, is readable while there are tasks. It is written
 * when a task comes and the last thread that looked found none; a thread that finds none reads it.
 * So many tasks that end at about the same time cost one write and one read. A thread that waits is
 * given its task directly.
 *
 * All is done under the lock, also the calls for the descriptor and the wake-up: so the thread that
 * takes the last task out, and then destroys the queue, does so after the thread that put it in. */
#ifndef WEFT_CORE_COMPLETIONS_H
#define WEFT_CORE_COMPLETIONS_H

#include "core/task.h"
#include "os/lock.h"

struct weft__consumer;

struct weft_completions {
    struct weft__lock lock; /* for all below */
    uint32_t fork_count;    /* constant: of the process, when the queue was made */
    int fd;                 /* -1: the program has not asked for it */
    bool readable;          /* the descriptor was written, and not read since */
    size_t pending;         /* tasks that were submitted with it, and not taken out yet */
    struct weft__node *first, *last;
    struct weft__consumer *first_waiting, *last_waiting; /* there are none while there are tasks */
};

/* 0, or -ECHILD: the queue is that of the parent process. */
int weft__completions_check(const struct weft_completions *queue);

void weft__completions_expect(struct weft_completions *queue); /* a task will come */

/* The task is over, for all threads. Last touch of the task and of the queue. */
void weft__completions_put(struct weft_completions *queue, struct weft__task *task);

#endif
