/* SPDX-License-Identifier: MIT */
/* parallel_lines.c: each line of a text once and whole, whatever the text looks like. */
#include "property.h"
#include "weft/lines.h"
#include "weft/parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
    assert_int_equal(weft_text_read(-1, &text), -EBADF);
    assert_true(!text.bytes && text.size == 0);
    assert_int_equal(weft_text_read(0, NULL), -EINVAL);
}

/* Their size is 0, or a page, whatever is in them. */
static void files_of_the_kernel_are_read(void **state)
{
    weft_text text;
    assert_int_equal(weft_text_map("/proc/self/status", &text), 0);
    assert_true(text.size > 5 && memcmp(text.bytes, "Name:", 5) == 0);
    assert_true(text.bytes[text.size - 1] == '\n');
    weft_text_unmap(&text);
    assert_true(!text.bytes && text.size == 0);
    int error = weft_text_map("/sys/devices/system/cpu/online", &text);
    assert_true(error == 0 || error == -ENOENT);
    assert_true(error || (text.size >= 2 && text.bytes[text.size - 1] == '\n'));
    weft_text_unmap(&text);
}

/* ---- What comes from a descriptor ---- */

struct writer {
    int fd;
    const char *path; /* of a pipe that is to be opened; or NULL */
    const weft_text *text;
    uint64_t seed;
    size_t piece; /* bytes at a time, at most */
    pthread_t thread;
};

static void *write_pieces(void *arg)
{
    struct writer *writer = arg;
    struct dice dice = {writer->seed};
    if (writer->path)
        writer->fd = open(writer->path, O_WRONLY);
    CHECK(writer->fd >= 0);
    for (size_t at = 0; at < writer->text->size;) {
        size_t left = writer->text->size - at, size = 1 + dice_below(&dice, writer->piece);
        ssize_t wrote = write(writer->fd, writer->text->bytes + at, size < left ? size : left);
        CHECK(wrote > 0);
        at += (size_t)wrote;
    }
    close(writer->fd);
    return NULL;
}

/* The same text comes out of a pipe. Returns the end to read from. */
static int writer_start(struct writer *writer, const weft_text *text, struct dice *dice)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    *writer = (struct writer){.fd = ends[1], .text = text, .seed = dice_roll(dice)};
    writer->piece = 1 + dice_size(dice, 200000);
    CHECK(pthread_create(&writer->thread, NULL, write_pieces, writer) == 0);
    return ends[0];
}

struct arrived {
    atomic_size_t lines, bytes, sum;
    bool slow;
    int error;
};

/* Where a line stood is not known; but each byte counts, and each line is whole. */
static void add_lines(weft *w, const char *begin, const char *end, void *arg)
{
    struct arrived *arrived = arg;
    weft_text line;
    HOLDS(begin < end);
    while (weft_line_next(&begin, end, &line)) {
        uint64_t hash = line.size;
        for (size_t i = 0; i < line.size; i++)
            hash = (hash ^ (unsigned char)line.bytes[i]) * 0x100000001b3u;
        atomic_fetch_add(&arrived->lines, 1);
        atomic_fetch_add(&arrived->bytes, line.size);
        atomic_fetch_add(&arrived->sum, hash);
        if (arrived->slow)
            dawdle(line.size);
        if (arrived->error)
            weft_fail(w, arrived->error);
    }
}

static void streams(weft *w, struct dice *dice)
{
    weft_text text = any_text(dice), read;
    struct arrived arrived = {.slow = dice_below(dice, 2)}, expected = {.slow = false};
    struct writer writer;
    int fd = writer_start(&writer, &text, dice);
    if (dice_below(dice, 2))
        CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    if (dice_below(dice, 2)) {
        HOLDS(weft_for_lines_fd(w, fd, add_lines, &arrived) == 0);
    } else {
        HOLDS(weft_text_read(fd, &read) == 0);
        HOLDS(read.size == text.size && (!read.size || !memcmp(read.bytes, text.bytes, read.size)));
        weft_for_lines(w, &read, add_lines, &arrived);
        weft_text_unmap(&read);
    }
    close(fd);
    pthread_join(writer.thread, NULL);
    if (text.size)
        add_lines(w, text.bytes, text.bytes + text.size, &expected);
    HOLDS(arrived.lines == expected.lines && arrived.bytes == expected.bytes);
    HOLDS(arrived.sum == expected.sum);
    text_drop(&text);
}

static void lines_come_from_pipes(void **state)
{
    property_holds(streams, SCALED(50, 5));
}

/* The writer waits until the first line has been seen: it is not kept until others come. */
struct talk {
    int ends[2];
    atomic_int heard;
};

static void *say_two_lines(void *arg)
{
    struct talk *talk = arg;
    CHECK(write(talk->ends[1], "one\ntw", 6) == 6);
    while (atomic_load(&talk->heard) < 1)
        ;
    CHECK(write(talk->ends[1], "o", 1) == 1);
    close(talk->ends[1]);
    return NULL;
}

static void hear(weft *w, const char *begin, const char *end, void *arg)
{
    struct talk *talk = arg;
    const char *expected = atomic_fetch_add(&talk->heard, 1) ? "two" : "one\n";
    CHECK((size_t)(end - begin) == strlen(expected) && !memcmp(begin, expected, strlen(expected)));
}

static void listen_job(weft *w, void *arg)
{
    struct talk *talk = arg;
    CHECK(weft_for_lines_fd(w, talk->ends[0], hear, talk) == 0);
}

static void lines_are_seen_as_they_come(void **state)
{
    for (unsigned workers = 1; workers <= 2; workers++) {
        weft_pool *pool = pool_make(workers, 0);
        struct talk talk = {.heard = 0};
        pthread_t thread;
        CHECK(pipe(talk.ends) == 0);
        CHECK(pthread_create(&thread, NULL, say_two_lines, &talk) == 0);
        assert_int_equal(weft_run(pool, listen_job, &talk), 0);
        assert_int_equal(atomic_load(&talk.heard), 2);
        pthread_join(thread, NULL);
        close(talk.ends[0]);
        pool_drop(pool);
    }
}

/* Often: the writer may come before the reader, after it, or be gone before the reader looks. */
static void named_pipes_are_waited_for(void **state)
{
    char path[64];
    weft_text said = {"named\npipe\n", 11}, heard;
    snprintf(path, sizeof path, "/tmp/weft-pipe-%d", (int)getpid());
    for (int i = 0; i < SCALED(300, 50); i++) {
        unlink(path);
        assert_int_equal(mkfifo(path, 0600), 0);
        struct writer writer = {-1, path, &said, 1, i % 2 ? 3 : 100, 0};
        assert_int_equal(pthread_create(&writer.thread, NULL, write_pieces, &writer), 0);
        assert_int_equal(weft_text_map(path, &heard), 0);
        pthread_join(writer.thread, NULL);
        assert_int_equal(heard.size, said.size);
        assert_memory_equal(heard.bytes, said.bytes, said.size);
        weft_text_unmap(&heard);
        unlink(path);
    }
}

static void stream_errors_job(weft *w, void *arg)
{
    struct arrived arrived = {.error = -EDOM};
    int file = open("/proc/self/status", O_RDONLY), ends[2];
    CHECK(weft_for_lines_fd(w, -1, add_lines, &arrived) == -EBADF);
    CHECK(weft_for_lines_fd(w, file, NULL, NULL) == -EINVAL);
    CHECK(weft_for_lines_fd(w, file, add_lines, &arrived) == -EDOM);
    close(file);
    CHECK(pipe(ends) == 0);
    close(ends[1]);
    CHECK(weft_for_lines_fd(w, ends[0], add_lines, &arrived) == 0); /* nothing */
    close(ends[0]);
    CHECK(!weft_cancelled(w));
}

static void streams_fail(void **state)
{
    weft_pool *pool = pool_make(2, 0);
    assert_int_equal(weft_run(pool, stream_errors_job, NULL), 0);
    pool_drop(pool);
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
        cmocka_unit_test(lines_are_seen_once),
        cmocka_unit_test(reductions_keep_the_order),
        cmocka_unit_test(files_are_mapped),
        cmocka_unit_test(what_is_no_file_is_said),
        cmocka_unit_test(loops_of_lines_fail),
        cmocka_unit_test(files_of_the_kernel_are_read),
        cmocka_unit_test(lines_come_from_pipes),
        cmocka_unit_test(lines_are_seen_as_they_come),
        cmocka_unit_test(named_pipes_are_waited_for),
        cmocka_unit_test(streams_fail),
    };
    return RUN_ON_ALL_ROADS(tests);
}
