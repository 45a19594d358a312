/* SPDX-License-Identifier: MIT */
/* search.h: where an idle worker looks for something to do. */
#ifndef WEFT_CORE_SEARCH_H
#define WEFT_CORE_SEARCH_H

#include "core/worker.h"
#include "sleep/sleep.h"

/* What a search is for. */
enum weft__whom {
    HELP_ANYBODY,  /* of a worker with nothing else to do: anything */
    HELP_OWN_LAST, /* of a worker that waits: parts of its own computation first, then anything */
    HELP_OWN_ONLY, /* of a guest that waits, whose time is its caller's: its own computation */
    HELP_STARVED,  /* of a worker that is let in for jobs which have waited long: the injector */
    HELP_NOBODY,   /* of a thread that has no place, or no stack, for others' jobs: mail */
};

struct weft__aim {
    enum weft__whom help;
    const struct weft__group *root;             /* of its own computation, or NULL */
    struct atomic_ptr *thief;                   /* struct weft__worker to look at first, or NULL; */
    const struct weft__latch *latch;            /* it runs what sets this one */
    void (*by)(weft *w, struct weft__job *job); /* of this kind, whosever it is; or NULL */
};

/* Anything for `me` to run that is not on its own deque. Mail always: no other thread can run it;
 * its sender knows that it runs on top of whatever waits here. False: there was nothing at some
 * moment of the call. */
bool weft__find(struct weft__worker *me, const struct weft__aim *aim, struct weft__found *found);

/* Mail, or something from the injector; for workers that have been busy with their own jobs. */
struct weft__job *weft__find_mail(struct weft__worker *me);
struct weft__job *weft__find_injected(struct weft__worker *me);

/* Must `me` begin nothing new? Guests never; see sleep.h. */
bool weft__steps_back(struct weft__worker *me);

/* May `me`, which has seen something that it could run, begin it? It says that it takes something
 * before it looks whether there is a place for it: so the look-out that takes the place of a
 * searcher sees that, or is seen. Until it is counted as busy, or has found nothing after all. A
 * look-out that took the place of a searcher asks here once more when it has seen a job: the
 * searcher may be gone, and guests may have come. */
bool weft__may_begin(struct weft__worker *me);

/* May `root`, the look-out, take the place of a searcher that does not get to what there is? It is
 * up, so that there is one place too few, and takes, before it looks whether there is a searcher,
 * and no other thread that takes. It takes until it has begun something or sleeps again. */
bool weft__may_overtake(struct weft__worker *root);

/* May a thief that has seen a job take it? `root`: of what it wants, or NULL; `of`: of the job. */
bool weft__may_take(struct weft__worker *me, const struct weft__group *root,
                    const struct weft__group *of);

/* Is anything in the injector or on a deque? Right sides on the lazy road don't count. */
bool weft__pool_holds_jobs(struct weft_pool *pool);

/* Or pending on the lazy road? A hint. */
bool weft__pool_holds_work(struct weft_pool *pool);

/* On which CPUs the pool's threads are at work. False: in a forked child, where there are none. */
bool weft__pool_used_cpus(struct weft_pool *pool, struct weft__used_cpus *used);

/* A thread has stopped working, and there may be room for another: wakes one, if there is work. */
void weft__pool_has_room(struct weft_pool *pool);

#endif
