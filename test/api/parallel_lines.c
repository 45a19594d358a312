/* SPDX-License-Identifier: MIT */
/* parallel_lines.c: each line of a text once and whole, whatever the text looks like. */
#include "property.h"
#include "weft/lines.h"
#include "weft/parallel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A text without room behind it, so that a sanitizer sees who reads on. */
static weft_text any_text(struct dice *dice)
{
    size_t size = dice_size(dice, 100000), line = 1 + dice_size(dice, 20000);
    char *bytes = malloc(size ? size : 1);
    HOLDS(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = dice_below(dice, line) ? (char)('a' + dice_below(dice, 3)) : '\n';
    if (size && dice_below(dice, 2))
        bytes[size - 1] = '\n';
    if (size && dice_below(dice, 3) == 0)
        bytes[0] = '\n';
    return (weft_text){bytes, size};
}

static void text_drop(weft_text *text)
{
    free((void *)(uintptr_t)text->bytes);
}

struct seen {
    const weft_text *text;
    unsigned char *times; /* for each byte */
    atomic_size_t lines;
    bool slow;
};

static bool is_line_begin(const weft_text *text, const char *at)
{
    return at == text->bytes || at == text->bytes + text->size || at[-1] == '\n';
}

static void see_lines(weft *w, const char *begin, const char *end, void *arg)
{
    struct seen *seen = arg;
    weft_text line;
    HOLDS(begin < end && is_line_begin(seen->text, begin) && is_line_begin(seen->text, end));
    for (const char *at = begin; weft_line_next(&at, end, &line);) {
        HOLDS(!memchr(line.bytes, '\n', line.size));
        HOLDS(at == line.bytes + line.size || at[-1] == '\n');
        for (const char *byte = line.bytes; byte < at; byte++)
            seen->times[byte - seen->text->bytes]++;
        atomic_fetch_add(&seen->lines, 1);
        if (seen->slow)
            dawdle((size_t)(at - begin));
    }
}

static size_t count_lines(const weft_text *text)
{
    size_t n = text->size && text->bytes[text->size - 1] != '\n';
    for (size_t i = 0; i < text->size; i++)
        n += text->bytes[i] == '\n';
    return n;
}

static void lines(weft *w, struct dice *dice)
{
    weft_text text = any_text(dice);
    struct seen seen = {&text, calloc(text.size + 1, 1), 0, dice_below(dice, 2)};
    HOLDS(seen.times);
    weft_for_lines(w, &text, see_lines, &seen);
    for (size_t i = 0; i < text.size; i++)
        HOLDS(seen.times[i] == 1);
    HOLDS(atomic_load(&seen.lines) == count_lines(&text));
    free(seen.times);
    text_drop(&text);
}

static void lines_are_seen_once(void **state)
{
    property_holds(lines, SCALED(50, 5));
}

/* ---- Reductions: which lines, in which order ---- */

struct order {
    uint64_t hash, factor, lines;
};

struct ordering {
    const weft_text *text;
    bool slow;
    size_t stop; /* halts after so many */
};

static void order_add(struct order *order, uint64_t hash, uint64_t factor, uint64_t n)
{
    order->hash = order->hash * factor + hash;
    order->factor *= factor;
    order->lines += n;
}

static void fold_lines(weft *w, size_t begin, size_t end, void *accumulator, void *arg)
{
    const struct ordering *all = arg;
    const char *at = all->text->bytes + begin;
    weft_text line;
    HOLDS(begin < end && end <= all->text->size);
    while (weft_line_next(&at, all->text->bytes + end, &line)) {
        order_add(accumulator, line.size + 1, 0x9e3779b97f4a7c15u, 1);
        if (all->slow)
            dawdle(line.size);
    }
}

static void combine_orders(weft *w, void *left, const void *right, void *arg)
{
    const struct order *order = right;
    order_add(left, order->hash, order->factor, order->lines);
}

static bool has_enough(weft *w, const void *accumulator, void *arg)
{
    return ((const struct order *)accumulator)->lines >= ((const struct ordering *)arg)->stop;
}

static void reductions(weft *w, struct dice *dice)
{
    static const struct order none = {0, 1, 0};
    weft_text text = any_text(dice);
    struct ordering all = {&text, dice_below(dice, 2), 0};
    struct order result, expected = none;
    weft_reducer reducer = {.size = sizeof none,
                            .identity = &none,
                            .fold = fold_lines,
                            .combine = combine_orders,
                            .block = dice_size(dice, 300)};
    weft_reduce_lines(w, &text, &reducer, &all, &result);
    if (text.size)
        fold_lines(w, 0, text.size, &expected, &(struct ordering){&text, false, 0});
    HOLDS(memcmp(&result, &expected, sizeof result) == 0);
    reducer.halt = has_enough;
    all.stop = 1; /* block by block, from left to right */
    weft_reduce_lines(w, &text, &reducer, &all, &result);
    HOLDS((result.lines > 0) == (text.size > 0) && result.lines <= expected.lines);
    text_drop(&text);
}

static void reductions_keep_the_order(void **state)
{
    property_holds(reductions, SCALED(50, 5));
}

/* ---- Files ---- */

struct file {
    char path[64];
    weft_text content;
};

static void file_write(struct file *file, const char *bytes, size_t size)
{
    strcpy(file->path, "/tmp/weft-lines-XXXXXX");
    int fd = mkstemp(file->path);
    CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
    file->content = (weft_text){bytes, size};
}

static void file_job(weft *w, void *arg)
{
    struct file *file = arg;
    weft_text text;
    CHECK(weft_text_map(file->path, &text) == 0);
    CHECK(text.size == file->content.size);
    CHECK(text.size == 0 || memcmp(text.bytes, file->content.bytes, text.size) == 0);
    struct seen seen = {&text, calloc(text.size + 1, 1), 0, false};
    CHECK(seen.times);
    weft_for_lines(w, &text, see_lines, &seen);
    CHECK(atomic_load(&seen.lines) == count_lines(&file->content));
    free(seen.times);
    weft_text_unmap(&text);
    CHECK(!text.bytes && text.size == 0);
    weft_text_unmap(&text);
}

static void try_file(weft_pool *pool, const char *bytes, size_t size)
{
    struct file file;
    file_write(&file, bytes, size);
    CHECK(weft_run(pool, file_job, &file) == 0);
    unlink(file.path);
}

static void files_are_mapped(void **state)
{
    static char page[8192]; /* ends where a page does, without a newline */
    weft_pool *pool = pool_make(2, 0);
    try_file(pool, "", 0);
    try_file(pool, "\n", 1);
    try_file(pool, "no newline", 10);
    try_file(pool, "one\r\ntwo\r\n", 10);
    try_file(pool, "\n\n\nx\n", 5);
    memset(page, 'x', sizeof page);
    try_file(pool, page, sizeof page);
    for (size_t i = 0; i < sizeof page; i += 100)
        page[i] = '\n';
    try_file(pool, page, sizeof page);
    pool_drop(pool);
}

static void what_is_no_file_is_said(void **state)
{
    weft_text text;
    assert_int_equal(weft_text_map("/nowhere/at/all", &text), -ENOENT);
    assert_true(!text.bytes && text.size == 0);
    assert_int_equal(weft_text_map("/tmp", &text), -ENODEV);
    assert_true(!text.bytes && text.size == 0);
    assert_int_equal(weft_text_map("/dev/zero", &text), -ENODEV);
}

/* ---- Failing ---- */

static void fail_at_once(weft *w, const char *begin, const char *end, void *arg)
{
    weft_fail(w, -EDOM);
}

static void failing_job(weft *w, void *arg)
{
    weft_for_lines(w, arg, fail_at_once, NULL);
}

static void loops_of_lines_fail(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    weft_text text = {"a\nb\nc", 5};
    assert_int_equal(weft_run(pool, failing_job, &text), -EDOM);
    pool_drop(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_seen_once), cmocka_unit_test(reductions_keep_the_order),
        cmocka_unit_test(files_are_mapped),    cmocka_unit_test(what_is_no_file_is_said),
        cmocka_unit_test(loops_of_lines_fail),
    };
    return RUN_ON_ALL_ROADS(tests);
}
