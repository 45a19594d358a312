/* SPDX-License-Identifier: MIT */
/* large.c: a long trace is read in as much memory as a short one, by all that `weft trace` does.
 *     tool-large FILE EVENTS    makes such a trace, and nothing else */
#include "check.h"
#include "perfetto.h"
#include "report.h"
#include "svg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Making one ---- */

enum {
    THREADS = 8,
    NAMES = 20000, /* functions, objects, actors, marks: more than are kept */
    SIZE = WEFT_TRACE_BLOCK_SIZE,
    PLACES = (SIZE - sizeof(struct weft_trace_block)) / sizeof(struct weft_trace_record),
};

struct writer {
    FILE *out;
    uint64_t blocks, events, times[THREADS];
    union {
        struct weft_trace_block head;
        char bytes[SIZE];
    } block;
};

static void record(struct writer *w, enum weft_trace_kind kind, uint64_t a, uint64_t b,
                   const char *text)
{
    uint64_t *now = &w->times[w->blocks % THREADS];
    struct weft_trace_record *at = (struct weft_trace_record *)(&w->block.head + 1);
    at += w->block.head.used;
    size_t size = text ? strlen(text) : 0;
    *now += 100 + w->events % 7;
    *at = (struct weft_trace_record){*now << 8 | (text ? WEFT_TRACE_HAS_TEXT : 0) | kind, a,
                                     text ? size : b};
    memcpy(at + 1, text ? text : "", size);
    w->block.head.used += 1 + (uint32_t)((size + sizeof *at - 1) / sizeof *at);
    w->block.head.records++;
    w->events++;
}

/* A job with everything in it: 14 events. */
static void round_of_all(struct writer *w)
{
    char name[32];
    uint64_t i = w->events, key = i % NAMES;
    snprintf(name, sizeof name, "name %d", (int)key);
    record(w, WEFT_TRACE_STEAL, 1 + i % THREADS, 0x1000 * key, NULL);
    record(w, WEFT_TRACE_JOB, 0x400000 + key, 0x1000 * key, NULL);
    record(w, WEFT_TRACE_SPAN, 0, 0, name);
    record(w, WEFT_TRACE_MARK, i, 0, name);
    record(w, WEFT_TRACE_SUBMIT, 0x400000, 64 * i, NULL);
    record(w, WEFT_TRACE_ACTOR, 16 * i, 0, name);
    record(w, WEFT_TRACE_SPIN, 0x2000 * i, 0, NULL);
    record(w, WEFT_TRACE_SPIN_END, 0x2000 * i, i % 2, NULL);
    record(w, WEFT_TRACE_SPAN_END, 0, 0, NULL);
    record(w, WEFT_TRACE_WAIT, 0x1000 * key, 0, "waits for a right side");
    record(w, WEFT_TRACE_TASK, 0, 64 * i, NULL);
    record(w, WEFT_TRACE_WAIT_END, 0x1000 * key, 0, NULL);
    record(w, WEFT_TRACE_PUBLISH, 0, i, NULL);
    if (i % 100 == 0)
        record(w, WEFT_TRACE_JOB, 1, 0, NULL); /* which nobody ends */
    record(w, WEFT_TRACE_JOB_END, 0, 0, NULL);
}

static void write_block(struct writer *w)
{
    memset(&w->block, 0, sizeof w->block);
    w->block.head.kind = WEFT_TRACE_RECORDS;
    w->block.head.thread = 1 + (uint32_t)(w->blocks % THREADS);
    w->block.head.sequence = 1 + w->blocks / THREADS;
    while (w->block.head.used + 30 < PLACES)
        round_of_all(w);
    fwrite(&w->block, sizeof w->block, 1, w->out);
    w->blocks++;
}

static void write_header(struct writer *w)
{
    union {
        struct weft_trace_header header;
        char bytes[WEFT_TRACE_HEADER_SIZE];
    } page = {.header = {.byte_order = WEFT_TRACE_BYTE_ORDER,
                         .version = WEFT_TRACE_VERSION,
                         .block_size = SIZE,
                         .state = WEFT_TRACE_STOPPED,
                         .pid = 7,
                         .blocks = w->blocks,
                         .program = "/bin/large"}};
    for (int i = 0; i < THREADS; i++)
        if (w->times[i] > page.header.last.ns)
            page.header.last = (struct weft_trace_moment){w->times[i], w->times[i]};
    memcpy(page.header.magic, WEFT_TRACE_MAGIC, sizeof page.header.magic);
    rewind(w->out);
    fwrite(&page, sizeof page, 1, w->out);
}

static bool make_large(const char *path, uint64_t events)
{
    static struct writer w;
    w = (struct writer){.out = fopen(path, "we")};
    if (!w.out)
        return false;
    write_header(&w);
    while (w.events < events)
        write_block(&w);
    write_header(&w);
    bool well = !ferror(w.out);
    return fclose(w.out) == 0 && well;
}

/* ---- Reading it, in a process of its own ---- */

static int read_all(const char *path)
{
    char why[TRACE_WHY_SIZE];
    struct trace *trace = trace_open(path, why);
    struct names *names = trace ? names_open(trace) : NULL;
    struct summary *summary = trace ? summary_make(trace) : NULL;
    FILE *nowhere = fopen("/dev/null", "we");
    if (!names || !summary || !nowhere || trace_about(trace)->bad > 0)
        return 1;
    report_put(nowhere, summary, names, true);
    bool well = perfetto_put(nowhere, trace, names) && svg_put(nowhere, trace, names);
    printf("%" PRIu64 " events\n", summary->events);
    summary_free(summary);
    names_close(names);
    trace_close(trace);
    return fclose(nowhere) != 0 || !well;
}

/* The most memory that it had at any time, in KiB: what is mapped of the file counts. */
static long peak_of_reading(const char *path)
{
    struct rusage usage;
    int status;
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "tool-large", "read", path, "it", NULL);
        _exit(127);
    }
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    assert_int_equal(status, 0);
    return usage.ru_maxrss;
}

static char path[] = "/tmp/weft-large-XXXXXX";

static int make_path(void **state)
{
    int fd = mkstemp(path);
    return fd < 0 || close(fd);
}

static int remove_path(void **state)
{
    return unlink(path);
}

static void test_memory(void **state)
{
    enum { SHORT = 200000, LONG = 2000000, ALLOWED_KB = 4096 };
    assert_true(make_large(path, SHORT));
    long before = peak_of_reading(path);
    assert_true(make_large(path, SCALED(LONG, 2)));
    long after = peak_of_reading(path);
    print_message("%ld KiB for a short one, %ld for a long one\n", before, after);
    assert_true(after - before < (SANITIZED ? 8 : 1) * ALLOWED_KB);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_memory, make_path, remove_path),
    };
    if (argc == 4 && strcmp(argv[1], "read") == 0)
        return read_all(argv[2]);
    if (argc == 3)
        return !make_large(argv[1], strtoull(argv[2], NULL, 10));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
