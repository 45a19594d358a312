/* SPDX-License-Identifier: MIT */
/* spawn.h: spawned jobs: children of scopes, and detached ones. */
#ifndef WEFT_CORE_SPAWN_H
#define WEFT_CORE_SPAWN_H

#include "core/scope.h"

struct weft__spawn {
    struct weft__node node;
    bool careful; /* the thread that spawned it was careful; see worker.h */
    bool counted; /* in its scope's latch; see pile.h */
    bool begun;   /* of a child of an actor's scope: it was called */
    uint8_t size; /* enum weft__stock_size, or SPAWN_LARGE */
};

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
