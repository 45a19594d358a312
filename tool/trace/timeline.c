/* SPDX-License-Identifier: MIT */
#include "timeline.h"

#include <stdlib.h>
#include <string.h>

/* ---- Time passes ---- */

static void fill_bins(struct timeline *t, uint64_t begin, uint64_t end, enum activity activity)
{
    double scale = t->whole > 0 ? TIMELINE_BINS / (double)t->whole : 0;
    double from = (double)begin * scale, to = (double)end * scale;
    for (unsigned i = (unsigned)from; i < TIMELINE_BINS && i < to; i++) {
        double left = i > from ? i : from, right = i + 1 < to ? i + 1 : to;
        t->bins[i][activity] += (float)(right - left);
    }
}

/* What the thread did until now is counted. */
static void settle(struct timeline *t, struct lane_thread *thread, uint64_t now)
{
    const struct stack *stack = &thread->stack;
    fill_bins(t, thread->since, now, stack_activity(stack));
    if (stack->depth > 0)
        t->flame.nodes[thread->opens[stack->depth - 1].node].self += now - thread->since;
    thread->since = now;
}

/* ---- Intervals ---- */

/* The frame around this one that is shown, or NULL. A sleep divides the search that it is in, and
 * is not inside it. */
static struct open *around(struct lane_thread *thread, unsigned depth)
{
    while (depth-- > 0) {
        bool divided = thread->stack.frames[depth].kind == WEFT_TRACE_SEARCH &&
                       thread->stack.frames[depth + 1].kind == WEFT_TRACE_SLEEP;
        if (!divided && !thread->opens[depth].is_part)
            return &thread->opens[depth];
    }
    return NULL;
}

/* The frame at this depth is over, or a part of it. */
static void emit(struct timeline *t, unsigned number, unsigned depth, uint64_t now)
{
    struct lane_thread *thread = &t->threads[number];
    struct open *open = &thread->opens[depth], *outer = around(thread, depth);
    uint64_t ns = now - open->begin;
    if (open->is_part)
        return;
    if (outer)
        outer->inside += ns;
    if (t->measures) {
        if (number < t->rows)
            thin_measure(&t->thin, ns);
        return;
    }
    struct interval one = {
        .begin = open->begin,
        .ns = ns,
        .self = ns > open->inside ? ns - open->inside : 0,
        .thread = number,
        .lane = open->lane,
        .label = open->label,
        .from = open->from,
        .intervals = 1,
    };
    labels_add(&t->labels, one.label, one.ns, one.self, one.from >= 0);
    if (number < t->rows)
        thin_add(&t->thin, &one, &open->run, outer ? &outer->run : &thread->run,
                 outer ? outer->begin : 0);
}

static void divide_search(struct timeline *t, unsigned number, uint64_t now, bool asleep)
{
    struct lane_thread *thread = &t->threads[number];
    unsigned depth = thread->stack.depth;
    if (depth == 0 || thread->stack.frames[depth - 1].kind != WEFT_TRACE_SEARCH)
        return;
    struct open *search = &thread->opens[depth - 1];
    if (asleep && now > search->begin)
        emit(t, number, depth - 1, now);
    search->begin = now;
    search->inside = 0;
}

static void pop(struct timeline *t, unsigned number, unsigned depth, uint64_t now)
{
    struct lane_thread *thread = &t->threads[number];
    while (thread->stack.depth > depth) {
        unsigned top = thread->stack.depth - 1;
        bool slept = thread->stack.frames[top].kind == WEFT_TRACE_SLEEP;
        emit(t, number, top, now);
        thread->stack.depth = top;
        if (slept)
            divide_search(t, number, now, false);
    }
}

/* ---- Frames ---- */

static bool has_room(struct lane_thread *thread)
{
    if (thread->stack.depth < thread->room)
        return true;
    unsigned room = thread->room ? 2 * thread->room : 8;
    struct open *more = realloc(thread->opens, room * sizeof *more);
    if (!more)
        return false;
    thread->opens = more;
    thread->room = room;
    return true;
}

/* Idle time, and time in weft_run() that no job has, is in no stack. */
static bool is_in_stacks(enum weft_trace_kind kind)
{
    return kind != WEFT_TRACE_SEARCH && kind != WEFT_TRACE_SLEEP && kind != WEFT_TRACE_GUEST;
}

static void begins(struct timeline *t, const struct trace_event *event)
{
    struct lane_thread *thread = &t->threads[event->thread];
    const struct frame *top = stack_top(&thread->stack);
    if (event->kind == WEFT_TRACE_TURN && top && top->kind == WEFT_TRACE_TURN)
        pop(t, event->thread, thread->stack.depth - 1, event->ns);
    if (event->kind == WEFT_TRACE_SLEEP)
        divide_search(t, event->thread, event->ns, true);
    bool idle = event->kind == WEFT_TRACE_SEARCH || event->kind == WEFT_TRACE_SLEEP;
    if (!has_room(thread)) {
        thread->stack.deeper++;
        return;
    }
    const struct frame *frame = stack_push(&thread->stack, event);
    if (!frame)
        return;
    unsigned depth = thread->stack.depth - 1;
    struct open *open = &thread->opens[depth];
    const struct open *outer = around(thread, depth);
    unsigned node = depth > 0 ? thread->opens[depth - 1].node : FLAME_ROOT;
    *open = (struct open){
        .begin = event->ns,
        .lane = outer ? outer->lane + 1 : 0,
        .from = event->kind == WEFT_TRACE_JOB ? thread->stolen_from : -1,
        .is_part = idle && frame->activity == WAITING,
        .node = node,
    };
    if (event->kind == WEFT_TRACE_JOB)
        thread->stolen_from = -1;
    if (t->measures || open->is_part)
        return;
    open->label = labels_number(&t->labels, event);
    if (is_in_stacks(event->kind))
        open->node = flame_enter(&t->flame, node, open->label);
}

/* ---- Arrows ---- */

static void keep_arrow(struct timeline *t, const struct arrow *arrow)
{
    if (arrow->from >= t->rows || arrow->to >= t->rows)
        return;
    if (t->measures) {
        t->arrow_counts[arrow->kind]++;
        return;
    }
    uint64_t *last = &t->threads[arrow->to].arrow_part[arrow->kind];
    uint64_t part = t->arrow_part > 0 ? arrow->end / t->arrow_part + 1 : 0;
    if ((part > 0 && part == *last) || t->kept_count == t->kept_room)
        return;
    *last = part;
    t->kept[t->kept_count++] = *arrow;
}

static bool decide_arrows(struct timeline *t)
{
    uint64_t count = 0, parts = TIMELINE_ARROWS / ARROW_KINDS / (t->rows > 0 ? t->rows : 1);
    for (unsigned i = 0; i < ARROW_KINDS; i++)
        count += t->arrow_counts[i];
    if (count > TIMELINE_ARROWS)
        t->arrow_part = t->whole / parts + 1;
    t->kept_room = count < TIMELINE_ARROWS ? (size_t)count : TIMELINE_ARROWS;
    t->kept = calloc(t->kept_room + 1, sizeof *t->kept);
    return t->kept;
}

/* ---- Marks ---- */

static struct mark_series *series(struct timeline *t, const struct trace_event *event)
{
    uint64_t key = table_key(event->text, event->size);
    for (unsigned i = 0; i < t->mark_count; i++)
        if (t->marks[i]->key == key)
            return t->marks[i];
    struct mark_series *one = t->mark_count < TIMELINE_MARKS ? calloc(1, sizeof *one) : NULL;
    if (!one)
        return NULL;
    t->marks[t->mark_count++] = one;
    one->key = key;
    one->text = event->text;
    one->size = event->size;
    return one;
}

static void mark(struct timeline *t, const struct trace_event *event)
{
    struct mark_series *one = series(t, event);
    if (!one) {
        t->marks_missing++;
        return;
    }
    double share = t->whole > 0 ? (double)event->ns / (double)t->whole : 0;
    unsigned at = (unsigned)(share * TIMELINE_POINTS);
    at = at < TIMELINE_POINTS ? at : TIMELINE_POINTS - 1;
    int64_t value = (int64_t)event->a;
    bool first = one->points[at].count++ == 0;
    one->count++;
    if (first || value < one->points[at].least)
        one->points[at].least = value;
    if (first || value > one->points[at].high)
        one->points[at].high = value;
    one->points[at].last = value;
}

/* ---- Events ---- */

static void note(struct timeline *t, const struct trace_event *event)
{
    struct arrow arrow;
    if (arrows_note(&t->arrows, event, &arrow))
        keep_arrow(t, &arrow);
    if (event->kind == WEFT_TRACE_STEAL)
        t->threads[event->thread].stolen_from = trace_find_thread(t->trace, event->a);
    if (t->measures)
        return;
    if (event->kind == WEFT_TRACE_MARK)
        mark(t, event);
    if (event->kind == WEFT_TRACE_ACTOR)
        labels_name_actor(&t->labels, event);
}

static void ends(struct timeline *t, const struct trace_event *event)
{
    struct stack *stack = &t->threads[event->thread].stack;
    unsigned depth = stack_after(stack, event->kind);
    struct arrow arrow;
    if (depth < stack->depth && arrows_end(&t->arrows, event, &stack->frames[depth], &arrow))
        keep_arrow(t, &arrow);
    pop(t, event->thread, depth, event->ns);
}

static void take(struct timeline *t, const struct trace_event *event)
{
    if (!t->measures)
        settle(t, &t->threads[event->thread], event->ns);
    if (stack_ends(event->kind) != WEFT_TRACE_NOTHING)
        ends(t, event);
    else if (stack_begins(event->kind))
        begins(t, event);
    else
        note(t, event);
}

static void begin_again(struct timeline *t, bool measures)
{
    t->measures = measures;
    for (unsigned i = 0; i < trace_about(t->trace)->threads; i++) {
        t->threads[i].stack.depth = 0;
        t->threads[i].stack.deeper = 0;
        t->threads[i].stolen_from = -1;
    }
    memset(t->arrows.ended, 0, sizeof t->arrows.ended);
    memset(t->arrows.submitted, 0, sizeof t->arrows.submitted);
    trace_rewind(t->trace);
}

/* What is open at the end of the trace ends there. */
static void read_all(struct timeline *t, bool measures)
{
    struct trace_event event;
    begin_again(t, measures);
    while (trace_next(t->trace, &event))
        take(t, &event);
    for (unsigned i = 0; i < trace_about(t->trace)->threads; i++) {
        if (!measures)
            settle(t, &t->threads[i], t->whole);
        pop(t, i, 0, t->whole);
        if (!measures)
            thin_flush(&t->thin, &t->threads[i].run);
    }
}

/* ---- All of it ---- */

static bool make_parts(struct timeline *t)
{
    unsigned threads = trace_about(t->trace)->threads;
    t->threads = calloc((size_t)threads + 1, sizeof *t->threads);
    bool labels = labels_make(&t->labels), flame = flame_make(&t->flame);
    return t->threads && labels && flame;
}

struct timeline *timeline_make(struct trace *trace)
{
    struct timeline *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    const struct trace_info *info = trace_about(trace);
    t->trace = trace;
    t->arrows.trace = trace;
    t->whole = info->ns;
    t->rows = info->threads < THIN_THREADS ? info->threads : THIN_THREADS;
    if (!make_parts(t)) {
        timeline_free(t);
        return NULL;
    }
    read_all(t, true);
    thin_decide(&t->thin, t->rows, t->whole);
    if (!decide_arrows(t)) {
        timeline_free(t);
        return NULL;
    }
    read_all(t, false);
    thin_sort(&t->thin);
    return t;
}

void timeline_free(struct timeline *t)
{
    for (unsigned i = 0; t->threads && i < trace_about(t->trace)->threads; i++) {
        free(t->threads[i].stack.frames);
        free(t->threads[i].opens);
    }
    free(t->threads);
    free(t->kept);
    for (unsigned i = 0; i < t->mark_count; i++)
        free(t->marks[i]);
    labels_free(&t->labels);
    flame_free(&t->flame);
    free(t->thin.list);
    free(t);
}
