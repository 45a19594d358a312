/* SPDX-License-Identifier: MIT */
/* A text is a range of bytes, and is split like any other. A part has the lines that begin in it.
 * The beginning of its first line is searched for in that part only: so a line that is longer than
 * many parts is not read to its end by each of them. */
#include "parallel/reduce.h"

#include "core/misuse.h"
#include "os/file.h"
#include "parallel/for.h"
#include "parallel/state.h"
#include "parallel/unordered.h"
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

int weft_text_read(int fd, weft_text *text)
{
    if (!text)
        return -EINVAL;
    return weft__fd_read_all(fd, &text->bytes, &text->size);
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
    weft_lines_fn *body;            /* without a state, */
    weft_lines_state_fn *body_with; /* or with one */
    struct weft__states states;
    void *arg;
};

static void run_part(weft *w, size_t begin, size_t end, void *arg)
{
    const struct lines *lines = arg;
    const char *bytes = lines->text->bytes;
    if (lines_of(lines->text, &begin, &end))
        lines->body(w, bytes + begin, bytes + end, lines->arg);
}

static void for_lines(weft *w, struct lines *lines, weft_range_fn *run, weft__key *key)
{
    const struct weft__loop loop = {.body = run, .arg = lines, .key = key, .min = SHORTEST};
    if (lines->text->size > 0)
        weft__for(w, 0, lines->text->size, &loop);
}

void weft_for_lines(weft *w, const weft_text *text, weft_lines_fn *body, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(text, "a text");
    WEFT__NEEDS_ARRAY(text->bytes, text->size, 1);
    WEFT__NEEDS(body, "a function");
    for_lines(w, &(struct lines){.text = text, .body = body, .arg = arg}, run_part,
              WEFT__KEY(body));
}

static void run_part_with(weft *w, size_t begin, size_t end, void *arg)
{
    struct lines *lines = arg;
    const char *bytes = lines->text->bytes;
    if (!lines_of(lines->text, &begin, &end))
        return;
    struct weft__kept *kept = weft__state_take(w, &lines->states);
    if (!kept)
        return;
    lines->body_with(w, bytes + begin, bytes + end, kept->state, lines->arg);
    weft__state_give(kept);
}

void weft_for_lines_with(weft *w, const weft_text *text, const weft_state *state,
                         weft_lines_state_fn *body, void *arg)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(text, "a text");
    WEFT__NEEDS_ARRAY(text->bytes, text->size, 1);
    WEFT__NEEDS(state, "a state");
    WEFT__NEEDS(body, "a function");
    struct lines lines = {
        .text = text, .states = {.kind = state, .arg = arg}, .body_with = body, .arg = arg};
    weft__states_begin(w, &lines.states);
    for_lines(w, &lines, run_part_with, WEFT__KEY(body));
    weft__states_end(w, &lines.states);
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

static void make(weft *w, void *accumulator, void *arg)
{
    const struct reduction *all = arg;
    all->given->make(w, accumulator, all->arg);
}

static void drop(weft *w, void *accumulator, void *arg)
{
    const struct reduction *all = arg;
    all->given->drop(w, accumulator, all->arg);
}

static void move(weft *w, void *left, void *right, void *arg)
{
    const struct reduction *all = arg;
    all->given->move(w, left, right, all->arg);
}

/* The same reducer for bytes. */
static weft_reducer for_bytes(const weft_reducer *given)
{
    weft_reducer reducer = *given;
    reducer.fold = fold;
    reducer.combine = given->combine ? combine : NULL;
    reducer.halt = given->halt ? halt : NULL;
    reducer.make = given->make ? make : NULL;
    reducer.drop = given->drop ? drop : NULL;
    reducer.move = given->move ? move : NULL;
    reducer.block = given->block ? given->block : WEFT_LINES_BLOCK;
    return reducer;
}

void weft_reduce_lines(weft *w, const weft_text *text, const weft_reducer *given, void *arg,
                       void *result)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(text, "a text");
    WEFT__NEEDS_ARRAY(text->bytes, text->size, 1);
    weft__expect_reducer(given, result, __func__);
    const weft_reducer reducer = for_bytes(given);
    struct reduction all = {text, given, arg};
    weft__reduce(w, 0, text->size, &reducer, &all, result, WEFT__KEY(given->fold));
}

void weft_reduce_lines_unordered(weft *w, const weft_text *text, const weft_reducer *given,
                                 void *arg, void *result)
{
    WEFT__EXPECT_CONTEXT(w);
    WEFT__NEEDS(text, "a text");
    WEFT__NEEDS_ARRAY(text->bytes, text->size, 1);
    weft__expect_reducer(given, result, __func__);
    const weft_reducer reducer = for_bytes(given);
    struct reduction all = {text, given, arg};
    weft__reduce_unordered(w, 0, text->size, &reducer, &all, result, WEFT__KEY(given->fold));
}
