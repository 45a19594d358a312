/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "columns.h"

#include <stdlib.h>
#include <string.h>

/* A thread, while the trace is read. */
struct strip {
    struct stack stack;
    uint64_t since;
    int row; /* or -1 */
    int victim;
    uint64_t stolen; /* when; the next job is that one */
};

struct maker {
    struct columns *t;
    struct trace *trace;
    struct strip *strips;
};

/* ---- Which rows ---- */

struct place {
    unsigned thread;
    unsigned kind; /* 0: guest; 1: worker; 2: outside */
    const char *name;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    int order = strverscmp(x->name, y->name); /* weft-2 before weft-10 */
    return order ? order : x->thread < y->thread ? -1 : 1;
}

static bool choose_rows(struct maker *m)
{
    const struct summary *s = m->t->summary;
    struct place *places = calloc((size_t)s->threads + 1, sizeof *places);
    if (!places)
        return false;
    for (unsigned i = 0; i < s->threads; i++) {
        const struct strand *strand = &s->strands[i];
        unsigned kind = strand->is_worker ? 1 : strand->is_guest ? 0 : 2;
        places[i] = (struct place){i, kind, trace_thread(m->trace, i)->name};
        m->strips[i].row = m->strips[i].victim = -1;
    }
    qsort(places, s->threads, sizeof *places, compare_places);
    for (unsigned i = 0; i < m->t->count; i++) {
        m->t->rows[i].thread = places[i].thread;
        m->strips[places[i].thread].row = (int)i;
    }
    free(places);
    return true;
}

/* ---- Columns ---- */

static enum shade shade_of_job(const struct columns *t, const struct frame *job)
{
    if (!job || job->kind == WEFT_TRACE_TURN)
        return SHADE_ACTORS;
    for (unsigned i = 0; i < t->functions; i++)
        if (t->summary->functions.rows[i].key == job->a)
            return SHADE_FUNCTION + i;
    return SHADE_JOBS;
}

static enum shade shade_of(const struct columns *t, const struct stack *stack)
{
    static const enum shade shades[ACTIVITIES] = {
        [WAITING] = SHADE_WAITING,
        [SEARCHING] = SHADE_SEARCHING,
        [ASLEEP] = SHADE_ASLEEP,
        [BLOCKED] = SHADE_BLOCKED,
    };
    enum activity activity = stack_activity(stack);
    return activity == BUSY ? shade_of_job(t, stack_job(stack)) : shades[activity];
}

static const struct frame *outermost_span(const struct stack *stack)
{
    for (unsigned i = 0; i < stack->depth; i++)
        if (stack->frames[i].kind == WEFT_TRACE_SPAN)
            return &stack->frames[i];
    return NULL;
}

/* A copy, the same one for the same name: who draws columns does not go back to all of the file. */
static const char *name_of(struct columns *t, const struct frame *span)
{
    struct row *row = table_row(&t->names, table_key(span->text, span->size));
    if (row == &t->names.others)
        return NULL; /* too many names: this one is not shown */
    if (!row->text) {
        char *copy = malloc(span->size + 1);
        if (copy)
            memcpy(copy, span->text, span->size);
        row->text = copy;
        row->size = span->size;
    }
    return row->size == span->size ? row->text : NULL;
}

static void fill_column(struct column *column, enum shade shade, const char *span, uint32_t size,
                        double share)
{
    column->shares[shade] += (float)share;
    if (!span)
        return;
    bool same = column->size == size && column->span && memcmp(column->span, span, size) == 0;
    if (same || share > column->share) {
        column->share = (float)share + (same ? column->share : 0);
        column->span = span;
        column->size = size;
    }
}

/* Up to now the thread has gone on with what it did. */
static void fill(struct maker *m, struct strip *strip, uint64_t now)
{
    struct columns *t = m->t;
    if (now <= strip->since)
        return;
    struct column_row *row = strip->row >= 0 ? &t->rows[strip->row] : NULL;
    enum shade shade = shade_of(t, &strip->stack);
    const struct frame *span = outermost_span(&strip->stack);
    const char *name = span && row ? name_of(t, span) : NULL;
    bool busy = stack_activity(&strip->stack) == BUSY;
    double scale = t->ns > 0 ? COLUMNS_MOST / (double)t->ns : 0;
    double begin = (double)strip->since * scale, end = (double)now * scale;
    strip->since = now;
    t->spans |= span != NULL;
    t->all[shade] += end - begin;
    if (row)
        row->all[shade] += end - begin;
    for (unsigned i = (unsigned)begin; i < COLUMNS_MOST && i < end; i++) {
        double from = i > begin ? i : begin, to = i + 1 < end ? i + 1 : end;
        if (busy)
            t->busy[i] += to - from;
        if (row)
            fill_column(&row->columns[i], shade, name, name ? span->size : 0, to - from);
    }
}

/* ---- Steals ---- */

/* A stolen job is over. Those that took longest are kept, in no order. */
static void keep_steal(struct columns *t, const struct column_steal *steal)
{
    t->stolen++;
    struct column_steal *place = &t->steals[t->steal_count];
    if (t->steal_count == COLUMNS_STEALS) {
        place = &t->steals[0];
        for (unsigned i = 1; i < COLUMNS_STEALS; i++)
            if (t->steals[i].took < place->took)
                place = &t->steals[i];
        if (place->took >= steal->took)
            return;
    } else {
        t->steal_count++;
    }
    *place = *steal;
}

static void job_ends(struct maker *m, const struct strip *strip, const struct frame *frame,
                     uint64_t now)
{
    if (!frame->stolen || strip->row < 0)
        return;
    struct column_steal steal = {frame->area, now - frame->begin, (unsigned)frame->self,
                                 (unsigned)strip->row};
    keep_steal(m->t, &steal);
}

/* The frame remembers by whom: `self` is the victim's row, `area` the time of the steal. */
static void job_begins(const struct maker *m, struct strip *strip, struct frame *frame)
{
    int victim = strip->victim >= 0 ? m->strips[strip->victim].row : -1;
    frame->stolen = victim >= 0 && victim != strip->row;
    frame->self = frame->stolen ? (unsigned)victim : 0;
    frame->area = strip->stolen;
    strip->victim = -1;
}

/* ---- Events ---- */

static void pop(struct maker *m, struct strip *strip, unsigned depth, uint64_t now)
{
    while (strip->stack.depth > depth) {
        strip->stack.depth--;
        const struct frame *frame = &strip->stack.frames[strip->stack.depth];
        if (frame->kind == WEFT_TRACE_JOB)
            job_ends(m, strip, frame, now);
    }
}

static void take(struct maker *m, const struct trace_event *event)
{
    struct strip *strip = &m->strips[event->thread];
    const struct frame *top = stack_top(&strip->stack);
    if (event->kind == WEFT_TRACE_STEAL) {
        strip->victim = trace_find_thread(m->trace, event->a);
        strip->stolen = event->ns;
        return;
    }
    bool ends = stack_ends(event->kind) != WEFT_TRACE_NOTHING;
    if (!ends && !stack_begins(event->kind))
        return;
    fill(m, strip, event->ns);
    if (ends) {
        pop(m, strip, stack_after(&strip->stack, event->kind), event->ns);
        return;
    }
    if (event->kind == WEFT_TRACE_TURN && top && top->kind == WEFT_TRACE_TURN)
        strip->stack.depth--;
    struct frame *frame = stack_push(&strip->stack, event);
    if (frame && event->kind == WEFT_TRACE_JOB)
        job_begins(m, strip, frame);
}

static void read_all(struct maker *m)
{
    struct trace_event event;
    trace_rewind(m->trace);
    while (trace_next(m->trace, &event))
        take(m, &event);
    for (unsigned i = 0; i < m->t->summary->threads; i++) {
        fill(m, &m->strips[i], m->t->ns);
        pop(m, &m->strips[i], 0, m->t->ns);
    }
}

/* False: no memory. */
static bool make(struct maker *m)
{
    struct columns *t = m->t;
    t->summary = summary_make(m->trace);
    if (!t->summary)
        return false;
    size_t functions = table_sort(&t->summary->functions), threads = t->summary->threads;
    t->functions = functions < COLUMNS_FUNCTIONS ? (unsigned)functions : COLUMNS_FUNCTIONS;
    t->ns = trace_about(m->trace)->ns;
    t->count = threads < COLUMNS_ROWS ? (unsigned)threads : COLUMNS_ROWS;
    t->rows = calloc((size_t)t->count + 1, sizeof *t->rows);
    m->strips = calloc(threads + 1, sizeof *m->strips);
    if (!t->rows || !m->strips || !choose_rows(m))
        return false;
    read_all(m);
    for (size_t i = 0; i < threads; i++)
        free(m->strips[i].stack.frames);
    return true;
}

struct columns *columns_make(struct trace *trace)
{
    struct columns *t = calloc(1, sizeof *t);
    struct maker maker = {.t = t, .trace = trace};
    bool made = t && make(&maker);
    free(maker.strips);
    if (made)
        return t;
    if (t)
        columns_free(t);
    return NULL;
}

void columns_free(struct columns *t)
{
    if (t->summary)
        summary_free(t->summary);
    for (size_t i = 0; i < t->names.room; i++)
        free((char *)(uintptr_t)t->names.rows[i].text);
    free(t->names.rows);
    free(t->rows);
    free(t);
}
