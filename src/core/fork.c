/* SPDX-License-Identifier: MIT */
/* Fork, merge and join on the eager road: every fork goes on the worker's deque. */
#undef WEFT_DEBUG
#define WEFT_DEBUG 1 /* for the declarations of the checked functions */
#include "core/fatal.h"
#include "core/worker.h"

#undef weft_fork
#undef weft_merge

/* A right side that was taken from the deque: by a thief, or by its own worker while it
 * waited for something else. */
static void execute_right(weft *w, struct weft__job *job)
{
    weft *slot = (weft *)job;
    /* release T1: the owner may follow this to help. */
    atomic_store_release(&slot->thief, weft__worker_of(w));
    weft__call(w, slot->job.fn, slot->job.arg, slot->job.group);
    weft__spin_latch_set(&slot->latch); /* last touch of the slot */
}

/* The last slot of a context can't hold a right side, for there is no next slot to run
 * the left one in. So its right side runs at once, in place, and merge finds it done. */
static weft *fork_in_place(weft *w, weft_fn *right, void *arg)
{
    weft__call(w, right, arg, weft__context_of(w)->group);
    return w;
}

weft *weft_fork(weft *w, weft_fn *right, void *arg)
{
    struct weft__context *context = weft__context_of(w);
    if (w == context->last)
        return fork_in_place(w, right, arg);
    struct weft__worker *me = context->worker;
    w->job = (struct weft__job){execute_right, right, arg, context->group};
    /* relaxed, both: the deque publishes them with the job. */
    atomic_store_relaxed(&w->latch.core.state, LATCH_UNSET);
    atomic_store_relaxed(&w->thief, NULL);
    w->latch.owner = me->park;
    w->published = weft__post(me, &w->job) == 0; /* if not, the caller runs it at merge */
    return w + 1;
}

/* Takes the right side back from the deque. Jobs above it, spawned by the left side, are
 * run on the way, as they would be if the deque were a stack. */
static bool take_back(struct weft__worker *me, weft *w)
{
    while (!weft__latch_probe(&w->latch.core)) {
        struct weft__job *job = weft__deque_pop(&me->deque);
        if (!job)
            return false; /* stolen */
        if (job == &w->job)
            return true;
        weft__execute(w + 1, job);
    }
    return false;
}

bool weft_merge(weft *w)
{
    struct weft__context *context = weft__context_of(w);
    if (w == context->last)
        return true;
    bool mine = !w->published || take_back(context->worker, w);
    if (!mine)
        weft__wait(w + 1, &w->latch.core, &w->thief, WAIT_CHILDREN);
    w->job.fn = NULL;
    return !mine || weft__group_cancelled(context->group);
}

void weft_join(weft *w, weft_fn *left, void *l, weft_fn *right, void *r)
{
    if (weft__group_cancelled(weft__context_of(w)->group))
        return;
    left(weft_fork(w, right, r), l);
    if (!weft_merge(w))
        right(w, r);
}

weft *weft_fork_checked(weft *w, weft_fn *right, void *arg, const char *where)
{
    if (!w || !right)
        weft__fatal("%s: weft_fork needs a context and a function", where);
    if (w->job.fn)
        weft__fatal("%s: weft_fork in a context that has forked already; run the left side in "
                    "the context that weft_fork returned",
                    where);
    return weft_fork(w, right, arg);
}

bool weft_merge_checked(weft *w, const char *where)
{
    if (!w)
        weft__fatal("%s: weft_merge needs a context", where);
    if (w == weft__context_of(w)->last)
        return true;
    if (!w->job.fn)
        weft__fatal("%s: weft_merge without weft_fork; merge takes the context that was given "
                    "to fork",
                    where);
    if (w + 1 < weft__context_of(w)->last && w[1].job.fn)
        weft__fatal("%s: weft_merge in another order; what the left side forked has to be merged "
                    "first",
                    where);
    return weft_merge(w);
}
