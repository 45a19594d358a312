/* SPDX-License-Identifier: MIT */
#include "summary.h"

#include <stdlib.h>
#include <string.h>

/* ---- Time passes ---- */

static void advance(struct summary *s, uint64_t now)
{
    uint64_t passed = now - s->now;
    s->area += passed * s->busy;
    if (s->in_job > 0) {
        s->active += passed;
        s->levels[s->busy < SUMMARY_LEVELS ? s->busy : SUMMARY_LEVELS - 1] += passed;
        if (s->in_job == 1 && s->busy == 1)
            s->alone += passed;
    }
    s->now = now;
}

static void fill_bins(struct summary *s, uint64_t begin, uint64_t end)
{
    double width = (double)trace_about(s->trace)->ns / SUMMARY_BINS;
    if (width <= 0)
        return;
    for (unsigned i = (unsigned)((double)begin / width); i < SUMMARY_BINS; i++) {
        double from = i * width, to = (i + 1) * width;
        if (from >= (double)end)
            break;
        from = from < (double)begin ? (double)begin : from;
        to = to > (double)end ? (double)end : to;
        s->bins[i] += to > from ? to - from : 0;
    }
}

static struct frame *innermost_wait(const struct stack *stack)
{
    for (unsigned i = stack->depth; i-- > 0 && stack->frames[i].activity == WAITING;)
        if (stack->frames[i].kind == WEFT_TRACE_WAIT)
            return &stack->frames[i];
    return NULL;
}

/* What the thread did until now is counted. */
static void settle(struct summary *s, struct strand *strand)
{
    enum activity activity = stack_activity(&strand->stack);
    uint64_t passed = s->now - strand->since;
    strand->time[activity] += s->active - strand->since_active;
    strand->since_active = s->active;
    if (activity == BUSY && passed > 0) {
        struct frame *job = stack_job(&strand->stack);
        fill_bins(s, strand->since, s->now);
        job->self += passed;
        path_add(&strand->path, job->kind == WEFT_TRACE_JOB ? job->a : 0, passed);
    }
    struct frame *wait = activity == WAITING ? innermost_wait(&strand->stack) : NULL;
    if (wait)
        wait->self += passed;
    strand->since = s->now;
}

/* ---- Waits ---- */

static void keep_longest(struct longest *list, unsigned count, const struct longest *one)
{
    unsigned i = count;
    while (i > 0 && list[i - 1].ns < one->ns)
        i--;
    if (i == count)
        return;
    memmove(&list[i + 1], &list[i], (count - 1 - i) * sizeof *list);
    list[i] = *one;
}

static struct longest longest_of(const struct summary *s, unsigned thread,
                                 const struct frame *frame)
{
    const struct stack *stack = &s->strands[thread].stack;
    const struct frame *job = frame->in_job ? &stack->frames[frame->job] : NULL;
    uint64_t ns = s->now - frame->begin;
    return (struct longest){
        .ns = ns,
        .begin = frame->begin,
        .thread = thread,
        .function = job && job->kind == WEFT_TRACE_JOB ? job->a : 0,
        .text = frame->text,
        .size = frame->size,
        .busy = ns > 0 ? (double)(s->area - frame->area) / (double)ns : 0,
        .ender = -1,
    };
}

/* Some wholes may share a place: then the older one is forgotten. */
static struct ended *place_of(struct summary *s, uint64_t whole)
{
    return &s->ended[(whole * UINT64_C(0x9e3779b97f4a7c15) >> 32) % SUMMARY_ENDED];
}

/* What is known of jobs of this whole that have ended; or NULL. */
static const struct ended *ended_of(struct summary *s, uint64_t whole)
{
    const struct ended *ended = place_of(s, whole);
    return whole != 0 && ended->whole == whole ? ended : NULL;
}

/* The job that ended last, elsewhere and during the wait. */
static const struct ended *ended_last(const struct summary *s, unsigned thread,
                                      const struct frame *wait)
{
    const struct ended *last = s->last_ended;
    if (last->thread == thread)
        last++;
    return last->whole > 0 && last->ns >= wait->begin && last->thread != thread ? last : NULL;
}

static void wait_ends(struct summary *s, unsigned thread, const struct frame *wait)
{
    struct strand *strand = &s->strands[thread];
    struct longest one = longest_of(s, thread, wait);
    one.ns = wait->self;
    const struct ended *known = ended_of(s, wait->a);
    if (known)
        path_join(&strand->path, &known->path);
    const struct ended *ended =
        known && known->ns >= wait->begin ? known : ended_last(s, thread, wait);
    if (ended && !known)
        path_join(&strand->path, &ended->path);
    if (ended) {
        one.ender = (int)ended->thread;
        one.ended = ended->function;
        uint64_t over = ended->ns > strand->last_job ? ended->ns : strand->last_job;
        spread_add(&s->late, s->now - over);
    } else if (strand->woken) {
        if (!known)
            path_join(&strand->path, &strand->woken_path);
        one.ender = (int)strand->waker;
        one.outside = strand->woken_outside;
    }
    keep_longest(s->waits, SUMMARY_LONGEST, &one);
    if (!ended || ended->thread == thread || one.busy >= 1.5)
        return;
    uint64_t until = ended->ns - wait->begin; /* then the job was over */
    one.ns = one.ns < until ? one.ns : until;
    keep_longest(&s->lonely, 1, &one);
}

static void join(struct summary *s, const struct trace_event *event)
{
    const struct ended *known = ended_of(s, event->a);
    if (known)
        path_join(&s->strands[event->thread].path, &known->path);
}

/* Before it blocks, or instead. It is blocked by the same object, and no time more. */
static void spin_ends(struct summary *s, unsigned thread, const struct frame *spin)
{
    static const char words[] = "spins for a mutex";
    uint64_t ns = s->now - spin->begin;
    struct row *row = table_row(&s->objects, spin->a);
    path_add(&s->strands[thread].path, PATH_BLOCKED, ns);
    if (!row->text) {
        row->text = words;
        row->size = sizeof words - 1;
    }
    if (s->strands[thread].end_b)
        row_add(row, ns, thread);
    else
        row->total += ns;
}

static void block_ends(struct summary *s, unsigned thread, const struct frame *block)
{
    struct strand *strand = &s->strands[thread];
    struct longest one = longest_of(s, thread, block);
    bool by_job = strand->woken && !strand->woken_outside;
    one.outside = strand->woken && strand->woken_outside;
    one.ender = strand->woken ? (int)strand->waker : -1;
    if (by_job)
        path_join(&strand->path, &strand->woken_path);
    else
        path_add(&strand->path, PATH_BLOCKED, one.ns);
    keep_longest(s->blocks, SUMMARY_LONGEST, &one);
    struct row *row = table_row(&s->objects, block->a ? block->a : ~one.function);
    row->a = block->a ? 0 : one.function;
    row->text = block->text;
    row->size = block->size;
    row->outside += one.outside ? one.ns : 0;
    row_add(row, one.ns, thread);
}

/* ---- Jobs ---- */

static void note_end(struct summary *s, const struct ended *ended)
{
    if (s->last_ended[0].thread != ended->thread || s->last_ended[0].whole == 0)
        s->last_ended[1] = s->last_ended[0];
    s->last_ended[0] = *ended;
}

static void job_ends(struct summary *s, unsigned thread, const struct frame *job)
{
    struct strand *strand = &s->strands[thread];
    struct row *row = table_row(&s->functions, job->a);
    struct ended ended = {job->b, s->now, job->a, thread, strand->path};
    struct ended *place = place_of(s, job->b);
    row_add(row, job->self, thread);
    row->stolen += job->stolen;
    if (job->stolen)
        spread_add(&s->stolen, job->self);
    if (place->whole ==
        job->b) /* what came before may be another whole at this place: still before */
        path_join(&ended.path, &place->path);
    *place = ended;
    ended.whole = 1; /* only: it is one */
    ended.path = strand->path;
    note_end(s, &ended);
    path_join(&s->path, &strand->path);
    if (stack_activity(&strand->stack) == WAITING)
        strand->path = job->before;
    s->last_job = strand->last_job = s->now;
    strand->jobs++;
}

static void turn_ends(struct summary *s, unsigned thread, const struct frame *turn)
{
    struct strand *strand = &s->strands[thread];
    row_add(table_row(&s->actors, turn->a), turn->self, thread);
    path_join(&s->path, &strand->path);
    s->last_job = s->now;
}

static void span_ends(struct summary *s, unsigned thread, const struct frame *span)
{
    struct row *row = table_row(&s->spans, table_key(span->text, span->size));
    row->text = span->text;
    row->size = span->size;
    row_add(row, s->now - span->begin, thread);
}

static void frame_ends(struct summary *s, unsigned thread, const struct frame *frame)
{
    struct strand *strand = &s->strands[thread];
    switch (frame->kind) {
    case WEFT_TRACE_JOB:
        job_ends(s, thread, frame);
        break;
    case WEFT_TRACE_TURN:
        turn_ends(s, thread, frame);
        break;
    case WEFT_TRACE_SPAN:
        span_ends(s, thread, frame);
        break;
    case WEFT_TRACE_WAIT:
        wait_ends(s, thread, frame);
        break;
    case WEFT_TRACE_SPIN:
        spin_ends(s, thread, frame);
        break;
    case WEFT_TRACE_BLOCK:
        block_ends(s, thread, frame);
        break;
    case WEFT_TRACE_SLEEP:
        strand->slept += s->now - frame->begin;
        break;
    default:
        break;
    }
}

/* The activity of the thread may change with what `pop` and `push` do in between. */
static void leave_activity(struct summary *s, const struct strand *strand)
{
    s->busy -= stack_activity(&strand->stack) == BUSY;
    s->in_job -= stack_in_job(&strand->stack);
}

static void enter_activity(struct summary *s, const struct strand *strand)
{
    s->busy += stack_activity(&strand->stack) == BUSY;
    s->in_job += stack_in_job(&strand->stack);
    s->most_busy = s->busy > s->most_busy ? s->busy : s->most_busy;
}

static void pop(struct summary *s, unsigned thread, unsigned depth)
{
    struct strand *strand = &s->strands[thread];
    while (strand->stack.depth > depth) {
        strand->stack.depth--;
        frame_ends(s, thread, &strand->stack.frames[strand->stack.depth]);
    }
}

/* ---- Events ---- */

static void begins(struct summary *s, const struct trace_event *event)
{
    struct strand *strand = &s->strands[event->thread];
    const struct frame *top = stack_top(&strand->stack);
    if (event->kind == WEFT_TRACE_TURN && top && top->kind == WEFT_TRACE_TURN)
        pop(s, event->thread, strand->stack.depth - 1);
    strand->is_guest |= event->kind == WEFT_TRACE_GUEST;
    strand->is_worker |= event->kind == WEFT_TRACE_SEARCH && strand->stack.depth == 0;
    if (event->kind == WEFT_TRACE_SEARCH) {
        strand->search = event->ns;
        strand->slept = 0;
    }
    struct frame *frame = stack_push(&strand->stack, event);
    if (!frame)
        return;
    frame->area = s->area;
    frame->before = strand->path;
    if (event->kind == WEFT_TRACE_WAIT || event->kind == WEFT_TRACE_BLOCK)
        strand->woken = false;
    if (strand->has_origin && (event->kind == WEFT_TRACE_JOB || event->kind == WEFT_TRACE_TURN)) {
        strand->path = strand->origin;
        strand->has_origin = false;
    }
    if (event->kind != WEFT_TRACE_JOB)
        return;
    frame->stolen = strand->stole;
    strand->stole = false;
    if (s->first_job == 0)
        s->first_job = event->ns;
}

static void steal(struct summary *s, const struct trace_event *event)
{
    struct strand *thief = &s->strands[event->thread];
    int victim = trace_find_thread(s->trace, event->a);
    thief->stole = true;
    thief->steals++;
    uint64_t searched = event->ns - thief->search;
    if (thief->search > 0)
        spread_add(&s->finding, searched > thief->slept ? searched - thief->slept : 0);
    if (victim < 0 || (unsigned)victim == event->thread)
        return;
    settle(s, &s->strands[victim]);
    thief->origin = s->strands[victim].path;
    thief->has_origin = true;
}

static void wake(struct summary *s, const struct trace_event *event)
{
    struct strand *waker = &s->strands[event->thread];
    int woken = trace_find_thread(s->trace, event->a);
    waker->wakes++;
    if (woken < 0 || (unsigned)woken == event->thread)
        return;
    s->strands[woken].woken = true;
    s->strands[woken].woken_outside = !stack_in_job(&waker->stack) && !waker->is_worker;
    s->strands[woken].waker = event->thread;
    s->strands[woken].woken_path = waker->path;
}

static struct submitted *submitted(struct summary *s, uint64_t task)
{
    return &s->tasks[(task >> 4 ^ task >> 18) % SUMMARY_TASKS];
}

static void submit(struct summary *s, const struct trace_event *event)
{
    s->submitted++;
    *submitted(s, event->b) =
        (struct submitted){event->b, event->ns, s->strands[event->thread].path};
}

static void task(struct summary *s, const struct trace_event *event)
{
    struct submitted *found = submitted(s, event->b);
    if (found->task != event->b || event->b == 0)
        return;
    spread_add(&s->queued, event->ns - found->ns);
    s->strands[event->thread].origin = found->path;
    s->strands[event->thread].has_origin = true;
    found->task = 0;
}

static void mark(struct summary *s, const struct trace_event *event)
{
    struct row *row = table_row(&s->marks, table_key(event->text, event->size));
    int64_t value = (int64_t)event->a;
    row->text = event->text;
    row->size = event->size;
    row->least = row->count == 0 || value < row->least ? value : row->least;
    row->high = row->count == 0 || value > row->high ? value : row->high;
    row->last = value;
    row_add(row, 0, event->thread);
}

static void note(struct summary *s, const struct trace_event *event)
{
    switch (event->kind) {
    case WEFT_TRACE_STEAL:
        steal(s, event);
        break;
    case WEFT_TRACE_JOIN:
        join(s, event);
        break;
    case WEFT_TRACE_WAKE:
        wake(s, event);
        break;
    case WEFT_TRACE_SUBMIT:
        submit(s, event);
        break;
    case WEFT_TRACE_TASK:
        task(s, event);
        break;
    case WEFT_TRACE_MARK:
        mark(s, event);
        break;
    case WEFT_TRACE_ACTOR:;
        struct row *actor = table_row(&s->actors, event->a);
        actor->text = event->text;
        actor->size = event->size;
        break;
    case WEFT_TRACE_PUBLISH:
        s->publishes++;
        break;
    case WEFT_TRACE_CANCEL:
        s->cancels++;
        break;
    case WEFT_TRACE_SPARE:
        s->spares++;
        break;
    case WEFT_TRACE_MOVE:
        s->moves++;
        break;
    case WEFT_TRACE_DELEGATE:
        s->delegations++;
        break;
    case WEFT_TRACE_GIVE_BACK:
        s->given_back++;
        break;
    case WEFT_TRACE_LIMIT:
        s->limits++;
        break;
    default:
        break;
    }
}

static void take(struct summary *s, const struct trace_event *event)
{
    struct strand *strand = &s->strands[event->thread];
    s->events++;
    advance(s, event->ns);
    settle(s, strand);
    leave_activity(s, strand);
    strand->end_b = event->b;
    if (stack_ends(event->kind) != WEFT_TRACE_NOTHING)
        pop(s, event->thread, stack_after(&strand->stack, event->kind));
    else if (stack_begins(event->kind))
        begins(s, event);
    else
        note(s, event);
    enter_activity(s, strand);
}

/* What is open at the end of the trace ends there. */
static void finish(struct summary *s)
{
    advance(s, trace_about(s->trace)->ns > s->now ? trace_about(s->trace)->ns : s->now);
    for (unsigned i = 0; i < s->threads; i++) {
        struct strand *strand = &s->strands[i];
        settle(s, strand);
        pop(s, i, 0);
        s->workers += strand->is_worker;
        s->guests += strand->is_guest && !strand->is_worker;
    }
}

struct summary *summary_make(struct trace *trace)
{
    struct summary *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->trace = trace;
    s->threads = trace_about(trace)->threads;
    s->strands = calloc((size_t)s->threads + 1, sizeof *s->strands);
    if (!s->strands) {
        free(s);
        return NULL;
    }
    struct trace_event event;
    trace_rewind(trace);
    while (trace_next(trace, &event))
        take(s, &event);
    finish(s);
    return s;
}

void summary_free(struct summary *s)
{
    for (unsigned i = 0; i < s->threads; i++)
        free(s->strands[i].stack.frames);
    free(s->strands);
    free(s->functions.rows);
    free(s->objects.rows);
    free(s->spans.rows);
    free(s->marks.rows);
    free(s->actors.rows);
    free(s);
}
