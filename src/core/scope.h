/* SPDX-License-Identifier: MIT */
/* scope.h: what is behind a weft_scope.
 *
 * A scope is wide: any number of its children may run at a time. Or it is narrow
 * (weft_scope_width()): then a child needs a place. All children of a narrow scope stand in `fifo`,
 * and a token on a pile or a deque is a place for the oldest of them. `room` decides (R1):
 *
 *   spawn         into `fifo`; room - 1. There was room: the token is posted.
 *   child over    room + 1. It was below zero: a child waits, and the token is posted again.
 *
 * So tokens and running children together are never more than the width, and there are as many
 * children in `fifo` as tokens, plus those that wait. */
#ifndef WEFT_CORE_SCOPE_H
#define WEFT_CORE_SCOPE_H

#include "core/fiber.h"
#include "os/trace.h"

struct weft__scope {
    struct weft__group group;       /* first: a child has a pointer to it */
    struct weft__count_latch latch; /* counts the children that other threads may know of, and one
                                       for the owner */
    struct weft__queue fifo;        /* children that run first in, first out; of an actor: all */
    union {
        struct weft__job token; /* stands on a pile or a deque for the oldest child in `fifo` */
        struct weft__cleanup cleanup; /* of an actor: it ends with the scope open */
    };
    struct atomic_i64 room;         /* how many more children may begin; below zero: so many wait.
                                       WEFT__SCOPE_WIDE: any number. Of an actor: the width */
    weft *w;                        /* the slot where it was opened; NULL: closed */
    struct weft__group *outer_here; /* the group in that slot before */
    uintptr_t outer_base;           /* of the pile; see pile.h */
};

/* More than any width, so `room` of a narrow scope is never this. */
enum { WEFT__SCOPE_WIDE = INT32_MAX };

static inline bool weft__scope_is_wide(const struct weft__scope *scope)
{
    /* relaxed: a narrow scope stays narrow, and so does a wide one, while it has children. */
    return atomic_load_relaxed(&scope->room) == WEFT__SCOPE_WIDE;
}

/* By a thread that has put a child into `fifo` of a narrow scope. True: it has got a place, and a
 * token has to be posted. */
static inline bool weft__scope_enter(struct weft__scope *scope)
{
    /* acq_rel R1 with itself: release R1: the child is in `fifo`. acquire R1: what the child whose
     * place it is has done. */
    return atomic_fetch_sub_acq_rel(&scope->room, 1) > 0;
}

/* By a thread that has run a child of a narrow scope. True: another child waits, gets the place,
 * and a token has to be posted for it. */
static inline bool weft__scope_leave(struct weft__scope *scope)
{
    /* acq_rel R1: as above, and the other way round. */
    return atomic_fetch_add_acq_rel(&scope->room, 1) < 0;
}

/* By a thread that takes a child from its pile, or is about to let others find it. */
static inline void weft__scope_count(struct weft__scope *scope)
{
    weft__count_latch_up(&scope->latch);
    atomic_store_relaxed(&scope->latch.spin.shared, true); /* relaxed: the latch orders it (C1) */
    WEFT__TRACE(PUBLISH, 0, (uintptr_t)&scope->group);
}

_Static_assert(sizeof(struct weft__scope) <= sizeof(weft_scope), "weft_scope is too small");

_Noreturn void weft__scope_is_closed(const char *function);

/* A scope without a slot is closed: then the program ends with a message. */
static inline struct weft__scope *weft__scope_expect_open(weft_scope *public, const char *function)
{
    struct weft__scope *scope = (struct weft__scope *)(void *)public;
    if (!scope || !scope->w)
        weft__scope_is_closed(function);
    return scope;
}

#endif
