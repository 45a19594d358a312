/* SPDX-License-Identifier: MIT */
#include "core/scope.h"

#include "core/execute.h"
#include "core/fiber.h"
#include "core/misuse.h"
#include "core/spawn.h"
#include "core/wait.h"
#include "os/fatal.h"
#include "os/memory.h"

#include <errno.h>
#include <limits.h>

/* Some children of an actor's scope. */
struct children {
    struct weft__spawn **first;
    size_t count;
};

void weft__scope_is_closed(const char *function)
{
    weft__fatal("%s: the scope is closed, or was never opened", function);
}

static void discard_children(struct weft__scope *scope)
{
    struct weft__node *node;
    while ((node = weft__queue_pop(&scope->fifo)))
        weft__spawn_discard(scope->w, (struct weft__spawn *)node);
}

/* Does the owner alone count? Then no thread can raise the count. */
static bool is_alone(struct weft__scope *scope)
{
    return atomic_load_acquire(&scope->latch.count) == 1; /* acquire C1: what the children did */
}

static void wait_for_others(weft *w, struct weft__scope *scope)
{
    weft__count_latch_down(&scope->latch);
    weft__wait(w, &scope->latch.spin.core, WEFT__AWAITS_CHILDREN(&scope->group));
}

/* Other pools may run children of an actor's scope that a job there has spawned. These may put more
 * into `fifo` as long as they run. */
static void wait_for_other_pools(weft *w, struct weft__scope *scope)
{
    wait_for_others(w, scope);
    weft__count_latch_init(&scope->latch, scope->latch.spin.owner, 1);
}

/* An actor ends with the scope open. Drops the children that were not run. Those in other pools are
 * cancelled and waited for, and what they have left in `fifo` is dropped last. `group->abandon`
 * stays, because they read it. The second call finds nothing to do. */
static void abandon(struct weft__group *group)
{
    struct weft__scope *scope = (struct weft__scope *)group;
    discard_children(scope);
    if (!is_alone(scope)) {
        weft__group_fail(group, -ECANCELED);
        wait_for_other_pools(scope->w, scope);
    }
    discard_children(scope);
}

/* What the actor has deferred, or has taken, since it opened the scope is undone by now; what it
 * had before is still there for the children. But if it holds a mutex, which children may want,
 * the scope is abandoned after that is unlocked. */
static void abandon_in_turn(struct weft__cleanup *cleanup, weft *w)
{
    struct weft__scope *scope =
        (struct weft__scope *)((char *)cleanup - offsetof(struct weft__scope, cleanup));
    if (weft__context_of(w)->mutexes == 0)
        abandon(&scope->group);
}

void weft_scope_open(weft *w, weft_scope *public)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!public)
        weft__fatal("weft_scope_open needs a scope");
    struct weft__scope *scope = (struct weft__scope *)(void *)public;
    struct weft__context *context = weft__context_of(w);
    struct weft__slot *slot = weft__slot_of(w);
    if (context->group == &scope->group)
        weft__fatal("weft_scope_open: the scope is open already");
    *scope = (struct weft__scope){
        .w = w,
        .outer_here = slot->group,
        .token = {.group = &scope->group, .execute = weft__execute_oldest},
        .room = {WEFT__SCOPE_WIDE},
    };
    weft__group_begin_in(&scope->group, &(struct weft__around){context->group, context->base, w});
    weft__count_latch_init(&scope->latch, weft__context_park(context), 1);
    if (weft__is_fiber(w)) {
        scope->group.abandon = abandon;
        weft__cleanup_push(w, &scope->cleanup, abandon_in_turn);
    } else {
        scope->outer_base = weft__pile_begin(&context->worker->pile);
    }
    context->group = slot->group = &scope->group;
    context->base = w;
}

void weft_scope_deadline(weft_scope *public, uint64_t when)
{
    struct weft__scope *scope = weft__scope_expect_open(public, __func__);
    weft__group_set_deadline(&scope->group, when);
    weft__context_raise_guard(weft__context_of(scope->w)); /* its forks look at the clock now */
}

/* Has the scope any child that is not over? By its owner. */
static bool has_children(struct weft__scope *scope)
{
    return weft__queue_length(&scope->fifo) > 0 || !is_alone(scope) ||
           (!scope->group.abandon &&
            weft__pile_find(&weft__worker_of(scope->w)->pile, &scope->group) != 0);
}

void weft_scope_width(weft_scope *public, unsigned width)
{
    struct weft__scope *scope = weft__scope_expect_open(public, __func__);
    WEFT__EXPECT_OWN(scope->w);
    if (has_children(scope))
        weft__fatal("weft_scope_width: the scope has children already");
    bool wide = width == 0 || width > WEFT__SCOPE_WIDE;
    /* relaxed: each child is published after this. */
    atomic_store_relaxed(&scope->room, wide ? WEFT__SCOPE_WIDE : (int64_t)width);
}

/* ---- Scopes of an actor ---- */

/* Children of an actor's scope are the actor's own work, so they do not go on a worker's deque.
 * They wait in `fifo` until the scope is closed, and are forked then. */
static void begin_child(weft *w, void *arg)
{
    struct weft__spawn *child = arg;
    child->begun = true;
    child->node.job.fn(w, child->node.job.arg);
}

static void run_child(weft *w, struct weft__spawn *child)
{
    weft__call(w, begin_child, child, child->node.job.group);
}

static void run_children(weft *w, void *arg)
{
    struct children all = *(const struct children *)arg;
    while (all.count > 1) {
        size_t left = all.count / 2;
        struct children right = {all.first + left, all.count - left};
        weft *in = weft_fork(w, run_children, &right);
        run_children(in, &(struct children){all.first, left});
        if (weft_merge(w))
            return;
        all = right;
    }
    run_child(w, all.first[0]);
}

/* Children that are run together. They are freed afterwards, also if the actor ends meanwhile. */
struct family {
    struct weft__cleanup cleanup;
    struct children children;
    struct weft__spawn **many, *alone;
    struct atomic_size begun; /* of a narrow scope: how many children were taken, from the front */
};

static void free_family(struct weft__cleanup *of, weft *w)
{
    struct family *family = (struct family *)of;
    for (size_t i = 0; i < family->children.count; i++)
        weft__spawn_discard(w, family->children.first[i]);
    weft__free(family->many);
}

static void run_in_turn(weft *w, void *arg)
{
    struct family *family = arg;
    size_t i; /* relaxed: what children read and write is ordered by fork and merge */
    while ((i = atomic_fetch_add_relaxed(&family->begun, 1)) < family->children.count)
        run_child(w, family->children.first[i]);
}

/* The children of a narrow scope: the actor forks as many runners as there may be, but one, and is
 * the last one itself. Each takes the next child until there is none. */
static void run_narrow(weft *w, struct family *family, size_t width)
{
    size_t runners = width < family->children.count ? width : family->children.count;
    for (size_t i = 1; i < runners; i++)
        w = weft_fork(w, run_in_turn, family);
    run_in_turn(w, family);
    for (size_t i = 1; i < runners; i++) {
        w = weft_outer(w);
        if (!weft_merge(w))
            run_in_turn(w, family);
    }
}

/* Runs children until there are none, since children may spawn children. If there is no memory to
 * run all together, they are run one at a time. */
static void run_queued(weft *w, struct weft__scope *scope)
{
    size_t count;
    while ((count = weft__queue_length(&scope->fifo)) > 0) {
        struct family family = {.many = weft__alloc(count * sizeof family.many[0])};
        struct children *all = &family.children;
        all->first = family.many ? family.many : &family.alone;
        all->count = family.many ? count : 1;
        for (size_t i = 0; i < all->count; i++)
            all->first[i] = (struct weft__spawn *)weft__queue_pop(&scope->fifo);
        weft__cleanup_push(w, &family.cleanup, free_family);
        if (weft__scope_is_wide(scope))
            run_children(w, all);
        else
            run_narrow(w, &family, (size_t)atomic_load_relaxed(&scope->room)); /* relaxed: own */
        weft__cleanup_pop(w, &family.cleanup);
        free_family(&family.cleanup, w);
    }
}

static __attribute__((noinline)) void close_in_fiber(weft *w, struct weft__scope *scope)
{
    do {
        run_queued(w, scope);
        if (!is_alone(scope))
            wait_for_other_pools(w, scope);
    } while (weft__queue_length(&scope->fifo) > 0);
    weft__cleanup_pop(w, &scope->cleanup);
}

static inline void close_section(weft *w, struct weft__scope *scope)
{
    struct weft__pile *pile = &weft__worker_of(w)->pile;
    if (weft__pile_has_more(pile))
        weft__run_piled(w, scope, UINT_MAX);
    weft__pile_end(pile, scope->outer_base);
    if (!is_alone(scope))
        wait_for_others(w, scope);
    else if (weft__traces() &&
             atomic_load_relaxed(&scope->latch.spin.shared)) /* relaxed: C1, in is_alone() */
        WEFT__TRACE(JOIN, (uintptr_t)&scope->group, 0);
}

int weft_scope_close(weft *w, weft_scope *public)
{
    WEFT__EXPECT_CONTEXT(w);
    struct weft__scope *scope = (struct weft__scope *)(void *)public;
    struct weft__context *context = weft__context_of(w);
    if (!scope || context->group != &scope->group || scope->w != w)
        weft__fatal("weft_scope_close: not the innermost scope that is open in this context");
    if (weft__is_fiber(w))
        close_in_fiber(w, scope);
    else
        close_section(w, scope);
    context->group = scope->group.parent;
    context->base = scope->group.base;
    weft__slot_of(w)->group = scope->outer_here;
    scope->w = NULL;
    atomic_store_relaxed(&scope->room, 0); /* relaxed: alone. A spawn takes the slow road */
    return weft__group_end(&scope->group);
}
