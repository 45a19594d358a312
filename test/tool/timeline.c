/* SPDX-License-Identifier: MIT */
/* timeline.c: what the page of `weft trace --html` is made of, on traces made by hand: every
 * interval is somewhere, once; sums are of all of them; and there is never more than the headers
 * say. */
#include "timeline.h"
#include "check.h"
#include "html.h"
#include "made.h"

#include <sys/mman.h>
#include <unistd.h>

enum { MS = MADE_MS, THIEF = 0, OWNER = 1 };

static struct made made;
static FILE *file;
static char path[32];

static struct trace *open_made(void)
{
    char why[TRACE_WHY_SIZE];
    rewind(file);
    assert_int_equal(ftruncate(fileno(file), 0), 0);
    assert_int_equal(made_write(&made, file), 0);
    struct trace *trace = trace_open(path, why);
    if (!trace)
        fail_msg("%s", why);
    return trace;
}

static void close_all(struct trace *trace, struct timeline *t)
{
    timeline_free(t);
    trace_close(trace);
}

static const struct label *label_of(const struct timeline *t, enum weft_trace_kind kind, uint64_t a,
                                    const char *text)
{
    for (unsigned i = 1; i < t->labels.count; i++) {
        const struct label *label = &t->labels.list[i];
        bool same = text ? label->text && label->size == strlen(text) &&
                               memcmp(label->text, text, label->size) == 0
                         : label->a == a;
        if (label->kind == kind && same)
            return label;
    }
    fail_msg("no label of kind %d", kind);
    return NULL;
}

static void expect(const struct timeline *t, size_t at, unsigned thread, unsigned lane,
                   enum weft_trace_kind kind, uint64_t begin, uint64_t ns, uint64_t self, int from)
{
    const struct interval *one = &t->thin.list[at];
    assert_true(at < t->thin.count);
    assert_int_equal(one->thread, thread);
    assert_int_equal(one->lane, lane);
    assert_int_equal(t->labels.list[one->label].kind, kind);
    assert_int_equal(one->begin, begin);
    assert_int_equal(one->ns, ns);
    assert_int_equal(one->self, self);
    assert_int_equal(one->from, from);
    assert_int_equal(one->intervals, 1);
}

static void test_theft(void **state)
{
    made_theft(&made);
    struct trace *trace = open_made();
    struct timeline *t = timeline_make(trace);
    assert_int_equal(t->rows, 2);
    /* A sleep divides its search; a search in a wait is part of it. */
    expect(t, 0, THIEF, 0, WEFT_TRACE_SEARCH, 0, MS / 2, MS / 2, -1);
    expect(t, 1, THIEF, 0, WEFT_TRACE_SLEEP, MS / 2, MS, MS, -1);
    expect(t, 2, THIEF, 0, WEFT_TRACE_SEARCH, 3 * MS / 2, MS / 2, MS / 2, -1);
    expect(t, 3, THIEF, 0, WEFT_TRACE_JOB, 2 * MS, 8 * MS, 6 * MS, OWNER);
    expect(t, 4, THIEF, 0, WEFT_TRACE_SEARCH, 10 * MS, MS, MS, -1);
    expect(t, 5, THIEF, 0, WEFT_TRACE_SLEEP, 11 * MS, MS, MS, -1);
    expect(t, 7, THIEF, 1, WEFT_TRACE_SPAN, 3 * MS, 2 * MS, 2 * MS, -1);
    expect(t, 8, OWNER, 0, WEFT_TRACE_GUEST, 1 * MS, 10 * MS, 0, -1);
    expect(t, 9, OWNER, 1, WEFT_TRACE_JOB, 1 * MS, 10 * MS, 4 * MS, -1);
    expect(t, 10, OWNER, 2, WEFT_TRACE_WAIT, 4 * MS, 6 * MS, 6 * MS, -1);
    assert_int_equal(t->thin.count, 11);
    const struct label *g = label_of(t, WEFT_TRACE_JOB, MADE_G, NULL);
    assert_int_equal(g->count, 1);
    assert_int_equal(g->stolen, 1);
    assert_int_equal(g->total, 8 * MS);
    assert_int_equal(label_of(t, WEFT_TRACE_SLEEP, 0, "")->total, 2 * MS);
    close_all(trace, t);
}

static void test_arrows(void **state)
{
    made_theft(&made);
    struct trace *trace = open_made();
    struct timeline *t = timeline_make(trace);
    static const struct arrow wanted[] = {
        {ARROW_STEAL, OWNER, THIEF, 2 * MS, 2 * MS},
        {ARROW_WAKE, THIEF, OWNER, 10 * MS, 10 * MS},
        {ARROW_MERGE, THIEF, OWNER, 10 * MS, 10 * MS},
    };
    assert_int_equal(t->kept_count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(t->kept[i].kind, wanted[i].kind);
        assert_int_equal(t->kept[i].from, wanted[i].from);
        assert_int_equal(t->kept[i].to, wanted[i].to);
        assert_int_equal(t->kept[i].begin, wanted[i].begin);
        assert_int_equal(t->kept[i].end, wanted[i].end);
    }
    assert_int_equal(t->mark_count, 1);
    assert_int_equal(t->marks[0]->count, 2);
    assert_int_equal(t->marks[0]->points[TIMELINE_POINTS / 2].least, -3);
    double sums[ACTIVITIES] = {0};
    for (unsigned i = 0; i < TIMELINE_BINS; i++)
        for (unsigned k = 0; k < ACTIVITIES; k++)
            sums[k] += (double)t->bins[i][k] * 12 / TIMELINE_BINS;
    assert_in_range((uint64_t)(sums[BUSY] * 1000), 11990, 12010);
    assert_in_range((uint64_t)(sums[WAITING] * 1000), 5990, 6010);
    close_all(trace, t);
}

/* Of two jobs after one steal, the first was stolen. */
static void test_stolen(void **state)
{
    made_begin(&made, 10 * MS);
    made_record(&made, OWNER, 0, WEFT_TRACE_JOB, MADE_F, 0);
    made_record(&made, THIEF, 1 * MS, WEFT_TRACE_STEAL, MADE_FIRST + OWNER, MADE_WHOLE);
    for (unsigned i = 1; i <= 2; i++) {
        made_record(&made, THIEF, i * MS, WEFT_TRACE_JOB, MADE_G, 0);
        made_record(&made, THIEF, i * MS + 10, WEFT_TRACE_JOB_END, MADE_G, 0);
    }
    struct trace *trace = open_made();
    struct timeline *t = timeline_make(trace);
    expect(t, 0, THIEF, 0, WEFT_TRACE_JOB, 1 * MS, 10, 10, OWNER);
    expect(t, 1, THIEF, 0, WEFT_TRACE_JOB, 2 * MS, 10, 10, -1);
    assert_int_equal(label_of(t, WEFT_TRACE_JOB, MADE_G, NULL)->stolen, 1);
    close_all(trace, t);
}

static uint64_t flame_sum(const struct timeline *t)
{
    uint64_t sum = 0;
    for (unsigned i = 1; i < t->flame.count; i++) {
        assert_true(t->flame.nodes[i].parent < i);
        sum += t->flame.nodes[i].self;
    }
    return sum;
}

static void test_flame(void **state)
{
    made_theft(&made);
    struct trace *trace = open_made();
    struct timeline *t = timeline_make(trace);
    assert_int_equal(t->flame.count, FLAME_FULL + 1 + 4); /* G, G;part, F, F;wait */
    assert_int_equal(flame_sum(t), 18 * MS);
    close_all(trace, t);

    /* More stacks than there is room for: the time is in what is around them. */
    made_begin(&made, 1000 * MS);
    uint64_t now = 0;
    for (uint64_t i = 0; i < 100; i++)
        for (uint64_t k = 0; k < 100; k++, now += 10) {
            made_record(&made, 0, now, WEFT_TRACE_JOB, 0x1000 + i, 0);
            made_record(&made, 0, now + 2, WEFT_TRACE_JOB, 0x2000 + k, 0);
            made_record(&made, 0, now + 7, WEFT_TRACE_JOB_END, 0x2000 + k, 0);
            made_record(&made, 0, now + 9, WEFT_TRACE_JOB_END, 0x1000 + i, 0);
        }
    trace = open_made();
    t = timeline_make(trace);
    assert_int_equal(t->flame.count, FLAME_FULL + 1 + TABLE_ROWS_MOST);
    assert_true(t->flame.without > 0);
    assert_int_equal(flame_sum(t), 90000);
    close_all(trace, t);
}

/* ---- Too many intervals ---- */

static void test_reached(void **state)
{
    struct spread spread = {0};
    for (uint64_t i = 0; i < 10000; i++)
        spread_add(&spread, i);
    for (uint64_t count = 0; count < 10000; count += 7) {
        uint64_t value = spread_reached(&spread, count), exact = 10000 - count;
        assert_true(value >= exact); /* else more than `count` reach it */
        assert_true(value <= exact + exact / 8 + 1);
    }
    assert_int_equal(spread_reached(&spread, 10000), 0);
    spread_add(&spread, UINT64_MAX);
    assert_true(spread_reached(&spread, 0) == UINT64_MAX);
    assert_in_range(spread_reached(&spread, 1), 9999, 12000);
}

/* What is in a lane is inside one interval, not a run, of the lane above it. */
static void check_nesting(const struct thin *thin)
{
    for (size_t i = 0, first = 0, above = 0, end = 0; i < thin->count; i++) {
        const struct interval *one = &thin->list[i];
        const struct interval *lane = &thin->list[first];
        if (one->thread != lane->thread || one->lane != lane->lane) {
            assert_int_equal(one->lane, one->thread == lane->thread ? lane->lane + 1 : 0);
            above = first;
            end = first = i;
        }
        if (one->lane == 0)
            continue;
        const struct interval *outer = &thin->list[above];
        while (above + 1 < end && outer->begin + outer->ns < one->begin + one->ns)
            outer = &thin->list[++above];
        assert_true(outer->begin <= one->begin);
        assert_true(outer->begin + outer->ns >= one->begin + one->ns);
        assert_int_equal(outer->intervals, 1);
    }
}

/* Each interval is in the list once, alone or in a run; lanes have no overlaps; no more than said.
 */
static void check_thin(const struct timeline *t)
{
    const struct thin *thin = &t->thin;
    uint64_t intervals = 0, runs = 0;
    assert_true(thin->count <= THIN_MOST);
    assert_int_equal(thin->missing, 0);
    for (size_t i = 0; i < thin->count; i++) {
        const struct interval *one = &thin->list[i], *last = i > 0 ? one - 1 : one;
        intervals += one->intervals;
        runs += one->intervals > 1 ? one->intervals : 0;
        if (i > 0 && last->thread == one->thread && last->lane == one->lane)
            assert_true(one->begin >= last->begin + last->ns);
        if (one->intervals == 1 && thin->shortest == 0)
            assert_true(one->self <= one->ns);
    }
    assert_int_equal(intervals, thin->all.count);
    assert_int_equal(runs, thin->merged);
    check_nesting(thin);
}

static void test_many(void **state)
{
    enum { THREADS = 4, EACH = 100000 };
    made_many(&made, THREADS, EACH);
    struct trace *trace = open_made();
    struct timeline *t = timeline_make(trace);
    check_thin(t);
    assert_int_equal(t->thin.all.count, THREADS * (EACH + EACH / 1000 + 1 + 20));
    assert_true(t->thin.shortest > 20 && t->thin.shortest < 10000);
    assert_true(t->thin.merged >= THREADS * EACH * 99ul / 100);
    assert_true(t->thin.count > 1000);
    unsigned long_ones = 0, mostly_often = 0;
    for (size_t i = 0; i < t->thin.count; i++) {
        const struct interval *one = &t->thin.list[i];
        const struct label *label = &t->labels.list[one->label];
        long_ones += one->intervals == 1 && one->ns == MS - 10;
        mostly_often += one->intervals > 1 && label->text && label->size == 5;
    }
    assert_int_equal(long_ones, THREADS * 20);
    assert_true(mostly_often > 100);
    const struct label *seldom = label_of(t, WEFT_TRACE_SPAN, 0, "seldom");
    assert_int_equal(seldom->count, THREADS * ((EACH + 2) / 3));
    assert_int_equal(seldom->total, 20 * seldom->count);
    close_all(trace, t);
}

static uint64_t seed = 88172645463325252u;

static uint64_t noise(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (seed >> 20) % below;
}

/* Intervals of all lengths inside each other, in any order. */
static void test_noise(void **state)
{
    enum { THREADS = 3, EACH = 200000 };
    made_begin(&made, 1000 * MS);
    for (unsigned thread = 0; thread < THREADS; thread++) {
        uint64_t now = 0;
        unsigned depth = 0;
        for (unsigned i = 0; i < EACH; i++) {
            now += noise(4) ? noise(20) : (uint64_t)1 << noise(16);
            bool deeper = depth < 30 && noise(2);
            if (deeper)
                made_record(&made, thread, now, WEFT_TRACE_JOB, 1 + noise(9), 0);
            else if (depth > 0)
                made_record(&made, thread, now, WEFT_TRACE_JOB_END, 0, 0);
            depth = deeper ? depth + 1 : depth > 0 ? depth - 1 : 0;
        }
    }
    struct trace *trace = open_made();
    struct timeline *t = timeline_make(trace);
    assert_in_range(t->thin.all.count, THIN_MOST + 1, THREADS * EACH);
    check_thin(t);
    uint64_t self = 0;
    for (unsigned i = 0; i < t->labels.count; i++)
        self += t->labels.list[i].self;
    assert_int_equal(flame_sum(t), self);
    close_all(trace, t);
}

static void test_many_arrows(void **state)
{
    enum { COUNT = 3 * TIMELINE_ARROWS };
    made_begin(&made, COUNT * 10);
    for (uint64_t i = 0; i < COUNT; i++)
        made_record(&made, (unsigned)i % 2, i * 10, WEFT_TRACE_WAKE, MADE_FIRST + (i + 1) % 2, 0);
    struct trace *trace = open_made();
    struct timeline *t = timeline_make(trace);
    assert_int_equal(t->arrow_counts[ARROW_WAKE], COUNT);
    assert_true(t->kept_count > TIMELINE_ARROWS / 5 && t->kept_count <= TIMELINE_ARROWS);
    uint64_t last = t->kept[t->kept_count - 1].end;
    assert_true(last > COUNT * 9); /* they are from all of the time */
    close_all(trace, t);
}

/* ---- The page ---- */

/* `wanted`: is in it, or NULL. */
static size_t page_size(const char *wanted)
{
    struct trace *trace = open_made();
    struct names *names = names_open(trace);
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    assert_true(html_put(memory, trace, names));
    fclose(memory);
    if (wanted && !strstr(text, wanted))
        fail_msg("there is no %s", wanted);
    free(text);
    names_close(names);
    trace_close(trace);
    return size;
}

/* As large as a page can get: many intervals with long numbers, texts that are escaped byte by
 * byte, and as many of them as there are places. */
static void test_page_size(void **state)
{
    enum { TEXTS = 5000, GROUPS = 1450, DEPTH = 166 };
    char text[WEFT_TRACE_TEXT_MOST];
    uint64_t step = UINT64_C(1) << 41, now = 0;
    made_begin(&made, step * (GROUPS + 1));
    memset(text, 1, sizeof text);
    for (unsigned i = 0; i < TEXTS; i++) {
        memcpy(text, &i, sizeof i);
        enum weft_trace_kind kind = i % 100 ? WEFT_TRACE_SPAN : WEFT_TRACE_MARK;
        made_add(&made, 0, i, kind, UINT64_C(1) << 63, 0, text, sizeof text);
        if (kind == WEFT_TRACE_SPAN)
            made_record(&made, 0, i, WEFT_TRACE_SPAN_END, 0, 0);
    }
    for (unsigned i = 0; i < GROUPS; i++) {
        now += step;
        for (unsigned k = 0; k < DEPTH; k++)
            made_record(&made, 0, now + k, WEFT_TRACE_JOB, MADE_F, 0);
        for (unsigned k = 0; k < DEPTH; k++)
            made_record(&made, 0, now + step - DEPTH + k, WEFT_TRACE_JOB_END, MADE_F, 0);
    }
    size_t size = page_size("\"unit\":1,");
    assert_true(size > HTML_SIZE_MOST / 3); /* else it is not what it should be */
    assert_true(size < HTML_SIZE_MOST);
}

static void test_nothing(void **state)
{
    made_begin(&made, 0);
    page_size("\"threads\":[]");
    made_begin(&made, UINT64_MAX / 2); /* longer than JavaScript's numbers have digits */
    made_record(&made, 0, UINT64_C(1) << 55, WEFT_TRACE_JOB, MADE_F, 0);
    page_size("\"unit\":1000000,");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_theft),     cmocka_unit_test(test_arrows),
        cmocka_unit_test(test_flame),     cmocka_unit_test(test_many),
        cmocka_unit_test(test_stolen),    cmocka_unit_test(test_reached),
        cmocka_unit_test(test_noise),     cmocka_unit_test(test_many_arrows),
        cmocka_unit_test(test_page_size), cmocka_unit_test(test_nothing),
    };
    int fd = memfd_create("trace", MFD_CLOEXEC);
    file = fd < 0 ? NULL : fdopen(fd, "w+");
    if (!file)
        return 1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
