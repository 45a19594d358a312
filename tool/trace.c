/* SPDX-License-Identifier: MIT */
/* weft trace: explains the file that WEFT_TRACE=FILE makes a program write. */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"
#include "trace/html.h"
#include "trace/perfetto.h"
#include "trace/report.h"
#include "trace/svg.h"

static void usage(void)
{
    puts(
        "Usage: weft trace [OPTION]... FILE\n"
        "Explains the trace of a program, which was run with WEFT_TRACE=FILE: what to look at\n"
        "first, how busy its threads were, and for what they waited.\n"
        "\n"
        "  -H, --html OUT      write a page for a browser, too: the threads over time, with zoom,\n"
        "                      search and stacks; - for standard output, and nothing else\n"
        "  -p, --perfetto OUT  write it as JSON, too, for https://ui.perfetto.dev; - for\n"
        "                      standard output, and nothing else\n"
        "  -s, --svg OUT       draw the threads over time, too\n"
        "  -h, --help          show this");
}

/* Calls put() with the file that `path` names, made anew. */
static bool write_to(const char *path, struct trace *trace, struct names *names,
                     bool (*put)(FILE *out, struct trace *trace, struct names *names))
{
    bool standard = strcmp(path, "-") == 0;
    FILE *out = standard ? stdout : fopen(path, "we");
    if (!out) {
        warn("%s", path);
        return false;
    }
    if (!put(out, trace, names))
        errno = ENOMEM, warn("%s", path);
    bool written = !ferror(out);
    if (!standard)
        written = fclose(out) == 0 && written;
    if (!written)
        warn("%s", path);
    return written;
}

static bool report(struct trace *trace, struct names *names)
{
    struct summary *summary = summary_make(trace);
    if (!summary) {
        warnx("there is no memory");
        return false;
    }
    report_put(stdout, summary, names, strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
    summary_free(summary);
    return true;
}

/* What to write beside the report, each to a path or NULL. */
struct outputs {
    const char *html, *perfetto, *svg;
};

static bool is_standard(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

static bool put_all(const struct outputs *outputs, struct trace *trace, struct names *names)
{
    if (outputs->html && !write_to(outputs->html, trace, names, html_put))
        return false;
    if (outputs->perfetto && !write_to(outputs->perfetto, trace, names, perfetto_put))
        return false;
    if (outputs->svg && !write_to(outputs->svg, trace, names, svg_put))
        return false;
    bool quiet =
        is_standard(outputs->html) || is_standard(outputs->perfetto) || is_standard(outputs->svg);
    return quiet || report(trace, names);
}

static int explain(const char *path, const struct outputs *outputs)
{
    char why[TRACE_WHY_SIZE];
    struct trace *trace = trace_open(path, why);
    if (!trace) {
        warnx("%s: %s", path, why);
        return EXIT_FAILURE;
    }
    struct names *names = names_open(trace);
    bool well = names && put_all(outputs, trace, names);
    if (names)
        names_close(names);
    trace_close(trace);
    return well ? EXIT_SUCCESS : EXIT_FAILURE;
}

int trace_main(int argc, char **argv)
{
    static const struct option options[] = {
        {"html", required_argument, NULL, 'H'},
        {"perfetto", required_argument, NULL, 'p'},
        {"svg", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };
    struct outputs outputs = {0};

    for (int c; (c = getopt_long(argc, argv, "H:p:s:h", options, NULL)) != -1;) {
        switch (c) {
        case 'H':
            outputs.html = optarg;
            break;
        case 'p':
            outputs.perfetto = optarg;
            break;
        case 's':
            outputs.svg = optarg;
            break;
        default:
            return tool_other_option(c, usage);
        }
    }
    if (optind == argc) {
        warnx("which file? try --help");
        return TOOL_EXIT_USAGE;
    }
    const char *path = argv[optind++];
    if (!tool_no_more(argc, argv))
        return TOOL_EXIT_USAGE;
    return explain(path, &outputs);
}
