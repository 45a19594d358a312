/* SPDX-License-Identifier: MIT */
#include "core/scope.h"

#include "core/execute.h"
#include "core/fiber.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "core/wait.h"
#include "os/fatal.h"
#include "os/memory.h"

#include <errno.h>

struct scope {
    struct weft__group group;
    struct weft__count_latch latch;
    struct weft__queue fifo;        /* children that run first in, first out */
    struct weft__job token;         /* stands in a deque for the oldest child in `fifo` */
    weft *w;                        /* the slot where it was opened; NULL: closed */
    struct weft__group *outer_here; /* the group in that slot before */
};

_Static_assert(sizeof(struct scope) <= sizeof(weft_scope), "weft_scope is too small");

/* A spawned job. */
struct spawn {
    struct weft__node node;
    struct scope *scope; /* NULL: detached */
    bool careful;        /* the thread that spawned it was careful; see worker.h */
};

/* Some children of an actor's scope. */
struct children {
    struct spawn **first;
    size_t count;
};

enum { FREE_NODES_MAX = 256 };

static struct spawn *spawn_make(struct weft__worker *me)
{
    struct spawn *spawn = (struct spawn *)me->free_nodes;
    if (!spawn)
        return weft__alloc(sizeof *spawn);
    me->free_nodes = spawn->node.next;
    me->free_count--;
    return spawn;
}

static void spawn_free(struct weft__worker *me, struct spawn *spawn)
{
    if (me->free_count == FREE_NODES_MAX) {
        weft__free(spawn);
        return;
    }
    spawn->node.next = me->free_nodes;
    me->free_nodes = &spawn->node;
    me->free_count++;
}

static void child_is_over(void *scope)
{
    weft__count_latch_down(&((struct scope *)scope)->latch); /* last touch of the scope */
}

static void execute_child(weft *w, struct weft__job *job)
{
    struct weft__worker *me = weft__worker_of(w);
    struct scope *scope = ((struct spawn *)job)->scope;
    bool careful = ((struct spawn *)job)->careful && weft__careful_begin(me, w);
    weft_fn *fn = job->fn;
    void *arg = job->arg;
    spawn_free(me, (struct spawn *)job);
    weft__call(w, fn, arg, &scope->group);
    if (careful)
        weft__careful_end(me);
    me->news = (struct weft__news){child_is_over, scope};
}

/* There are as many tokens on deques as children in the queue, and each token takes one child: so
 * the queue is not empty. */
static struct weft__node *oldest_child(struct weft__job *token)
{
    struct scope *scope = (struct scope *)((char *)token - offsetof(struct scope, token));
    return weft__queue_pop(&scope->fifo);
}

static void execute_oldest(weft *w, struct weft__job *token)
{
    execute_child(w, &oldest_child(token)->job);
}

/* Detached jobs are computations of their own; the pool counts them. */
static void execute_detached(weft *w, struct weft__job *job)
{
    struct weft__worker *me = weft__worker_of(w);
    weft_fn *fn = job->fn;
    void *arg = job->arg;
    spawn_free(me, (struct spawn *)job);
    weft__call_in_new_group(w, fn, arg, NULL);
    weft__pool_leave(me->pool);
}

bool weft__job_is_spawn(const struct weft__job *job)
{
    return job->execute == execute_oldest || job->execute == execute_child ||
           job->execute == execute_detached;
}

struct weft__node *weft__spawn_node(struct weft__job *job)
{
    if (!weft__job_is_spawn(job))
        weft__fatal("a fork was left on a deque");
    return job->execute == execute_oldest ? oldest_child(job) : (struct weft__node *)job;
}

static struct scope *scope_of(weft_scope *scope)
{
    return (struct scope *)(void *)scope;
}

/* A scope without a slot is closed. */
static struct scope *open_scope(weft_scope *public, const char *function)
{
    struct scope *scope = scope_of(public);
    if (!scope || !scope->w)
        weft__fatal("%s: the scope is closed, or was never opened", function);
    return scope;
}

/* Frees the children that were not run. */
static void abandon_scope(struct weft__group *group)
{
    struct scope *scope = (struct scope *)group;
    struct weft__node *node;
    while ((node = weft__queue_pop(&scope->fifo)))
        weft__free(node);
}

void weft_scope_open(weft *w, weft_scope *public)
{
    WEFT__EXPECT_CONTEXT(w);
    if (!public)
        weft__fatal("weft_scope_open needs a scope");
    struct scope *scope = scope_of(public);
    struct weft__context *context = weft__context_of(w);
    struct weft__slot *slot = weft__slot_of(w);
    if (context->group == &scope->group)
        weft__fatal("weft_scope_open: the scope is open already");
    *scope = (struct scope){
        .w = w,
        .outer_here = slot->group,
        .token = {.group = &scope->group, .execute = execute_oldest},
    };
    weft__group_begin(&scope->group, context->group);
    if (weft__is_fiber(w))
        scope->group.abandon = abandon_scope;
    weft__count_latch_init(&scope->latch, weft__context_park(context), 1);
    context->group = slot->group = &scope->group;
}

void weft_scope_deadline(weft_scope *public, uint64_t when)
{
    struct scope *scope = open_scope(public, __func__);
    weft__group_set_deadline(&scope->group, when);
    weft__context_raise_guard(weft__context_of(scope->w)); /* its forks look at the clock now */
}

/* ---- Scopes of an actor ---- */

/* Children of an actor's scope are the actor's own work, so they do not go on a worker's deque.
 * They wait in `fifo` until the scope is closed, and are forked then. */
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
    struct spawn *child = all.first[0];
    weft__call(w, child->node.job.fn, child->node.job.arg, &child->scope->group);
}

static int spawn_in_fiber(struct scope *scope, weft_fn *fn, void *arg)
{
    struct spawn *spawn = weft__alloc(sizeof *spawn);
    if (!spawn)
        return -ENOMEM;
    spawn->scope = scope;
    spawn->node.job = (struct weft__job){.fn = fn, .arg = arg};
    weft__queue_push(&scope->fifo, &spawn->node);
    return 0;
}

/* Children that are run together. They are freed afterwards, also if the actor ends meanwhile. */
struct family {
    struct weft__cleanup cleanup;
    struct children children;
    struct spawn **many, *alone;
};

static void free_family(struct weft__cleanup *of, weft *w)
{
    struct family *family = (struct family *)of;
    (void)w;
    for (size_t i = 0; i < family->children.count; i++)
        weft__free(family->children.first[i]);
    weft__free(family->many);
}

/* Runs children until there are none, since children may spawn children. If there is no memory to
 * run all together, they are run one at a time. */
static void close_in_fiber(weft *w, struct scope *scope)
{
    size_t count;
    while ((count = weft__queue_length(&scope->fifo)) > 0) {
        struct family family = {.many = weft__alloc(count * sizeof family.many[0])};
        struct children *all = &family.children;
        all->first = family.many ? family.many : &family.alone;
        all->count = family.many ? count : 1;
        for (size_t i = 0; i < all->count; i++)
            all->first[i] = (struct spawn *)weft__queue_pop(&scope->fifo);
        weft__cleanup_push(w, &family.cleanup, free_family);
        run_children(w, all);
        weft__cleanup_pop(w, &family.cleanup);
        free_family(&family.cleanup, w);
    }
}

int weft_spawn(weft *w, weft_scope *public, weft_fn *fn, void *arg)
{
    if (!w || !public || !fn)
        return -EINVAL;
    WEFT__EXPECT_CONTEXT(w);
    struct scope *scope = open_scope(public, __func__);
    struct weft__worker *me = weft__worker_of(w);
    if (weft__pool_is_forked(me->pool))
        return -ECHILD;
    if (weft__is_fiber(w))
        return spawn_in_fiber(scope, fn, arg);
    struct spawn *spawn = spawn_make(me);
    if (!spawn)
        return -ENOMEM;
    spawn->scope = scope;
    spawn->careful = weft__is_careful(me);
    spawn->node.job = (struct weft__job){fn, arg, &scope->group, execute_child};
    weft__count_latch_up(&scope->latch);
    int error = weft__post_spawn(me, &spawn->node.job);
    if (error) {
        weft__count_latch_down(&scope->latch);
        spawn_free(me, spawn);
    }
    return error;
}

int weft_spawn_fifo(weft *w, weft_scope *public, weft_fn *fn, void *arg)
{
    if (!w || !public || !fn)
        return -EINVAL;
    WEFT__EXPECT_CONTEXT(w);
    struct scope *scope = open_scope(public, __func__);
    struct weft__worker *me = weft__worker_of(w);
    if (weft__pool_is_forked(me->pool))
        return -ECHILD;
    if (weft__is_fiber(w))
        return spawn_in_fiber(scope, fn, arg);
    if (scope->group.abandon) /* the scope of an actor: there are no tokens for its `fifo` */
        return weft_spawn(w, public, fn, arg);
    struct spawn *spawn = spawn_make(me);
    if (!spawn)
        return -ENOMEM;
    spawn->scope = scope;
    spawn->careful = weft__is_careful(me);
    spawn->node.job = (struct weft__job){fn, arg, &scope->group, execute_child};
    weft__count_latch_up(&scope->latch);
    weft__queue_push(&scope->fifo, &spawn->node);
    if (weft__post_spawn(me, &scope->token) == 0)
        return 0;
    /* There is one token too few: one child, perhaps this one, is run here and now. */
    weft__execute(w, &scope->token);
    return 0;
}

int weft_scope_close(weft *w, weft_scope *public)
{
    WEFT__EXPECT_CONTEXT(w);
    struct scope *scope = scope_of(public);
    struct weft__context *context = weft__context_of(w);
    if (!scope || context->group != &scope->group || scope->w != w)
        weft__fatal("weft_scope_close: not the innermost scope that is open in this context");
    if (weft__is_fiber(w))
        close_in_fiber(w, scope);
    weft__count_latch_down(&scope->latch);
    weft__wait(w, &scope->latch.spin.core, WEFT__AWAITS_CHILDREN(&scope->group));
    context->group = scope->group.parent;
    weft__slot_of(w)->group = scope->outer_here;
    scope->w = NULL;
    return weft__group_end(&scope->group);
}

int weft_spawn_detached(weft *w, weft_fn *fn, void *arg)
{
    if (!w || !fn)
        return -EINVAL;
    WEFT__EXPECT_CONTEXT(w);
    struct weft__worker *me = weft__worker_of(w);
    if (weft__pool_is_forked(me->pool))
        return -ECHILD;
    struct spawn *spawn = spawn_make(me);
    if (!spawn)
        return -ENOMEM;
    spawn->node.job = (struct weft__job){fn, arg, NULL, execute_detached};
    weft__pool_hold(me->pool);
    int error = weft__post_spawn(me, &spawn->node.job);
    if (error) {
        weft__pool_leave(me->pool);
        spawn_free(me, spawn);
    }
    return error;
}
