/* SPDX-License-Identifier: MIT */
/* Who waits for whom. Every thread of the pool rests, so that what it left in its worker can
 * be read: what blocks it, what it holds, the jobs on its stack, the wait it sleeps in.
 *
 * A thread is *alive* if something outside the pool may set it going, or if it waits for one
 * that is alive. A deadlock is a blocked thread that is not. */
#include "core/report.h"
#include "core/misuse.h"
#include "core/object.h"
#include "core/pool.h"
#include "core/search.h"
#include "core/standing.h"
#include "core/task.h"
#include "core/wait.h"
#include "os/fatal.h"
#include "os/memory.h"

#include <stdlib.h>

/* ---- Whom a thread waits for ---- */

/* Sleeps until somebody else has done something for it. */
static bool waits(const struct weft__worker *worker)
{
    return worker->awaited && !worker->blocked;
}

/* The worker that took the right side which this one waits for; NULL: it is not such a wait. */
static struct weft__worker *thief_of(const struct weft__worker *worker)
{
    if (!waits(worker) || !worker->awaited->thief)
        return NULL;
    return atomic_load_relaxed(worker->awaited->thief); /* relaxed: Z1 */
}

static bool waits_for_child(const struct weft__worker *worker, const struct weft__worker *other)
{
    return waits(worker) && worker->awaited->scope && other != worker &&
           weft__runs_child(other, worker->awaited->scope);
}

/* NULL: none of the pool's. */
static struct weft__worker *holder_in(struct weft_pool *pool, const struct weft__mutex *mutex)
{
    struct weft__worker *worker = NULL;
    while ((worker = weft__next_worker(pool, worker)) &&
           !weft__is_holder(worker, weft__mutex_holder(mutex)))
        ;
    return worker;
}

static const struct weft__mutex *mutex_of(const struct weft__worker *worker)
{
    if (!worker->blocked || worker->blocked->kind != BLOCKED_MUTEX)
        return NULL;
    return (const struct weft__mutex *)worker->blocked->object;
}

/* ---- Tasks of the pool, and who waits for them outside ---- */

/* Each that has begun and is not over, and each that is queued, until `fn` says false. */
static bool each_task(struct weft_pool *pool, bool (*fn)(const struct weft__task *, void *),
                      void *arg)
{
    struct weft__worker *worker = NULL;
    while ((worker = weft__next_worker(pool, worker)))
        for (const struct weft__frame *frame = worker->frame; frame; frame = frame->outer)
            if (frame->task && !fn(frame->task, arg))
                return false;
    bool all = true;
    weft__lock_take(&pool->injector.lock);
    for (struct weft__node *node = pool->injector.first; node && all; node = node->next) {
        const struct weft__task *task = weft__task_of_job(&node->job);
        all = !task || fn(task, arg);
    }
    weft__lock_drop(&pool->injector.lock);
    return all;
}

static bool is_not_awaited_by(const struct weft__task *task, void *holder)
{
    /* acquire O4: its record, which is there until the task is over. */
    const struct weft__outsider *outsider = atomic_load_acquire(&task->outsiders);
    while (outsider && weft__mutex_name(outsider->thread) != *(uintptr_t *)holder)
        outsider = outsider->next;
    return !outsider;
}

/* A thread outside holds the mutex, and waits for a task of the pool: so it does nothing else
 * before that is over. */
static bool holder_waits_outside(struct weft_pool *pool, const struct weft__mutex *mutex)
{
    uintptr_t holder = weft__mutex_holder(mutex);
    return holder & MUTEX_OUTSIDE && !each_task(pool, is_not_awaited_by, &holder);
}

/* ---- Who is alive ---- */

/* A thread outside that submitted something and does not wait for it may do anything: submit
 * another job that sets an event, for instance. Several tasks may be one thread's: if any is
 * waited for, they are taken to be. */
struct submitters {
    bool any, waiting;
};

static bool look_at_task(const struct weft__task *task, void *arg)
{
    struct submitters *submitters = arg;
    if (!task->from_outside)
        return true;
    submitters->any = true;
    submitters->waiting |= atomic_load_relaxed(&task->latch.state) != LATCH_UNSET; /* a hint */
    return true;
}

/* Who comes to wait for a task that nobody has started runs it, as a guest. */
static bool waits_by_running(const struct weft__worker *worker, const struct weft__frame *frame)
{
    return worker->kind == WORKER_GUEST && frame->task && !frame->outer;
}

static bool submitter_is_free(struct weft_pool *pool)
{
    struct submitters submitters = {0};
    struct weft__worker *worker = NULL;
    while ((worker = weft__next_worker(pool, worker)))
        for (const struct weft__frame *frame = worker->frame; frame; frame = frame->outer)
            submitters.waiting |= waits_by_running(worker, frame);
    (void)each_task(pool, look_at_task, &submitters);
    return submitters.any && !submitters.waiting;
}

/* The thread that made the pool comes and goes (WEFT_USE_CALLER). Outside it is as free as any
 * other, whatever it holds. */
static bool is_outside(const struct weft__worker *worker)
{
    return worker->kind == WORKER_CALLER &&
           atomic_load_relaxed(&worker->counts.state) == WORKER_OUTSIDE; /* relaxed: Z1 */
}

/* All rest in the pool, and whoever rested last has looked whether somebody should be woken after
 * all. Since then nobody was marked. */
static bool has_come_to_rest(struct weft_pool *pool)
{
    /* acquire Z4, and acquire Z1, in this order: all rest after they were found to. And then the
     * marks: who rests here now was marked before (Z1); if it was since, there is another look. */
    uint32_t settled = atomic_load_acquire(&pool->blocking.settled);
    bool full = weft__census_full(atomic_load_acquire(&pool->census.word));
    return full && atomic_load_relaxed(&pool->blocking.marks) == settled;
}

/* A thread that stands in several pools is the outermost one's affair, which knows who else might
 * come; and there it is alive while anybody moves in the pools on top. When those have come to
 * rest, somebody looks again (weft__block_all_rest). */
static bool other_pool_moves(const struct weft__worker *worker)
{
    if (worker->host)
        return true;
    for (const struct weft__worker *above = worker->above; above; above = above->above)
        if (!has_come_to_rest(above->pool))
            return true;
    return false;
}

static bool may_be_set_going(const struct weft__worker *worker, bool from_outside)
{
    if (!worker->blocked)
        return worker->above; /* it waits in a pool on top: what for is not known here */
    if (other_pool_moves(worker))
        return true;
    switch (worker->blocked->kind) {
    case BLOCKED_OUTSIDE: /* who has a handler wants to know */
        return !worker->pool->config.deadlock;
    case BLOCKED_MUTEX: {
        const struct weft__worker *holder = holder_in(worker->pool, mutex_of(worker));
        if (holder)
            return is_outside(holder);
        return !holder_waits_outside(worker->pool, mutex_of(worker));
    }
    default:
        return from_outside || /* relaxed, both: Z1 */
               atomic_load_relaxed(&worker->blocked->object->outside) ||
               atomic_load_relaxed(&worker->blocked->object->actors);
    }
}

static bool waits_for_live_child(const struct weft__worker *worker)
{
    struct weft__worker *other = NULL;
    while ((other = weft__next_worker(worker->pool, other)))
        if (other->alive && waits_for_child(worker, other))
            return true;
    return false;
}

/* Any of those that are alive may set an event, send, receive, or end a task. */
static bool waits_for_live(const struct weft__worker *worker)
{
    const struct weft__mutex *mutex = mutex_of(worker);
    if (mutex) {
        const struct weft__worker *holder = holder_in(worker->pool, mutex);
        return !holder || holder->alive; /* none: it waits outside, for a task */
    }
    if (worker->blocked)
        return worker->blocked->kind != BLOCKED_OUTSIDE;
    if (thief_of(worker))
        return thief_of(worker)->alive;
    if (waits(worker) && worker->awaited->scope)
        return waits_for_live_child(worker);
    return waits(worker);
}

static void find_alive(struct weft_pool *pool)
{
    struct weft__worker *worker = NULL;
    bool any = false, more;
    bool from_outside = submitter_is_free(pool) || is_outside(pool->workers[0]);
    while ((worker = weft__next_worker(pool, worker)))
        any |= worker->alive = may_be_set_going(worker, from_outside);
    do {
        more = false;
        while (any && (worker = weft__next_worker(pool, worker)))
            if (!worker->alive && waits_for_live(worker))
                worker->alive = more = true;
    } while (more);
}

/* A mutex's holder that waits and takes no jobs of others is as good as blocked. */
static bool is_stuck(struct weft__worker *worker)
{
    return !worker->alive && (worker->blocked || (waits(worker) && weft__is_careful(worker)));
}

static bool anybody_stuck(struct weft_pool *pool)
{
    struct weft__worker *worker = NULL;
    while ((worker = weft__next_worker(pool, worker)))
        if (is_stuck(worker))
            return true;
    return false;
}

/* ---- As text ---- */

static void text_standing(FILE *out, const struct weft__worker *worker)
{
    struct weft__standing standing = {.who = weft__who(worker)};
    struct weft__worker *other = NULL;
    if (worker->blocked) {
        weft__standing_blocked(&standing, worker);
        while (mutex_of(worker) && (other = weft__next_worker(worker->pool, other)))
            weft__standing_holder(&standing, other);
        standing.holder_waits =
            mutex_of(worker) && holder_waits_outside(worker->pool, mutex_of(worker));
    } else {
        standing.awaits = worker->awaited->what;
        standing.thief = weft__who(thief_of(worker));
        while ((other = weft__next_worker(worker->pool, other)))
            if (waits_for_child(worker, other))
                weft__standing_child(&standing, other);
    }
    weft__put_standing(out, &standing);
}

/* The job that forked the one in `frame`: on the stack of the worker it was taken from, the
 * innermost that started at or below the fork's slot. */
static const struct weft__frame *forker_of(const struct weft__frame *frame)
{
    const struct weft__frame *outer = frame->from ? frame->from->frame : NULL;
    while (outer &&
           (weft__context_of(outer->w) != weft__context_of(frame->slot) || outer->w > frame->slot))
        outer = outer->outer;
    return outer;
}

static void text_backtrace(FILE *out, const struct weft__worker *worker)
{
    enum { MOST = 32 };
    const struct weft__frame *frame = worker->frame;
    for (int i = 0; frame && i < MOST; i++) {
        fprintf(out, "      %s ", i == 0 ? "in" : "forked by");
        weft__put_function(out, frame->fn);
        fprintf(out, " on %s %u", weft__kind_of(worker), worker->index);
        if (frame->from)
            fprintf(out, ", taken from %s %u", weft__kind_of(frame->from), frame->from->index);
        fprintf(out, "\n");
        worker = frame->from;
        frame = frame->slot ? forker_of(frame) : NULL;
    }
}

static void text_worker(FILE *out, const struct weft__worker *worker)
{
    fprintf(out, "  %s %u ", weft__kind_of(worker), worker->index);
    text_standing(out, worker);
    for (const struct weft__mutex *mutex = worker->held; mutex; mutex = mutex->next_held) {
        fprintf(out, mutex == worker->held ? "; holds " : ", ");
        weft__put_object(out, BLOCKED_MUTEX, &mutex->sync);
    }
    fprintf(out, "\n");
    text_backtrace(out, worker);
}

static void text(FILE *out, struct weft_pool *pool)
{
    struct weft__worker *worker = NULL;
    fprintf(out,
            anybody_stuck(pool)
                ? "weft: deadlock in pool \"%s\": these threads wait for each other, or for what "
                  "nobody will do\n"
                : "weft: all threads of pool \"%s\" are blocked or asleep; something outside may "
                  "end these waits\n",
            pool->config.name);
    while ((worker = weft__next_worker(pool, worker)))
        if (worker->blocked || waits(worker))
            text_worker(out, worker);
    size_t queued = weft__queue_length(&pool->injector);
    if (queued)
        fprintf(out,
                "  jobs that nobody is left to run: %zu; more spares may help "
                "(weft_config.spares)\n",
                queued);
}

/* ---- As a graph ---- */

/* Of one that is on no worker's list. */
static void graph_outside_holder(FILE *out, const struct weft__worker *worker)
{
    const struct weft__mutex *mutex = mutex_of(worker);
    if (!mutex || !(weft__mutex_holder(mutex) & MUTEX_OUTSIDE))
        return;
    const struct weft__worker *holder = holder_in(worker->pool, mutex);
    fprintf(out, "  \"");
    weft__put_object(out, BLOCKED_MUTEX, &mutex->sync);
    if (holder)
        fprintf(out, "\" -> \"%s %u\" [label=\"held by\"];\n", weft__kind_of(holder),
                holder->index);
    else
        fprintf(out, "\" -> \"a thread outside\" [label=\"held by\"];\n");
}

static void graph_edges(FILE *out, struct weft__worker *worker)
{
    struct weft__worker *thief = thief_of(worker), *other = NULL;
    if (worker->blocked && worker->blocked->object) {
        fprintf(out, "  \"%s %u\" -> \"", weft__kind_of(worker), worker->index);
        weft__put_object(out, worker->blocked->kind, worker->blocked->object);
        fprintf(out, "\" [label=\"waits for\"];\n");
        graph_outside_holder(out, worker);
    }
    for (const struct weft__mutex *mutex = worker->held; mutex; mutex = mutex->next_held) {
        fprintf(out, "  \"");
        weft__put_object(out, BLOCKED_MUTEX, &mutex->sync);
        fprintf(out, "\" -> \"%s %u\" [label=\"held by\"];\n", weft__kind_of(worker),
                worker->index);
    }
    if (thief)
        fprintf(out, "  \"%s %u\" -> \"%s %u\" [label=\"stolen by\", style=dashed];\n",
                weft__kind_of(worker), worker->index, weft__kind_of(thief), thief->index);
    while ((other = weft__next_worker(worker->pool, other)))
        if (waits_for_child(worker, other))
            fprintf(out, "  \"%s %u\" -> \"%s %u\" [label=\"child on\", style=dashed];\n",
                    weft__kind_of(worker), worker->index, weft__kind_of(other), other->index);
}

static void graph(FILE *out, struct weft_pool *pool)
{
    struct weft__worker *worker = NULL;
    fprintf(out, "digraph deadlock {\n  node [shape=box];\n");
    while ((worker = weft__next_worker(pool, worker)))
        if (worker->blocked || waits(worker))
            graph_edges(out, worker);
    fprintf(out, "}\n");
}

/* ---- Telling ---- */

static char *written(void (*write)(FILE *, struct weft_pool *), struct weft_pool *pool)
{
    char *string = NULL;
    size_t size;
    FILE *out = open_memstream(&string, &size);
    if (!out)
        return NULL;
    write(out, pool);
    return fclose(out) == 0 ? string : NULL;
}

static void save_graph(const char *dot)
{
    const char *path = getenv("WEFT_DEADLOCK_DOT");
    FILE *out = path && *path ? fopen(path, "w") : NULL;
    if (!out)
        return;
    fputs(dot, out);
    fclose(out);
}

void weft__report_write(const char *report, const char *graph)
{
    fputs(report, stderr);
    save_graph(graph);
}

static void tell(struct weft_pool *pool, const char *report, const char *dot)
{
    const weft_config *config = &pool->config;
    if (config->deadlock) {
        /* relaxed, both: the handler's own thread looks for its own number. */
        atomic_store_relaxed(&pool->blocking.reporter, weft__thread_number());
        config->deadlock(pool, report, dot, config->data);
        atomic_store_relaxed(&pool->blocking.reporter, 0);
    } else {
        weft__report_write(report, dot);
    }
}

/* The plain rule: all rest, and one at least is blocked, whatever may wake it. */
static bool is_to_be_noted(struct weft_pool *pool, uint32_t marks)
{
    struct weft__blocking *blocking = &pool->blocking;
    if (!(pool->config.flags & WEFT_DEADLOCK_PLAIN) || blocking->noted == marks ||
        atomic_load_relaxed(&blocking->count) == 0) /* relaxed: after the census (Z1) */
        return false;
    blocking->noted = marks;
    return true;
}

bool weft__report_deadlock(struct weft_pool *pool, uint32_t marks)
{
    char *report = NULL, *dot = NULL;
    weft__lock_take(&pool->guests.lock); /* threads outside may be about to come in */
    find_alive(pool);
    bool stuck = anybody_stuck(pool);
    bool told = stuck || is_to_be_noted(pool, marks);
    if (told) {
        report = written(text, pool);
        dot = written(graph, pool);
    }
    weft__lock_drop(&pool->guests.lock);
    if (told)
        tell(pool, report ? report : "weft: deadlock, and no memory to say more\n", dot ? dot : "");
    free(report);
    free(dot);
    return stuck;
}
