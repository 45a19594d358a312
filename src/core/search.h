/* SPDX-License-Identifier: MIT */
/* search.h: where an idle worker looks for something to do. */
#ifndef WEFT_CORE_SEARCH_H
#define WEFT_CORE_SEARCH_H

#include "core/worker.h"

/* Anything for `me` to run that is not on its own deque; first from the worker in `thief`, if
 * that is not NULL. Mail always, even if not `others`: nobody else can; its sender knows that
 * it runs on top of whatever waits here. NULL: there was nothing at some moment of the call. */
struct weft__job *weft__find(struct weft__worker *me, struct atomic_ptr *thief, bool others);

/* Is anything in the injector or on a deque? Right sides on the lazy road don't count. */
bool weft__pool_holds_jobs(struct weft_pool *pool);

/* The pool's workers, then its guests; NULL at the end. Start with NULL. */
struct weft__worker *weft__next_worker(struct weft_pool *pool, struct weft__worker *worker);

#endif
