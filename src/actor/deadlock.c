/* SPDX-License-Identifier: MIT */
#include "actor/deadlock.h"

#include "os/memory.h"

#include <stdio.h>
#include <stdlib.h>

/* One that waits for another one, as seen by the first look. */
struct look {
    struct weft_actor *actor, *awaits;
    const char *words;
    uint64_t waits;
    size_t next; /* where `awaits` is among the looks; NOBODY: it does not wait for anybody */
    size_t turn; /* in which it was visited; 0: not yet */
};

#define NOBODY SIZE_MAX

struct looks {
    struct look *all;
    size_t count;
};

static int by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct look *)a)->actor;
    uintptr_t y = (uintptr_t)((const struct look *)b)->actor;
    return (x > y) - (x < y);
}

/* Under the system's lock, so that none of them goes away. relaxed, all: hints, see above. */
static void look_at_all(struct looks *looks, struct weft__actors *system)
{
    looks->all = weft__small((system->actor_count + 1) * sizeof looks->all[0]);
    for (struct weft_actor *actor = system->actors; actor && looks->all; actor = actor->next) {
        struct weft__actor_counts *counts = &actor->counts;
        struct weft_actor *awaits = atomic_load_relaxed(&counts->awaits);
        if (awaits)
            looks->all[looks->count++] = (struct look){
                .actor = actor,
                .awaits = awaits,
                .words = atomic_load_relaxed(&counts->waits_for),
                .waits = atomic_load_relaxed(&counts->waits),
            };
    }
    if (looks->count > 0)
        qsort(looks->all, looks->count, sizeof looks->all[0], by_address);
    for (size_t i = 0; i < looks->count; i++) {
        const struct look *next = bsearch(&(struct look){.actor = looks->all[i].awaits}, looks->all,
                                          looks->count, sizeof looks->all[0], by_address);
        looks->all[i].next = next ? (size_t)(next - looks->all) : NOBODY;
    }
}

/* Each has waited for the same all the time since the first look, so all of them at once. */
static bool is_true(const struct looks *looks, size_t first)
{
    size_t i = first;
    do {
        const struct look *look = &looks->all[i];
        const struct weft__actor_counts *counts = &look->actor->counts;
        if (atomic_load_relaxed(&counts->waits) != look->waits ||
            atomic_load_relaxed(&counts->awaits) != look->awaits)
            return false;
        i = look->next;
    } while (i != first);
    return true;
}

static void put_circle(const struct looks *looks, size_t first, FILE *report, FILE *graph)
{
    size_t i = first;
    do {
        const struct look *look = &looks->all[i];
        fprintf(report, "  actor '%s' %s, '%s'\n", look->actor->name, look->words,
                look->awaits->name);
        fprintf(graph, "  \"actor %s\" -> \"actor %s\" [label=\"waits for\"];\n", look->actor->name,
                look->awaits->name);
        i = look->next;
    } while (i != first);
}

/* Everybody waits for one at most: who goes from one to the next comes to the end, to where it was
 * in an earlier turn, or round a circle. */
static bool put_circles(struct looks *looks, FILE *report, FILE *graph)
{
    bool found = false;
    for (size_t start = 0; start < looks->count; start++) {
        size_t i = start;
        while (i != NOBODY && looks->all[i].turn == 0) {
            looks->all[i].turn = start + 1;
            i = looks->all[i].next;
        }
        if (i == NOBODY || looks->all[i].turn != start + 1 || !is_true(looks, i))
            continue;
        put_circle(looks, i, report, graph);
        found = true;
    }
    return found;
}

static bool write_circles(struct weft__actors *system, FILE *report, FILE *graph)
{
    struct looks looks = {0};
    fprintf(report,
            "weft: deadlock in pool \"%s\": these actors wait for each other; they end with it\n",
            system->pool->config.name);
    fprintf(graph, "digraph deadlock {\n  node [shape=box];\n");
    weft__lock_take(&system->lock);
    look_at_all(&looks, system);
    bool found = put_circles(&looks, report, graph);
    weft__lock_drop(&system->lock);
    fprintf(graph, "}\n");
    weft__free(looks.all);
    return found;
}

void weft__deadlock_report(struct weft__actors *system)
{
    const weft_config *config = &system->pool->config;
    char *text = NULL, *dot = NULL;
    size_t text_size, dot_size;
    FILE *report = open_memstream(&text, &text_size), *graph = open_memstream(&dot, &dot_size);
    bool found = report && graph && write_circles(system, report, graph);
    if (report)
        found &= fclose(report) == 0;
    if (graph)
        found &= fclose(graph) == 0;
    if (found && config->deadlock)
        config->deadlock(system->pool, text, dot, config->data);
    else if (found)
        fputs(text, stderr);
    free(text);
    free(dot);
}
