/* SPDX-License-Identifier: MIT */
#include "core/spawn.h"

#include "core/cancel.h"
#include "core/execute.h"
#include "core/fiber.h"
#include "core/fork.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "core/search.h"
#include "core/wait.h"
#include "os/fatal.h"

#include <errno.h>
#include <string.h>

#if defined __GNUC__
#define COLD __attribute__((cold, noinline))
#else
#define COLD
#endif

/* ---- Where other threads find them ---- */

/* On the deque, where any thread may take it. */
static int post_openly(struct weft__worker *me, struct weft__job *job)
{
    weft__spawn_share(job);
    return weft__post_spawn(me, job);
}

static bool uses_pile(weft *w)
{
    return !weft__context_of(w)->eager && !weft__membarrier_is_gone();
}

/* A worker should know of the job, or the owner of the context should look up. */
static int post_slowly(weft *w, struct weft__worker *me, struct weft__job *job)
{
    if (!uses_pile(w))
        return post_openly(me, job);
    bool wake = WEFT_IS_CALLED_(w) && weft__look_up(w);
    if (!weft__pile_push(&me->pile, job, job->group))
        return post_openly(me, job);
    if (wake || (weft__deque_size(&me->deque) == 0 && weft__sleep_has_searcher(&me->pool->sleep) &&
                 weft__offer_is_due(&me->offers)))
        weft__pile_publish(me, 0, 1);
    return 0;
}

static inline int post(weft *w, struct weft__worker *me, struct weft__job *job)
{
    if (!weft__context_of(w)->eager && !WEFT_IS_CALLED_(w) &&
        !weft__sleep_has_searcher(&me->pool->sleep) && weft__pile_push(&me->pile, job, job->group))
        return 0;
    return post_slowly(w, me, job);
}

/* A place for the oldest child in the scope's `fifo`. */
static void post_token(weft *w, struct weft__worker *me, struct weft__scope *scope)
{
    if (post(w, me, &scope->token))
        weft__leave_to_others(me, &scope->token); /* which needs no memory */
}

/* A child of a narrow scope is over. If another child waits, it gets the place. The token stays on
 * this thread's pile, where the thread looks next: to tell the pool of it would wake a worker for
 * each child. */
static COLD void pass_on(weft *w, struct weft__worker *me, struct weft__scope *scope)
{
    if (weft__scope_leave(scope) &&
        (!uses_pile(w) || !weft__pile_push(&me->pile, &scope->token, &scope->group)))
        post_token(w, me, scope);
}

/* ---- Running children ---- */

/* A child lies in a group, which begins its scope. */
static inline struct weft__scope *scope_of_child(const struct weft__spawn *spawn)
{
    return (struct weft__scope *)spawn->node.job.group;
}

static void execute_child(weft *w, struct weft__job *job);

void weft__spawn_share(struct weft__job *job)
{
    struct weft__spawn *spawn = (struct weft__spawn *)job;
    if (job->execute != execute_child || spawn->counted)
        return; /* a token: its child is counted */
    spawn->counted = true;
    weft__scope_count(scope_of_child(spawn));
}

static void child_is_over(void *scope)
{
    weft__count_latch_down(&((struct weft__scope *)scope)->latch); /* last touch of the scope */
}

static void nothing(weft *w, void *arg)
{
    (void)w;
    (void)arg;
}

/* There are no more tokens than children in the queue, and each token takes one child: so the queue
 * is not empty. */
static struct weft__node *oldest_child(struct weft__job *token)
{
    struct weft__scope *scope =
        (struct weft__scope *)((char *)token - offsetof(struct weft__scope, token));
    return weft__queue_pop(&scope->fifo);
}

/* One record for all children of a scope that its owner runs from its pile. */
struct runner {
    struct weft__frame frame;
    uintptr_t known; /* where the newest child of the scope was found below other jobs; or 0 */

    /* What a child has to leave as it found it. */
    const struct weft__worker *outermost;
    const struct weft__mutex *held_mutexes;
    unsigned held; /* these and other locks */
    unsigned block_depth;
    size_t in_place;
};

/* False: this is a forked child now. */
static COLD bool expect_as_before(weft *w, const struct weft__group *group,
                                  const struct runner *runner)
{
    struct weft__worker *me = weft__worker_of(w);
    bool forked = weft__pool_is_forked(me->pool);
    if (forked && (me->kind == WORKER_THREAD || me->kind == WORKER_SPARE))
        weft__fatal(
            "in a forked child, a job returned to the worker; the child should exec or exit");
    if (me->frame != &runner->frame || (weft__current != me && !forked))
        weft__fatal("a job on worker %u was left by longjmp or an exception; jobs must return",
                    me->index);
    weft__expect_merged(w, runner->in_place, "a job");
    if (weft__context_of(w)->group != group)
        weft__fatal("a job returned without closing a scope that it opened");
    if (me->block_depth != runner->block_depth)
        weft__fatal("a job returned between weft_block_begin and weft_block_end");
    if (runner->outermost->held_mutexes != runner->held_mutexes)
        weft__fatal("a job returned that holds a mutex");
    if (runner->outermost->held != runner->held)
        weft__fatal("a job returned that holds a read-write lock");
    return !forked;
}

static inline bool is_as_before(weft *w, const struct weft__worker *me,
                                const struct weft__group *group, const struct runner *runner)
{
    return me->frame == &runner->frame && weft__context_of(w)->group == group &&
           weft__context_of(w)->in_place == runner->in_place &&
           !atomic_load_relaxed(&weft__slot_of(w)->fn) && /* relaxed: own */
           me->block_depth == runner->block_depth && runner->outermost->held == runner->held &&
           !weft__pool_is_forked(me->pool);
}

/* Calls a child as a part of the job that runs in w, whose group is the child's. False: no child
 * may follow. */
static inline bool call_here(weft *w, struct weft__worker *me, const struct weft__group *group,
                             struct runner *runner, weft_fn *fn, void *arg, weft_fn *drop)
{
    runner->frame.fn = fn;
    atomic_store_relaxed(&me->counts->fn, fn); /* relaxed: a hint */
    weft__count_up(&me->counts->jobs);
    if (weft__group_alarm(group) && weft__is_over_slow(w))
        fn = drop ? drop : nothing;
    WEFT__MUST_RETURN(weft__job_threw, fn(w, arg));
    return is_as_before(w, me, group, runner) || expect_as_before(w, group, runner);
}

/* A child of the scope is called, whatever is special about it: executed as a job, it would run
 * what it leaves behind on top of itself, and a chain of children would fill the stack. */
static COLD bool run_special(weft *w, const struct weft__group *group, struct runner *runner,
                             struct weft__job *job)
{
    struct weft__worker *me = weft__worker_of(w);
    if (job->group != group) {
        if (weft__may_help(me) && !weft__is_careful(me))
            weft__execute(w, job);
        else
            weft__leave_to_others(me, job);
        return true;
    }
    bool is_token = job->execute == weft__execute_oldest;
    struct weft__spawn *child =
        is_token ? (struct weft__spawn *)oldest_child(job) : (struct weft__spawn *)job;
    struct weft__scope *scope = scope_of_child(child);
    bool counted = child->counted, careful = child->careful && weft__careful_begin(me, w);
    bool goes_on = call_here(w, me, group, runner, child->node.job.fn, child->node.job.arg,
                             weft__drop_of(child));
    weft__spawn_free(me, child);
    if (careful)
        weft__careful_end(me);
    if (counted) {
        if (!weft__scope_is_wide(scope))
            pass_on(w, me, scope);
        child_is_over(scope); /* not the last: the caller has one itself */
    }
    return goes_on;
}

/* The newest job on the pile is not of the group. Is there one of the group below? It is looked for
 * once for all jobs above it. */
static bool has_child_below(const struct weft__pile *pile, const struct weft__group *group,
                            struct runner *runner)
{
    uintptr_t known = runner->known;
    /* relaxed, both: own; a hint. */
    if (known >= atomic_load_relaxed(&pile->end) || known < atomic_load_relaxed(&pile->first) ||
        pile->ring[known & pile->mask].group != group)
        runner->known = weft__pile_find(pile, group);
    return runner->known != 0;
}

/* Runs one job. False: there are no more children of the scope, or none may follow. */
static inline bool run_next(weft *w, struct weft__worker *me, const struct weft__group *group,
                            struct runner *runner)
{
    struct weft__pile *pile = &me->pile;
    if (!weft__pile_has_more(pile) ||
        (weft__pile_next(pile) != group && !has_child_below(pile, group, runner)))
        return false;
    struct weft__job *job = weft__pile_pop_next(pile);
    if (!job)
        return false;
    struct weft__spawn *child = (struct weft__spawn *)job;
    if (job->group != group || job->execute != execute_child || child->special)
        return run_special(w, group, runner, job);
    weft_fn *fn = job->fn;
    void *arg = job->arg;
    weft__spawn_free_plain(me, child); /* first, so that the child can use it again */
    return call_here(w, me, group, runner, fn, arg, NULL);
}

void weft__run_piled(weft *w, struct weft__scope *scope, unsigned most)
{
    struct weft__worker *me = weft__worker_of(w);
    struct weft__counts *counts = me->counts;
    struct weft__frame *outer = me->frame;
    unsigned depth = outer ? outer->depth + 1 : 0;
    struct runner runner;
    if (weft__pool_is_forked(me->pool))
        return;
    runner.frame = (struct weft__frame){
        &runner.frame, outer,        __builtin_frame_address(0), depth, w, NULL, NULL, NULL,
        NULL,          &scope->group};
    runner.known = 0;
    runner.outermost = weft__outermost(me);
    runner.held_mutexes = runner.outermost->held_mutexes;
    runner.held = runner.outermost->held;
    runner.block_depth = me->block_depth;
    runner.in_place = weft__context_of(w)->in_place;
    weft_fn *shown = atomic_load_relaxed(&counts->fn); /* relaxed, all: hints */
    struct weft__group *shown_group = atomic_load_relaxed(&counts->group);
    if (depth > atomic_load_relaxed(&counts->depth_max))
        atomic_store_relaxed(&counts->depth_max, depth);
    atomic_store_relaxed(&counts->depth, depth + 1);
    atomic_store_relaxed(&counts->group, &scope->group);
    me->frame = &runner.frame;
    while (most-- > 0 && run_next(w, me, &scope->group, &runner))
        if (++me->own_jobs >= WEFT__OWN_TURN)
            weft__run_in_turn(w);
    me->frame = outer;
    atomic_store_relaxed(&counts->depth, depth);
    atomic_store_relaxed(&counts->group, shown_group);
    atomic_store_relaxed(&counts->fn, shown);
}

/* What a child has spawned into its own scope, and left behind. The scope is not closed before the
 * child counts as over, so this need not be counted. But after a while, others come first. */
static void run_left_behind(weft *w, void *scope)
{
    weft__run_piled(w, scope, WEFT__OWN_TURN);
}

static void execute_child(weft *w, struct weft__job *job)
{
    struct weft__worker *me = weft__worker_of(w);
    struct weft__spawn *child = (struct weft__spawn *)job;
    struct weft__scope *scope = scope_of_child(child);
    bool counted = child->counted, plain = child->size == STOCK_PLAIN;
    bool careful = child->careful && weft__careful_begin(me, w);
    weft_fn *fn = job->fn, *drop = weft__drop_of(child);
    void *arg = job->arg;
    if (plain)
        weft__spawn_free(me, child);
    weft__call_or_drop(w, fn, arg, &scope->group, drop);
    if (!plain)
        weft__spawn_free(me, child);
    if (counted && !weft__scope_is_wide(scope))
        pass_on(w, me, scope);
    if (weft__pile_has_more(&me->pile) && !weft__steps_back(me))
        weft__call(w, run_left_behind, scope, &scope->group);
    if (careful)
        weft__careful_end(me);
    me->news = counted ? (struct weft__news){child_is_over, scope} : (struct weft__news){0};
}

void weft__execute_oldest(weft *w, struct weft__job *token)
{
    execute_child(w, &oldest_child(token)->job);
}

/* Detached jobs are computations of their own; the pool counts them. */
static void execute_detached(weft *w, struct weft__job *job)
{
    struct weft__worker *me = weft__worker_of(w);
    weft_fn *fn = job->fn;
    void *arg = job->arg;
    weft__spawn_free(me, (struct weft__spawn *)job);
    weft__call_in_new_group(w, fn, arg, &(struct weft__around){.group = NULL});
    weft__pool_leave(me->pool);
}

bool weft__job_is_spawn(const struct weft__job *job)
{
    return job->execute == weft__execute_oldest || job->execute == execute_child ||
           job->execute == execute_detached;
}

struct weft__node *weft__spawn_node(struct weft__job *job)
{
    if (!weft__job_is_spawn(job))
        weft__fatal("a fork was left on a deque");
    if (job->execute == execute_child)
        weft__spawn_share(job);
    return job->execute == weft__execute_oldest ? oldest_child(job) : (struct weft__node *)job;
}

/* For a child that was not called, or is over. */
void weft__spawn_discard(weft *w, struct weft__spawn *child)
{
    weft_fn *drop = weft__drop_of(child);
    if (drop && !child->begun)
        WEFT__MUST_RETURN(weft__job_threw, drop(w, child->node.job.arg));
    weft__spawn_free(weft__worker_of(w), child);
}

/* ---- Spawning ---- */

static int not_posted(struct weft__worker *me, struct weft__spawn *child, int error)
{
    if (child->counted) /* not the last: the caller has one itself, or its scope has */
        weft__count_latch_down(&scope_of_child(child)->latch);
    weft__spawn_free(me, child);
    return error;
}

/* The children of an actor are the actor's own work: see scope.c. */
static int post_in_fiber(struct weft__spawn *child)
{
    weft__queue_push(&scope_of_child(child)->fifo, &child->node);
    return 0;
}

/* First in, first out; in a narrow scope, when there is a place. */
static inline int post_in_turn(weft *w, struct weft__spawn *child)
{
    struct weft__scope *scope = scope_of_child(child);
    if (scope->group.abandon) /* there are no tokens for the `fifo` of an actor's scope */
        return post_in_fiber(child);
    weft__spawn_share(&child->node.job);
    weft__queue_push(&scope->fifo, &child->node);
    if (weft__scope_is_wide(scope) || weft__scope_enter(scope))
        post_token(w, weft__worker_of(w), scope);
    return 0;
}

static COLD int post_narrow(weft *w, struct weft__spawn *child)
{
    return post_in_turn(w, child);
}

/* What differs from one kind of spawn to the next. */
struct kind {
    bool fifo;
    bool roomy;       /* it may have what follows */
    weft_fn *drop;    /* or NULL */
    const void *copy; /* so many bytes are the child's argument; NULL: `arg` is */
    size_t bytes;
};

/* Inlined into each of them. 0 or an error. */
static inline int spawn(weft *w, weft_scope *public, weft_fn *fn, void *arg, struct kind kind,
                        const char *function)
{
    if (!w || !public || !fn)
        return -EINVAL;
    weft__expect_context(w, function);
    struct weft__scope *scope = weft__scope_expect_open(public, function);
    struct weft__worker *me = weft__worker_of(w);
    if (weft__pool_is_forked(me->pool))
        return -ECHILD;
    struct weft__spawn *child = kind.bytes > COPY_MOST
                                    ? weft__spawn_make_large(kind.bytes)
                                    : weft__spawn_make(me, kind.roomy ? STOCK_ROOMY : STOCK_PLAIN);
    if (!child)
        return -ENOMEM;
    struct weft__roomy *roomy = (struct weft__roomy *)child;
    if (kind.roomy)
        roomy->drop = kind.drop;
    if (kind.copy)
        arg = memcpy(roomy->copy, kind.copy, kind.bytes);
    child->careful = weft__is_careful(me);
    child->counted = child->begun = false;
    child->node.job = (struct weft__job){fn, arg, &scope->group, execute_child};
    if (weft__is_fiber(w))
        return post_in_fiber(child);
    if (kind.fifo)
        return post_in_turn(w, child);
    if (!weft__scope_is_wide(scope))
        return post_narrow(w, child);
    int error = post(w, me, &child->node.job);
    return error ? not_posted(me, child, error) : 0;
}

static COLD int spawn_in_full(weft *w, weft_scope *scope, weft_fn *fn, void *arg)
{
    return spawn(w, scope, fn, arg, (struct kind){0}, "weft_spawn");
}

/* Is there nothing to do for a spawn but to put a node on the pile? */
static inline bool is_simple(weft *w, const struct weft__worker *me)
{
    struct weft__context *context = weft__context_of(w);
    return !context->eager && !WEFT_IS_CALLED_(w) && !weft__pool_is_forked(me->pool) &&
           !weft__sleep_has_searcher(&me->pool->sleep) && !me->host &&
           !atomic_load_relaxed(&me->careful_at) && /* relaxed: own. Set by each lock, too */
           me->stocks[STOCK_PLAIN].some && weft__pile_has_room(&me->pile);
}

/* All tests come first, and the slow road begins from the start: so the fast path needs neither
 * calls nor registers to be saved. */
int weft_spawn(weft *w, weft_scope *public, weft_fn *fn, void *arg)
{
    struct weft__scope *scope = (struct weft__scope *)(void *)public;
    if (!w || !public || !fn || !weft__context_is_right(w) ||
        !weft__scope_is_wide(scope) || /* narrow, or closed */
        !is_simple(w, weft__worker_of(w)))
        return spawn_in_full(w, public, fn, arg);
    struct weft__worker *me = weft__worker_of(w);
    struct weft__stock *stock = &me->stocks[STOCK_PLAIN];
    struct weft__spawn *child = (struct weft__spawn *)stock->some;
    stock->some = child->node.next;
    stock->count--;
    child->special = 0;
    child->node.job = (struct weft__job){fn, arg, &scope->group, execute_child};
    weft__pile_push_one(&me->pile, &child->node.job, &scope->group);
    return 0;
}

int weft_spawn_fifo(weft *w, weft_scope *scope, weft_fn *fn, void *arg)
{
    return spawn(w, scope, fn, arg, (struct kind){.fifo = true}, __func__);
}

int weft_spawn_drop(weft *w, weft_scope *scope, weft_fn *fn, void *arg, weft_fn *drop)
{
    if (!drop)
        return -EINVAL;
    return spawn(w, scope, fn, arg, (struct kind){.roomy = true, .drop = drop}, __func__);
}

int weft_spawn_copy(weft *w, weft_scope *scope, weft_fn *fn, const void *arg, size_t size,
                    weft_fn *drop)
{
    if (!arg && size > 0)
        return -EINVAL;
    struct kind kind = {.roomy = true, .drop = drop, .copy = arg ? arg : "", .bytes = size};
    return spawn(w, scope, fn, NULL, kind, __func__);
}

int weft_spawn_detached(weft *w, weft_fn *fn, void *arg)
{
    if (!w || !fn)
        return -EINVAL;
    WEFT__EXPECT_CONTEXT(w);
    struct weft__worker *me = weft__worker_of(w);
    if (weft__pool_is_forked(me->pool))
        return -ECHILD;
    if (me->pool->threadless)
        return -EAGAIN;
    struct weft__spawn *spawn = weft__spawn_make(me, STOCK_PLAIN);
    if (!spawn)
        return -ENOMEM;
    spawn->node.job = (struct weft__job){fn, arg, NULL, execute_detached};
    weft__pool_hold(me->pool);
    int error = weft__post_spawn(me, &spawn->node.job);
    if (error) {
        weft__pool_leave(me->pool);
        weft__spawn_free(me, spawn);
    }
    return error;
}
