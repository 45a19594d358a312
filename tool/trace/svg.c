/* SPDX-License-Identifier: MIT */
#include "svg.h"

#include "escape.h"
#include "stack.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_MOST = 100, COLUMNS = 1000, LEFT = 130, TOP = 50, ROW = 22, HIGH = 16, BOTTOM = 30 };

static const struct {
    const char *name, *colour;
} looks[ACTIVITIES] = {
    [OUTSIDE] = {"outside", "#ffffff"}, [BUSY] = {"busy", "#2a9d4a"},
    [WAITING] = {"waiting", "#f0c040"}, [SEARCHING] = {"searching", "#8ab8e8"},
    [ASLEEP] = {"asleep", "#e4e4e4"},   [BLOCKED] = {"blocked", "#d04a3a"},
};

struct row {
    struct stack stack;
    uint64_t since;
    float columns[COLUMNS][ACTIVITIES]; /* how much of each */
};

static void fill(struct row *row, uint64_t whole, uint64_t now)
{
    enum activity activity = stack_activity(&row->stack);
    double scale = whole > 0 ? COLUMNS / (double)whole : 0;
    double begin = (double)row->since * scale, end = (double)now * scale;
    row->since = now;
    for (unsigned i = (unsigned)begin; i < COLUMNS && i < end; i++) {
        double from = i > begin ? i : begin, to = i + 1 < end ? i + 1 : end;
        row->columns[i][activity] += (float)(to - from);
    }
}

static void take(struct row *row, const struct trace_event *event, uint64_t whole)
{
    struct stack *stack = &row->stack;
    const struct frame *top = stack_top(stack);
    fill(row, whole, event->ns);
    if (stack_ends(event->kind) != WEFT_TRACE_NOTHING)
        stack->depth = stack_after(stack, event->kind);
    if (!stack_begins(event->kind))
        return;
    if (event->kind == WEFT_TRACE_TURN && top && top->kind == WEFT_TRACE_TURN)
        stack->depth--;
    stack_push(stack, event);
}

static enum activity most_of(const struct row *row, unsigned column)
{
    enum activity most = OUTSIDE;
    for (enum activity i = OUTSIDE; i < ACTIVITIES; i++)
        if (row->columns[column][i] > row->columns[column][most])
            most = i;
    return most;
}

static void put_row(FILE *out, const struct row *row, unsigned y)
{
    for (unsigned from = 0, to; from < COLUMNS; from = to) {
        enum activity activity = most_of(row, from);
        for (to = from + 1; to < COLUMNS && most_of(row, to) == activity; to++)
            continue;
        if (activity != OUTSIDE)
            fprintf(out,
                    "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\" "
                    "fill=\"%s\"><title>%s</title></rect>\n",
                    LEFT + from, y, to - from, HIGH, looks[activity].colour, looks[activity].name);
    }
}

static void put_top(FILE *out, const struct trace *trace, unsigned rows)
{
    const struct trace_info *info = trace_about(trace);
    unsigned width = LEFT + COLUMNS + 20, height = TOP + rows * ROW + BOTTOM, x = LEFT;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n<text x=\"10\" y=\"18\">",
            width, height);
    escape_xml(out, info->program, strlen(info->program));
    fputs("</text>\n", out);
    for (enum activity i = BUSY; i < ACTIVITIES; i++, x += 90)
        fprintf(out,
                "<rect x=\"%u\" y=\"28\" width=\"12\" height=\"12\" fill=\"%s\"/>"
                "<text x=\"%u\" y=\"38\">%s</text>\n",
                x, looks[i].colour, x + 16, looks[i].name);
    fprintf(out, "<text x=\"%d\" y=\"%u\">0</text>\n", LEFT, height - 10);
    fprintf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%s</text>\n", LEFT + COLUMNS,
            height - 10, words_time(info->ns).text);
}

static void put_all(FILE *out, struct trace *trace, struct row *rows, unsigned count)
{
    uint64_t whole = trace_about(trace)->ns;
    struct trace_event event;
    trace_rewind(trace);
    while (trace_next(trace, &event))
        if (event.thread < count)
            take(&rows[event.thread], &event, whole);
    put_top(out, trace, count);
    for (unsigned i = 0; i < count; i++) {
        const struct words name = words_thread(trace, (int)i);
        fill(&rows[i], whole, whole);
        fprintf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">", LEFT - 8, TOP + i * ROW + 13);
        escape_xml(out, name.text, strlen(name.text));
        fputs("</text>\n", out);
        put_row(out, &rows[i], TOP + i * ROW);
    }
    fputs("</svg>\n", out);
}

bool svg_put(FILE *out, struct trace *trace, struct names *names)
{
    (void)names;
    unsigned threads = trace_about(trace)->threads;
    unsigned count = threads < ROWS_MOST ? threads : ROWS_MOST;
    struct row *rows = calloc((size_t)count + 1, sizeof *rows);
    if (!rows)
        return false;
    put_all(out, trace, rows, count);
    for (unsigned i = 0; i < count; i++)
        free(rows[i].stack.frames);
    free(rows);
    return true;
}
