/* SPDX-License-Identifier: MIT */
/* search.h: where an idle worker looks for something to do. */
#ifndef WEFT_CORE_SEARCH_H
#define WEFT_CORE_SEARCH_H

#include "core/worker.h"
#include "sleep/sleep.h"

/* What a search may take, besides mail. */
enum weft__helps {
    HELP_ALL,      /* everything: by a worker that has no job */
    HELP_OWN_LAST, /* parts of its own computation first, then everything: by a worker that waits */
    HELP_OWN_ONLY, /* parts of its own computation: by a guest that waits, as its caller does */
    HELP_STARVED,  /* the injector: by a worker that is let in for jobs which have waited long */
    HELP_NONE,     /* nothing: by a thread that has no place, or no stack, for jobs of others */
};

struct weft__aim {
    enum weft__helps help;
    const struct weft__group *root;  /* of the searcher's own computation, or NULL */
    const struct weft__group *scope; /* HELP_NONE: whose children are taken all the same; or NULL */
    struct atomic_ptr *thief;        /* struct weft__worker to steal from first, or NULL */
    const struct weft__latch *latch; /* set when the job that the thief runs is over */
    void (*by)(weft *w, struct weft__job *job); /* HELP_OWN_ONLY: jobs of this kind, too, of any
                                                   computation; or NULL */
};

/* Looks for a job for `me` that is not on its own deque. Mail is always taken: no other thread can
 * run it, and its sender knows that it may run on top of a waiting job. False: at some moment of
 * the call there was nothing. */
bool weft__find(struct weft__worker *me, const struct weft__aim *aim, struct weft__found *found);

/* A job from the mailbox, or from the injector; or NULL. */
struct weft__job *weft__find_mail(struct weft__worker *me);
struct weft__job *weft__find_injected(struct weft__worker *me);

/* Must `me` begin nothing new? A guest need not step back; see sleep.h. */
bool weft__steps_back(struct weft__worker *me);

/* May `me`, which has seen a job that it could run, begin it? First it says SEEKS_TAKES, then it
 * looks whether there is a place for it. So either the look-out, which may be about to take the
 * place of a searcher, sees that, or `me` sees that the look-out is awake. SEEKS_TAKES ends when
 * `me` counts as busy, or has got no job after all. A look-out that has taken the place of a
 * searcher asks here again when it has seen a job: the searcher may be gone, and guests may have
 * come. */
bool weft__may_begin(struct weft__worker *me);

/* May the look-out take the place of a searcher that does not get to run? The look-out is
 * awake, so one thread too many is. It says SEEKS_TAKES before it looks: there must be a searcher,
 * and no other thread that says SEEKS_TAKES. It does so until it has begun a job or sleeps
 * again. */
bool weft__may_overtake(struct weft__worker *lookout);

/* May a thief that has seen a job take it? `root`: of the computation that it wants, or NULL; `of`:
 * the root of the job. */
bool weft__may_take(struct weft__worker *me, const struct weft__group *root,
                    const struct weft__group *of);

/* Is there a job in the injector or on a deque? A hint. */
bool weft__pool_holds_jobs(struct weft_pool *pool);

/* The same, or a pending right side on the lazy road? A hint. */
bool weft__pool_holds_work(struct weft_pool *pool);

/* The CPUs on which threads of the pool work. False: this is a forked child, which has none. */
bool weft__pool_used_cpus(struct weft_pool *pool, struct weft__used_cpus *used);

/* A thread has stopped working, so there may be room for another: wakes a worker, if there is
 * work. */
void weft__pool_has_room(struct weft_pool *pool);

#endif
