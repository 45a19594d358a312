/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "progress.h"

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <weft.h>

#define PROGRESS_INTERVAL 50000000u /* nanoseconds between drawings */

enum {
    PROGRESS_COLUMNS_MAX = 100,
    PROGRESS_COLUMNS_TEXT = 33, /* label, percent and time around the bar */
    PROGRESS_LABEL = 12,
};

/* A line under construction. Its size holds the widest bar: three bytes a block. */
struct line {
    size_t length;
    char text[1024];
};

static void line_add(struct line *line, const char *text)
{
    size_t n = strlen(text);
    if (n < sizeof line->text - line->length) {
        memcpy(line->text + line->length, text, n);
        line->length += n;
    }
}

/* One write, so that the line is not torn apart by other output. Nothing to be done if
 * it fails. */
static void line_put(const struct line *line)
{
    ssize_t ignored = write(STDERR_FILENO, line->text, line->length);
    (void)ignored;
}

static unsigned terminal_columns(void)
{
    struct winsize size;
    unsigned columns = 80;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns = size.ws_col;
    return columns < PROGRESS_COLUMNS_MAX ? columns : PROGRESS_COLUMNS_MAX;
}

/* A bar of eighths of a column, or of whole ones where there are no blocks. */
static void line_add_bar(struct line *line, const struct progress *p, double fraction,
                         unsigned columns)
{
    static const char *const eighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    unsigned filled = (unsigned)(fraction * 8.0 * columns), column = 0;

    line_add(line, p->blocks ? "▕" : "[");
    line_add(line, p->colour ? "\033[36m" : "");
    for (; column < filled / 8; column++)
        line_add(line, p->blocks ? "█" : "#");
    if (column < columns) {
        line_add(line, p->blocks ? eighths[filled % 8] : " ");
        column++;
    }
    for (; column < columns; column++)
        line_add(line, " ");
    line_add(line, p->colour ? "\033[0m" : "");
    line_add(line, p->blocks ? "▏" : "]");
}

static void draw(const struct progress *p, uint64_t done, uint64_t now)
{
    struct line line = {0};
    char text[64];
    unsigned columns = terminal_columns();
    double fraction = done < p->total ? (double)done / (double)p->total : 1.0;

    line_add(&line, "\r");
    snprintf(text, sizeof text, "%-*.*s ", PROGRESS_LABEL, PROGRESS_LABEL, p->label);
    line_add(&line, text);
    if (columns > PROGRESS_COLUMNS_TEXT)
        line_add_bar(&line, p, fraction, columns - PROGRESS_COLUMNS_TEXT);
    snprintf(text, sizeof text, " %5.1f %% %6.1f s\033[K", 100.0 * fraction,
             (double)(now - p->begun) / 1e9);
    line_add(&line, text);
    line_put(&line);
}

static bool set_and_not_empty(const char *variable)
{
    const char *value = getenv(variable);
    return value && value[0] != '\0';
}

static bool is_terminal(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

void progress_begin(struct progress *p, const char *label, uint64_t total)
{
    p->label = label;
    p->total = total;
    p->begun = weft_now();
    p->terminal = is_terminal();
    p->blocks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    p->colour = !set_and_not_empty("NO_COLOR");
    atomic_init(&p->done, 0);
    atomic_init(&p->redraw, p->begun + PROGRESS_INTERVAL);
    if (p->terminal)
        draw(p, 0, p->begun);
}

/* Relaxed throughout: the counts publish nothing, and a bar that is a step behind is
 * right again at the next drawing. */
void progress_step(struct progress *p, uint64_t steps)
{
    uint64_t done = atomic_fetch_add_explicit(&p->done, steps, memory_order_relaxed) + steps;
    if (!p->terminal)
        return;
    uint64_t now = weft_now();
    uint_fast64_t due = atomic_load_explicit(&p->redraw, memory_order_relaxed);
    if (now < due)
        return;
    uint_fast64_t next = now + PROGRESS_INTERVAL;
    if (atomic_compare_exchange_strong_explicit(&p->redraw, &due, next, memory_order_relaxed,
                                                memory_order_relaxed))
        draw(p, done, now);
}

uint64_t progress_end(struct progress *p)
{
    uint64_t took = weft_now() - p->begun;
    if (p->terminal) {
        struct line line = {0};
        line_add(&line, "\r\033[K");
        line_put(&line);
    } else {
        fprintf(stderr, "%s: done in %.2f s\n", p->label, (double)took / 1e9);
    }
    return took;
}

void progress_margin(const char *words)
{
    enum { SPACE = 60 }; /* columns; longer words are cut off */
    struct line line = {0};
    char text[SPACE + 40];
    unsigned columns = terminal_columns();
    if (!is_terminal() || tcgetpgrp(STDERR_FILENO) != getpgrp() || columns < SPACE)
        return;
    /* ESC 7 and ESC 8 keep the place of the cursor. */
    snprintf(text, sizeof text, "\0337\033[%uG\033[K%*.*s\0338", columns - SPACE, SPACE, SPACE,
             words ? words : "");
    line_add(&line, text);
    line_put(&line);
}
