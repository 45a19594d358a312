/* SPDX-License-Identifier: MIT */
/* trace.c: the parts of `weft trace` on files made by hand, in which every moment is known; then on
 * the same files cut off at every place that matters, and with noise in them. */
#include "handmade.h"
#include "html.h"
#include "perfetto.h"
#include "report.h"
#include "svg.h"

#include <stdlib.h>

/* MAIN runs F from 1 to 11 ms and waits from 4 ms on; THIEF runs G, stolen at 2 ms, until 10 ms. */
static void make_theft(void)
{
    begin_file(12 * MS);
    struct weft_trace_block *main = begin_block(MAIN, 1), *thief = begin_block(THIEF, 1);
    record(main, 1 * MS, WEFT_TRACE_GUEST, 0, 0);
    record(main, 1 * MS, WEFT_TRACE_JOB, F, 0);
    record_text(main, 4 * MS, WEFT_TRACE_WAIT, WHOLE, "waits for a right side");
    record(main, 4 * MS, WEFT_TRACE_SEARCH, 0, 0);
    record(main, 10 * MS, WEFT_TRACE_SEARCH_END, 0, 0);
    record(main, 10 * MS, WEFT_TRACE_WAIT_END, WHOLE, 0);
    record(main, 11 * MS, WEFT_TRACE_JOB_END, F, 0);
    record(main, 11 * MS, WEFT_TRACE_GUEST_END, 0, 0);
    record(thief, 1 * MS, WEFT_TRACE_SEARCH, 0, 0);
    record(thief, 2 * MS, WEFT_TRACE_SEARCH_END, 0, 0);
    record(thief, 2 * MS, WEFT_TRACE_STEAL, MAIN, WHOLE);
    record(thief, 2 * MS, WEFT_TRACE_JOB, G, WHOLE);
    record_text(thief, 3 * MS, WEFT_TRACE_SPAN, 0, "part");
    record(thief, 5 * MS, WEFT_TRACE_SPAN_END, 0, 0);
    record_text(thief, 6 * MS, WEFT_TRACE_MARK, (uint64_t)-3, "level");
    record(thief, 10 * MS, WEFT_TRACE_JOB_END, G, 0);
    record(thief, 10 * MS, WEFT_TRACE_SEARCH, 0, 0);
    record(thief, 11 * MS, WEFT_TRACE_SLEEP, 0, 0);
}

/* ---- What it says ---- */

static void test_events(void **state)
{
    make_theft();
    struct trace *trace = open_file();
    const struct trace_info *info = trace_about(trace);
    assert_true(info->ended);
    assert_false(info->cut);
    assert_int_equal(info->threads, 2);
    assert_int_equal(info->ns, 12 * MS);
    assert_string_equal(trace_thread(trace, 0)->name, "thread-90");
    assert_int_equal(trace_find_thread(trace, THIEF), 0);
    assert_int_equal(trace_find_thread(trace, 99), -1);
    assert_int_equal(trace_find_thread(trace, 1u << 31), -1);
    struct trace_event event;
    uint64_t last = 0, count = 0;
    for (; trace_next(trace, &event); count++) {
        assert_true(event.ns >= last);
        last = event.ns;
        if (event.kind == WEFT_TRACE_SPAN)
            assert_memory_equal(event.text, "part", event.size);
        if (event.kind == WEFT_TRACE_MARK)
            assert_int_equal((int64_t)event.a, -3);
    }
    assert_int_equal(count, 18);
    assert_int_equal(info->bad, 0);
    trace_close(trace);
}

static void test_summary(void **state)
{
    make_theft();
    struct trace *trace = open_file();
    struct summary *s = summary_make(trace);
    assert_int_equal(s->active, 10 * MS);
    assert_int_equal(s->area, 12 * MS);    /* 3 and 1 of F, 8 of G */
    assert_int_equal(s->path.ns, 10 * MS); /* 1 of F, 8 of G, 1 of F */
    assert_int_equal(s->path.parts[0].function, F);
    assert_int_equal(s->path.parts[0].ns, 2 * MS);
    assert_int_equal(s->path.parts[1].ns, 8 * MS);
    assert_int_equal(s->strands[1].time[BUSY], 4 * MS);
    assert_int_equal(s->strands[1].time[WAITING], 6 * MS);
    assert_int_equal(s->strands[0].time[BUSY], 8 * MS);
    assert_int_equal(s->strands[0].time[SEARCHING], 2 * MS);
    assert_int_equal(s->levels[1], 8 * MS);
    assert_int_equal(s->levels[2], 2 * MS);
    assert_int_equal(s->alone, 2 * MS); /* before the theft, and after the wait */
    assert_int_equal(s->lonely.ns, 6 * MS);
    assert_int_equal(s->lonely.ended, G);
    assert_int_equal(s->lonely.ender, 0);
    assert_int_equal(s->stolen.count, 1);
    assert_int_equal(s->workers, 1);
    assert_int_equal(s->guests, 1);
    assert_int_equal(table_row(&s->spans, table_key("part", 4))->total, 2 * MS);
    summary_free(s);
    trace_close(trace);
}

/* A job is blocked from 2 to 9 ms. Who ends that: a job, a thread outside, or nobody known? */
static void make_block(bool by_job, bool known)
{
    begin_file(10 * MS);
    struct weft_trace_block *main = begin_block(MAIN, 1), *other = begin_block(OTHER, 1);
    record(main, 0, WEFT_TRACE_JOB, F, 0);
    record_text(main, 2 * MS, WEFT_TRACE_BLOCK, 0x900, "waits for event 'e'");
    record(main, 9 * MS, WEFT_TRACE_BLOCK_END, 0, 0);
    record(main, 10 * MS, WEFT_TRACE_JOB_END, F, 0);
    if (by_job)
        record(other, 4 * MS, WEFT_TRACE_JOB, G, 0);
    if (known)
        record(other, 9 * MS, WEFT_TRACE_WAKE, MAIN, 0);
    if (by_job)
        record(other, 9 * MS, WEFT_TRACE_JOB_END, G, 0);
}

static void expect_block(bool by_job, bool known, uint64_t path_ns, bool outside)
{
    make_block(by_job, known);
    struct trace *trace = open_file();
    struct summary *s = summary_make(trace);
    assert_int_equal(s->path.ns, path_ns);
    assert_int_equal(s->blocks[0].ns, 7 * MS);
    assert_int_equal(s->blocks[0].outside, outside);
    assert_int_equal(s->strands[by_job || known].time[BLOCKED], 7 * MS);
    assert_int_equal(table_row(&s->objects, 0x900)->outside, outside ? 7 * MS : 0);
    summary_free(s);
    trace_close(trace);
}

static void test_block(void **state)
{
    expect_block(true, true, 6 * MS, false); /* 5 of G, 1 of F */
    expect_block(false, true, 10 * MS, true);
    expect_block(false, false, 10 * MS, false);
}

/* The job that a wait is for ends at 5 ms, the wait at 9 ms; from 3 to 4 ms the waiter runs
 * another. */
static void test_late(void **state)
{
    begin_file(10 * MS);
    struct weft_trace_block *main = begin_block(MAIN, 1), *thief = begin_block(THIEF, 1);
    record(main, 0, WEFT_TRACE_JOB, F, 0);
    record_text(main, 2 * MS, WEFT_TRACE_WAIT, WHOLE, "waits for a right side");
    record(main, 3 * MS, WEFT_TRACE_JOB, F, 0);
    record(main, 4 * MS, WEFT_TRACE_JOB_END, F, 0);
    record(main, 4 * MS, WEFT_TRACE_SEARCH, 0, 0);
    record(main, 9 * MS, WEFT_TRACE_SEARCH_END, 0, 0);
    record(main, 9 * MS, WEFT_TRACE_WAIT_END, WHOLE, 0);
    record(main, 10 * MS, WEFT_TRACE_JOB_END, F, 0);
    record(thief, 1 * MS, WEFT_TRACE_STEAL, MAIN, WHOLE);
    record(thief, 1 * MS, WEFT_TRACE_JOB, G, WHOLE);
    record(thief, 5 * MS, WEFT_TRACE_JOB_END, G, 0);
    struct trace *trace = open_file();
    struct summary *s = summary_make(trace);
    assert_int_equal(s->waits[0].ns, 6 * MS);
    assert_int_equal(s->late.total, 4 * MS);
    assert_int_equal(s->lonely.ns, 3 * MS);
    assert_int_equal(s->path.ns, 6 * MS); /* 1 of F, 4 of G, 1 of F */
    summary_free(s);
    trace_close(trace);

    /* Not late: the waiter was busy with another job. */
    struct weft_trace_record *records = (struct weft_trace_record *)(main + 1);
    records[4].head = (uint64_t)(8.5 * MS) << 8 | WEFT_TRACE_JOB_END;
    records[5].head = (uint64_t)(8.5 * MS) << 8 | WEFT_TRACE_SEARCH;
    trace = open_file();
    s = summary_make(trace);
    assert_int_equal(s->late.total, MS / 2);
    assert_int_equal(s->path.ns, 15 * MS / 2); /* 2 of F, then the other job; not what follows */
    summary_free(s);
    trace_close(trace);
}

static void test_submission(void **state)
{
    begin_file(10 * MS);
    struct weft_trace_block *main = begin_block(MAIN, 1), *worker = begin_block(THIEF, 1);
    record(main, 0, WEFT_TRACE_JOB, F, 0);
    record(main, 1 * MS, WEFT_TRACE_SUBMIT, G, 0xabc0);
    record(main, 6 * MS, WEFT_TRACE_JOB_END, F, 0);
    record(worker, 4 * MS, WEFT_TRACE_TASK, 0, 0xabc0);
    record(worker, 4 * MS, WEFT_TRACE_JOB, G, 0);
    record(worker, 10 * MS, WEFT_TRACE_JOB_END, G, 0);
    struct trace *trace = open_file();
    struct summary *s = summary_make(trace);
    assert_int_equal(s->submitted, 1);
    assert_int_equal(s->queued.most, 3 * MS);
    assert_int_equal(s->path.ns, 7 * MS); /* 1 of F, then G */
    summary_free(s);
    trace_close(trace);
}

/* Blocks of a thread may lie in any order; ends without beginnings, and beginnings without ends,
 * are what a file has that was full, or whose program was killed. */
static void test_order(void **state)
{
    begin_file(10 * MS);
    struct weft_trace_block *second = begin_block(MAIN, 2), *first = begin_block(MAIN, 1);
    record(first, 1 * MS, WEFT_TRACE_JOB_END, F, 0);
    record(first, 2 * MS, WEFT_TRACE_JOB, G, 0);
    record(second, 5 * MS, WEFT_TRACE_JOB_END, G, 0);
    record(second, 6 * MS, WEFT_TRACE_SPAN_END, 0, 0);
    record(second, 6 * MS, WEFT_TRACE_JOB, F, 0);
    file.header.state = WEFT_TRACE_RUNNING;
    file.header.lost = 5;
    struct trace *trace = open_file();
    struct summary *s = summary_make(trace);
    assert_false(trace_about(trace)->ended);
    assert_int_equal(trace_about(trace)->lost, 5);
    assert_int_equal(s->area, 7 * MS);
    assert_int_equal(s->functions.count, 2);
    summary_free(s);
    trace_close(trace);
}

/* A program may end a span that it began in another job, or never. A text may be longer than what
 * is used of its block. */
static void test_wrong(void **state)
{
    begin_file(10 * MS);
    struct weft_trace_block *main = begin_block(MAIN, 1);
    record_text(main, 0, WEFT_TRACE_SPAN, 0, "outer");
    record(main, 1 * MS, WEFT_TRACE_JOB, F, 0);
    record(main, 2 * MS, WEFT_TRACE_SPAN_END, 0, 0);
    record(main, 5 * MS, WEFT_TRACE_JOB_END, F, 0);
    record(main, 6 * MS, WEFT_TRACE_SPAN_END, 0, 0);
    record_text(main, 7 * MS, WEFT_TRACE_MARK, 1, "longer than one record is");
    main->used--;
    struct trace *trace = open_file();
    struct summary *s = summary_make(trace);
    assert_int_equal(s->area, 4 * MS);
    assert_int_equal(table_row(&s->spans, table_key("outer", 5))->total, 6 * MS);
    assert_int_equal(s->marks.count, 0);
    assert_true(trace_about(trace)->bad > 0);
    summary_free(s);
    trace_close(trace);
}

/* More jobs inside each other than are kept. */
static void test_deep(void **state)
{
    enum { IN_BLOCK = 160 };
    begin_file(10 * MS);
    for (unsigned i = 0; i < 4; i++) {
        struct weft_trace_block *block = begin_block(MAIN, i + 1);
        for (uint64_t k = 0; k < IN_BLOCK; k++)
            record(block, i * IN_BLOCK + k, i < 2 ? WEFT_TRACE_JOB : WEFT_TRACE_JOB_END, F, 0);
    }
    struct trace *trace = open_file();
    struct summary *s = summary_make(trace);
    assert_int_equal(s->strands[0].stack.room, 256);
    assert_int_equal(s->strands[0].stack.deeper, 0);
    assert_int_equal(s->active, 4 * IN_BLOCK - 1);
    summary_free(s);
    trace_close(trace);
}

static void test_median(void **state)
{
    struct spread spread = {0};
    for (uint64_t i = 0; i < 101; i++)
        spread_add(&spread, i * 1000);
    uint64_t median = spread_median(&spread);
    assert_true(median > 45000 && median < 57000);
    assert_int_equal(spread.most, 100000);
}

/* ---- Files that are cut off, or noise ---- */

/* Everything that reads it, on whatever it is. */
static bool read_all(void)
{
    char why[TRACE_WHY_SIZE];
    struct trace *trace = trace_open(file_path, why);
    static FILE *nowhere;
    if (!trace) {
        assert_true(why[0]);
        return false;
    }
    if (!nowhere)
        nowhere = fopen("/dev/null", "we");
    struct names *names = names_open(trace);
    struct summary *summary = summary_make(trace);
    report_put(nowhere, summary, names, true);
    assert_true(perfetto_put(nowhere, trace, names));
    assert_true(svg_put(nowhere, trace, names));
    static unsigned count; /* one in four: it reads the trace three times */
    if (count++ % 4 == 0)
        assert_true(html_put(nowhere, trace, names));
    summary_free(summary);
    names_close(names);
    trace_close(trace);
    return true;
}

/* The file with modules, too. */
static void make_rich(void)
{
    make_theft();
    struct weft_trace_block *modules = block_at((unsigned)file.header.blocks++);
    modules->kind = WEFT_TRACE_MODULES;
    char *text = (char *)(modules + 1);
    modules->used = (uint32_t)sprintf(
        text, "00001000-00003000 r-xp 00001000 08:01 12 /bin/sh\n4000-3000 r-xp nonsense\n%s",
        "1-");
}

static void test_cut(void **state)
{
    make_rich();
    size_t header = sizeof file.header, page = WEFT_TRACE_HEADER_SIZE;
    for (size_t size = 0; size < page + 1000; size += size < header || size >= page ? 1 : 64) {
        write_file(size);
        assert_int_equal(read_all(), size >= header);
    }
    for (unsigned i = 0; i < file.header.blocks; i++)
        for (size_t size = 0; size < 600; size += SANITIZED ? 5 : 1) {
            write_file(page + i * BLOCK + size);
            assert_true(read_all());
        }
}

static uint64_t seed = 88172645463325252u;

static uint64_t noise(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

/* Where something is: the header, the head of a block, its first records. */
static size_t somewhere(void)
{
    size_t block = WEFT_TRACE_HEADER_SIZE + noise(3) * BLOCK;
    switch (noise(3)) {
    case 0:
        return 8 + noise(sizeof file.header - 8);
    case 1:
        return block + noise(sizeof(struct weft_trace_block));
    default:
        return block + sizeof(struct weft_trace_block) + noise(700);
    }
}

static void test_noise(void **state)
{
    int read = 0;
    for (int i = 0; i < SCALED(4000, 2); i++) {
        make_rich();
        for (uint64_t n = 1 + noise(8); n > 0; n--) {
            static const unsigned char likely[] = {0, 1, 2, 255, 128, 127};
            bool any = noise(2);
            file.bytes[somewhere()] = (char)(any ? noise(256) : likely[noise(sizeof likely)]);
        }
        write_file(WEFT_TRACE_HEADER_SIZE + 3 * BLOCK - noise(2) * noise(16000));
        read += read_all();
    }
    assert_true(read > SCALED(4000, 2) / 4); /* else it tests the header only */
}

/* Blocks full of noise behind good heads. */
static void test_all_noise(void **state)
{
    for (int i = 0; i < 20; i++) {
        make_rich();
        for (unsigned k = 0; k < 3; k++) {
            block_at(k)->used = 160;
            for (size_t n = 0; n < 160 * sizeof(struct weft_trace_record); n++)
                ((char *)(block_at(k) + 1))[n] = (char)(n % 24 == 0 ? noise(30) : noise(256));
            for (size_t n = 0; n < 160 && noise(2); n++)
                ((struct weft_trace_record *)(block_at(k) + 1))[n].head &= 0xffffff1f;
        }
        write_file(file_size());
        assert_true(read_all());
    }
}

static void test_header(void **state)
{
    static const struct {
        size_t offset;
        uint32_t value;
    } wrong[] = {
        {0, 0},
        {offsetof(struct weft_trace_header, byte_order), 0x04030201},
        {offsetof(struct weft_trace_header, version), 99},
        {offsetof(struct weft_trace_header, block_size), 0},
        {offsetof(struct weft_trace_header, block_size), 64},
        {offsetof(struct weft_trace_header, block_size), UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        make_rich();
        memcpy(file.bytes + wrong[i].offset, &wrong[i].value, sizeof wrong[i].value);
        write_file(file_size());
        assert_false(read_all());
    }
    make_rich();
    file.header.blocks = UINT64_MAX; /* many more than there are */
    file.header.last = (struct weft_trace_moment){0, 0};
    write_file(WEFT_TRACE_HEADER_SIZE + 3 * BLOCK);
    assert_true(read_all());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events), cmocka_unit_test(test_summary),
        cmocka_unit_test(test_block),  cmocka_unit_test(test_submission),
        cmocka_unit_test(test_late),   cmocka_unit_test(test_order),
        cmocka_unit_test(test_median), cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_deep),   cmocka_unit_test(test_cut),
        cmocka_unit_test(test_noise),  cmocka_unit_test(test_all_noise),
        cmocka_unit_test(test_header),
    };
    return make_file() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
