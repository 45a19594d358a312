/* SPDX-License-Identifier: MIT */
/* The report, when a pool is destroyed. A look at each actor, under its lock; then a look at the
 * holder of each mutex that an actor waits for; then all actors again. An actor whose note has not
 * changed between the looks waited while the mutexes were looked at; so all these actors waited at
 * the same time. */
#include "actor/deadlock.h"

#include "core/limit.h"
#include "core/report.h"
#include "core/standing.h"
#include "os/memory.h"
#include "sync/mutex.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Noting ---- */

static void note(struct weft_actor *actor, const struct weft__blocked *by)
{
    weft__deadlock_changes(&actor->awaits);
    actor->awaits.blocked = by;
}

void weft__deadlock_blocked(struct weft__fiber *fiber, const struct weft__blocked *by)
{
    if (!weft__deadlock_concerns(fiber))
        return;
    weft__lock_take(&fiber->actor->awaits.lock);
    note(fiber->actor, by);
    weft__lock_drop(&fiber->actor->awaits.lock);
}

void weft__deadlock_roused(struct weft__fiber *fiber, const struct weft__blocked *by)
{
    struct weft_actor *actor = fiber->actor;
    weft__lock_take(&actor->awaits.lock);
    if (actor->awaits.blocked == by) /* otherwise a right side waited, which is not noted */
        note(actor, NULL);
    weft__lock_drop(&actor->awaits.lock);
}

/* ---- Looking ---- */

/* An actor that waits, as seen by the first look. */
struct look {
    struct weft_actor *actor;
    const struct weft__fiber *fiber; /* its own: the name of a mutex's holder is its address */
    struct weft_actor *awaits;       /* the actor that has to end the wait; NULL: not known */
    bool anybody;                    /* any job or actor of this pool may end the wait */
    const char *words;
    enum blocked_kind kind; /* of the object; OUTSIDE: none */
    char name[40];          /* of the object: quoted, or its address */
    uint64_t changes;
    size_t next;  /* where `awaits` is among the looks; NOBODY: not there, it does not wait */
    size_t round; /* in which put_circles() visited it; 0: not yet */
    bool shown;
};

#define NOBODY SIZE_MAX

struct looks {
    struct look *all;
    size_t count, actors;
};

static int compare(uintptr_t x, uintptr_t y)
{
    return (x > y) - (x < y);
}

static int by_address(const void *a, const void *b)
{
    return compare((uintptr_t)((const struct look *)a)->actor,
                   (uintptr_t)((const struct look *)b)->actor);
}

static int by_fiber(const void *a, const void *b)
{
    return compare((uintptr_t)((const struct look *)a)->fiber,
                   (uintptr_t)((const struct look *)b)->fiber);
}

static struct look *find(const struct looks *looks, const struct look *key,
                         int (*order)(const void *, const void *))
{
    return looks->count ? bsearch(key, looks->all, looks->count, sizeof *key, order) : NULL;
}

/* The whole report is made under the system's lock, so that no actor is freed meanwhile. */
static void look_at(struct looks *looks, struct weft_actor *actor)
{
    weft__lock_take(&actor->awaits.lock);
    const struct weft__blocked *blocked = actor->awaits.blocked;
    /* relaxed, all: hints; see still_waits(). An actor gives work away only before it waits. */
    struct weft_actor *awaits = atomic_load_relaxed(&actor->awaits.actor);
    bool alone = atomic_load_relaxed(&actor->root.pending) == 0;
    bool ends = blocked && weft__limit_ends(blocked->limit);
    if (alone && !ends && (awaits || blocked))
        looks->all[looks->count++] = (struct look){
            .actor = actor,
            .fiber = atomic_load_relaxed(&actor->fiber), /* relaxed: it is compared only */
            .awaits = awaits,
            .words = blocked ? weft__blocked_words(blocked->kind)
                             : atomic_load_relaxed(&actor->counts->waits_for),
            .changes = atomic_load_relaxed(&actor->awaits.changes),
            .next = NOBODY,
        };
    weft__lock_drop(&actor->awaits.lock);
}

static bool has_changed(const struct look *look)
{
    return atomic_load_relaxed(&look->actor->awaits.changes) !=
           look->changes; /* relaxed: as above */
}

/* Do only threads and actors of the pool use what it waits for? */
static bool is_used_in(const struct weft_pool *pool, const struct weft__blocked *blocked)
{
    for (; blocked; blocked = blocked->more) /* relaxed, both: under the object's lock otherwise */
        if (atomic_load_relaxed(&blocked->object->outside) ||
            atomic_load_relaxed(&blocked->object->pool) != pool)
            return false;
    return true;
}

/* Under the actor's lock, so that the object is not freed. */
static void look_at_object(const struct looks *looks, struct look *look,
                           const struct weft__blocked *blocked, const struct weft_pool *pool)
{
    const struct weft__sync *object = blocked->object;
    if (look->awaits)
        return; /* the object is an actor */
    look->kind = blocked->kind;
    if (object->name)
        snprintf(look->name, sizeof look->name, "'%.30s'", object->name);
    else
        snprintf(look->name, sizeof look->name, "%p", (const void *)object);
    const struct weft__owned *owned = weft__blocked_by(blocked);
    if (!owned) {
        look->anybody = is_used_in(pool, blocked);
        return;
    }
    uintptr_t name = weft__owned_holder(owned);
    if (!weft__mutex_is_of_fiber(name))
        return;
    name &= ~(uintptr_t)MUTEX_OUTSIDE;
    const struct look *holder = find(looks, &(struct look){.fiber = (void *)name}, by_fiber);
    look->awaits = holder ? holder->actor : NULL;
}

static void look_at_objects(struct looks *looks, const struct weft_pool *pool)
{
    for (size_t i = 0; i < looks->count; i++) {
        struct look *look = &looks->all[i];
        weft__lock_take(&look->actor->awaits.lock);
        const struct weft__blocked *blocked = look->actor->awaits.blocked;
        if (blocked && !has_changed(look))
            look_at_object(looks, look, blocked, pool);
        weft__lock_drop(&look->actor->awaits.lock);
    }
}

static void sort(struct looks *looks, int (*order)(const void *, const void *))
{
    if (looks->count > 0)
        qsort(looks->all, looks->count, sizeof looks->all[0], order);
}

static void look_at_all(struct looks *looks, struct weft__actors *system)
{
    looks->actors = system->actor_count;
    looks->all = weft__small((looks->actors + 1) * sizeof looks->all[0]);
    for (struct weft_actor *actor = system->actors; actor && looks->all; actor = actor->next)
        look_at(looks, actor);
    sort(looks, by_fiber);
    look_at_objects(looks, system->pool);
    sort(looks, by_address); /* before `next` is set: that is a place in this order */
    for (size_t i = 0; i < looks->count; i++) {
        const struct look *next =
            find(looks, &(struct look){.actor = looks->all[i].awaits}, by_address);
        if (next)
            looks->all[i].next = (size_t)(next - looks->all);
    }
}

/* Has it waited for the same thing since the first look? */
static bool still_waits(const struct look *look)
{
    weft__lock_take(&look->actor->awaits.lock);
    bool waits = !has_changed(look);
    weft__lock_drop(&look->actor->awaits.lock);
    return waits;
}

/* ---- Telling ---- */

struct report {
    FILE *text, *graph;
};

static void put_wait_for_object(const struct report *report, const struct look *look)
{
    const char *kind = weft__object_words(look->kind);
    fprintf(report->text, " %s", look->name);
    fprintf(report->graph, "  \"actor %s\" -> \"%s %s\" [label=\"waits for\"];\n",
            look->actor->name, kind, look->name);
    if (!look->awaits) {
        fputs("; nobody is left who could end that", report->text);
        return;
    }
    fprintf(report->text, ", held by actor '%s'", look->awaits->name);
    fprintf(report->graph, "  \"%s %s\" -> \"actor %s\" [label=\"held by\"];\n", kind, look->name,
            look->awaits->name);
}

static void put(const struct report *report, struct look *look)
{
    look->shown = true;
    fprintf(report->text, "  actor '%s' %s", look->actor->name, look->words);
    if (look->kind != BLOCKED_OUTSIDE) {
        put_wait_for_object(report, look);
    } else {
        fprintf(report->text, ", '%s'", look->awaits->name);
        fprintf(report->graph, "  \"actor %s\" -> \"actor %s\" [label=\"waits for\"];\n",
                look->actor->name, look->awaits->name);
    }
    fputc('\n', report->text);
}

static bool all_still_wait(const struct looks *looks, size_t first)
{
    size_t i = first;
    do {
        if (!still_waits(&looks->all[i]))
            return false;
        i = looks->all[i].next;
    } while (i != first);
    return true;
}

static void put_circle(struct looks *looks, size_t first, const struct report *report)
{
    size_t i = first;
    do {
        put(report, &looks->all[i]);
        i = looks->all[i].next;
    } while (i != first);
}

/* Each actor waits for one other at most. A walk along `next` comes to an actor that does not wait,
 * to one that was visited in an earlier round, or to one of this round: that is a circle. */
static bool put_circles(struct looks *looks, const struct report *report)
{
    bool found = false;
    for (size_t start = 0; start < looks->count; start++) {
        size_t i = start;
        while (i != NOBODY && looks->all[i].round == 0) {
            looks->all[i].round = start + 1;
            i = looks->all[i].next;
        }
        if (i == NOBODY || looks->all[i].round != start + 1 || !all_still_wait(looks, i))
            continue;
        put_circle(looks, i, report);
        found = true;
    }
    return found;
}

/* Any job or actor of the pool that can go on may set an event, or use a channel. True: there is
 * none. The pool has no jobs but the actors and the thread that destroys it; and each actor waits
 * for an event, a channel, or another actor that waits. */
static bool nobody_can_go_on(const struct looks *looks, struct weft_pool *pool)
{
    /* relaxed: the pool is closed, so the count only falls; an old value means no report. */
    if ((atomic_load_relaxed(&pool->pending) & ~POOL_CLOSED) != looks->actors + 1 ||
        looks->count < looks->actors)
        return false;
    bool any = false;
    for (size_t i = 0; i < looks->count; i++) {
        any |= looks->all[i].anybody;
        if (!looks->all[i].anybody && looks->all[i].next == NOBODY)
            return false;
    }
    for (size_t i = 0; i < looks->count && any; i++)
        any = still_waits(&looks->all[i]);
    return any;
}

static bool put_others(struct looks *looks, struct weft_pool *pool, const struct report *report)
{
    if (!nobody_can_go_on(looks, pool))
        return false;
    for (size_t i = 0; i < looks->count; i++)
        if (!looks->all[i].shown)
            put(report, &looks->all[i]);
    return true;
}

static bool write_report(struct weft__actors *system, const struct report *report)
{
    struct looks looks = {0};
    fprintf(
        report->text,
        "weft: deadlock in pool \"%s\": these actors wait for each other, or for what nobody is "
        "left to do; they end with it\n",
        system->pool->config.name);
    fprintf(report->graph, "digraph deadlock {\n  node [shape=box];\n");
    weft__lock_take(&system->lock);
    look_at_all(&looks, system);
    bool found = put_circles(&looks, report);
    found |= put_others(&looks, system->pool, report);
    weft__lock_drop(&system->lock);
    fprintf(report->graph, "}\n");
    weft__free(looks.all);
    return found;
}

void weft__deadlock_report(struct weft__actors *system)
{
    const weft_config *config = &system->pool->config;
    char *text = NULL, *graph = NULL;
    size_t text_size, graph_size;
    struct report report = {open_memstream(&text, &text_size), open_memstream(&graph, &graph_size)};
    bool found = report.text && report.graph && write_report(system, &report);
    if (report.text)
        found &= fclose(report.text) == 0;
    if (report.graph)
        found &= fclose(report.graph) == 0;
    if (found && config->deadlock)
        config->deadlock(system->pool, text, graph, config->data);
    else if (found)
        weft__report_write(text, graph);
    free(text);
    free(graph);
}
