/* SPDX-License-Identifier: MIT */
/* Scopes and spawned jobs. */
#include "core/fatal.h"
#include "core/pool.h"
#include "os/clock.h"
#include "os/memory.h"

#include <errno.h>

struct scope {
    struct weft__group group;
    struct weft__count_latch latch;
    struct weft__queue fifo; /* children that run first in, first out: their work nodes */
    struct weft__group *outer_here; /* what the slot it was opened at said before */
    int64_t base;                   /* of its children on the opener's deque */
};

_Static_assert(sizeof(struct scope) <= sizeof(weft_scope), "weft_scope is too small");

/* A spawned job. It stands in a deque (or, spilled, in the injector) by `token`. A first
 * in, first out child stands in its scope's queue by `work` as well; its token means "run
 * the oldest one of that scope", so the two are used up at different times. */
struct spawn {
    struct weft__node token;
    struct weft__node work;
    struct scope *scope;
    struct atomic_u32 uses; /* token and work; who takes the last one frees it */
};

enum { SPARES_MAX = 256 };

static struct spawn *spawn_make(struct weft__worker *me)
{
    struct spawn *spawn = (struct spawn *)me->spare;
    if (!spawn)
        return weft__alloc(sizeof *spawn);
    me->spare = spawn->token.next;
    me->spares--;
    return spawn;
}

static void spawn_free(struct weft__worker *me, struct spawn *spawn)
{
    if (me->spares == SPARES_MAX) {
        weft__free(spawn);
        return;
    }
    spawn->token.next = me->spare;
    me->spare = &spawn->token;
    me->spares++;
}

static void execute_child(weft *w, struct weft__job *job)
{
    struct spawn *spawn = (struct spawn *)job;
    struct scope *scope = spawn->scope;
    weft_fn *fn = job->fn;
    void *arg = job->arg;
    spawn_free(weft__worker_of(w), spawn);
    weft__call(w, fn, arg, &scope->group);
    weft__count_latch_down(&scope->latch); /* last touch of the scope */
}

static void use_up(struct weft__worker *me, struct spawn *spawn)
{
    /* acq_rel U1: the other use is over before it is freed. */
    if (atomic_fetch_sub_acq_rel(&spawn->uses, 1) == 1)
        spawn_free(me, spawn);
}

static struct spawn *spawn_of_work(struct weft__node *work)
{
    return (struct spawn *)((char *)work - offsetof(struct spawn, work));
}

static void execute_oldest(weft *w, struct weft__job *job)
{
    struct weft__worker *me = weft__worker_of(w);
    struct spawn *token = (struct spawn *)job;
    struct scope *scope = token->scope;
    /* There are as many children as tokens, and each token takes one: so there is one. */
    struct weft__node *work = weft__queue_pop(&scope->fifo);
    weft_fn *fn = work->job.fn;
    void *arg = work->job.arg;
    use_up(me, spawn_of_work(work));
    use_up(me, token);
    weft__call(w, fn, arg, &scope->group);
    weft__count_latch_down(&scope->latch); /* last touch of the scope */
}

static struct scope *scope_of(weft_scope *scope)
{
    return (struct scope *)scope->opaque;
}

void weft_scope_open(weft *w, weft_scope *public)
{
    struct scope *scope = scope_of(public);
    struct weft__context *context = weft__context_of(w);
    struct weft__slot *slot = weft__slot_of(w);
    *scope = (struct scope){
        .outer_here = slot->group,
        .base = weft__deque_bottom(&context->worker->deque),
    };
    weft__group_begin(&scope->group, context->group);
    weft__count_latch_init(&scope->latch, context->worker->park, 1);
    context->group = slot->group = &scope->group;
}

void weft_scope_deadline(weft_scope *scope, uint64_t when)
{
    weft__group_set_deadline(&scope_of(scope)->group, when);
}

static int spawn_job(weft *w, struct scope *scope, weft_fn *fn, void *arg,
                     void (*execute)(weft *, struct weft__job *))
{
    struct weft__worker *me = weft__worker_of(w);
    struct spawn *spawn = spawn_make(me);
    if (!spawn)
        return -ENOMEM;
    bool fifo = execute == execute_oldest;
    spawn->scope = scope;
    spawn->token.job = (struct weft__job){fn, arg, &scope->group, execute};
    atomic_store_relaxed(&spawn->uses, 2); /* relaxed: the deque publishes it */
    weft__count_latch_up(&scope->latch);
    if (fifo) {
        spawn->work.job = spawn->token.job;
        weft__queue_push(&scope->fifo, &spawn->work);
    }
    int error = weft__post(me, &spawn->token.job);
    if (!error)
        return 0;
    /* Not there: nobody else has heard of it, unless another token took its work, and then
     * its own token must not come. Either way there is one token too few, so one child,
     * the newest, is taken back. */
    if (fifo && !weft__queue_remove(&scope->fifo, &spawn->work)) {
        execute(w, &spawn->token.job);
        return 0;
    }
    weft__count_latch_down(&scope->latch);
    spawn_free(me, spawn);
    return error;
}

int weft_spawn(weft *w, weft_scope *scope, weft_fn *fn, void *arg)
{
    if (!w || !scope || !fn)
        return -EINVAL;
    return spawn_job(w, scope_of(scope), fn, arg, execute_child);
}

int weft_spawn_fifo(weft *w, weft_scope *scope, weft_fn *fn, void *arg)
{
    if (!w || !scope || !fn)
        return -EINVAL;
    return spawn_job(w, scope_of(scope), fn, arg, execute_oldest);
}

int weft_scope_close(weft *w, weft_scope *public)
{
    struct scope *scope = scope_of(public);
    struct weft__context *context = weft__context_of(w);
    if (context->group != &scope->group)
        weft__fatal("weft_scope_close: not the innermost scope that is open in this context");
    weft__count_latch_down(&scope->latch);
    weft__wait(w, &scope->latch.spin.core, NULL, scope->base);
    context->group = scope->group.parent;
    weft__slot_of(w)->group = scope->outer_here;
    return weft__group_end(&scope->group);
}

/* Detached jobs are computations of their own; the pool counts them. */
static void execute_detached(weft *w, struct weft__job *job)
{
    struct weft__worker *me = weft__worker_of(w);
    weft_fn *fn = job->fn;
    void *arg = job->arg;
    spawn_free(me, (struct spawn *)job);
    struct weft__context *context = weft__context_of(w);
    struct weft__group *outer = context->group;
    context->group = NULL;
    weft__call_root(w, fn, arg);
    context->group = outer;
    weft__pool_leave(me->pool);
}

int weft_spawn_detached(weft *w, weft_fn *fn, void *arg)
{
    if (!w || !fn)
        return -EINVAL;
    struct weft__worker *me = weft__worker_of(w);
    struct spawn *spawn = spawn_make(me);
    if (!spawn)
        return -ENOMEM;
    spawn->token.job = (struct weft__job){fn, arg, NULL, execute_detached};
    weft__pool_hold(me->pool);
    int error = weft__post(me, &spawn->token.job);
    if (error) {
        weft__pool_leave(me->pool);
        spawn_free(me, spawn);
    }
    return error;
}
