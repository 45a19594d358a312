/* SPDX-License-Identifier: MIT */
#include "words.h"

#include "../contest.h"

#include <weft/lines.h>
#include <weft/parallel.h>

static void fold(weft *w, size_t begin, size_t end, void *table, void *arg)
{
    const weft_text *text = arg;
    (void)w;
    words_add(table, text->bytes + begin, text->bytes + end);
}

static void move(weft *w, void *left, void *right, void *arg)
{
    (void)w;
    (void)arg;
    words_move(left, right);
}

static void drop(weft *w, void *table, void *arg)
{
    (void)w;
    (void)arg;
    words_free(table);
}

static void job(weft *w, void *data)
{
    static const weft_reducer reducer = {
        .size = sizeof(struct words_table), .fold = fold, .drop = drop, .move = move};
    struct words *words = data;
    weft_text text = {words->bytes, words->size};
    weft_reduce_lines_unordered(w, &text, &reducer, &text, &words->table);
}

static void run(weft_pool *pool, void *data)
{
    weft_run(pool, job, data);
}

const struct contest words_contest = {
    .kernel = &words_kernel,
    .weft = run,
    .what = "weft_reduce_lines_unordered, how often each word occurs in SIZE MB",
    .operation = "byte",
    .size = 200,
    .quick = 1,
    .most = 4000,
    .reps = 7,
    .claims = {.times_twin = 1.03, .share = 0.9},
};
