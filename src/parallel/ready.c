/* SPDX-License-Identifier: MIT */
#include "parallel/ready.h"

#include "core/cancel.h"
#include "core/fiber.h"
#include "core/misuse.h"
#include "os/fatal.h"

/* The forks that are pending in one call of weft__ready_run(). The newest is the last. */
enum { FORKS_MAX = 64 };

struct forks {
    weft *top; /* what runs next runs here */
    unsigned count;
    struct {
        weft *w;
        struct weft__ready *tree;
    } of[FORKS_MAX];
};

/* Called by a thief. An actor's thief has a stack of its own, and an actor's spawns have to wait
 * until the scope is closed. Without memory for the spawn, too, it is run here. */
static void share(weft *w, void *tree)
{
    struct weft__crew *crew = ((struct weft__ready *)tree)->crew;
    if (weft__is_fiber(w) || weft_spawn(w, crew->scope, weft__ready_job, tree) != 0)
        weft__ready_run(w, tree);
}

/* Takes back the newest fork. NULL: a thief has it, or all is cancelled. */
static struct weft__ready *take_back(struct forks *forks)
{
    forks->count--;
    forks->top = forks->of[forks->count].w;
    return weft_merge(forks->top) ? NULL : forks->of[forks->count].tree;
}

/* Forks the subtrees of `tree`. If there are too many, they become part of the newest fork. */
static void fork_subtrees(struct forks *forks, struct weft__ready *tree)
{
    struct weft__ready *next;
    for (struct weft__ready *part = tree->child; part; part = next) {
        next = part->sibling;
        struct weft__ready *newest = forks->count == FORKS_MAX ? take_back(forks) : NULL;
        if (newest) {
            newest->sibling = part->child;
            part->child = newest;
        }
        forks->of[forks->count].w = forks->top;
        forks->of[forks->count].tree = part;
        forks->count++;
        forks->top = weft_fork(forks->top, share, part);
    }
}

/* What a node or task has to leave as it found it. */
struct before {
    const struct weft__group *group;
    size_t in_place;
};

static struct before before(weft *w)
{
    const struct weft__context *context = weft__context_of(w);
    return (struct before){context->group, context->in_place};
}

static void expect_as_before(weft *w, struct before before)
{
    const struct weft__context *context = weft__context_of(w);
    /* relaxed: own write. */
    if (atomic_load_relaxed(&weft__slot_of(w)->fn) || context->in_place != before.in_place)
        weft__expect_merged(w, before.in_place, "a node or task");
    if (context->group != before.group)
        weft__fatal("a node or task returned without closing a scope that it opened");
}

static struct weft__ready *run(weft *w, struct weft__ready *item)
{
    struct before found = before(w);
    struct weft__ready *next;
    WEFT__MUST_RETURN(weft__callee_threw, next = item->crew->run(w, item));
    expect_as_before(w, found);
    return next;
}

void weft__ready_call(weft *w, weft_fn *fn, void *arg)
{
    struct before found = before(w);
    WEFT__MUST_RETURN(weft__callee_threw, fn(w, arg));
    expect_as_before(w, found);
}

void weft__ready_run(weft *w, struct weft__ready *tree)
{
    struct forks forks;
    forks.top = w;
    forks.count = 0;
    for (;;) {
        if (tree && !weft__is_cancelled(forks.top)) {
            fork_subtrees(&forks, tree);
            weft__poll(forks.top);
            tree = run(forks.top, tree);
            if (tree)
                continue;
        }
        if (forks.count == 0)
            return;
        tree = take_back(&forks);
    }
}

void weft__ready_job(weft *w, void *tree)
{
    weft__ready_run(w, tree);
}
