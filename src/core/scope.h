/* SPDX-License-Identifier: MIT */
/* scope.h: what is behind a weft_scope. */
#ifndef WEFT_CORE_SCOPE_H
#define WEFT_CORE_SCOPE_H

#include "core/fiber.h"

struct weft__scope {
    struct weft__group group;       /* first: a child has a pointer to it */
    struct weft__count_latch latch; /* counts the children that other threads may know of, and one
                                       for the owner */
    struct weft__queue fifo;        /* children that run first in, first out; of an actor: all */
    union {
        struct weft__job token; /* stands on a pile or a deque for the oldest child in `fifo` */
        struct weft__cleanup cleanup; /* of an actor: it ends with the scope open */
    };
    weft *w;                        /* the slot where it was opened; NULL: closed */
    struct weft__group *outer_here; /* the group in that slot before */
    uintptr_t outer_base;           /* of the pile; see pile.h */
};

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
