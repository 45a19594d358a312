/* SPDX-License-Identifier: MIT */
#include "core/execute.h"

#include "core/cancel.h"
#include "core/fiber.h"
#include "core/help.h"
#include "core/misuse.h"
#include "core/pool.h"
#include "os/clock.h"
#include "os/fatal.h"
#include "os/trace.h"

static void abandoned(const struct weft__worker *me)
{
    weft__fatal("a job on worker %u was left by longjmp or an exception; jobs must return",
                me->index);
}

/* For a trace: what the job is a part of; see weft/trace_format.h. */
static uintptr_t whole_of(weft *slot, const struct weft__group *group)
{
    return slot ? (uintptr_t)&weft__slot_of(slot)->latch : (uintptr_t)group;
}

void weft__execute_untold(weft *w, const struct weft__found *found)
{
    struct weft__worker *me = weft__worker_of(w);
    struct weft__worker *before = weft__current;
    struct weft__frame *outer = me->frame;
    struct weft__frame frame = {
        .self = &frame,
        .outer = outer,
        .address = __builtin_frame_address(0),
        .depth = outer ? outer->depth + 1 : 0,
        .w = w,
        .from = found->from,
        .slot = found->slot,
    };
    bool careful =
        frame.slot && weft__fork_is_careful(frame.from, frame.slot) && weft__careful_begin(me, w);
    const struct weft__mutex *held_mutexes = weft__outermost(me)->held_mutexes;
    unsigned held = weft__outermost(me)->held;
    unsigned block_depth = me->block_depth;
    uintptr_t outer_base = weft__pile_begin(&me->pile);
    struct weft__help outer_help = me->context->help;
    me->context->help = (struct weft__help){0};
    weft__expect_help(me);
    weft__count_up(&me->counts->jobs);
    if (frame.depth > atomic_load_relaxed(&me->counts->depth_max))
        atomic_store_relaxed(&me->counts->depth_max, frame.depth);
    weft__state_is(me, WORKER_BUSY);
    atomic_store_relaxed(&me->counts->depth, frame.depth + 1); /* relaxed: a hint */
    me->frame = &frame;
    weft__current = me;
    if (found->from)
        WEFT__TRACE(STEAL, atomic_load_relaxed(&found->from->counts->thread), /* relaxed: a hint */
                    whole_of(found->slot, found->job->group));
    found->job->execute(w, found->job);
    bool forked = weft__pool_is_forked(me->pool);
    if (forked && (me->kind == WORKER_THREAD || me->kind == WORKER_SPARE))
        weft__fatal(
            "in a forked child, a job returned to the worker; the child should exec or exit");
    if (me->frame != &frame || (weft__current != me && !forked))
        abandoned(me);
    if (me->block_depth != block_depth)
        weft__fatal("a job returned between weft_block_begin and weft_block_end");
    if (careful)
        weft__careful_end(me);
    if (weft__outermost(me)->held_mutexes != held_mutexes)
        weft__fatal("a job returned that holds a mutex");
    if (weft__outermost(me)->held != held)
        weft__fatal("a job returned that holds a read-write lock");
    if (weft__pile_has_more(&me->pile) && !forked)
        weft__pile_publish(me, me->pile.base, WEFT__PILE_ALL); /* before the job counts as over */
    weft__pile_end(&me->pile, outer_base);
    me->frame = outer;
    atomic_store_relaxed(&me->counts->depth, frame.depth); /* relaxed: as above */
    weft__current = forked ? NULL : before;
    me->context->help = outer_help;
    if (outer && outer_help.wanted)
        weft__context_raise_guard(me->context); /* the fork that wakes a worker is still to come */
}

void weft__execute_found(weft *w, const struct weft__found *found)
{
    weft__execute_untold(w, found);
    weft__tell(weft__worker_of(w));
}

void weft__execute(weft *w, struct weft__job *job)
{
    weft__execute_found(w, &(struct weft__found){.job = job});
}

/* The job on top, for weft_pool_dump(). relaxed, all: hints. */
struct shown {
    weft_fn *fn;
    void *group;
};

static inline struct shown show(struct weft__worker *me, struct shown shown)
{
    struct weft__counts *counts = me->counts;
    struct shown before = {atomic_load_relaxed(&counts->fn), atomic_load_relaxed(&counts->group)};
    atomic_store_relaxed(&counts->fn, shown.fn);
    atomic_store_relaxed(&counts->group, shown.group);
    return before;
}

/* `fresh`: no thread has run a part of the computation yet. */
static void call(weft *w, weft_fn *fn, void *arg, struct weft__group *group, weft_fn *drop,
                 bool fresh)
{
    struct weft__context *context = weft__context_of(w);
    struct weft__slot *slot = weft__slot_of(w);
    struct weft__group *outer = context->group, *outer_here = slot->group;
    weft *outer_base = context->base;
    struct weft__frame *frame = weft__is_fiber(w) ? NULL : context->worker->frame;
    struct weft__group *outer_root = atomic_load_relaxed(&context->root);
    struct weft__group *root = group->root;
    bool mixes = outer_root && outer_root != root;
    size_t in_place = context->in_place;
    context->group = slot->group = group;
    context->base = w;
    /* relaxed, all of root and mixed: hints, written by their owner only. For a thread that fails
     * and reads root, weft__part_begin() and weft__part_resume() have a fence after the store. */
    atomic_store_relaxed(&context->root, root);
    if (mixes)
        atomic_store_relaxed(&context->mixed, atomic_load_relaxed(&context->mixed) + 1);
    struct shown shown = {NULL, NULL};
    if (frame) {
        frame->fn = fn;
        frame->group = group;
        shown = show(context->worker, (struct shown){fn, weft__group_whole(group)});
    }
    if (outer_root != root)
        weft__part_begin(context, root, fresh);
    weft_fn *runs = weft__is_over(w) ? drop : fn;
    if (frame)
        WEFT__TRACE(JOB, (uintptr_t)runs, whole_of(frame->slot, group));
    if (runs)
        WEFT__MUST_RETURN(weft__job_threw, runs(w, arg));
    if (frame && context->worker->frame != frame)
        abandoned(context->worker);
    if (frame) {
        show(context->worker, shown);
        WEFT__TRACE(JOB_END, (uintptr_t)runs, 0);
    }
    weft__expect_merged(w, in_place, "a job");
    if (context->group != group)
        weft__fatal("a job returned without closing a scope that it opened");
    context->group = outer;
    context->base = outer_base;
    slot->group = outer_here;
    atomic_store_relaxed(&context->root, outer_root);
    if (mixes)
        atomic_store_relaxed(&context->mixed, atomic_load_relaxed(&context->mixed) - 1);
    weft__part_resume(context, mixes);
}

void weft__call(weft *w, weft_fn *fn, void *arg, struct weft__group *group)
{
    call(w, fn, arg, group, NULL, false);
}

void weft__call_or_drop(weft *w, weft_fn *fn, void *arg, struct weft__group *group, weft_fn *drop)
{
    call(w, fn, arg, group, drop, false);
}

void weft__call_whole(weft *w, weft_fn *fn, void *arg, struct weft__group *group)
{
    struct weft__context *context = weft__context_of(w);
    struct weft__help *help = &context->help;
    help->whole = fn;
    call(w, fn, arg, group, NULL, group->root == group);
    if (!help->started || help->whole != fn)
        return;
    bool brief = weft__clock_now() - help->started < WEFT__LITTLE_NS;
    weft__habit_learn(&context->worker->pool->habits, fn, help->first_right,
                      brief && !weft__context_robbed(context));
}

int weft__call_in_new_group(weft *w, weft_fn *fn, void *arg, const struct weft__around *around)
{
    struct weft__group group;
    weft__group_begin_in(&group, around);
    weft__call_whole(w, fn, arg, &group);
    return weft__group_end(&group);
}
