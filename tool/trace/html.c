/* SPDX-License-Identifier: MIT */
#include "html.h"

#include "escape.h"
#include "page.h"
#include "report.h"
#include "timeline.h"
#include "words.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    FILE *out;
    struct timeline *t;
    struct summary *s;
    struct names *names;
    uint64_t unit; /* nanoseconds: times have 53 bits at most, as numbers of JavaScript */
};

/* ---- JSON ---- */

static void put_text(struct writer *w, const char *name, const char *text, size_t size)
{
    fprintf(w->out, "\"%s\":", name);
    escape_json(w->out, text, size);
    fputs(",\n", w->out);
}

static void put_number(struct writer *w, const char *name, uint64_t value)
{
    fprintf(w->out, "\"%s\":%" PRIu64 ",\n", name, value);
}

/* A number of a list: all but the first have a comma before them. */
static void put_next(struct writer *w, bool first, uint64_t value)
{
    fprintf(w->out, first ? "%" PRIu64 : ",%" PRIu64, value);
}

static uint64_t in_units(const struct writer *w, uint64_t ns)
{
    return ns / w->unit;
}

/* ---- What it is, in words ---- */

static bool put_report(struct writer *w)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return false;
    report_put(memory, w->s, w->names, true);
    bool well = fclose(memory) == 0;
    if (well)
        put_text(w, "report", text, size);
    free(text);
    return well;
}

static void put_about(struct writer *w)
{
    const struct trace_info *info = trace_about(w->t->trace);
    const struct thin *thin = &w->t->thin;
    put_text(w, "program", info->program, strlen(info->program));
    put_number(w, "unit", w->unit);
    put_number(w, "length", in_units(w, w->t->whole));
    put_number(w, "events", w->s->events);
    put_number(w, "workers", w->s->workers);
    put_number(w, "allThreads", w->s->threads);
    put_number(w, "work", in_units(w, w->s->area));
    put_number(w, "active", in_units(w, w->s->active));
    put_number(w, "path", in_units(w, w->s->path.ns));
    put_number(w, "steals", w->s->stolen.count);
    put_number(w, "allIntervals", thin->all.count);
    put_number(w, "mergedIntervals", thin->merged);
    put_number(w, "shortest", in_units(w, thin->shortest));
    put_number(w, "missingMarks", w->t->marks_missing);
    put_number(w, "missingNodes", w->t->flame.without);
}

/* Waits and blocks that took longest, for people who want to go there. */
static void put_longest(struct writer *w, const char *name, const struct longest *list)
{
    fprintf(w->out, "\"%s\":[", name);
    for (unsigned i = 0; i < SUMMARY_LONGEST && list[i].ns > 0; i++) {
        const struct longest *one = &list[i];
        const char *function = one->function ? names_find(w->names, one->function) : "";
        fprintf(w->out, "%s[%u,%" PRIu64 ",%" PRIu64 ",", i > 0 ? "," : "", one->thread,
                in_units(w, one->begin), in_units(w, one->ns));
        escape_json(w->out, function, strlen(function));
        fputc(',', w->out);
        escape_json(w->out, one->text, one->size);
        fputc(']', w->out);
    }
    fputs("],\n", w->out);
}

/* ---- Threads and their intervals ---- */

/* [begin, length, self, label, from, intervals]...: begins count from the one before, and `from` is
 * a thread plus 1. */
static size_t put_lane(struct writer *w, size_t at)
{
    const struct thin *thin = &w->t->thin;
    const struct interval *first = &thin->list[at];
    uint64_t last = 0;
    fputc('[', w->out);
    for (; at < thin->count; at++) {
        const struct interval *one = &thin->list[at];
        if (one->thread != first->thread || one->lane != first->lane)
            break;
        uint64_t begin = in_units(w, one->begin);
        put_next(w, one == first, begin - last);
        put_next(w, false, in_units(w, one->ns));
        put_next(w, false, in_units(w, one->self));
        put_next(w, false, one->label);
        put_next(w, false, (uint64_t)(one->from + 1));
        put_next(w, false, one->intervals);
        last = begin;
    }
    fputc(']', w->out);
    return at;
}

/* An empty lane may be below others: a run has no lanes inside it. */
static void put_threads(struct writer *w)
{
    const struct thin *thin = &w->t->thin;
    size_t at = 0;
    fputs("\"threads\":[", w->out);
    for (unsigned i = 0; i < w->t->rows; i++) {
        const struct words name = words_thread(w->t->trace, (int)i);
        fprintf(w->out, "%s\n{\"name\":", i > 0 ? "," : "");
        escape_json(w->out, name.text, strlen(name.text));
        fprintf(w->out, ",\"number\":%u,\"lanes\":[", trace_thread(w->t->trace, i)->number);
        for (unsigned lane = 0; at < thin->count && thin->list[at].thread == i; lane++) {
            fputs(lane > 0 ? ",\n" : "\n", w->out);
            if (thin->list[at].lane == lane)
                at = put_lane(w, at);
            else
                fputs("[]", w->out);
        }
        fputs("]}", w->out);
    }
    fputs("],\n", w->out);
}

/* ---- Labels and stacks ---- */

static void put_label_name(struct writer *w, const struct label *label)
{
    static const char *const fixed[WEFT_TRACE_KINDS] = {
        [WEFT_TRACE_NOTHING] = "(several)", [WEFT_TRACE_SEARCH] = "searches",
        [WEFT_TRACE_SLEEP] = "asleep",      [WEFT_TRACE_SPIN] = "spins",
        [WEFT_TRACE_GUEST] = "weft_run",
    };
    char address[32];
    const char *text = label->text ? label->text : "";
    size_t size = label->text ? label->size : 0;
    if (fixed[label->kind]) {
        text = fixed[label->kind];
        size = strlen(text);
    } else if (label->kind == WEFT_TRACE_JOB) {
        text = names_find(w->names, label->a);
        size = strlen(text);
    } else if (label->kind == WEFT_TRACE_TURN && size == 0) {
        snprintf(address, sizeof address, "actor 0x%" PRIx64, label->a);
        text = address;
        size = strlen(text);
    }
    escape_json(w->out, text, size);
}

static const char *kind_name(enum weft_trace_kind kind)
{
    static const char *const names[WEFT_TRACE_KINDS] = {
        [WEFT_TRACE_JOB] = "job",       [WEFT_TRACE_WAIT] = "wait",
        [WEFT_TRACE_BLOCK] = "block",   [WEFT_TRACE_SPIN] = "block",
        [WEFT_TRACE_SEARCH] = "search", [WEFT_TRACE_SLEEP] = "sleep",
        [WEFT_TRACE_GUEST] = "guest",   [WEFT_TRACE_TURN] = "turn",
        [WEFT_TRACE_SPAN] = "span",     [WEFT_TRACE_NOTHING] = "several",
    };
    return names[kind] ? names[kind] : "other";
}

static void put_labels(struct writer *w)
{
    fputs("\"labels\":[", w->out);
    for (unsigned i = 0; i < w->t->labels.count; i++) {
        const struct label *label = &w->t->labels.list[i];
        fprintf(w->out, "%s\n[\"%s\",", i > 0 ? "," : "", kind_name(label->kind));
        put_label_name(w, label);
        fprintf(w->out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
                label->count, in_units(w, label->total), in_units(w, label->self),
                in_units(w, label->most), label->stolen);
    }
    fputs("],\n", w->out);
}

/* [parent, label, count, self]..., parents first; FLAME_ROOT is not there. */
static void put_flame(struct writer *w)
{
    fputs("\"flame\":[", w->out);
    for (unsigned i = 1; i < w->t->flame.count; i++) {
        const struct flame_node *node = &w->t->flame.nodes[i];
        put_next(w, i == 1, node->parent);
        put_next(w, false, node->label);
        put_next(w, false, node->count);
        put_next(w, false, in_units(w, node->self));
    }
    fputs("],\n", w->out);
}

/* ---- The rest ---- */

/* [kind, from, to, begin, length]... */
static void put_arrows(struct writer *w)
{
    fputs("\"arrowCounts\":[", w->out);
    for (unsigned i = 0; i < ARROW_KINDS; i++)
        put_next(w, i == 0, w->t->arrow_counts[i]);
    fputs("],\n\"arrows\":[", w->out);
    for (size_t i = 0; i < w->t->kept_count; i++) {
        const struct arrow *arrow = &w->t->kept[i];
        put_next(w, i == 0, arrow->kind);
        put_next(w, false, arrow->from);
        put_next(w, false, arrow->to);
        put_next(w, false, in_units(w, arrow->begin));
        put_next(w, false, in_units(w, arrow->end) - in_units(w, arrow->begin));
    }
    fputs("],\n", w->out);
}

/* Of each: [name, count, [point, least, greatest, last]...], a point is one of 500 parts. */
static void put_marks(struct writer *w)
{
    fprintf(w->out, "\"points\":%d,\n\"marks\":[", TIMELINE_POINTS);
    for (unsigned i = 0; i < w->t->mark_count; i++) {
        const struct mark_series *one = w->t->marks[i];
        fputs(i > 0 ? ",\n[" : "\n[", w->out);
        escape_json(w->out, one->text, one->size);
        fprintf(w->out, ",%" PRIu64 ",[", one->count);
        bool some = false;
        for (unsigned k = 0; k < TIMELINE_POINTS; k++) {
            if (one->points[k].count == 0)
                continue;
            put_next(w, !some, k);
            fprintf(w->out, ",%" PRId64 ",%" PRId64 ",%" PRId64, one->points[k].least,
                    one->points[k].high, one->points[k].last);
            some = true;
        }
        fputs("]]", w->out);
    }
    fputs("],\n", w->out);
}

/* Threads that were busy, waited, were blocked, searched, in each of 1000 parts of the time. */
static void put_bins(struct writer *w)
{
    static const enum activity order[] = {BUSY, WAITING, BLOCKED, SEARCHING};
    fputs("\"bins\":[", w->out);
    for (unsigned i = 0; i < sizeof order / sizeof order[0]; i++) {
        fputs(i > 0 ? ",\n[" : "[", w->out);
        for (unsigned k = 0; k < TIMELINE_BINS; k++)
            fprintf(w->out, "%s%.3g", k > 0 ? "," : "", (double)w->t->bins[k][order[i]]);
        fputc(']', w->out);
    }
    fputs("]\n", w->out);
}

/* ---- All of it ---- */

static bool put_data(struct writer *w)
{
    while (w->t->whole / w->unit >> 53 > 0)
        w->unit *= 1000;
    fputs("{\n", w->out);
    put_about(w);
    if (!put_report(w))
        return false;
    put_longest(w, "waits", w->s->waits);
    put_longest(w, "blocks", w->s->blocks);
    put_threads(w);
    put_labels(w);
    put_flame(w);
    put_arrows(w);
    put_marks(w);
    put_bins(w);
    fputs("}\n", w->out);
    return true;
}

bool html_put(FILE *out, struct trace *trace, struct names *names)
{
    struct writer w = {.out = out, .names = names, .unit = 1};
    w.s = summary_make(trace);
    w.t = w.s ? timeline_make(trace) : NULL;
    bool well = w.t;
    if (well) {
        size_t before = page_data();
        fwrite(trace_page, 1, before, out);
        well = put_data(&w);
        fwrite(trace_page + before, 1, trace_page_size - before, out);
        timeline_free(w.t);
    }
    if (w.s)
        summary_free(w.s);
    return well;
}
