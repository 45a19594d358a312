/* SPDX-License-Identifier: MIT */
/* spawn.h: spawned jobs: children of scopes, and detached ones. */
#ifndef WEFT_CORE_SPAWN_H
#define WEFT_CORE_SPAWN_H

#include "core/scope.h"
#include "os/memory.h"

#include <stddef.h>

struct weft__spawn {
    struct weft__node node;
    union {
        struct {
            bool careful; /* the thread that spawned it was careful; see worker.h */
            bool counted; /* in its scope's latch; see pile.h */
            bool begun;   /* of a child of an actor's scope: it was called */
            uint8_t size; /* enum weft__stock_size, or SPAWN_LARGE */
        };
        uint32_t special; /* 0: none of these, and STOCK_PLAIN */
    };
};

/* ---- Its memory ---- */

/* One that is not STOCK_PLAIN. */
struct weft__roomy {
    struct weft__spawn spawn;
    weft_fn *drop; /* called if the child is skipped; or NULL */
    _Alignas(max_align_t) unsigned char copy[];
};

enum { SPAWN_LARGE = STOCK_SIZES, COPY_MOST = 2 * WEFT__CACHE_LINE - sizeof(struct weft__roomy) };

_Static_assert(sizeof(struct weft__spawn) <= WEFT__CACHE_LINE, "stock.c has the sizes");

static inline struct weft__spawn *weft__spawn_make(struct weft__worker *me,
                                                   enum weft__stock_size size)
{
    struct weft__stock *stock = &me->stocks[size];
    struct weft__node *node = stock->some;
    if (!node) {
        node = weft__stock_refill(me, size);
    } else {
        stock->some = node->next;
        stock->count--;
    }
    if (node)
        ((struct weft__spawn *)node)->size = (uint8_t)size;
    return (struct weft__spawn *)node;
}

static inline void weft__stock_put(struct weft__worker *me, struct weft__node *node,
                                   enum weft__stock_size size)
{
    struct weft__stock *stock = &me->stocks[size];
    node->next = stock->some;
    stock->some = node;
    if (++stock->count == WEFT__CHAIN)
        weft__stock_store(me, size);
}

static inline void weft__spawn_free_plain(struct weft__worker *me, struct weft__spawn *spawn)
{
    weft__stock_put(me, &spawn->node, STOCK_PLAIN);
}

static inline void weft__spawn_free(struct weft__worker *me, struct weft__spawn *spawn)
{
    if (spawn->size == SPAWN_LARGE)
        weft__free(spawn);
    else
        weft__stock_put(me, &spawn->node, spawn->size);
}

static inline struct weft__spawn *weft__spawn_make_large(size_t size)
{
    struct weft__spawn *spawn =
        size < SIZE_MAX / 2 ? weft__scratch(sizeof(struct weft__roomy) + size) : NULL;
    if (spawn)
        spawn->size = SPAWN_LARGE;
    return spawn;
}

static inline weft_fn *weft__drop_of(const struct weft__spawn *spawn)
{
    return spawn->size == STOCK_PLAIN ? NULL : ((const struct weft__roomy *)spawn)->drop;
}

/* ---- For the rest of the core ---- */

/* A job on a pile or a deque is a spawned job or a fork. */
bool weft__job_is_spawn(const struct weft__job *job);

/* Counts a child that was on a pile in its scope's latch, if it is not counted yet: any thread may
 * run it from now on. By the thread that has the lock of the pile, or has taken the child off. */
void weft__spawn_share(struct weft__job *job);

/* The node of a spawned job that was taken from a pile or a deque: it can stand in a queue. */
struct weft__node *weft__spawn_node(struct weft__job *job);

/* ---- For scopes ---- */

/* `execute` of the token of a scope: the oldest child in its `fifo`. */
void weft__execute_oldest(weft *w, struct weft__job *token);

/* Runs children of the scope that are on this worker's own pile, in w, whose group is the scope's:
 * all of the section, or `most`. They cost little more than a call, since there is one record for
 * all of them, and no other thread knows of them. */
void weft__run_piled(weft *w, struct weft__scope *scope, unsigned most);

/* Frees a child of an actor's scope. If it was not called, it is dropped. */
void weft__spawn_discard(weft *w, struct weft__spawn *child);

#endif
