/* SPDX-License-Identifier: MIT */
#include "lines.h"

#include "../contest.h"

#include <weft/lines.h>
#include <weft/parallel.h>

static void fold(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    const weft_text *text = arg;
    const char *at = text->bytes + begin;
    weft_text line;
    (void)w;
    while (weft_line_next(&at, text->bytes + end, &line))
        lines_add(accumulator, line.bytes, line.size);
}

static void combine(weft *w, void *left, const void *right, void *arg)
{
    (void)w;
    (void)arg;
    lines_combine(left, right);
}

static void job(weft *w, void *data)
{
    static const weft_reducer reducer = {
        .size = sizeof(struct lines_count), .fold = fold, .combine = combine};
    struct lines *lines = data;
    weft_text text = {lines->bytes, lines->size};
    weft_reduce_lines(w, &text, &reducer, &text, &lines->count);
}

static void run(weft_pool *pool, void *data)
{
    weft_run(pool, job, data);
}

const struct contest lines_contest = {
    .kernel = &lines_kernel,
    .weft = run,
    .what = "weft_reduce_lines, the words of 2^SIZE bytes",
    .operation = "byte",
    .size = 26,
    .quick = 17,
    .most = 40,
    .reps = 15,
    .claims = {.times_twin = 1.03, .share = 0.9},
};
