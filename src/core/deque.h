/* SPDX-License-Identifier: MIT */
/* deque.h: a worker's own jobs (Chase and Lev 2005; the C11 orders of Lê, Pop, Cohen and
 * Zappa Nardelli, PPoPP 2013). The owner pushes and pops at the bottom; thieves take
 * from the top, the oldest first.
 *
 *         top                 bottom
 *     ... | 7 | 8 | 9 | 10 | 11 | ...      size = bottom - top, never negative at rest
 *
 * Both indices only grow, except that the owner's pop decrements bottom. They are signed, so that
 * bottom - 1 of an empty deque is no huge number (bug 19). The ring doubles when it is full. Old
 * rings are freed with the deque and not before, because a thief may still read one. */
#ifndef WEFT_CORE_DEQUE_H
#define WEFT_CORE_DEQUE_H

#include "os/atomic.h"

#include <stddef.h>

struct weft__group;
struct weft__job;

/* What a thief may know of a job before it has taken it. Until then it must not follow the
 * pointers. */
struct weft__entry {
    struct atomic_ptr job;  /* struct weft__job */
    struct atomic_ptr root; /* struct weft__group: the root of the job's computation, or NULL */
};

struct weft__ring {
    int64_t mask;             /* capacity - 1; never changes */
    struct weft__ring *older; /* owner only */
    struct weft__entry jobs[];
};

struct weft__deque {
    WEFT__ALIGNED struct atomic_i64 top;    /* thieves, and the owner for the last job */
    WEFT__ALIGNED struct atomic_i64 bottom; /* written by the owner only */
    struct atomic_ptr ring;                 /* written by the owner only */
    bool flagged;                           /* `flag` is used: only with the protocol
                                               `tickle-flag`. Written before the deque is shared */
    struct atomic_bool flag;                /* stored by each push, read by each steal */
};

int weft__deque_init(struct weft__deque *deque, size_t capacity); /* a power of two; 0 or -ENOMEM */
void weft__deque_destroy(struct weft__deque *deque);

/* Owner only. -ENOMEM: full, and could not grow; the job is not in it. */
int weft__deque_push(struct weft__deque *deque, struct weft__job *job);
struct weft__job *weft__deque_pop(struct weft__deque *deque); /* NULL: empty */

enum steal_result { STEAL_EMPTY, STEAL_LOST, STEAL_YOUNG, STEAL_GOT };

/* By any thread. LOST: another thief, or the owner, was faster; there may be more jobs. YOUNG is
 * for slots (steal.h). */
enum steal_result weft__deque_steal(struct weft__deque *deque, struct weft__job **job);

/* The same in two steps, for a thief that decides in between. Look says GOT if there is a job; take
 * says GOT if the job is the thief's. From look on, the thief sees everything that the owner did
 * before it pushed the job. */
struct weft__glimpse {
    struct weft__job *job;
    const struct weft__group *root;
    int64_t top;
};
enum steal_result weft__deque_look(struct weft__deque *deque, struct weft__glimpse *glimpse);
enum steal_result weft__deque_take(struct weft__deque *deque, struct weft__glimpse *glimpse);

/* Owner only: the job that pop would return, unless a thief is faster; NULL: empty. */
struct weft__job *weft__deque_next(struct weft__deque *deque);

size_t weft__deque_size(const struct weft__deque *deque); /* by any thread; a hint */

#endif
