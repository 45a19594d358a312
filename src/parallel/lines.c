/* SPDX-License-Identifier: MIT */
/* A text is a range of bytes, and is split like any other. A part has the lines that begin in it.
 * The beginning of its first line is searched for in that part only: so a line that is longer than
 * many parts is not read to its end by each of them. */
#include "parallel/reduce.h"

#include "core/misuse.h"
#include "os/file.h"
#include "parallel/for.h"
#include "weft/lines.h"

#include <errno.h>
#include <string.h>

enum { SHORTEST = 64 }; /* bytes of a part: about a line */

int weft_text_map(const char *path, weft_text *text)
{
    if (!text || !path)
        return -EINVAL;
    return weft__file_map(path, &text->bytes, &text->size);
}

void weft_text_unmap(weft_text *text)
{
    WEFT__NEEDS(text, "a text");
    weft__file_unmap(text->bytes, text->size);
    *text = (weft_text){NULL, 0};
}

/* The first beginning of a line from `from` on; or `end`, if there is none before it. */
static size_t line_begin(const weft_text *text, size_t from, size_t end)
{
    if (from == 0 || from >= end)
        return from;
    const char *newline = memchr(text->bytes + from - 1, '\n', end - from);
    return newline ? (size_t)(newline - text->bytes) + 1 : end;
}

/* The lines that begin in a part; false: there are none. */
static bool lines_of(const weft_text *text, size_t *begin, size_t *end)
{
    *begin = line_begin(text, *begin, *end);
    if (*begin == *end)
        return false;
    *end = line_begin(text, *end, text->size);
    return true;
}

bool weft_line_next(const char **at, const char *end, weft_text *line)
{
    WEFT__NEEDS(at, "a place in the text");
    WEFT__NEEDS(line, "a place for the line");
    if (*at == end)
        return false;
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    line->bytes = *at;
    line->size = (size_t)((newline ? newline : end) - *at);
    *at = newline ? newline + 1 : end;
    return true;
}

/* ---- A loop ---- */

struct lines {
    const weft_text *text;
    weft_lines_fn *body;
    void *arg;
};

static void run_part(weft *w, size_t begin, size_t end, void *arg)
{
    const struct lines *lines = arg;
    const char *bytes = lines->text->bytes;
    if (lines_of(lines->text, &begin, &end))
        lines->body(w, bytes + begin, bytes + end, lines->arg);
}

void weft_for_lines(weft *w, const weft_text *text, weft_lines_fn *body, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(text, "a text");
    WEFT__NEEDS_ARRAY(text->bytes, text->size, 1);
    WEFT__NEEDS(body, "a function");
    struct lines lines = {text, body, arg};
    const struct weft__loop loop = {
        .body = run_part, .arg = &lines, .key = WEFT__KEY(body), .min = SHORTEST};
    if (text->size > 0)
        weft__for(w, 0, text->size, &loop);
}

/* ---- A reduction ---- */

struct reduction {
    const weft_text *text;
    const weft_reducer *given;
    void *arg;
};

static void fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    const struct reduction *all = arg;
    if (lines_of(all->text, &begin, &end))
        all->given->fold(w, begin, end, accumulator, all->arg);
}

static void combine(weft *w, void *left, const void *right, void *arg)
{
    const struct reduction *all = arg;
    all->given->combine(w, left, right, all->arg);
}

static bool halt(weft *w, const void *accumulator, void *arg)
{
    const struct reduction *all = arg;
    return all->given->halt(w, accumulator, all->arg);
}

void weft_reduce_lines(weft *w, const weft_text *text, const weft_reducer *given, void *arg,
                       void *result)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(text, "a text");
    WEFT__NEEDS_ARRAY(text->bytes, text->size, 1);
    weft__expect_reducer(given, result, __func__);
    struct reduction all = {text, given, arg};
    weft_reducer reducer = *given;
    reducer.fold = fold;
    reducer.combine = combine;
    reducer.halt = given->halt ? halt : NULL;
    reducer.block = given->block ? given->block : WEFT_LINES_BLOCK;
    weft__reduce(w, 0, text->size, &reducer, &all, result, WEFT__KEY(given->fold));
}
