/* SPDX-License-Identifier: MIT */
#include "svg.h"

#include "columns.h"
#include "escape.h"
#include "words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From top to bottom: title, legend, how many threads are busy, a row for each thread, time.
 * Lengths are pixels. Texts are measured by counting: fonts differ, so a character counts as wide
 * as in a wide one. */
enum {
    MARGIN = 16,
    RIGHT = 44, /* half of the last time is there */
    TITLE = 58,
    LEGEND_LINE = 20,
    STRIP = 48,
    AXIS = 30,
    NAME_MOST = 96,    /* quarters of a letter, of a thread's name */
    LEGEND_MOST = 144, /* of a function's */
    TICKS_MOST = 11,
};

static const double SECOND = 1e9;

/* How large a row is. The more there are, the smaller. */
struct look {
    unsigned rows; /* up to so many */
    unsigned bar, band, gap, font;
};

static const struct look looks[] = {
    {12, 18, 13, 7, 12},
    {36, 12, 4, 4, 11},
    {COLUMNS_ROWS, 8, 2, 2, 9},
};

struct picture {
    FILE *out;
    struct trace *trace;
    struct names *names;
    const struct columns *t;
    struct look look;
    unsigned left, width, height, strip, top; /* where the columns, the strip and the rows begin */
};

static const struct {
    const char *name, *light, *dark;
} shades[SHADES] = {
    [SHADE_FUNCTION] = {NULL, "#2f9e62", "#3cb371"},
    [SHADE_FUNCTION + 1] = {NULL, "#3a78c2", "#5b96dd"},
    [SHADE_FUNCTION + 2] = {NULL, "#8e5bb5", "#a97bd0"},
    [SHADE_FUNCTION + 3] = {NULL, "#c2588f", "#d679aa"},
    [SHADE_FUNCTION + 4] = {NULL, "#7a8b2f", "#9aad45"},
    [SHADE_ACTORS] = {"actors", "#2a9d9d", "#3dbcbc"},
    [SHADE_JOBS] = {"other jobs", "#8fcdaa", "#5f9a7b"},
    [SHADE_BLOCKED] = {"blocked", "#d04a3a", "#e0604f"},
    [SHADE_WAITING] = {"waiting", "#f0c040", "#d9a930"},
    [SHADE_SEARCHING] = {"searching", "#a9cbe8", "#46698a"},
    [SHADE_ASLEEP] = {"asleep", "#e6e8ec", "#2c3037"},
};

/* ---- Texts ---- */

/* Widths are in quarters of an ordinary letter, which is 0.65 of the font's height. */
enum { LETTER = 4 };

static unsigned width_of(uint32_t character)
{
    if (character >= 0x1100)
        return 2 * LETTER + 2;
    if (character == 'm' || character == 'w' || character == '@' || character == '%')
        return LETTER + 2;
    if (character == 'M' || character == 'W')
        return LETTER + 3;
    return character >= 'A' && character <= 'Z' ? LETTER + 1 : LETTER;
}

/* How wide the text is; and how many bytes of it are no wider than `most`. */
static unsigned width_of_text(const char *text, size_t size, unsigned most, size_t *bytes)
{
    unsigned sum = 0;
    size_t i = 0;
    *bytes = 0;
    while (i < size) {
        uint32_t value = 0;
        unsigned length = escape_character(text + i, size - i, &value);
        sum += width_of(value);
        i += length > 0 ? length : 1;
        if (sum <= most)
            *bytes = i;
    }
    return sum;
}

/* No wider than `most`: dots stand for what is left out. Returns how wide. Measures only, if `out`
 * is NULL. */
static unsigned put_short(FILE *out, const char *text, size_t size, unsigned most)
{
    size_t bytes;
    unsigned sum = width_of_text(text, size, most, &bytes);
    if (sum > most)
        width_of_text(text, size, most - 2 * LETTER, &bytes);
    if (out)
        escape_xml(out, text, bytes);
    if (out && sum > most)
        fputs("&#8230;", out);
    return sum < most ? sum : most;
}

static unsigned pixels(unsigned width, unsigned font)
{
    return (width * font * 13 + 79) / 80;
}

static const char *basename_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    path = slash ? slash + 1 : path;
    return *path ? path : "a program";
}

/* ---- Title and legend ---- */

static void put_style(const struct picture *p)
{
    fputs("<style>\n"
          "text{fill:#24292f}.dim{fill:#57606a}.paper{fill:#fff}.grid{stroke:#d0d7de}"
          ".none{fill:#f6f8fa}\n"
          ".span{fill:#d6dde6}.steal{stroke:#24292f;stroke-opacity:.5;fill:none}"
          ".head{fill:#24292f}.area{fill:#2f9e62;fill-opacity:.35;stroke:#2f9e62}\n",
          p->out);
    for (enum shade i = SHADE_FUNCTION; i < SHADES; i++)
        fprintf(p->out, ".s%d{fill:%s}", i, shades[i].light);
    fputs("\n@media (prefers-color-scheme:dark){\n"
          "text{fill:#d8dadd}.dim{fill:#a3a8ae}.paper{fill:#15171a}.grid{stroke:#32363b}"
          ".none{fill:#1b1e22}\n"
          ".span{fill:#3d4652}.steal{stroke:#d8dadd}.head{fill:#d8dadd}"
          ".area{fill:#3cb371;stroke:#3cb371}\n",
          p->out);
    for (enum shade i = SHADE_FUNCTION; i < SHADES; i++)
        fprintf(p->out, ".s%d{fill:%s}", i, shades[i].dark);
    fputs("\n}\n</style>\n", p->out);
}

static void put_title(const struct picture *p)
{
    const struct trace_info *info = trace_about(p->trace);
    const struct summary *s = p->t->summary;
    const char *name = basename_of(info->program);
    fputs("<text x=\"16\" y=\"28\" font-size=\"17\" font-weight=\"bold\">", p->out);
    put_short(p->out, name, strlen(name), 240);
    fprintf(p->out,
            "</text>\n<text class=\"dim\" x=\"16\" y=\"47\">process %u &#183; %s &#183; %s &#183; "
            "%.2f busy on average, while there were jobs",
            info->pid, words_time(info->ns).text, words_count(s->threads, "thread").text,
            s->active > 0 ? (double)s->area / (double)s->active : 0);
    if (p->t->stolen > 0)
        fprintf(p->out, " &#183; %s", words_count(p->t->stolen, "steal").text);
    if (info->lost > 0)
        fputs(" &#183; old records were lost", p->out);
    if (!info->ended)
        fputs(" &#183; the program did not end the trace", p->out);
    fputs("</text>\n", p->out);
}

struct legend {
    unsigned x, y;
    bool draw; /* else it is measured */
};

/* An entry begins a new line if it does not fit. */
static void legend_place(const struct picture *p, struct legend *l, unsigned width)
{
    unsigned space = 18 + pixels(width, 12) + 16;
    if (l->x + space > p->width - MARGIN && l->x > MARGIN) {
        l->x = MARGIN;
        l->y += LEGEND_LINE;
    }
    l->x += space;
    if (l->draw)
        fprintf(p->out, "<text x=\"%u\" y=\"%u\">", l->x - space + 18, l->y + 10);
}

static void legend_shade(const struct picture *p, struct legend *l, enum shade shade)
{
    struct words name = {""};
    if (shade < SHADE_ACTORS)
        name = words_function(p->names, p->t->summary->functions.rows[shade - SHADE_FUNCTION].key);
    else
        name = words_text(shades[shade].name, (uint32_t)strlen(shades[shade].name));
    size_t size = strlen(name.text);
    unsigned width = put_short(NULL, name.text, size, LEGEND_MOST);
    legend_place(p, l, width);
    if (!l->draw)
        return;
    put_short(p->out, name.text, size, LEGEND_MOST);
    fprintf(p->out,
            "</text><rect class=\"s%d\" x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" "
            "rx=\"2\"/>\n",
            shade, l->x - 18 - pixels(width, 12) - 16, l->y);
}

static void legend_steals(const struct picture *p, struct legend *l)
{
    char text[64];
    if (p->t->stolen > p->t->steal_count)
        snprintf(text, sizeof text, "steals, the %u of the longest jobs", p->t->steal_count);
    else
        snprintf(text, sizeof text, "steals");
    unsigned width = LETTER * (unsigned)strlen(text);
    legend_place(p, l, width);
    if (!l->draw)
        return;
    unsigned x = l->x - pixels(width, 12) - 16 - 12;
    fprintf(p->out,
            "%s</text><path class=\"steal\" d=\"M%u %uv12\"/><path class=\"head\" d=\"M%u "
            "%ul-3 -5h6z\"/>\n",
            text, x, l->y, x, l->y + 13);
}

/* Only what occurs. Returns where the next thing may begin. */
static unsigned put_legend(const struct picture *p, bool draw)
{
    struct legend l = {MARGIN, TITLE + 4, draw};
    for (enum shade i = SHADE_FUNCTION; i < SHADES; i++)
        if (p->t->all[i] > 0)
            legend_shade(p, &l, i);
    if (p->t->spans) {
        legend_place(p, &l, 5 * LETTER);
        if (draw)
            fprintf(p->out,
                    "spans</text><rect class=\"span\" x=\"%u\" y=\"%u\" width=\"12\" "
                    "height=\"12\" rx=\"2\"/>\n",
                    l.x - 18 - pixels(5 * LETTER, 12) - 16, l.y);
    }
    if (p->t->steal_count > 0)
        legend_steals(p, &l);
    return l.y + LEGEND_LINE + 8;
}

/* ---- How many threads are busy ---- */

static unsigned most_busy(const struct columns *t)
{
    double most = 1;
    for (unsigned i = 0; i < COLUMNS_MOST; i++)
        most = t->busy[i] > most ? t->busy[i] : most;
    return (unsigned)ceil(most - 0.01);
}

static void put_strip(const struct picture *p)
{
    const struct columns *t = p->t;
    unsigned most = most_busy(t), bottom = p->strip + STRIP;
    fprintf(p->out,
            "<text class=\"dim\" x=\"%u\" y=\"%u\" text-anchor=\"end\" font-size=\"11\">%u "
            "busy</text>\n"
            "<text class=\"dim\" x=\"%u\" y=\"%u\" text-anchor=\"end\" font-size=\"11\">0</text>\n",
            p->left - 8, p->strip + 9, most, p->left - 8, bottom);
    fprintf(p->out, "<path class=\"grid\" d=\"M%u %u.5h%d\"/>\n<path class=\"area\" d=\"M%u %u",
            p->left, p->strip, COLUMNS_MOST, p->left, bottom);
    double last = 0;
    for (unsigned i = 0; i < COLUMNS_MOST; i++) {
        double high = round(t->busy[i] / most * STRIP * 2) / 2;
        if (high != last)
            fprintf(p->out, "H%uV%.1f", p->left + i, bottom - high);
        last = high;
    }
    fprintf(p->out, "H%uV%uz\"/>\n", p->left + COLUMNS_MOST, bottom);
}

/* ---- Time ---- */

/* Round: 1, 2 or 5 and zeros; from two minutes on, what is round on a clock. */
static double step_of(double whole)
{
    static const double clock[] = {20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200};
    double step = 1;
    if (whole >= 120 * SECOND) {
        for (size_t i = 0; i < sizeof clock / sizeof clock[0]; i++)
            if (whole / (clock[i] * SECOND) <= TICKS_MOST)
                return clock[i] * SECOND;
        for (step = 86400 * SECOND; whole / step > TICKS_MOST;)
            step *= 10;
        return step;
    }
    for (unsigned i = 0; whole / step > TICKS_MOST; i++)
        step *= i % 3 == 1 ? 2.5 : 2;
    return step;
}

static struct words tick_words(double ns, double whole)
{
    static const struct {
        double ns;
        const char *name;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
    struct words words;
    unsigned i = 0;
    while (i < 3 && whole < units[i].ns)
        i++;
    uint64_t seconds = (uint64_t)(ns / SECOND + 0.5);
    if (ns == 0)
        snprintf(words.text, sizeof words.text, "0");
    else if (whole >= 7200 * SECOND)
        snprintf(words.text, sizeof words.text, "%u:%02u h", (unsigned)(seconds / 3600),
                 (unsigned)(seconds / 60 % 60));
    else if (whole >= 120 * SECOND)
        snprintf(words.text, sizeof words.text, "%u:%02u min", (unsigned)(seconds / 60),
                 (unsigned)(seconds % 60));
    else
        snprintf(words.text, sizeof words.text, "%.6g %s", ns / units[i].ns, units[i].name);
    return words;
}

static void put_axis(const struct picture *p, bool labels)
{
    double whole = (double)p->t->ns, step = step_of(whole);
    unsigned bottom = p->height - AXIS;
    for (unsigned i = 0; whole > 0 && i * step <= whole; i++) {
        double x = p->left + i * step / whole * COLUMNS_MOST;
        if (labels)
            fprintf(p->out,
                    "<text class=\"dim\" x=\"%.1f\" y=\"%u\" text-anchor=\"middle\" "
                    "font-size=\"11\">%s</text>\n",
                    x, bottom + 17, tick_words(i * step, whole).text);
        else
            fprintf(p->out, "<path class=\"grid\" d=\"M%.1f %uV%u\"/>\n", x, p->strip, bottom + 4);
    }
}

/* ---- Rows ---- */

static unsigned pitch(const struct picture *p)
{
    return p->look.bar + p->look.band + p->look.gap;
}

static unsigned row_top(const struct picture *p, unsigned row)
{
    return p->top + row * pitch(p);
}

/* In a column, shades lie on each other, as high as their shares are; halves of a pixel. */
static void edges(const struct column *column, unsigned bar, unsigned edge[SHADES + 1])
{
    double sum = 0;
    edge[SHADE_NOTHING] = 0;
    for (enum shade i = SHADE_NOTHING + 1; i <= SHADES; i++) {
        edge[i] = (unsigned)(sum * bar * 2 + 0.5);
        sum += i < SHADES ? column->shares[i] : 0;
        edge[i] = edge[i] < 2 * bar ? edge[i] : 2 * bar;
    }
}

/* One path for all of a shade in a row. */
static void put_shade(const struct picture *p, const struct column_row *row, enum shade shade,
                      unsigned y)
{
    unsigned bottom = y + p->look.bar, from = 0, low = 0, high = 0;
    bool open = false;
    for (unsigned i = 0; i <= COLUMNS_MOST; i++) {
        unsigned edge[SHADES + 1] = {0};
        if (i < COLUMNS_MOST)
            edges(&row->columns[i], p->look.bar, edge);
        if (edge[shade] == low && edge[shade + 1] == high)
            continue;
        if (high > low && !open)
            fprintf(p->out, "<path class=\"s%d\" d=\"", shade);
        open |= high > low;
        if (high > low)
            fprintf(p->out, "M%u %gh%uv%gh-%uz", p->left + from, bottom - high / 2.0, i - from,
                    (high - low) / 2.0, i - from);
        from = i;
        low = edge[shade];
        high = edge[shade + 1];
    }
    if (open)
        fputs("\"/>\n", p->out);
}

static bool same_span(const struct column *a, const struct column *b)
{
    return (a->span != NULL) == (b->span != NULL) &&
           (!a->span || (a->size == b->size && memcmp(a->span, b->span, a->size) == 0));
}

/* Its name is in the band, as far as there is room; the whole is shown to who points there. */
static void put_span(const struct picture *p, const struct column *column, unsigned from,
                     unsigned to, unsigned y)
{
    enum { LEAST = 4 * LETTER };
    unsigned font = p->look.band - 3, room = to - from > 8 ? (to - from - 8) * 80 / (font * 13) : 0;
    fprintf(p->out, "<g><title>span: ");
    escape_xml(p->out, column->span, column->size);
    fprintf(p->out,
            "</title><rect class=\"span\" x=\"%u\" y=\"%u\" width=\"%g\" height=\"%u\" "
            "rx=\"%g\"/>",
            p->left + from, y, to - from > 2 ? to - from - 0.5 : to - from, p->look.band,
            to - from > 4 && p->look.band > 4 ? 2.0 : 0);
    if (p->look.band > 8 && room >= LEAST && column->size > 0) {
        fprintf(p->out, "<text x=\"%u\" y=\"%u\" font-size=\"%u\">", p->left + from + 4,
                y + p->look.band - 3, font);
        put_short(p->out, column->span, column->size, room);
        fputs("</text>", p->out);
    }
    fputs("</g>\n", p->out);
}

static void put_spans(const struct picture *p, const struct column_row *row, unsigned y)
{
    const struct column *columns = row->columns;
    for (unsigned from = 0, to; from < COLUMNS_MOST; from = to) {
        for (to = from + 1; to < COLUMNS_MOST && same_span(&columns[from], &columns[to]); to++)
            continue;
        if (columns[from].span)
            put_span(p, &columns[from], from, to, y);
    }
}

static void put_row_title(const struct picture *p, const struct column_row *row,
                          const struct words *name)
{
    double busy = 0;
    for (enum shade i = SHADE_FUNCTION; i <= SHADE_JOBS; i++)
        busy += row->all[i];
    fputs("<title>", p->out);
    escape_xml(p->out, name->text, strlen(name->text));
    fprintf(p->out, " (%u): busy %.0f%%", trace_thread(p->trace, row->thread)->number,
            100 * busy / COLUMNS_MOST);
    for (enum shade i = SHADE_BLOCKED; i < SHADES; i++)
        if (row->all[i] > 0)
            fprintf(p->out, ", %s %.0f%%", shades[i].name, 100 * row->all[i] / COLUMNS_MOST);
    fputs("</title>\n", p->out);
}

static void put_row(const struct picture *p, unsigned i)
{
    const struct column_row *row = &p->t->rows[i];
    const struct words name = words_thread(p->trace, (int)row->thread);
    unsigned y = row_top(p, i), font = p->look.font;
    fprintf(p->out, "<text x=\"%u\" y=\"%g\" text-anchor=\"end\" font-size=\"%u\">", p->left - 8,
            y + p->look.bar / 2.0 + font * 0.36, font);
    put_short(p->out, name.text, strlen(name.text), NAME_MOST);
    fputs("</text>\n<g>", p->out);
    put_row_title(p, row, &name);
    fprintf(p->out, "<rect class=\"none\" x=\"%u\" y=\"%u\" width=\"%d\" height=\"%u\"/>\n",
            p->left, y, COLUMNS_MOST, p->look.bar);
    for (enum shade s = SHADE_FUNCTION; s < SHADES; s++)
        if (row->all[s] > 0)
            put_shade(p, row, s, y);
    fputs("</g>\n", p->out);
    if (p->look.band > 0)
        put_spans(p, row, y + p->look.bar + 1);
}

/* From the victim's row to the thief's. */
static void put_steals(const struct picture *p)
{
    for (unsigned i = 0; i < p->t->steal_count; i++) {
        const struct column_steal *steal = &p->t->steals[i];
        double x = p->left + (double)steal->ns / (double)p->t->ns * COLUMNS_MOST;
        bool down = steal->to > steal->from;
        unsigned bar = p->look.bar, head = bar > 8 ? 5 : 3;
        unsigned from = row_top(p, steal->from) + bar / 2;
        unsigned to = row_top(p, steal->to) + (down ? 0 : bar);
        fprintf(p->out,
                "<g><title>stolen: it ran for %s</title><path class=\"steal\" d=\"M%.1f %uV%u\"/>"
                "<path class=\"head\" d=\"M%.1f %ul-%g %dh%uz\"/></g>\n",
                words_time(steal->took).text, x, from, to, x, down ? to + 1 : to - 1,
                head / 2.0 + 0.5, (down ? -1 : 1) * (int)head, head + 1);
    }
}

/* ---- All of it ---- */

static void measure(struct picture *p)
{
    const struct columns *t = p->t;
    unsigned name = 8 * LETTER, i = 0; /* room for "99 busy" */
    while (t->count > looks[i].rows)
        i++;
    p->look = looks[i];
    if (!t->spans)
        p->look.band = 0;
    for (i = 0; i < t->count; i++) {
        const struct words words = words_thread(p->trace, (int)t->rows[i].thread);
        unsigned width = put_short(NULL, words.text, strlen(words.text), NAME_MOST);
        name = width > name ? width : name;
    }
    p->left = MARGIN + pixels(name, p->look.font) + 8;
    p->width = p->left + COLUMNS_MOST + RIGHT;
    p->strip = put_legend(p, false);
    p->top = p->strip + STRIP + 12;
    unsigned more = t->summary->threads > t->count ? 16 : 0;
    p->height = row_top(p, t->count) + more + AXIS;
}

static void put_picture(const struct picture *p)
{
    const struct columns *t = p->t;
    const char *name = basename_of(trace_about(p->trace)->program);
    fprintf(p->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u "
            "%u\" role=\"img\" font-family=\"system-ui, 'DejaVu Sans', 'Liberation Sans', Arial, "
            "sans-serif\" font-size=\"12\">\n<title>What the threads of ",
            p->width, p->height, p->width, p->height);
    escape_xml(p->out, name, strlen(name));
    fputs(" did</title>\n", p->out);
    put_style(p);
    fputs("<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n", p->out);
    put_title(p);
    put_legend(p, true);
    put_axis(p, false);
    put_strip(p);
    for (unsigned i = 0; i < t->count; i++)
        put_row(p, i);
    if (t->summary->threads > t->count)
        fprintf(p->out,
                "<text class=\"dim\" x=\"%u\" y=\"%u\" font-size=\"11\">and %u more "
                "threads</text>\n",
                p->left, row_top(p, t->count) + 11, t->summary->threads - t->count);
    put_steals(p);
    put_axis(p, true);
    fputs("</svg>\n", p->out);
}

bool svg_put(FILE *out, struct trace *trace, struct names *names)
{
    struct columns *t = columns_make(trace);
    if (!t)
        return false;
    struct picture p = {.out = out, .trace = trace, .names = names, .t = t};
    measure(&p);
    put_picture(&p);
    columns_free(t);
    return true;
}
