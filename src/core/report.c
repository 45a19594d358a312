/* SPDX-License-Identifier: MIT */
#include "core/report.h"

#include "core/misuse.h"
#include "core/object.h"
#include "core/pool.h"
#include "core/standing.h"
#include "core/stuck.h"
#include "core/wait.h"

#include <stdlib.h>

/* ---- As text ---- */

static void text_standing(FILE *out, const struct weft__worker *worker)
{
    struct weft__standing standing = {.who = weft__who(worker)};
    struct weft__worker *other = NULL;
    if (worker->blocked) {
        weft__standing_blocked(&standing, worker);
        const struct weft__owned *owned = weft__owned_wanted(worker);
        while (owned && (other = weft__next_worker(worker->pool, other)))
            weft__standing_holder(&standing, other);
        standing.holder_waits = owned && weft__holder_waits_outside(worker->pool, owned);
    } else {
        standing.awaits = worker->awaited->what;
        standing.thief = weft__who(weft__thief_of(worker));
        while ((other = weft__next_worker(worker->pool, other)))
            if (weft__waits_for_child(worker, other))
                weft__standing_child(&standing, other);
    }
    weft__put_standing(out, &standing);
}

/* The job that forked the job in `frame`. It is on the stack of the worker from which that was
 * stolen: the innermost job that started at or below the fork's slot. */
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
    for (const struct weft__mutex *mutex = worker->held_mutexes; mutex; mutex = mutex->next_held) {
        fprintf(out, mutex == worker->held_mutexes ? "; holds " : ", ");
        weft__put_object(out, BLOCKED_MUTEX, &mutex->sync);
    }
    fprintf(out, "\n");
    text_backtrace(out, worker);
}

static void text(FILE *out, struct weft_pool *pool)
{
    struct weft__worker *worker = NULL;
    fprintf(out,
            weft__anybody_stuck(pool)
                ? "weft: deadlock in pool \"%s\": these threads wait for each other, or for "
                  "something that no thread will do\n"
                : "weft: all threads of pool \"%s\" are blocked or asleep; something outside may "
                  "end these waits\n",
            pool->config.name);
    while ((worker = weft__next_worker(pool, worker)))
        if (worker->blocked || weft__waits(worker))
            text_worker(out, worker);
    size_t queued = weft__queue_length(&pool->injector);
    if (queued)
        fprintf(out,
                "  jobs that no thread is left to run: %zu; more spares may help "
                "(weft_config.spares)\n",
                queued);
}

/* ---- As a graph ---- */

/* The edge to the holder of what is in no worker's held_mutexes. */
static void graph_other_holder(FILE *out, const struct weft__worker *worker)
{
    const struct weft__owned *owned = weft__owned_wanted(worker);
    enum blocked_kind kind = worker->blocked->kind;
    if (!owned || (kind == BLOCKED_MUTEX && !(weft__owned_holder(owned) & MUTEX_OUTSIDE)))
        return;
    const struct weft__worker *holder = weft__holder_in(worker->pool, owned);
    fprintf(out, "  \"");
    weft__put_object(out, kind, &owned->sync);
    if (holder)
        fprintf(out, "\" -> \"%s %u\" [label=\"held by\"];\n", weft__kind_of(holder),
                holder->index);
    else
        fprintf(out, "\" -> \"a thread outside\" [label=\"held by\"];\n");
}

static void graph_edges(FILE *out, struct weft__worker *worker)
{
    struct weft__worker *thief = weft__thief_of(worker), *other = NULL;
    for (const struct weft__blocked *by = worker->blocked; by && by->object; by = by->more) {
        fprintf(out, "  \"%s %u\" -> \"", weft__kind_of(worker), worker->index);
        weft__put_object(out, by->kind, by->object);
        fprintf(out, "\" [label=\"waits for\"];\n");
    }
    if (worker->blocked)
        graph_other_holder(out, worker);
    for (const struct weft__mutex *mutex = worker->held_mutexes; mutex; mutex = mutex->next_held) {
        fprintf(out, "  \"");
        weft__put_object(out, BLOCKED_MUTEX, &mutex->sync);
        fprintf(out, "\" -> \"%s %u\" [label=\"held by\"];\n", weft__kind_of(worker),
                worker->index);
    }
    if (thief)
        fprintf(out, "  \"%s %u\" -> \"%s %u\" [label=\"stolen by\", style=dashed];\n",
                weft__kind_of(worker), worker->index, weft__kind_of(thief), thief->index);
    while ((other = weft__next_worker(worker->pool, other)))
        if (weft__waits_for_child(worker, other))
            fprintf(out, "  \"%s %u\" -> \"%s %u\" [label=\"child on\", style=dashed];\n",
                    weft__kind_of(worker), worker->index, weft__kind_of(other), other->index);
}

static void graph(FILE *out, struct weft_pool *pool)
{
    struct weft__worker *worker = NULL;
    fprintf(out, "digraph deadlock {\n  node [shape=box];\n");
    while ((worker = weft__next_worker(pool, worker)))
        if (worker->blocked || weft__waits(worker))
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
    weft__stats_report(pool, report);
    if (pool->shown)
        weft__count_up(&pool->shown->reports);
    if (config->deadlock) {
        /* relaxed, both: only the thread that calls the handler looks for its own number. */
        atomic_store_relaxed(&pool->blocking.reporter, weft__thread_number());
        config->deadlock(pool, report, dot, config->data);
        atomic_store_relaxed(&pool->blocking.reporter, 0);
    } else {
        weft__report_write(report, dot);
    }
}

/* The plain rule: all threads rest, and at least one is blocked, whatever may end its wait. */
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
    weft__find_alive(pool);
    bool stuck = weft__anybody_stuck(pool);
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
