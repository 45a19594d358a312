/* SPDX-License-Identifier: MIT */
#include "consistency.h"

#include <string.h>

static bool calls_are_steps; /* of the rules */

static bool before(const struct event *a, const struct event *b) /* happens before */
{
    return a != b && b->clock[a->thread] >= a->number;
}

static bool accesses(const struct event *e)
{
    return e->kind == EVENT_LOAD || e->kind == EVENT_STORE || e->kind == EVENT_RMW;
}

/* Extended coherence order, of two accesses to the same location: what an event wrote, or else
 * read, says where it stands. */
static bool coherent_before(const struct event *a, const struct event *b)
{
    if (a == b || !accesses(a) || !accesses(b) || a->location != b->location)
        return false;
    int32_t x = a->wrote >= 0 ? a->wrote : a->read, y = b->wrote >= 0 ? b->wrote : b->read;
    if (a->wrote >= 0 && b->wrote < 0)
        return x <= y; /* a store, and one who reads it or something later */
    return x < y;
}

/* Is it one of RC11's events? */
static bool is_step(const struct event *e)
{
    return calls_are_steps || accesses(e) || e->kind == EVENT_FENCE;
}

static bool in_order(const struct event *a, const struct event *b) /* program order */
{
    return a->thread == b->thread && a->number < b->number;
}

/* Of each event: the next one in its thread that is elsewhere, and the last one before it. */
static const struct event *next_elsewhere[EVENTS_MAX], *last_elsewhere[EVENTS_MAX];

static bool elsewhere(const struct event *a, const struct event *b)
{
    return is_step(a) && (a->location < 0 || a->location != b->location);
}

static void find_elsewhere(void)
{
    for (unsigned i = 0; i < machine.events; i++) {
        const struct event *e = &machine.event[i];
        next_elsewhere[i] = last_elsewhere[i] = NULL;
        for (unsigned k = i; k-- > 0 && !last_elsewhere[i];)
            if (in_order(&machine.event[k], e) && elsewhere(&machine.event[k], e))
                last_elsewhere[i] = &machine.event[k];
        for (unsigned k = i + 1; k < machine.events && !next_elsewhere[i]; k++)
            if (in_order(e, &machine.event[k]) && elsewhere(&machine.event[k], e))
                next_elsewhere[i] = &machine.event[k];
    }
}

/* Happens before by a way that leaves a's location first and comes from another one to b. */
static bool before_elsewhere(const struct event *a, const struct event *b)
{
    const struct event *p = next_elsewhere[a - machine.event],
                       *q = last_elsewhere[b - machine.event];
    return p && q && before(p, q);
}

/* scb. Modification order and from-read end in a store. */
static bool sc_before(const struct event *a, const struct event *b)
{
    if (in_order(a, b))
        return true;
    bool same = accesses(a) && accesses(b) && a->location == b->location;
    if (same && (before(a, b) || (b->wrote >= 0 && coherent_before(a, b))))
        return true;
    return before_elsewhere(a, b);
}

static bool is_sc(const struct event *e)
{
    return e->order == SEQ_CST && (accesses(e) || e->kind == EVENT_FENCE);
}

enum { SC_MAX = 256 };

static bool edges[SC_MAX][SC_MAX];
static const struct event *sc[SC_MAX];

/* psc between x and y, each an access itself, or on the way from or to a fence. */
static void add_edges(unsigned n, const struct event *x, const struct event *y, bool fences_only)
{
    for (unsigned i = 0; i < n; i++) {
        bool fence = sc[i]->kind == EVENT_FENCE;
        if (fence ? !before(sc[i], x) : fences_only || sc[i] != x)
            continue;
        for (unsigned j = 0; j < n; j++) {
            bool other_fence = sc[j]->kind == EVENT_FENCE;
            if (other_fence ? before(y, sc[j]) : !fences_only && sc[j] == y)
                edges[i][j] = true;
        }
    }
}

static bool cyclic(unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        for (unsigned i = 0; i < n; i++)
            for (unsigned j = 0; edges[i][k] && j < n; j++)
                edges[i][j] |= edges[k][j];
    for (unsigned i = 0; i < n; i++)
        if (edges[i][i])
            return true;
    return false;
}

bool consistency_holds(struct rules rules)
{
    unsigned n = 0;
    bool all_fences = true;
    calls_are_steps = rules.calls_are_steps;
    for (unsigned i = 0; i < machine.events; i++) {
        if (!is_sc(&machine.event[i]))
            continue;
        if (n == SC_MAX)
            model_fail("more than %d sequentially consistent operations", SC_MAX);
        all_fences &= machine.event[i].kind == EVENT_FENCE;
        sc[n++] = &machine.event[i];
    }
    memset(edges, 0, sizeof edges);
    find_elsewhere();
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < n; j++) /* of two fences, happens-before is enough */
            edges[i][j] = i != j && (sc[i]->kind == EVENT_FENCE && sc[j]->kind == EVENT_FENCE
                                         ? before(sc[i], sc[j])
                                         : sc_before(sc[i], sc[j]));
    for (unsigned i = 0; i < machine.events; i++)
        for (unsigned j = 0; j < machine.events; j++) {
            const struct event *x = &machine.event[i], *y = &machine.event[j];
            if (x->thread != y->thread && coherent_before(x, y))
                add_edges(n, x, y, true);
            if (!all_fences && x != y && (is_sc(x) || is_sc(y)) && is_step(x) && is_step(y) &&
                sc_before(x, y))
                add_edges(n, x, y, false);
        }
    return !cyclic(n);
}
