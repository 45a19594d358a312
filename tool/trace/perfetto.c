/* SPDX-License-Identifier: MIT */
#include "perfetto.h"

#include "arrows.h"
#include "escape.h"
#include "stack.h"
#include "table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct thread {
    struct stack stack;
};

struct writer {
    FILE *out;
    struct trace *trace;
    struct names *names;
    struct thread *threads;
    struct table actors;
    struct arrows arrows;
    uint64_t arrow; /* the number of the last one */
    bool some;      /* events: a comma before the next */
};

/* ---- JSON ---- */

/* An event without its end: the caller writes more members, and `}`. */
static void put_event(struct writer *w, const char *phase, unsigned thread, uint64_t ns)
{
    fprintf(w->out, "%s\n{\"ph\":\"%s\",\"pid\":%u,\"tid\":%u,\"ts\":%" PRIu64 ".%03u",
            w->some ? "," : "", phase, trace_about(w->trace)->pid,
            trace_thread(w->trace, thread)->number, ns / 1000, (unsigned)(ns % 1000));
    w->some = true;
}

static void put_name(struct writer *w, const char *category, const char *text, size_t size)
{
    fprintf(w->out, ",\"cat\":\"%s\",\"name\":", category);
    escape_json(w->out, text, size);
}

static void put_about(struct writer *w, const char *what, unsigned thread, const char *value)
{
    put_event(w, "M", thread, 0);
    fprintf(w->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    escape_json(w->out, value, strlen(value));
    fputs("}}", w->out);
}

static void put_threads(struct writer *w)
{
    const struct trace_info *info = trace_about(w->trace);
    if (info->threads > 0)
        put_about(w, "process_name", 0, info->program);
    for (unsigned i = 0; i < info->threads; i++)
        put_about(w, "thread_name", i, trace_thread(w->trace, i)->name);
}

static void put_arrow(struct writer *w, const struct arrow *arrow)
{
    static const char *const names[ARROW_KINDS] = {
        [ARROW_STEAL] = "steal",
        [ARROW_MERGE] = "merge",
        [ARROW_SUBMIT] = "submit",
    };
    const char *name = names[arrow->kind];
    if (!name)
        return;
    w->arrow++;
    put_event(w, "s", arrow->from, arrow->begin);
    put_name(w, "arrow", name, strlen(name));
    fprintf(w->out, ",\"id\":%" PRIu64 "}", w->arrow);
    put_event(w, "f", arrow->to, arrow->end);
    put_name(w, "arrow", name, strlen(name));
    fprintf(w->out, ",\"id\":%" PRIu64 ",\"bp\":\"e\"}", w->arrow);
}

/* ---- Slices ---- */

static void put_actor(struct writer *w, uint64_t actor)
{
    char address[32];
    const struct row *row = table_row(&w->actors, actor);
    snprintf(address, sizeof address, "actor 0x%" PRIx64, actor);
    if (row->text && row->size > 0)
        put_name(w, "actor", row->text, row->size);
    else
        put_name(w, "actor", address, strlen(address));
}

static void put_slice(struct writer *w, const struct trace_event *event)
{
    static const char *const fixed[WEFT_TRACE_KINDS] = {
        [WEFT_TRACE_SEARCH] = "search",
        [WEFT_TRACE_SLEEP] = "asleep",
        [WEFT_TRACE_SPIN] = "spins",
        [WEFT_TRACE_GUEST] = "weft_run",
    };
    put_event(w, "B", event->thread, event->ns);
    if (event->kind == WEFT_TRACE_JOB) {
        const char *name = names_find(w->names, event->a);
        put_name(w, "job", name, strlen(name));
    } else if (event->kind == WEFT_TRACE_TURN) {
        put_actor(w, event->a);
    } else if (fixed[event->kind]) {
        put_name(w, "pool", fixed[event->kind], strlen(fixed[event->kind]));
    } else {
        put_name(w, event->kind == WEFT_TRACE_SPAN ? "span" : "wait", event->text, event->size);
    }
    if (event->kind == WEFT_TRACE_WAIT || event->kind == WEFT_TRACE_BLOCK)
        fprintf(w->out, ",\"args\":{\"for\":\"0x%" PRIx64 "\"}", event->a);
    fputc('}', w->out);
}

static void pop(struct writer *w, unsigned thread, unsigned depth, uint64_t ns)
{
    struct stack *stack = &w->threads[thread].stack;
    while (stack->depth > depth) {
        stack->depth--;
        put_event(w, "E", thread, ns);
        fputc('}', w->out);
    }
}

static void begins(struct writer *w, const struct trace_event *event)
{
    struct thread *thread = &w->threads[event->thread];
    const struct frame *top = stack_top(&thread->stack);
    if (event->kind == WEFT_TRACE_TURN && top && top->kind == WEFT_TRACE_TURN)
        pop(w, event->thread, thread->stack.depth - 1, event->ns);
    if (stack_push(&thread->stack, event))
        put_slice(w, event);
}

/* A stolen job is over, or a wait for one. */
static void ends(struct writer *w, const struct trace_event *event)
{
    struct stack *stack = &w->threads[event->thread].stack;
    unsigned depth = stack_after(stack, event->kind);
    struct arrow arrow;
    if (depth < stack->depth && arrows_end(&w->arrows, event, &stack->frames[depth], &arrow))
        put_arrow(w, &arrow);
    pop(w, event->thread, depth, event->ns);
}

/* ---- Moments ---- */

static void put_moment(struct writer *w, const struct trace_event *event, const char *name)
{
    put_event(w, "i", event->thread, event->ns);
    put_name(w, "pool", name, strlen(name));
    fputs(",\"s\":\"t\"}", w->out);
}

static void put_mark(struct writer *w, const struct trace_event *event)
{
    put_event(w, "C", event->thread, event->ns);
    put_name(w, "mark", event->text, event->size);
    fprintf(w->out, ",\"args\":{\"value\":%" PRId64 "}}", (int64_t)event->a);
}

static void note(struct writer *w, const struct trace_event *event)
{
    struct arrow arrow;
    if (arrows_note(&w->arrows, event, &arrow))
        put_arrow(w, &arrow);
    switch (event->kind) {
    case WEFT_TRACE_MARK:
        put_mark(w, event);
        break;
    case WEFT_TRACE_SUBMIT:
        put_moment(w, event, "submit");
        break;
    case WEFT_TRACE_CANCEL:
        put_moment(w, event, "cancel");
        break;
    case WEFT_TRACE_SPARE:
        put_moment(w, event, "a spare is called");
        break;
    case WEFT_TRACE_DELEGATE:
        put_moment(w, event, "a right side is given away");
        break;
    case WEFT_TRACE_GIVE_BACK:
        put_moment(w, event, "a right side is given back");
        break;
    case WEFT_TRACE_LIMIT:
        put_moment(w, event, "an actor has to end");
        break;
    case WEFT_TRACE_ACTOR:;
        struct row *row = table_row(&w->actors, event->a);
        row->text = event->text;
        row->size = event->size;
        break;
    default:
        break;
    }
}

/* ---- All of it ---- */

static void put_all(struct writer *w)
{
    struct trace_event event;
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", w->out);
    put_threads(w);
    trace_rewind(w->trace);
    while (trace_next(w->trace, &event)) {
        if (stack_ends(event.kind) != WEFT_TRACE_NOTHING)
            ends(w, &event);
        else if (stack_begins(event.kind))
            begins(w, &event);
        else
            note(w, &event);
    }
    for (unsigned i = 0; i < trace_about(w->trace)->threads; i++)
        pop(w, i, 0, trace_about(w->trace)->ns);
    fputs("\n]}\n", w->out);
}

bool perfetto_put(FILE *out, struct trace *trace, struct names *names)
{
    unsigned threads = trace_about(trace)->threads;
    struct writer *w = calloc(1, sizeof *w);
    if (w)
        *w = (struct writer){.out = out, .trace = trace, .names = names, .arrows.trace = trace};
    if (w)
        w->threads = calloc((size_t)threads + 1, sizeof *w->threads);
    bool well = w && w->threads;
    if (well)
        put_all(w);
    for (unsigned i = 0; well && i < threads; i++)
        free(w->threads[i].stack.frames);
    if (w) {
        free(w->threads);
        free(w->actors.rows);
    }
    free(w);
    return well;
}
