/* SPDX-License-Identifier: MIT */
#include "parallel/ready.h"

#include "core/cancel.h"
#include "core/fiber.h"
#include "core/misuse.h"
#include "os/fatal.h"

/* So many forks may be pending in one call of weft__ready_run(). */
enum { FORKS_MAX = 100 };

/* Called by a thief. An actor's thief has a stack of its own, and an actor's spawns have to wait
 * until the scope is closed. Without memory for the spawn, too, it is run here. */
static void share(weft *w, void *tree)
{
    struct weft__crew *crew = ((struct weft__ready *)tree)->crew;
    if (weft__is_fiber(w) || weft_spawn(w, &crew->scope, weft__ready_job, tree) != 0)
        weft__ready_run(w, tree);
}

/* Takes back the newest fork, at w. NULL: a thief has it, or all is cancelled. */
static struct weft__ready *take_back(weft *w)
{
    bool gone = weft_merge(w);
    /* relaxed: own write; the argument stays in the slot. */
    return gone ? NULL : atomic_load_relaxed(&weft__slot_of(w)->arg);
}

static bool is_full(const weft *w, weft *top)
{
    return top - w >= FORKS_MAX || top == weft__context_of(top)->end;
}

/* Forks the subtrees of `tree`, from the slot `top` on, and returns the first slot that is free
 * then. If there are too many, they become part of the newest fork; if the context has no slot at
 * all, they go on the list `held`. */
static weft *fork_subtrees(weft *w, weft *top, struct weft__ready *tree, struct weft__ready **held)
{
    struct weft__ready *next;
    for (struct weft__ready *part = tree->child; part; part = next) {
        next = part->sibling;
        if (is_full(w, top) && top == w) {
            part->sibling = *held;
            *held = part;
            continue;
        }
        if (is_full(w, top)) {
            struct weft__ready *newest = take_back(--top);
            if (newest) {
                newest->sibling = part->child;
                part->child = newest;
            }
        }
        top = weft_fork(top, share, part);
    }
    return top;
}

static struct weft__ready *run(weft *w, struct weft__ready *item)
{
    const struct weft__context *context = weft__context_of(w);
    const struct weft__group *group = context->group;
    size_t in_place = context->in_place;
    struct weft__ready *next;
    WEFT__MUST_RETURN(weft__callee_threw, next = item->crew->run(w, item));
    /* relaxed: own write. */
    if (atomic_load_relaxed(&weft__slot_of(w)->fn) || context->in_place != in_place)
        weft__expect_merged(w, in_place, "a node or task");
    if (context->group != group)
        weft__fatal("a node or task returned without closing a scope that it opened");
    return next;
}

void weft__ready_run(weft *w, struct weft__ready *tree)
{
    weft *top = w;
    struct weft__ready *held = NULL;
    for (;;) {
        if (tree && !weft__is_cancelled(top)) {
            top = fork_subtrees(w, top, tree, &held);
            weft__poll(top);
            tree = run(top, tree);
            if (tree)
                continue;
        }
        if (top > w) {
            tree = take_back(--top);
        } else if (held) {
            tree = held;
            held = tree->sibling;
        } else {
            return;
        }
    }
}

void weft__ready_job(weft *w, void *tree)
{
    weft__ready_run(w, tree);
}
