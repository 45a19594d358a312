/* SPDX-License-Identifier: MIT */
/* execute.h: running a job, and calling a function as part of a computation. */
#ifndef WEFT_CORE_EXECUTE_H
#define WEFT_CORE_EXECUTE_H

#include "core/worker.h"

/* Runs a job in w, and tells the threads that wait for it. */
void weft__execute(weft *w, struct weft__job *job);
void weft__execute_found(weft *w, const struct weft__found *found);

/* The same, but the caller tells the waiting threads. A thread that is told may wake up on this
 * very CPU and compute there; then this worker has no CPU. So a worker that has nothing else to do
 * counts as idle before it tells them: the look-out takes the place of a worker that is idle and
 * has no CPU, but not of a worker that seems to be busy. */
void weft__execute_untold(weft *w, const struct weft__found *found);

static inline void weft__tell(struct weft__worker *me)
{
    struct weft__news news = me->news;
    me->news.tell = NULL;
    if (news.tell)
        news.tell(news.of);
}

/* Calls fn(w, arg) as part of `group`, unless the group is cancelled. */
void weft__call(weft *w, weft_fn *fn, void *arg, struct weft__group *group);

/* The same; if the group is cancelled, drop(w, arg) is called instead, if that is not NULL. */
void weft__call_or_drop(weft *w, weft_fn *fn, void *arg, struct weft__group *group, weft_fn *drop);

/* The same for a whole job from outside: how long it takes is remembered (habit.h). */
void weft__call_whole(weft *w, weft_fn *fn, void *arg, struct weft__group *group);

/* The same in a new group, made where `around` says. Returns the group's error or 0. */
int weft__call_in_new_group(weft *w, weft_fn *fn, void *arg, const struct weft__around *around);

#endif
