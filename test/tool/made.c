/* SPDX-License-Identifier: MIT */
/* made.c NAME FILE: a trace made by hand, for tests that run `weft trace` on it. */
#include <stdio.h>

#include "made.h"

static struct made made;

static void nothing(void)
{
    made_begin(&made, 0);
}

static void theft(void)
{
    made_theft(&made);
}

/* The owner is in its job, and waits: the program hangs. */
static void hung(void)
{
    made_begin(&made, 0);
    made.header.state = WEFT_TRACE_RUNNING;
    made.threads[0].name = "owner";
    made_record(&made, 0, MADE_MS, WEFT_TRACE_JOB, MADE_F, 0);
    made_text(&made, 0, 2 * MADE_MS, WEFT_TRACE_BLOCK, 0x900, "waits for event 'never'");
    made_record(&made, 1, 9 * MADE_MS, WEFT_TRACE_SEARCH, 0, 0);
}

/* Names that would run, or break the page, if they were not only text. */
static void hostile(void)
{
    static const char *const names[] = {
        "</script><script>window.ran = 1</script>",
        "<img src=x onerror='window.ran = 1'>",
        "<!--<script>",
        "\"}]}; window.ran = 1; //",
        "'; window.ran = 1; '",
        "\\u003cscript\\u003e \\",
        "control \x01\x1b[31m\n\r\t\x7f end",
        "not UTF-8 \xff\xc0\x80 \xed\xa0\x80 end",
        "\xe2\x80\xae turned \xe2\x80\xa8 line",
        "${window.ran = 1} `window.ran = 1`",
        "__proto__",
        "constructor",
        "",
    };
    enum { COUNT = sizeof names / sizeof names[0] };
    made_begin(&made, 100 * MADE_MS);
    strcpy(made.header.program, "/tmp/</title></script><script>window.ran = 1</script>");
    made.threads[0].name = "</script><b onclick=window.ran=1>";
    made.threads[1].name = "<svg onload=window.ran=1>\xff\xfe";
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t now = i * MADE_MS;
        made_text(&made, 1, now, WEFT_TRACE_ACTOR, 0x100 * (i + 1), names[i]);
        made_record(&made, 1, now, WEFT_TRACE_TURN, 0x100 * (i + 1), 0);
        made_text(&made, 1, now, WEFT_TRACE_SPAN, 0, names[i]);
        made_text(&made, 1, now, WEFT_TRACE_MARK, i, names[i]);
        made_record(&made, 1, now + 100, WEFT_TRACE_SPAN_END, 0, 0);
        made_text(&made, 1, now + 200, WEFT_TRACE_BLOCK, 0x900 + i, names[i]);
        made_record(&made, 1, now + MADE_MS / 2, WEFT_TRACE_BLOCK_END, 0, 0);
        made_record(&made, 1, now + MADE_MS - 1, WEFT_TRACE_TURN_END, 0, 0);
        made_record(&made, 0, now, WEFT_TRACE_JOB, 0xffffffffff000000 + i, 0);
        made_text(&made, 0, now + 10, WEFT_TRACE_WAIT, 0x7000, names[i]);
        made_record(&made, 0, now + MADE_MS / 3, WEFT_TRACE_WAIT_END, 0, 0);
        made_record(&made, 0, now + MADE_MS - 1, WEFT_TRACE_JOB_END, 0, 0);
    }
}

static void threads(void)
{
    made_begin(&made, 200 * MADE_MS);
    for (unsigned i = 0; i < 200; i++) {
        made_record(&made, i, i * MADE_MS, WEFT_TRACE_JOB, MADE_F, 0);
        made_record(&made, i, i * MADE_MS + 10, WEFT_TRACE_JOB, MADE_G, 0);
        made_record(&made, i, i * MADE_MS + 90, WEFT_TRACE_JOB_END, 0, 0);
        made_record(&made, i, 199 * MADE_MS, WEFT_TRACE_JOB_END, 0, 0);
    }
}

static void many(void)
{
    made_many(&made, 4, 100000);
}

static const struct {
    const char *name;
    void (*make)(void);
} traces[] = {
    {"nothing", nothing}, {"theft", theft},     {"hung", hung},
    {"hostile", hostile}, {"threads", threads}, {"many", many},
};

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
        if (strcmp(traces[i].name, argv[1]) != 0)
            continue;
        traces[i].make();
        FILE *out = fopen(argv[2], "w");
        return out && made_write(&made, out) == 0 && fclose(out) == 0 ? 0 : 1;
    }
    return 2;
}
