/* SPDX-License-Identifier: MIT */
/* paths.c: what comes after what, in traces made by hand: scopes, merges that need not wait, jobs
 * that a thread runs while it waits; and records that are strange, but fine. */
#include "handmade.h"

#include <stdlib.h>

enum { SCOPE = 0x8000, H = 0x3000, MUTEX = 0x9000, ACTOR = 0xa000 };

/* Opens the file and makes its summary; `end` frees both. */
static struct summary *begin(void)
{
    struct trace *trace = open_file();
    struct summary *s = summary_make(trace);
    assert_int_equal(trace_about(trace)->bad, 0);
    return s;
}

static void end(struct summary *s)
{
    struct trace *trace = s->trace;
    summary_free(s);
    trace_close(trace);
}

static void child(struct weft_trace_block *block, uint64_t from, uint64_t to, uint64_t fn)
{
    record(block, from, WEFT_TRACE_STEAL, MAIN, SCOPE);
    record(block, from, WEFT_TRACE_JOB, fn, SCOPE);
    record(block, to, WEFT_TRACE_JOB_END, fn, 0);
}

/* F spawns at 1 ms, and waits from 3 to 8 ms. Two thieves have one child each: from 1 to 8 and from
 * 2 to 4 ms. What follows the wait comes after the longer one, though the wait knows neither. */
static void test_scope(void **state)
{
    begin_file(10 * MS);
    struct weft_trace_block *main = begin_block(MAIN, 1), *one = begin_block(THIEF, 1),
                            *two = begin_block(OTHER, 1);
    record(main, 0, WEFT_TRACE_JOB, F, 0x10);
    record_text(main, 3 * MS, WEFT_TRACE_WAIT, SCOPE, "waits for children of its scope");
    record(main, 8 * MS, WEFT_TRACE_WAIT_END, SCOPE, 0);
    record(main, 10 * MS, WEFT_TRACE_JOB_END, F, 0);
    child(one, 1 * MS, 8 * MS, G);
    child(two, 2 * MS, 4 * MS, H);
    struct summary *s = begin();
    assert_int_equal(s->path.ns, 10 * MS); /* 1 of F, 7 of G, 2 of F */
    assert_int_equal(s->area, 14 * MS);
    assert_int_equal(s->waits[0].ended, G);
    end(s);
}

/* The last job that ends during the wait has nothing to do with it: the child has ended before. */
static void test_other_job(void **state)
{
    begin_file(10 * MS);
    struct weft_trace_block *main = begin_block(MAIN, 1), *one = begin_block(THIEF, 1),
                            *two = begin_block(OTHER, 1);
    record(main, 0, WEFT_TRACE_JOB, F, 0x10);
    record_text(main, 3 * MS, WEFT_TRACE_WAIT, SCOPE, "waits for children of its scope");
    record(main, 5 * MS, WEFT_TRACE_WAIT_END, SCOPE, 0);
    record(main, 6 * MS, WEFT_TRACE_JOB_END, F, 0);
    child(one, 1 * MS, 4 * MS, G);
    record(two, 0, WEFT_TRACE_JOB, H, 0x20);
    record(two, 5 * MS - 1, WEFT_TRACE_JOB_END, H, 0);
    struct summary *s = begin();
    assert_int_equal(s->path.ns, 5 * MS); /* 1 of F, 3 of G, 1 of F; H alone is a little shorter */
    assert_int_equal(s->waits[0].ended, G);
    end(s);
}

/* F is blocked for long, so its own path is short when it closes the scope; the child has ended
 * long before, and was longer. */
static void make_join(bool joins)
{
    begin_file(20 * MS);
    struct weft_trace_block *main = begin_block(MAIN, 1), *one = begin_block(THIEF, 1);
    record(main, 0, WEFT_TRACE_JOB, F, 0x10);
    record(main, MS / 2, WEFT_TRACE_SUBMIT, H, 0x60);
    record_text(main, 1 * MS, WEFT_TRACE_WAIT, 0x50, "waits for a task");
    record(main, 11 * MS, WEFT_TRACE_WAIT_END, 0x50, 0);
    if (joins)
        record(main, 12 * MS, WEFT_TRACE_JOIN, SCOPE, 0);
    record(main, 15 * MS, WEFT_TRACE_JOB_END, F, 0);
    child(one, 1 * MS - 1, 9 * MS - 1, G);
    record(one, 10 * MS, WEFT_TRACE_TASK, 0, 0x60);
    record(one, 10 * MS, WEFT_TRACE_JOB, H, 0x50); /* what the first wait was for */
    record(one, 11 * MS, WEFT_TRACE_JOB_END, H, 0);
}

static void test_join(void **state)
{
    make_join(true);
    struct summary *s = begin();
    assert_int_equal(s->path.ns, 12 * MS - 1); /* 1 of F, 8 of G, 3 of F */
    end(s);
    make_join(false);
    s = begin();
    assert_int_equal(s->path.ns, 9 * MS - 1); /* 1 of F, 8 of G: F seems to come after H only */
    end(s);
}

/* Two jobs one after the other while F waits for a third: neither comes after the other, and what
 * follows comes after none of them. */
static void test_jobs_in_wait(void **state)
{
    begin_file(20 * MS);
    struct weft_trace_block *main = begin_block(MAIN, 1), *one = begin_block(THIEF, 1);
    record(main, 0, WEFT_TRACE_JOB, F, 0x10);
    record_text(main, 2 * MS, WEFT_TRACE_WAIT, WHOLE, "waits for a right side");
    record(main, 2 * MS, WEFT_TRACE_JOB, H, 0x20);
    record(main, 5 * MS, WEFT_TRACE_JOB_END, H, 0);
    record(main, 5 * MS, WEFT_TRACE_JOB, H, 0x30);
    record(main, 9 * MS, WEFT_TRACE_JOB_END, H, 0);
    record(main, 10 * MS, WEFT_TRACE_WAIT_END, WHOLE, 0);
    record(main, 11 * MS, WEFT_TRACE_JOB_END, F, 0);
    record(one, 1 * MS, WEFT_TRACE_STEAL, MAIN, WHOLE);
    record(one, 1 * MS, WEFT_TRACE_JOB, G, WHOLE);
    record(one, 4 * MS, WEFT_TRACE_JOB_END, G, 0);
    struct summary *s = begin();
    assert_int_equal(s->path.ns, 6 * MS); /* 2 of F, 4 of H; or 1 of F, 3 of G, 1 of F */
    end(s);

    /* If both are children that the wait is for, what follows comes after the longer one. */
    struct weft_trace_record *records = (struct weft_trace_record *)(main + 1);
    for (uint32_t i = 0; i < main->used; i++)
        if ((records[i].head & 127) == WEFT_TRACE_JOB && records[i].a == H)
            records[i].b = WHOLE;
    s = begin();
    assert_int_equal(s->path.ns, 7 * MS);
    end(s);
}

/* What a thread hopes to get soon is not work. Two threads, three times: one has got it. */
static void test_spin(void **state)
{
    begin_file(10 * MS);
    struct weft_trace_block *main = begin_block(MAIN, 1), *other = begin_block(OTHER, 1);
    record(main, 0, WEFT_TRACE_JOB, F, 0x10);
    record(main, 1 * MS, WEFT_TRACE_SPIN, MUTEX, 0);
    record(main, 2 * MS, WEFT_TRACE_SPIN_END, MUTEX, 0);
    record_text(main, 2 * MS, WEFT_TRACE_BLOCK, MUTEX, "waits for mutex 'm'");
    record(main, 5 * MS, WEFT_TRACE_BLOCK_END, 0, 0);
    record(main, 6 * MS, WEFT_TRACE_JOB_END, F, 0);
    record(other, 0, WEFT_TRACE_JOB, G, 0x20);
    record(other, 3 * MS, WEFT_TRACE_SPIN, MUTEX, 0);
    record(other, 4 * MS, WEFT_TRACE_SPIN_END, MUTEX, 1);
    record(other, 6 * MS, WEFT_TRACE_JOB_END, G, 0);
    struct summary *s = begin();
    const struct row *row = table_row(&s->objects, MUTEX);
    assert_int_equal(s->area, 7 * MS);
    assert_int_equal(s->strands[1].time[BLOCKED], 4 * MS);
    assert_int_equal(row->total, 5 * MS);
    assert_int_equal(row->count, 2);
    assert_true(row->many);
    assert_int_equal(row->size, strlen("waits for mutex 'm'"));
    end(s);
}

/* An actor begins a span, moves to another thread in it, and ends it there. */
static void test_span_moves(void **state)
{
    begin_file(10 * MS);
    struct weft_trace_block *main = begin_block(MAIN, 1), *other = begin_block(OTHER, 1);
    record(main, 0, WEFT_TRACE_TURN, ACTOR, 0);
    record_text(main, 1 * MS, WEFT_TRACE_SPAN, 0, "part");
    record(main, 3 * MS, WEFT_TRACE_TURN_END, 0, 0);
    record(main, 3 * MS, WEFT_TRACE_MOVE, ACTOR, 1);
    record(main, 4 * MS, WEFT_TRACE_TURN, ACTOR + 1, 0); /* another one */
    record(main, 6 * MS, WEFT_TRACE_TURN_END, 0, 0);
    record(other, 4 * MS, WEFT_TRACE_TURN, ACTOR, 0);
    record(other, 5 * MS, WEFT_TRACE_SPAN_END, 0, 0);
    record(other, 7 * MS, WEFT_TRACE_TURN_END, 0, 0);
    record(other, 7 * MS, WEFT_TRACE_DELEGATE, ACTOR, 0);
    record(other, 7 * MS, WEFT_TRACE_GIVE_BACK, ACTOR, 0);
    record(other, 8 * MS, WEFT_TRACE_LIMIT, ACTOR, (uint64_t)-12);
    struct summary *s = begin();
    assert_int_equal(s->area, 8 * MS);
    assert_int_equal(table_row(&s->spans, table_key("part", 4))->total, 2 * MS);
    assert_int_equal(table_row(&s->actors, ACTOR)->total, 6 * MS);
    assert_int_equal(table_row(&s->actors, ACTOR + 1)->total, 2 * MS);
    assert_int_equal(s->moves + s->delegations + s->given_back + s->limits, 4);
    end(s);
}

/* ---- Strange, but fine ---- */

/* Kinds of the future, with a text and without. */
static void test_unknown(void **state)
{
    begin_file(10 * MS);
    struct weft_trace_block *main = begin_block(MAIN, 1);
    record(main, 1 * MS, WEFT_TRACE_JOB, F, 0x10);
    record(main, 2 * MS, WEFT_TRACE_KINDS, 1, UINT64_MAX);
    /* As records, these bytes would be nonsense. */
    record_text(main, 3 * MS, 127, 1, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
    record(main, 4 * MS, WEFT_TRACE_JOB_END, F, 0);
    struct summary *s = begin();
    assert_int_equal(s->events, 2);
    assert_int_equal(s->area, 3 * MS);
    assert_int_equal(trace_about(s->trace)->unknown, 2);
    end(s);
}

/* A thread was about to write when the trace was stopped. */
static void test_late_record(void **state)
{
    begin_file(10 * MS);
    struct weft_trace_block *main = begin_block(MAIN, 1);
    record(main, 1 * MS, WEFT_TRACE_JOB, F, 0x10);
    record(main, 11 * MS, WEFT_TRACE_JOB_END, F, 0);
    struct summary *s = begin();
    assert_int_equal(s->events, 1);
    end(s);
    record(main, 2000 * (uint64_t)MS, WEFT_TRACE_JOB_END, F, 0);
    struct trace *trace = open_file();
    struct trace_event event;
    while (trace_next(trace, &event))
        continue;
    assert_int_equal(trace_about(trace)->bad, 1);
    trace_close(trace);
}

/* Half a millisecond is measured badly: what the processor says counts, if it says so. */
static void test_ticks(void **state)
{
    static const struct {
        uint64_t ns, said, length;
        bool rough;
    } cases[] = {
        {MS / 2, 500000000, MS, false}, /* the trace's own measure is twice too fast */
        {MS / 2, 0, MS / 2, true},
        {MS / 2, 1, MS / 2, true}, /* nonsense */
        {MS * 2, 500000000, MS * 2, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin_file(cases[i].ns);
        file.header.ticks_per_second = cases[i].said;
        struct weft_trace_block *main = begin_block(MAIN, 1);
        record(main, cases[i].ns / 2, WEFT_TRACE_GUEST, 0, 0);
        record(main, cases[i].ns, WEFT_TRACE_GUEST_END, 0, 0);
        struct trace *trace = open_file();
        struct trace_event event;
        assert_int_equal(trace_about(trace)->rough, cases[i].rough);
        assert_int_equal(trace_about(trace)->ns, cases[i].length);
        assert_true(trace_next(trace, &event) && event.ns == cases[i].length / 2);
        assert_true(trace_next(trace, &event) && event.ns == cases[i].length);
        trace_close(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scope),   cmocka_unit_test(test_other_job),
        cmocka_unit_test(test_join),    cmocka_unit_test(test_jobs_in_wait),
        cmocka_unit_test(test_spin),    cmocka_unit_test(test_span_moves),
        cmocka_unit_test(test_unknown), cmocka_unit_test(test_late_record),
        cmocka_unit_test(test_ticks),
    };
    return make_file() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
